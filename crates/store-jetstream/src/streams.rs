//! The streams of a store: made when they are not there, brought up to date when the settings have changed, and never
//! with another layout than they were made with.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::OpenError;
use crate::names::Names;
use crate::settings::Settings;
use crate::wire::{Failed, Failure, Link, Patience};

/// How long a stream remembers the ids of what was stored in it.
const IDS_REMEMBERED: Duration = Duration::from_secs(120);
/// A body outlives what points to it.
const BODY_AGE_EXTRA: Duration = Duration::from_secs(600);
/// Ids begin at the milliseconds of today times this, so that they ascend also when a stream is made anew.
const IDS_PER_MILLISECOND: u64 = 1 << 10;
/// Answers to the making of a stream that another attempt may get over.
const MADE_MEANWHILE: u32 = 10058;
const NO_PEERS: u32 = 10005;
/// Fields of a stream that its maker decides and that stay.
const FIXED: [&str; 3] = ["name", "storage", "first_seq"];

/// What the API tells of a stream.
#[derive(Clone, Deserialize, Debug)]
pub(crate) struct Info {
    pub(crate) config: Map<String, Value>,
    pub(crate) state: State,
    #[serde(default)]
    pub(crate) cluster: Cluster,
}

#[derive(Clone, Copy, Deserialize, Debug)]
pub(crate) struct State {
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
}

/// Who has it.
#[derive(Clone, Deserialize, Debug, Default)]
pub(crate) struct Cluster {
    #[serde(default)]
    pub(crate) leader: Option<String>,
    #[serde(default)]
    pub(crate) replicas: Vec<Replica>,
}

#[derive(Clone, Deserialize, Debug)]
pub(crate) struct Replica {
    pub(crate) name: String,
}

impl Link {
    /// What the API tells of a stream; none when there is none.
    pub(crate) async fn stream(&self, name: &str) -> Result<Option<Info>, Failure> {
        match self.api(&format!("STREAM.INFO.{name}"), &Value::Null).await {
            Err(Failure::Refused(refusal)) if refusal.is_stream_not_found() => Ok(None),
            answer => answer.map(Some),
        }
    }
}

/// See to it that every stream is there as the settings say; the names of the brokers that have them.
pub(crate) async fn ensure(link: &Link, names: &Names, settings: &Settings) -> Result<Vec<String>, OpenError> {
    let mut brokers = Vec::new();
    for config in configs(names, settings) {
        let name = config["name"].as_str().unwrap_or_default().to_owned();
        let patience = Patience::new(settings.wait_max);
        let info = patience.of(|| ensure_one(link, &config)).await;
        let info = info.map_err(|Failed { last, .. }| OpenError::refused(format!("stream {name}"), &last))?;
        check_layout(settings, &info)?;
        brokers.extend(info.cluster.leader.into_iter().chain(info.cluster.replicas.into_iter().map(|one| one.name)));
    }
    brokers.sort();
    brokers.dedup();
    Ok(brokers)
}

/// The stream as it is to be. When two processes make it at once, the second finds it made.
async fn ensure_one(link: &Link, config: &Map<String, Value>) -> Result<Info, Failure> {
    let name = config["name"].as_str().unwrap_or_default();
    let Some(there) = link.stream(name).await? else {
        let made = link.api(&format!("STREAM.CREATE.{name}"), &Value::Object(config.clone())).await;
        return match made {
            // Made meanwhile, with another first id; or the brokers have not all found each other yet.
            Err(Failure::Refused(refusal)) if [MADE_MEANWHILE, NO_PEERS].contains(&refusal.number) => {
                Err(Failure::Unsent(refusal.to_string()))
            }
            other => other,
        };
    };
    let Some(changed) = changed(&there.config, config) else { return Ok(there) };
    tracing::info!(stream = name, changed = changed.1.join(", "), "a stream takes over what is configured here");
    link.api(&format!("STREAM.UPDATE.{name}"), &Value::Object(changed.0)).await
}

/// The configuration with what is ours in it set, and which of it was otherwise; none when nothing was. What the broker
/// added stays, and so does the layout: who finds another one does not get as far as using it.
fn changed(there: &Map<String, Value>, wanted: &Map<String, Value>) -> Option<(Map<String, Value>, Vec<String>)> {
    let mut merged = there.clone();
    let mut names = Vec::new();
    for (key, value) in wanted.iter().filter(|(key, _)| !FIXED.contains(&key.as_str()) && *key != "metadata") {
        if there.get(key) != Some(value) {
            merged.insert(key.clone(), value.clone());
            names.push(key.clone());
        }
    }
    (!names.is_empty()).then_some((merged, names))
}

