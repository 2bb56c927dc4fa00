//! What was begun and not finished, at every point where a process can die, and who finishes it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mail::MessageId;
use store::conformance::Letter;
use store::{Clock as _, Filed, NewJob, Position, Store, SystemClock};

use super::rig::{self, append, mailbox, open, send, subjects, until};
use crate::Jetstream;
use crate::bodies::Packed;
use crate::names::Deed;
use crate::record::{Errand, Gone, Intent, JobLine, Line, What};
use crate::wire::{Outgoing, Pick};

/// Mailboxes that lie in different shards of four.
const APART: [&str; 3] = ["ann", "dan", "eve"];

/// A delivery that was written down, and nothing more.
async fn begun(store: &Jetstream, subject: &str, jobs: Vec<JobLine>) -> (Intent, (usize, u64)) {
    let office = &store.parts.office;
    let sorted = Letter::new(subject, &APART).delivery(SystemClock.now()).sort();
    let packed = Packed::new(sorted.raw, sorted.envelope).await;
    let deed = Deed::new();
    let line = |(to, summary)| Line::new(deed, &to, summary, packed.at(0, 0));
    let lines = sorted.copies.into_iter().map(line).collect();
    let what = What::Deliver { lines, body: None, done: Vec::new() };
    let intent = Intent { deed: deed.0, begun_at: Timestamp::now().as_microsecond(), what, jobs };
    let at = office.put_intent(deed, Some(&packed), &intent, office.patience()).await.expect("it is written down");
    (intent, at)
}

/// Do the first so many parts of a delivery, as a process would that dies then.
async fn do_parts(store: &Jetstream, intent: &Intent, at: (usize, u64), parts: u32) -> Vec<u64> {
    let What::Deliver { lines, .. } = &intent.what else { panic!("it is a delivery") };
    let mut first = lines.clone();
    first.truncate(parts as usize);
    // Parts are numbered by shard, and each of these mailboxes has a shard of its own.
    first.sort_by_key(|line| store.parts.office.place_of(line).shard);
    let body = crate::record::BodyRef { shard: at.0 as u32, seq: at.1 - 1, ..lines[0].body };
    let done = store.parts.finish_delivery(Deed(intent.deed), first, body, &[], store.parts.office.patience()).await;
    done.expect("the parts are done")
}

async fn copies(store: &Jetstream) -> Vec<usize> {
    let mut copies = Vec::new();
    for name in APART {
        copies.push(subjects(store, name).await.len());
    }
    copies
}

async fn intents(store: &Jetstream) -> usize {
    let office = &store.parts.office;
    let mut found = 0;
    for shard in 0..office.settings.body_shards {
        let (stream, subject) = (office.names.bodies(shard), office.names.intents(shard));
        let mut next = 1;
        while let Some(raw) = office.link.leader_has(&stream, Pick::Next(&subject, next)).await.expect("it is answered")
        {
            (found, next) = (found + 1, raw.seq + 1);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mailboxes_of_these_tests_lie_apart() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let shards = APART.map(|name| store.parts.office.names.place(&mailbox(name)).shard);
    assert!(shards[0] != shards[1] && shards[1] != shards[2] && shards[0] != shards[2], "{shards:?}");
}

/// A process that dies once a delivery is written down leaves it to the others, jobs included.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f21_a_delivery_that_was_only_begun_is_finished_by_another_node() {
    let Some(settings) = rig::settings() else { return };
    let (dying, other) = (open(&settings).await, open(&settings).await);
    let job = JobLine::new(NewJob::new("suite", "done"));
    begun(&dying, "begun", vec![job]).await;
    drop(dying);
    until(Duration::from_secs(30), "it is in every mailbox", async || copies(&other).await == [1, 1, 1]).await;
    until(Duration::from_secs(10), "the intent is gone", async || intents(&other).await == 0).await;
    let jobs = other.outbox().take("suite", 10, Duration::from_secs(60)).await.expect("jobs are taken");
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].messages.len(), 3);
    for filed in &jobs[0].messages {
        let stored = other.read(&filed.mailbox, filed.id).await.expect("a read is answered");
        assert_eq!(stored.expect("its message is there").raw, Letter::new("begun", &APART).raw());
    }
}

