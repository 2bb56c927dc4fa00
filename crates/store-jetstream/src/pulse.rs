//! Whether mail would be taken now. Every part of the store is written to, again and again, a few parts at a time: only a
//! write tells that a stream has a leader and that this leader is followed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use store::{Error, Result};
use tokio::time::{Instant, sleep_until, timeout};

use crate::office::Office;
use crate::streams;
use crate::wire::{Failure, Outgoing};

/// With the wait, a part that does not answer is known within two seconds.
const EVERY: Duration = Duration::from_millis(700);
const WAIT: Duration = Duration::from_millis(1200);
/// So many parts are asked at a time.
const AT_ONCE: usize = 8;
/// Without news for so long, nothing is known.
const STALE: Duration = Duration::from_secs(4);
/// The trace that a process leaves in a stream goes by itself.
const TRACE: Duration = Duration::from_secs(60);
/// How often it is looked up where the bodies begin, and whether the brokers are as they should be.
const FLOORS_EVERY: Duration = Duration::from_secs(5);
const BROKERS_EVERY: Duration = Duration::from_secs(60);
/// The same while there is a doubt.
const DOUBTED_EVERY: Duration = Duration::from_secs(5);

/// What is known of the store's parts.
pub(crate) struct Health {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    felt_at: Option<Instant>,
    /// By stream.
    failing: HashMap<String, String>,
    /// What is wrong with the brokers themselves.
    doubt: Option<String>,
}

impl Health {
    /// Of a store that was just opened, which takes every part of it.
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { felt_at: Some(Instant::now()), ..State::default() }) }
    }

    /// Whether mail would be taken; why not, if not.
    pub(crate) fn check(&self, stands: bool) -> Result<()> {
        if !stands {
            return Err(Error::try_later("there is no connection to a broker"));
        }
        let state = self.hold();
        if let Some((stream, why)) = state.failing.iter().next() {
            return Err(Error::try_later(format!("{stream}: {why}")));
        }
        if let Some(doubt) = &state.doubt {
            return Err(Error::try_later(doubt.clone()));
        }
        match state.felt_at {
            Some(at) if at.elapsed() < STALE => Ok(()),
            _ => Err(Error::try_later("the brokers have not answered for a while")),
        }
    }

    fn note(&self, stream: String, outcome: Result<(), String>) {
        let mut state = self.hold();
        match outcome {
            Ok(()) => {
                if state.failing.remove(&stream).is_some() {
                    tracing::info!(stream, "this part of the store takes mail again");
                }
            }
            Err(why) => {
                if state.failing.insert(stream.clone(), why.clone()).is_none() {
                    tracing::warn!(stream, why, "this part of the store takes no mail now");
                }
            }
        }
    }

    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Feel the pulse of all parts, for ever.
pub(crate) async fn feel(office: Arc<Office>, health: Arc<Health>) {
    let parts = parts(&office);
    let (mut first, mut looked, mut asked) = (0, Instant::now() - FLOORS_EVERY, Instant::now());
    loop {
        let begun = Instant::now();
        let some = (0..parts.len().min(AT_ONCE)).map(|number| &parts[(first + number) % parts.len()]);
        let felt = join_all(some.map(|(stream, subject)| feel_one(&office, stream, subject))).await;
        let lost = felt.iter().any(|(_, outcome)| matches!(outcome, Err(Felt::Lost)));
        for (stream, outcome) in felt {
            health.note(stream, outcome.map_err(|felt| felt.to_string()));
        }
        health.hold().felt_at = Some(Instant::now());
        first = (first + AT_ONCE) % parts.len();
        if lost {
            make_anew(&office).await;
        }
        if looked.elapsed() >= FLOORS_EVERY {
            looked = Instant::now();
            look_for_floors(&office).await;
        }
        let again = if health.hold().doubt.is_some() { DOUBTED_EVERY } else { BROKERS_EVERY };
        if asked.elapsed() >= again {
            asked = Instant::now();
            doubt_brokers(&office, &health).await;
        }
        sleep_until(begun + EVERY).await;
    }
}

/// What can be wrong with a part.
enum Felt {
    /// The stream is not there.
    Lost,
    Other(String),
}

impl std::fmt::Display for Felt {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost => out.write_str("the stream is not there any more"),
            Self::Other(why) => out.write_str(why),
        }
    }
}

/// Every stream that mail goes into, with the subject of its pulse.
fn parts(office: &Office) -> Vec<(String, String)> {
    let (names, node) = (&office.names, &office.node);
    let summaries = (0..office.settings.shards).map(|one| (names.summaries(one), names.pulse_of_summaries(one, node)));
    let bodies = (0..office.settings.body_shards).map(|one| (names.bodies(one), names.pulse_of_bodies(one, node)));
    summaries.chain(bodies).collect()
}

async fn feel_one(office: &Office, stream: &str, subject: &str) -> (String, Result<(), Felt>) {
    let beat = Outgoing::new(subject.to_owned(), Bytes::new()).alone().living(TRACE);
    let outcome = match timeout(WAIT, office.link.publish(beat)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(Failure::Unsent(_))) if is_lost(office, stream).await => Err(Felt::Lost),
        Ok(Err(failure)) => Err(Felt::Other(failure.to_string())),
        Err(_) => Err(Felt::Other("it does not answer".to_owned())),
    };
    (stream.to_owned(), outcome)
}

/// Nobody takes what is written to a stream, either because it has no leader now or because it is gone.
async fn is_lost(office: &Office, stream: &str) -> bool {
    office.link.stands() && matches!(timeout(WAIT, office.link.stream(stream)).await, Ok(Ok(None)))
}

/// A stream was deleted by somebody, and with it its mail. New mail needs a new one.
async fn make_anew(office: &Office) {
    tracing::error!("a stream of this store was deleted, and with it the mail in it; making it anew");
    if let Err(error) = streams::ensure(&office.link, &office.names, &office.settings).await {
        tracing::error!(%error, "the stream cannot be made anew");
    }
}

/// Bodies go without a word when their room is used up.
async fn look_for_floors(office: &Office) {
    if office.settings.bytes_max.is_none() {
        return;
    }
    for shard in 0..office.settings.body_shards {
        if let Ok(Ok(Some(info))) = timeout(WAIT, office.link.stream(&office.names.bodies(shard))).await {
            office.floors.set(shard, info.state.first_seq);
        }
    }
}

async fn doubt_brokers(office: &Office, health: &Health) {
    let doubt = office.doubt_brokers().await;
    if let Some(doubt) = &doubt {
        tracing::error!("{doubt}");
    }
    health.hold().doubt = doubt;
}
