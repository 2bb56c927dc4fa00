//! The registry.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::join_all;
use jiff::Timestamp;

use crate::registry::{Entry, Expect, Put, RegistryChange, Version};

use super::trial::{Desk, Trial, soon};

async fn put(desk: &Desk, key: &str, value: &'static str, expires: Option<Timestamp>, expect: Expect) -> Put {
    let value = Bytes::from_static(value.as_bytes());
    desk.store.registry().put("suite", key, value, expires, expect).await.expect("a put is answered")
}

async fn written(desk: &Desk, key: &str, value: &'static str) -> Version {
    match put(desk, key, value, None, Expect::Any).await {
        Put::Written(version) => version,
        conflict => panic!("anything was expected: {conflict:?}"),
    }
}

async fn get(desk: &Desk, key: &str) -> Option<Entry> {
    desk.store.registry().get("suite", key).await.expect("a get is answered")
}

async fn keys(desk: &Desk) -> Vec<String> {
    let entries = desk.store.registry().list("suite").await.expect("records are listed");
    entries.into_iter().map(|entry| entry.key).collect()
}

async fn delete(desk: &Desk, key: &str, expect: Expect) -> bool {
    desk.store.registry().delete("suite", key, expect).await.expect("a delete is answered")
}

/// Records are found by kind and key, listed by key, replaced, and deleted.
pub(super) async fn records_are_kept(trial: &Trial<'_>) {
    let desk = trial.open().await;
    assert_eq!((get(&desk, "b").await, keys(&desk).await.len()), (None, 0));
    let version = written(&desk, "b", "one").await;
    written(&desk, "a", "two").await;
    let value = Bytes::from_static(b"one");
    assert_eq!(get(&desk, "b").await, Some(Entry { key: "b".to_owned(), value, version, expires: None }));
    assert_eq!(keys(&desk).await, ["a", "b"]);
    written(&desk, "b", "three").await;
    assert_eq!(get(&desk, "b").await.expect("it is there").value, "three");
    assert_eq!(desk.store.registry().get("other", "b").await.expect("a get is answered"), None);
    assert!(desk.store.registry().list("other").await.expect("records are listed").is_empty());
    assert!(delete(&desk, "b", Expect::Any).await && !delete(&desk, "b", Expect::Any).await);
    assert_eq!(keys(&desk).await, ["a"]);
}

/// A put or delete happens only when what is there is what was expected; a put answers what is there instead.
pub(super) async fn records_are_put_if_expected(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let Put::Written(first) = put(&desk, "a", "one", None, Expect::Absent).await else { panic!("nothing was there") };
    let there = get(&desk, "a").await;
    assert_eq!(put(&desk, "a", "two", None, Expect::Absent).await, Put::Conflict(there.clone()));
    let other = Version(first.0 + 1_000);
    assert_eq!(put(&desk, "a", "two", None, Expect::Version(other)).await, Put::Conflict(there));
    assert_eq!(put(&desk, "b", "two", None, Expect::Version(first)).await, Put::Conflict(None));
    let Put::Written(second) = put(&desk, "a", "two", None, Expect::Version(first)).await else {
        panic!("the first version was there")
    };
    assert!(second > first);
    assert!(!delete(&desk, "a", Expect::Version(first)).await);
    assert!(!delete(&desk, "a", Expect::Absent).await);
    assert_eq!(get(&desk, "a").await.expect("it is there").value, "two");
    assert!(delete(&desk, "a", Expect::Version(second)).await);
    assert_eq!(get(&desk, "a").await, None);
}

/// The versions of a key grow, also when it was deleted between two puts.
pub(super) async fn record_versions_grow_over_deletes(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut last = written(&desk, "a", "one").await;
    for _ in 0..5 {
        delete(&desk, "a", Expect::Any).await;
        let next = written(&desk, "a", "one").await;
        assert!(next > last, "{next:?} after {last:?}");
        last = next;
    }
}

/// Of several puts at once that expect the same, exactly one is written.
pub(super) async fn racing_puts_have_one_winner(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut expect = Expect::Absent;
    for _ in 0..10 {
        let putting = (0..6).map(|_| {
            let desk = desk.clone();
            tokio::spawn(async move { put(&desk, "a", "mine", None, expect).await })
        });
        let answers = join_all(putting.collect::<Vec<_>>()).await;
        let versions: Vec<_> = answers
            .into_iter()
            .filter_map(|answer| match answer.expect("no put panics") {
                Put::Written(version) => Some(version),
                Put::Conflict(_) => None,
            })
            .collect();
        assert_eq!(versions.len(), 1);
        assert_eq!(get(&desk, "a").await.expect("it is there").version, versions[0]);
        expect = Expect::Version(versions[0]);
    }
}

/// A record is there until it expires, and then for no call.
pub(super) async fn records_expire(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let Put::Written(brief) = put(&desk, "brief", "one", Some(desk.in_seconds(60)), Expect::Any).await else {
        panic!("anything was expected")
    };
    written(&desk, "kept", "two").await;
    trial.pass(59);
    assert_eq!(keys(&desk).await, ["brief", "kept"]);
    trial.pass(1);
    assert_eq!(keys(&desk).await, ["kept"]);
    assert_eq!(get(&desk, "brief").await, None);
    assert!(!delete(&desk, "brief", Expect::Any).await);
    assert_eq!(put(&desk, "brief", "three", None, Expect::Version(brief)).await, Put::Conflict(None));
    assert!(matches!(put(&desk, "brief", "three", None, Expect::Absent).await, Put::Written(_)));
    trial.pass(1_000);
    assert_eq!(get(&desk, "brief").await.expect("the new one does not expire").value, "three");
}

/// A watch tells the puts and deletes of its kind from now on, in their order.
pub(super) async fn records_are_watched(trial: &Trial<'_>) {
    let desk = trial.open().await;
    written(&desk, "before", "one").await;
    let mut watch = desk.store.registry().watch("suite").await.expect("records are watched");
    let other = Bytes::from_static(b"else");
    desk.store.registry().put("other", "a", other, None, Expect::Any).await.expect("a put is answered");
    let version = written(&desk, "a", "one").await;
    assert!(!delete(&desk, "a", Expect::Absent).await);
    delete(&desk, "a", Expect::Any).await;
    written(&desk, "b", "two").await;
    let value = Bytes::from_static(b"one");
    let put = RegistryChange::Put(Entry { key: "a".to_owned(), value, version, expires: None });
    assert_eq!(soon(watch.next()).await, Some(put));
    assert_eq!(soon(watch.next()).await, Some(RegistryChange::Deleted("a".to_owned())));
    let Some(RegistryChange::Put(last)) = soon(watch.next()).await else { panic!("a put is told") };
    assert_eq!(last.key, "b");
}

/// Records and their versions are there after a crash.
pub(super) async fn records_survive_reopening(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let version = written(&desk, "a", "one").await;
    written(&desk, "gone", "two").await;
    delete(&desk, "gone", Expect::Any).await;
    let desk = trial.reopen(desk).await;
    assert_eq!(keys(&desk).await, ["a"]);
    assert!(
        matches!(put(&desk, "a", "two", None, Expect::Version(version)).await, Put::Written(next) if next > version)
    );
}