/// Whatever part was done before, finishing adds what is missing and nothing else; by several at once, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_are_done_once_whoever_does_them() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    for done in 0..=3 {
        let (intent, at) = begun(&store, &format!("after {done}"), Vec::new()).await;
        // A part is known by its number: those done here are the first ones.
        if done > 0 {
            let What::Deliver { lines, .. } = &intent.what else { panic!("it is a delivery") };
            let body = crate::record::BodyRef { shard: at.0 as u32, seq: at.1 - 1, ..lines[0].body };
            let patience = store.parts.office.patience();
            let once = store.parts.finish_delivery(Deed(intent.deed), lines.clone(), body, &[], patience).await;
            once.expect("all parts are done");
        }
        let finishing = (0..3).map(|_| store.parts.finish(&intent, at, store.parts.office.patience()));
        let answers = futures_util::future::join_all(finishing).await;
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.expect("it is finished")).collect();
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "everybody is told the same ids: {answers:?}");
        assert_eq!(copies(&store).await, [done + 1; 3]);
        for (name, seq) in APART.iter().zip(&answers[0]) {
            let stored = store.read(&mailbox(name), MessageId::new(*seq)).await.expect("a read is answered");
            assert_eq!(stored.expect("it is there").summary.subject, format!("after {done}"));
        }
    }
}

/// A copy that a user deleted does not come back when somebody finishes the delivery later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_deleted_meanwhile_stays_deleted() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let (intent, at) = begun(&store, "deleted", Vec::new()).await;
    let ids = store.parts.finish(&intent, at, store.parts.office.patience()).await.expect("it is finished");
    store.delete(&mailbox("ann"), &[MessageId::new(ids[0])], Vec::new()).await.expect("a delete is answered");
    store.purge(&mailbox("dan"), Position::END, Vec::new()).await.expect("a purge is answered");
    assert_eq!(store.parts.finish(&intent, at, store.parts.office.patience()).await.expect("it is finished"), ids);
    assert_eq!(copies(&store).await, [0, 0, 1]);
}

/// Guards live for an hour. A delivery older than that looks for itself before it writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_delivery_looks_for_itself_first() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let (mut intent, at) = begun(&store, "old", Vec::new()).await;
    store.parts.finish(&intent, at, store.parts.office.patience()).await.expect("it is finished");
    let office = &store.parts.office;
    for shard in 0..settings.shards {
        let (stream, guards) = (office.names.summaries(shard), office.names.guards(shard));
        office.link.remove_before(&stream, &guards, u64::MAX >> 1).await.expect("the guards go");
    }
    intent.begun_at = (Timestamp::now() - SignedDuration::from_hours(2)).as_microsecond();
    store.parts.take_up(at.0, at.1, intent).await;
    assert_eq!(copies(&store).await, [1, 1, 1]);
}

/// How far a delivery came is written down, and what is written down is not done again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_written_down() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let (intent, at) = begun(&store, "slow", Vec::new()).await;
    do_parts(&store, &intent, at, 0).await;
    store.parts.note_progress(at, intent, vec![(0, 7)], store.parts.office.patience()).await;
    until(Duration::from_secs(5), "only the new intent is there", async || intents(&store).await == 1).await;
    until(Duration::from_secs(30), "the rest is done", async || copies(&store).await.iter().sum::<usize>() == 2).await;
}