fn check_layout(settings: &Settings, info: &Info) -> Result<(), OpenError> {
    let Some(there) = info.config.get("metadata").and_then(Value::as_object) else { return Ok(()) };
    for (key, here) in [("shards", settings.shards), ("body_shards", settings.body_shards)] {
        let here = here.to_string();
        let there = there.get(&format!("postkeep.{key}")).and_then(Value::as_str).unwrap_or(&here);
        if there != here {
            let (prefix, there) = (settings.prefix.clone(), there.to_owned());
            return Err(OpenError::OtherLayout { prefix, key, there, here });
        }
    }
    Ok(())
}

/// Every stream of a store, the one whose layout is checked first.
fn configs(names: &Names, settings: &Settings) -> Vec<Map<String, Value>> {
    let mut all = vec![records(names, settings), jobs(names, settings)];
    all.extend((0..settings.shards).map(|shard| summaries(names, settings, shard)));
    all.extend((0..settings.body_shards).map(|shard| bodies(names, settings, shard)));
    all
}

fn summaries(names: &Names, settings: &Settings, shard: usize) -> Map<String, Value> {
    let (from, to) = names.telling();
    let age = nanos(settings.retention);
    let (mailboxes, guards, errands) = (names.all_mailboxes(shard), names.guards(shard), names.errands(shard));
    let cap = if settings.messages_max == 0 { -1 } else { i64::try_from(settings.messages_max).unwrap_or(-1) };
    stream(
        settings,
        names.summaries(shard),
        vec![
            ("subjects", json!([mailboxes, guards, errands, names.pulses_of_summaries(shard)])),
            ("max_msgs_per_subject", json!(cap)),
            ("max_age", json!(age)),
            ("duplicate_window", json!(window(age))),
            ("allow_rollup_hdrs", json!(true)),
            ("republish", json!({ "src": from, "dest": to })),
        ],
    )
}

fn bodies(names: &Names, settings: &Settings, shard: usize) -> Map<String, Value> {
    let age = nanos(settings.retention.map(|age| age + BODY_AGE_EXTRA));
    let bytes = settings.bytes_max.map_or(-1, |bytes| i64::try_from(bytes / settings.body_shards as u64).unwrap_or(-1));
    stream(
        settings,
        names.bodies(shard),
        vec![
            ("subjects", json!([names.body(shard), names.intents(shard), names.pulses_of_bodies(shard)])),
            ("max_bytes", json!(bytes)),
            ("max_age", json!(age)),
            ("duplicate_window", json!(window(age))),
            ("allow_rollup_hdrs", json!(true)),
        ],
    )
}

fn records(names: &Names, settings: &Settings) -> Map<String, Value> {
    let bytes = i64::try_from(settings.registry_bytes_max).unwrap_or(-1);
    stream(
        settings,
        names.records(),
        vec![
            ("subjects", json!([names.below(&["r", ">"])])),
            ("max_msgs_per_subject", json!(1)),
            ("max_bytes", json!(bytes)),
            ("discard", json!("new")),
            ("duplicate_window", json!(window(0))),
            ("republish", json!({ "src": names.below(&["r", ">"]), "dest": names.below(&["rg", ">"]) })),
        ],
    )
}

fn jobs(names: &Names, settings: &Settings) -> Map<String, Value> {
    let _ = settings.jobs_max;
    stream(
        settings,
        names.jobs(),
        vec![
            ("subjects", json!([names.below(&["j", ">"])])),
            ("max_msgs_per_subject", json!(1)),
            ("duplicate_window", json!(window(0))),
        ],
    )
}

/// What all streams have, and what this one has beside it.
fn stream(settings: &Settings, name: String, own: Vec<(&str, Value)>) -> Map<String, Value> {
    let first = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0) * IDS_PER_MILLISECOND;
    let mut config = Map::new();
    for (key, value) in [
        ("name", json!(name)),
        ("storage", json!("file")),
        ("retention", json!("limits")),
        ("discard", json!("old")),
        ("num_replicas", json!(settings.replicas)),
        ("allow_direct", json!(true)),
        ("allow_msg_ttl", json!(true)),
        ("allow_atomic", json!(true)),
        ("first_seq", json!(first)),
    ]
    .into_iter()
    .chain(own)
    {
        config.insert(key.to_owned(), value);
    }
    let layout = json!({
        "postkeep.shards": settings.shards.to_string(),
        "postkeep.body_shards": settings.body_shards.to_string(),
    });
    config.insert("metadata".to_owned(), layout);
    config
}

/// A time as the API has it; 0: none.
fn nanos(time: Option<Duration>) -> i64 {
    time.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// No longer than anything is kept.
fn window(age: i64) -> i64 {
    let window = nanos(Some(IDS_REMEMBERED));
    if age == 0 { window } else { window.min(age) }
}
