//! What the suite of all engines does not ask: several nodes, lost answers, lost changes, no room.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::join_all;
use store::registry::RegistryChanges;
use store::{Entry, Error, Expect, Put, Registry as _, RegistryChange, Version};

use super::Registry;
use super::card::Card;
use super::rig::{Rig, soon};
use crate::record;
use crate::wire::Outgoing;

async fn put(records: &Registry, key: &str, value: &'static str, expect: Expect) -> Put {
    let value = Bytes::from_static(value.as_bytes());
    records.put("tests", key, value, None, expect).await.expect("a put is answered")
}

async fn written(records: &Registry, key: &str, expect: Expect) -> Version {
    match put(records, key, "value", expect).await {
        Put::Written(version) => version,
        conflict => panic!("it was as expected: {conflict:?}"),
    }
}

async fn get(records: &Registry, key: &str) -> Option<Entry> {
    records.get("tests", key).await.expect("a get is answered")
}

async fn list(records: &Registry) -> Vec<Entry> {
    records.list("tests").await.expect("records are listed")
}

/// The next change in short: `+ key`, `- key`, `lost`.
async fn word(watch: &mut RegistryChanges) -> String {
    match soon(watch.next()).await.expect("a watch goes on as long as it is held") {
        RegistryChange::Put(entry) => format!("+ {}", entry.key),
        RegistryChange::Deleted(key) => format!("- {key}"),
        RegistryChange::Lost => "lost".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn put_and_delete_whose_answers_were_lost_are_known_again() {
    let Some(rig) = Rig::new() else { return };
    let wire = rig.wire().await;
    let (lossy, other) = (Registry::new(rig.node_over(&wire).await), Registry::new(rig.node().await));
    let subject = format!("PUB {}.r.", rig.settings.prefix);
    wire.lose_answer_to(&subject);
    let first = written(&lossy, "a", Expect::Absent).await;
    assert!(wire.is_done(), "the answer was lost");
    assert_eq!(get(&other, "a").await.expect("it is there").version, first, "it was written once");
    wire.lose_answer_to(&subject);
    let second = written(&lossy, "a", Expect::Version(first)).await;
    assert_eq!((wire.is_done(), get(&other, "a").await.map(|entry| entry.version)), (true, Some(second)));
    wire.lose_answer_to(&subject);
    let third = written(&lossy, "a", Expect::Any).await;
    assert_eq!((wire.is_done(), get(&other, "a").await.map(|entry| entry.version)), (true, Some(third)));
    assert_eq!(third.0, second.0 + 1, "it was written once");
    wire.lose_answer_to(&subject);
    assert!(lossy.delete("tests", "a", Expect::Version(third)).await.expect("a delete is answered"));
    assert_eq!((wire.is_done(), get(&other, "a").await), (true, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_puts_on_several_nodes_one_wins() {
    let Some(rig) = Rig::new() else { return };
    let nodes = join_all((0..3).map(|_| rig.node())).await;
    let nodes: Vec<_> = nodes.into_iter().map(Registry::new).collect();
    let mut expect = Expect::Absent;
    for _ in 0..10 {
        let answers = join_all(nodes.iter().map(|node| put(node, "a", "mine", expect))).await;
        let versions = answers.iter().filter_map(|answer| match answer {
            Put::Written(version) => Some(*version),
            Put::Conflict(_) => None,
        });
        let versions: Vec<_> = versions.collect();
        assert_eq!(versions.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| match answer {
            Put::Conflict(there) => there.as_ref().is_some_and(|there| there.version == versions[0]),
            Put::Written(_) => true,
        }));
        expect = Expect::Version(versions[0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_tells_what_other_nodes_do() {
    let Some(rig) = Rig::new() else { return };
    let (here, there) = (Registry::new(rig.node().await), Registry::new(rig.node().await));
    written(&there, "before", Expect::Any).await;
    let mut watch = here.watch("tests").await.expect("records are watched");
    written(&there, "a", Expect::Absent).await;
    assert!(there.delete("tests", "a", Expect::Any).await.expect("a delete is answered"));
    written(&here, "b", Expect::Any).await;
    assert_eq!([word(&mut watch).await, word(&mut watch).await, word(&mut watch).await], ["+ a", "- a", "+ b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_says_that_changes_were_lost_with_the_connection() {
    let Some(rig) = Rig::new() else { return };
    let wire = rig.wire().await;
    let (lossy, other) = (Registry::new(rig.node_over(&wire).await), Registry::new(rig.node().await));
    let mut watch = lossy.watch("tests").await.expect("records are watched");
    written(&other, "a", Expect::Any).await;
    assert_eq!(word(&mut watch).await, "+ a");
    wire.cut();
    assert_eq!(word(&mut watch).await, "lost");
    let listed = list(&lossy).await;
    assert_eq!(listed.len(), 1);
    written(&other, "b", Expect::Any).await;
    assert_eq!(word(&mut watch).await, "+ b");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_notices_a_change_that_was_not_told() {
    let Some(rig) = Rig::new() else { return };
    let wire = rig.wire().await;
    let (lossy, other) = (Registry::new(rig.node_over(&wire).await), Registry::new(rig.node().await));
    let mut watch = lossy.watch("tests").await.expect("records are watched");
    for untold in ["a", "b"] {
        wire.lose(format!("{}.rg.", rig.settings.prefix));
        written(&other, untold, Expect::Any).await;
        assert_eq!(word(&mut watch).await, "lost");
        assert!(wire.is_done());
    }
    wire.lose(format!("{}.rg.", rig.settings.prefix));
    assert!(other.delete("tests", "a", Expect::Any).await.expect("a delete is answered"));
    written(&other, "c", Expect::Any).await;
    assert_eq!(word(&mut watch).await, "+ c");
    assert_eq!(word(&mut watch).await, "lost", "a later change was heard, and the delete was not");
    written(&other, "d", Expect::Any).await;
    assert_eq!(word(&mut watch).await, "+ d");
}

/// Two names of one hash share a subject: the wrong one's record is no answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_of_another_name_is_not_served() {
    let Some(rig) = Rig::new() else { return };
    let office = rig.node().await;
    let records = Registry::new(office.clone());
    for card in [Card::put("tests", "other", b"value", None), Card::put("others", "a", b"value", None)] {
        let message = Outgoing::new(records.subject("tests", "a"), record::write(&card));
        office.link.publish(message).await.expect("it is stored");
        assert_eq!(get(&records, "a").await, None);
        assert!(list(&records).await.iter().all(|entry| entry.key != "a"));
    }
    assert!(!records.delete("tests", "a", Expect::Any).await.expect("a delete is answered"));
    written(&records, "a", Expect::Absent).await;
    assert_eq!(list(&records).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_whole_however_long() {
    let Some(rig) = Rig::new() else { return };
    let records = Registry::new(rig.node().await);
    let keys: Vec<_> = (0..2_300).map(|number| format!("{number:04}")).collect();
    for some in keys.chunks(100) {
        join_all(some.iter().map(|key| written(&records, key, Expect::Any))).await;
    }
    assert!(records.delete("tests", "0007", Expect::Any).await.expect("a delete is answered"));
    let listed: Vec<_> = list(&records).await.into_iter().map(|entry| entry.key).collect();
    assert!(listed.iter().eq(keys.iter().filter(|key| *key != "0007")), "{} are listed", listed.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_registry_says_so_and_recovers() {
    let Some(mut rig) = Rig::new() else { return };
    rig.settings.registry_bytes_max = 16_000;
    let records = Registry::new(rig.node().await);
    let value = Bytes::from(vec![b'v'; 1_000]);
    let expires = Some(rig.in_seconds(60));
    let try_put = async |key: String, expires| records.put("tests", &key, value.clone(), expires, Expect::Absent).await;
    let mut kept = 0;
    while try_put(format!("{kept}"), expires).await.is_ok() {
        kept += 1;
    }
    assert!((10..16).contains(&kept), "{kept} were kept");
    let refused = try_put("more".to_owned(), None).await;
    assert!(matches!(refused, Err(Error::Full { .. })), "{refused:?}");
    assert!(records.delete("tests", "0", Expect::Any).await.expect("a full registry can be emptied"));
    assert_eq!(list(&records).await.len(), kept - 1);
    rig.pass(60);
    for key in 0..kept - 2 {
        try_put(format!("new{key}"), None).await.expect("what has expired makes room");
    }
}

/// That a record is deleted may take more room than the record did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_registry_of_small_records_can_be_emptied() {
    let Some(mut rig) = Rig::new() else { return };
    rig.settings.registry_bytes_max = 4_000;
    let records = Registry::new(rig.node().await);
    let mut kept = 0;
    while records.put("tests", &format!("{kept}"), Bytes::new(), None, Expect::Any).await.is_ok() {
        kept += 1;
    }
    for key in 0..kept {
        let gone = records.delete("tests", &format!("{key}"), Expect::Any).await;
        assert!(gone.unwrap_or_else(|error| panic!("{key} of {kept}: {error}")));
        assert_eq!(list(&records).await.len(), kept - key - 1);
    }
}
