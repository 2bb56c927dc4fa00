//! The outbox: jobs leave with mail, are taken under a lease, and end done or dead.

use std::time::Duration;

use futures_util::future::join_all;

use crate::change::{Filed, Position};
use crate::outbox::{Handback, Job, Lease, NewJob};

use super::letter::{Letter, job, mailbox};
use super::trial::{Desk, Trial};

const LEASE: Duration = Duration::from_secs(60);

async fn take(desk: &Desk, limit: usize) -> Vec<Job> {
    desk.store.outbox().take("suite", limit, LEASE).await.expect("jobs are taken")
}

async fn take_one(desk: &Desk) -> Job {
    let mut taken = take(desk, 1).await;
    assert_eq!(taken.len(), 1, "one job can be taken");
    taken.remove(0)
}

async fn done(desk: &Desk, lease: Lease) -> Handback {
    desk.store.outbox().done(lease).await.expect("a job is handed back")
}

async fn dead(desk: &Desk, lease: Lease, reason: &str) -> Handback {
    desk.store.outbox().dead(lease, reason).await.expect("a job is handed back")
}

async fn retry(desk: &Desk, lease: Lease, seconds: i64) -> Handback {
    desk.store.outbox().retry(lease, desk.in_seconds(seconds)).await.expect("a job is handed back")
}

async fn send_jobs(desk: &Desk, payloads: &[&'static str]) {
    for payload in payloads {
        desk.append(Letter::new(*payload, &["ann"]).job(job("suite", payload))).await;
    }
}

fn payloads(jobs: &[Job]) -> Vec<String> {
    jobs.iter().map(|job| String::from_utf8_lossy(&job.payload).into_owned()).collect()
}

/// Jobs come with the append, delete or purge that carried them, and name its messages; a purge's names none.
pub(super) async fn jobs_ride_with_mail(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let letter = Letter::new("1", &["ann", "bob"]).job(job("suite", "append")).job(job("suite", "append too"));
    let ids = desk.append(letter).await;
    let deleted = desk.store.delete(&mailbox("ann"), &ids[..1], vec![job("suite", "delete")]).await;
    assert_eq!(deleted.expect("a delete is answered").len(), 1);
    let purged = desk.store.purge(&mailbox("bob"), Position::END, vec![job("suite", "purge")]).await;
    assert_eq!(purged.expect("a purge is answered"), 1);
    assert_eq!(desk.waiting("suite").await, 4);
    let taken = take(&desk, 10).await;
    assert_eq!(payloads(&taken), ["append", "append too", "delete", "purge"]);
    let ann = Filed { mailbox: mailbox("ann"), id: ids[0] };
    let both = vec![ann.clone(), Filed { mailbox: mailbox("bob"), id: ids[1] }];
    assert_eq!(taken[0].messages, both);
    assert_eq!(taken[1].messages, both);
    assert_eq!(taken[2].messages, [ann]);
    assert!(taken[3].messages.is_empty());
}

/// Jobs are taken oldest first, those of one kind only, no more than asked, and none twice.
pub(super) async fn jobs_are_taken_oldest_first(trial: &Trial<'_>) {
    let desk = trial.open().await;
    desk.append(Letter::new("other", &["ann"]).job(job("other", "0"))).await;
    send_jobs(&desk, &["1", "2", "3"]).await;
    let first = take(&desk, 2).await;
    assert_eq!(payloads(&first), ["1", "2"]);
    assert!(first.iter().all(|job| job.attempts == 0 && job.kind == "suite"));
    assert_eq!(payloads(&take(&desk, 2).await), ["3"]);
    assert!(take(&desk, 2).await.is_empty());
    assert_eq!((desk.waiting("suite").await, desk.waiting("other").await, desk.waiting("none").await), (3, 1, 0));
}

/// A job is not taken before its time.
pub(super) async fn jobs_wait_until_their_time(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let later = NewJob { not_before: Some(desk.in_seconds(60)), ..job("suite", "later") };
    desk.append(Letter::new("1", &["ann"]).job(job("suite", "now")).job(later)).await;
    assert_eq!(payloads(&take(&desk, 2).await), ["now"]);
    trial.pass(59);
    assert!(take(&desk, 2).await.is_empty());
    trial.pass(1);
    assert_eq!(payloads(&take(&desk, 2).await), ["now", "later"], "the oldest first, its lease has run out");
}

/// A job not given back within its lease is taken again, and says how often it was taken.
pub(super) async fn jobs_come_back_after_their_lease(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send_jobs(&desk, &["1"]).await;
    for attempts in 0..3 {
        let job = take_one(&desk).await;
        assert_eq!(job.attempts, attempts);
        trial.pass(59);
        assert!(take(&desk, 1).await.is_empty());
        trial.pass(1);
    }
    assert_eq!(desk.waiting("suite").await, 1);
}

/// A lease that somebody else has taken over, or that was handed back before, neither ends nor moves the job.
pub(super) async fn late_handback_changes_nothing(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send_jobs(&desk, &["1"]).await;
    let late = take_one(&desk).await.lease;
    trial.pass(60);
    let held = take_one(&desk).await.lease;
    assert_eq!(done(&desk, late).await, Handback::Late);
    assert_eq!(dead(&desk, late, "late").await, Handback::Late);
    assert_eq!(retry(&desk, late, 0).await, Handback::Late);
    assert!(take(&desk, 1).await.is_empty(), "it is still held by the other");
    assert!(desk.store.outbox().dead_jobs("suite", 10).await.expect("the dead are listed").is_empty());
    assert_eq!(retry(&desk, held, 0).await, Handback::Taken);
    assert_eq!(done(&desk, held).await, Handback::Late, "it was handed back");
    let again = take_one(&desk).await;
    assert_eq!((again.attempts, done(&desk, again.lease).await), (2, Handback::Taken));
    assert_eq!(done(&desk, again.lease).await, Handback::Late, "it is gone");
}

/// Work that took longer than its lease still counts when nobody else has begun it.
pub(super) async fn lapsed_lease_holds_until_retaken(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send_jobs(&desk, &["1"]).await;
    let job = take_one(&desk).await;
    trial.pass(1_000);
    assert_eq!(done(&desk, job.lease).await, Handback::Taken);
    assert_eq!((take(&desk, 1).await.len(), desk.waiting("suite").await), (0, 0));
}

/// A job done is gone; a job dead is kept among the dead of its kind, newest first, and not taken again.
pub(super) async fn jobs_end_done_or_dead(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send_jobs(&desk, &["1", "2", "3"]).await;
    let jobs = take(&desk, 3).await;
    assert_eq!(done(&desk, jobs[0].lease).await, Handback::Taken);
    assert_eq!(desk.waiting("suite").await, 2);
    assert_eq!(dead(&desk, jobs[1].lease, "no such host").await, Handback::Taken);
    assert_eq!(dead(&desk, jobs[2].lease, "refused").await, Handback::Taken);
    assert_eq!(desk.waiting("suite").await, 0);
    let buried = desk.store.outbox().dead_jobs("suite", 10).await.expect("the dead are listed");
    let told: Vec<_> = buried.iter().map(|job| (&job.payload[..], job.reason.as_str())).collect();
    assert_eq!(told, [(&b"3"[..], "refused"), (b"2", "no such host")]);
    assert_eq!(desk.store.outbox().dead_jobs("suite", 1).await.expect("the dead are listed").len(), 1);
    assert!(desk.store.outbox().dead_jobs("other", 10).await.expect("the dead are listed").is_empty());
}

/// A job to be retried is taken again from its time on, not earlier, though its lease was longer.
pub(super) async fn jobs_are_retried(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send_jobs(&desk, &["1", "2"]).await;
    let job = take_one(&desk).await;
    assert_eq!(retry(&desk, job.lease, 30).await, Handback::Taken);
    assert_eq!(payloads(&take(&desk, 2).await), ["2"]);
    trial.pass(29);
    assert!(take(&desk, 2).await.is_empty());
    trial.pass(1);
    let again = take_one(&desk).await;
    assert_eq!((&again.payload[..], again.attempts), (&b"1"[..], 1));
}

/// Several takers at once get each job once between them.
pub(super) async fn racing_takers_share_the_jobs(trial: &Trial<'_>) {
    let desk = trial.open().await;
    for round in 0..40 {
        desk.append(Letter::new(format!("{round}"), &["ann"]).job(job("suite", "shared"))).await;
    }
    let takers = (0..6).map(|_| {
        let desk = desk.clone();
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let jobs = take(&desk, 3).await;
                if jobs.is_empty() {
                    return taken;
                }
                for job in jobs {
                    assert_eq!(done(&desk, job.lease).await, Handback::Taken);
                    taken.push(job.lease.job);
                }
            }
        })
    });
    let taken = join_all(takers.collect::<Vec<_>>()).await;
    let mut taken: Vec<_> = taken.into_iter().flat_map(|taken| taken.expect("no taker panics")).collect();
    taken.sort();
    taken.dedup();
    assert_eq!((taken.len(), desk.waiting("suite").await), (40, 0));
}