/// A delete whose process died behind the mark is ended by the next look at the mailbox, for every way of looking.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delete_under_way_is_ended_by_whoever_looks() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let (first, _second) = (send(&store, "1", "ann").await, send(&store, "2", "ann").await);
    let office = &store.parts.office;
    let place = office.names.place(&mailbox("ann"));
    let buried = office.bury(Deed::new(), &mailbox("ann"), &place, vec![first.number()], office.patience()).await;
    assert_eq!(buried.expect("it is buried").0, [first.number()]);
    assert_eq!(subjects(&store, "ann").await, ["2"]);
    assert!(store.read(&mailbox("ann"), first).await.expect("a read is answered").is_none(), "not for readers either");

    let mark = office.mark(Deed::new(), &mailbox("ann"), &place, Gone::UpTo(u64::MAX >> 8));
    let at = office.link.publish(mark).await.expect("the mark is stored").seq;
    assert!(subjects(&store, "ann").await.is_empty());
    let stream = office.names.summaries(place.shard);
    let left =
        office.link.leader_has(&stream, Pick::Next(&office.names.mail(&place), 1)).await.expect("it is answered");
    assert_eq!(left.map(|raw| raw.seq).filter(|seq| *seq < at), None, "the lines are gone");
}

/// A write whose answer was lost is not done twice: the id, the guard and the grave each tell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f19_a_second_attempt_finds_the_first() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let office = &store.parts.office;
    let subject = office.names.mail(&office.names.place(&mailbox("ann")));
    let message = || Outgoing::new(subject.clone(), Bytes::from_static(b"x")).id("once");
    let first = office.link.publish(message()).await.expect("it is stored");
    let second = office.link.publish(message()).await.expect("it was stored");
    assert_eq!((second.seq, first.duplicate, second.duplicate), (first.seq, false, true));

    let id = send(&store, "1", "bob").await;
    let (deed, place) = (Deed::new(), office.names.place(&mailbox("bob")));
    let bob = mailbox("bob");
    let bury = || office.bury(deed, &bob, &place, vec![id.number()], office.patience());
    let once = bury().await.expect("it is buried");
    assert_eq!(bury().await.expect("it was buried"), once, "the same deed finds its own grave");
    let other = office.bury(Deed::new(), &bob, &place, vec![id.number()], office.patience()).await;
    assert!(other.expect("it is answered").0.is_empty(), "another deed finds it taken");
}

/// Deletes and purges with jobs are one step too, and those that find nothing leave no job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removals_carry_their_jobs_once() {
    let Some(settings) = rig::settings() else { return };
    let store = open(&settings).await;
    let id = send(&store, "1", "ann").await;
    let job = |payload: &'static str| vec![NewJob::new("suite", payload)];
    let deleting = (0..4).map(|_| {
        let store = Arc::clone(&store);
        async move { store.delete(&mailbox("ann"), &[id], job("deleted")).await.expect("a delete is answered").len() }
    });
    let winners: usize = futures_util::future::join_all(deleting).await.into_iter().sum();
    assert_eq!(winners, 1);
    assert_eq!(store.outbox().waiting("suite").await.expect("jobs are counted"), 1);
    append(&store, &Letter::new("2", &["ann"])).await;
    assert_eq!(store.purge(&mailbox("ann"), Position::END, job("purged")).await.expect("a purge is answered"), 1);
    assert_eq!(store.purge(&mailbox("ann"), Position::END, job("purged")).await.expect("a purge is answered"), 0);
    assert_eq!(store.outbox().waiting("suite").await.expect("jobs are counted"), 2);
}

/// Mail with a job that a process stored before it died: neither is lost, and the job is not written.
async fn stored_only(store: &Jetstream, subject: &str) -> u64 {
    let office = &store.parts.office;
    let sorted = Letter::new(subject, &["ann"]).delivery(SystemClock.now()).sort();
    let packed = Packed::new(sorted.raw, sorted.envelope).await;
    let (deed, patience) = (Deed::new(), office.patience());
    let body = office.put_body(&packed, deed, patience).await.expect("the body is stored");
    let (to, summary) = sorted.copies.into_iter().next().expect("one copy");
    let line = Line::new(deed, &to, summary, body);
    let jobs = vec![JobLine::new(NewJob::new("suite", subject.to_owned()).in_lane("ann"))];
    let errand = Errand { deed: deed.0, mailbox: "ann".to_owned(), jobs };
    office.put_errand(&errand, &line, patience).await.expect("it is stored") + 1
}

