//! Which jobs are written with what, and whether they can be read again.

use mail::Naming;
use store::outbox::IfFull;

use super::*;
use crate::{Settings, stub};

const AT: Timestamp = Timestamp::UNIX_EPOCH;

fn named(name: &str) -> Mailbox {
    Naming::Local.named(name).unwrap()
}

fn wanting(name: &str, patterns: &[&str], events: &[Event]) -> Target {
    let pattern = |text: &&str| Pattern::parse(text, Naming::Local).unwrap();
    Target { name: name.into(), mailboxes: patterns.iter().map(pattern).collect(), events: events.to_vec() }
}

fn delivery(recipients: &[&str]) -> Delivery {
    stub::parcel(&stub::open(Settings::default()).1, recipients).sort()
}

#[test]
fn each_target_is_told_of_what_it_wants() {
    let webhooks = Webhooks::new(vec![
        wanting("all", &["*"], &Event::ALL),
        wanting("ci", &["ci-*", "bob"], &[Event::Deliver]),
        wanting("purges", &["*"], &[Event::Purge]),
    ]);
    let kinds = |jobs: Vec<NewJob>| jobs.into_iter().map(|job| job.kind).collect::<Vec<_>>();
    assert_eq!(kinds(webhooks.on_deliver(&delivery(&["alice@x.test"]))), ["webhook:all"]);
    assert_eq!(kinds(webhooks.on_deliver(&delivery(&["ci-1@x.test"]))), ["webhook:all", "webhook:ci"]);
    assert_eq!(webhooks.on_deliver(&delivery(&["alice@x.test", "bob@x.test"])).len(), 3);
    assert_eq!(kinds(webhooks.on(Event::Delete, &named("bob"), AT)), ["webhook:all"]);
    assert_eq!(kinds(webhooks.on(Event::Purge, &named("bob"), AT)), ["webhook:all", "webhook:purges"]);
    assert!(Webhooks::new(Vec::new()).on_deliver(&delivery(&["alice@x.test"])).is_empty());
}

#[test]
fn f24_a_target_that_is_far_behind_takes_no_room_from_others() {
    let webhooks = Webhooks::new(vec![wanting("gone", &["*"], &Event::ALL), wanting("well", &["*"], &Event::ALL)]);
    let told = || webhooks.on_deliver(&delivery(&["alice@x.test"])).into_iter().map(|job| job.kind).collect::<Vec<_>>();
    assert_eq!(told(), ["webhook:gone", "webhook:well"]);
    assert!(webhooks.set_behind(0, true) && !webhooks.set_behind(0, true), "it is news once");
    assert_eq!((told(), webhooks.left_out()), (vec!["webhook:well".to_owned()], 1));
    assert!(webhooks.set_behind(0, false));
    assert_eq!((told().len(), webhooks.left_out()), (2, 1));
    assert!(!webhooks.set_behind(9, true), "there is no such target");
}

#[test]
fn a_note_reads_back_and_has_one_id_for_all_targets() {
    let webhooks = Webhooks::new(vec![wanting("a", &["*"], &Event::ALL), wanting("b", &["*"], &Event::ALL)]);
    let jobs = webhooks.on_deliver(&delivery(&["alice@x.test", "bob@x.test"]));
    let notes: Vec<_> = jobs.iter().map(|job| Note::read(&job.payload).unwrap()).collect();
    assert_eq!(notes.len(), 4);
    assert_eq!((&notes[0], &notes[2]), (&notes[1], &notes[3]));
    assert_ne!(notes[0].id, notes[2].id);
    assert_eq!(notes[0].summary.as_ref().unwrap().subject, "hello");
    assert_eq!((jobs[0].lane.as_deref(), jobs[0].if_full), (Some("alice"), IfFull::LeaveOut));
    assert_eq!((target(&jobs[1].kind), notes[3].mailbox.as_str()), (Some("b"), "bob"));
    let deleted = Note::read(&webhooks.on(Event::Delete, &named("bob"), AT)[0].payload).unwrap();
    assert_eq!((deleted.event, deleted.at, deleted.summary), (Event::Delete, AT, None));
}

#[test]
fn what_another_version_wrote_is_not_guessed_at() {
    let webhooks = Webhooks::new(vec![wanting("a", &["*"], &Event::ALL)]);
    let mut payload = webhooks.on(Event::Purge, &named("bob"), AT)[0].payload.to_vec();
    payload[0] = 9;
    for other in [&payload[..], b"", b"\x01", &[0xff; 64]] {
        assert_eq!(Note::read(other), None);
    }
}