/// A crash between any two steps of a job loses it never, and never brings back one that was done or is dead.
pub(super) async fn jobs_survive_stops(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send_jobs(&desk, &["done", "dead", "retry"]).await;
    let desk = trial.reopen(desk).await;
    assert_eq!(desk.waiting("suite").await, 3, "stopped behind the append");
    let before = take(&desk, 3).await;
    assert_eq!(payloads(&before), ["done", "dead", "retry"]);
    let desk = trial.reopen(desk).await;
    trial.pass(60);
    let jobs = take(&desk, 3).await;
    assert_eq!(payloads(&jobs), ["done", "dead", "retry"], "stopped behind the taking");
    assert_eq!(done(&desk, before[0].lease).await, Handback::Late, "a lease from before the stop");
    assert_eq!(done(&desk, jobs[0].lease).await, Handback::Taken);
    let desk = trial.reopen(desk).await;
    assert_eq!(desk.waiting("suite").await, 2, "stopped behind `done`");
    assert_eq!(dead(&desk, jobs[1].lease, "why not").await, Handback::Taken, "a lease held over the stop");
    let desk = trial.reopen(desk).await;
    assert_eq!(desk.waiting("suite").await, 1, "stopped behind `dead`");
    assert_eq!(desk.store.outbox().dead_jobs("suite", 10).await.expect("the dead are listed").len(), 1);
    assert_eq!(retry(&desk, jobs[2].lease, 30).await, Handback::Taken);
    let desk = trial.reopen(desk).await;
    assert!(take(&desk, 1).await.is_empty(), "stopped behind `retry`");
    trial.pass(30);
    assert_eq!(take_one(&desk).await.attempts, 2);
}