fn with_job(subject: &'static str) -> Letter {
    Letter::new(subject, &["ann"]).job(NewJob::new("suite", subject).in_lane("ann"))
}

/// Take and finish the jobs of the lane one by one until there are so many.
async fn in_turn(store: &Jetstream, count: usize) -> Vec<String> {
    let mut told = Vec::new();
    until(Duration::from_secs(20), "all jobs come", async || {
        for job in store.outbox().take("suite", 10, Duration::from_secs(60)).await.expect("jobs are taken") {
            told.push(String::from_utf8_lossy(&job.payload).into_owned());
            store.outbox().done(job.lease).await.expect("a job is handed back");
        }
        told.len() >= count
    })
    .await;
    told
}

/// A process that dies behind the commit of mail leaves its jobs to the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f21_jobs_of_mail_that_was_only_stored_are_written_by_another_node() {
    let Some(settings) = rig::settings() else { return };
    let (dying, other) = (open(&settings).await, open(&settings).await);
    // It has looked for what was there before it.
    assert_eq!(other.outbox().waiting("suite").await.expect("jobs are counted"), 0);
    let id = stored_only(&dying, "stored").await;
    drop(dying);
    until(Duration::from_secs(20), "its job is there", async || {
        other.outbox().waiting("suite").await.expect("jobs are counted") == 1
    })
    .await;
    let jobs = other.outbox().take("suite", 10, Duration::from_secs(60)).await.expect("jobs are taken");
    assert_eq!(jobs[0].messages, [Filed { mailbox: mailbox("ann"), id: MessageId::new(id) }]);
    assert_eq!(subjects(&other, "ann").await, ["stored"]);
    let last = open(&settings).await;
    assert_eq!(last.outbox().waiting("suite").await.expect("jobs are counted"), 1, "it is there once");
}

/// Whoever writes the job of later mail writes that of earlier mail first, whosever it is; so does who deletes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_written_in_the_order_of_their_mailbox() {
    let Some(settings) = rig::settings() else { return };
    let (one, two) = (open(&settings).await, open(&settings).await);
    assert_eq!(two.outbox().waiting("suite").await.expect("jobs are counted"), 0);
    stored_only(&one, "1").await;
    append(&two, &with_job("2")).await;
    let third = stored_only(&one, "3").await;
    let jobs = vec![NewJob::new("suite", "deleted 3").in_lane("ann")];
    let gone = Store::delete(&*two, &mailbox("ann"), &[MessageId::new(third)], jobs).await.expect("it is answered");
    assert_eq!(gone.len(), 1);
    stored_only(&one, "4").await;
    let shared = Letter::new("5", &APART).job(NewJob::new("suite", "5").in_lane("ann"));
    append(&two, &shared).await;
    assert_eq!(in_turn(&two, 6).await, ["1", "2", "3", "deleted 3", "4", "5"]);
}

/// Many at once, on two nodes, into one mailbox: the jobs come in the order of the mail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_mail_that_comes_at_once_are_in_the_order_of_its_ids() {
    let Some(settings) = rig::settings() else { return };
    let nodes = [open(&settings).await, open(&settings).await];
    let sending = (0..40).map(|number| {
        let (node, letter) = (Arc::clone(&nodes[number % 2]), with_job("at once"));
        tokio::spawn(async move { append(&node, &letter).await })
    });
    for sent in sending.collect::<Vec<_>>() {
        sent.await.expect("no sender panics");
    }
    let mut ids = Vec::new();
    until(Duration::from_secs(30), "all jobs come", async || {
        for job in nodes[0].outbox().take("suite", 10, Duration::from_secs(60)).await.expect("jobs are taken") {
            ids.push(job.messages[0].id);
            nodes[0].outbox().done(job.lease).await.expect("a job is handed back");
        }
        ids.len() >= 40
    })
    .await;
    assert!(ids.is_sorted() && ids.len() == 40, "{ids:?}");
}
