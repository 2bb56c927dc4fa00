//! Lanes: of each, one job at a time and always the oldest, whatever happens to it; and jobs that come without mail or
//! come back from the dead.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;

use crate::change::Filed;
use crate::outbox::{Handback, Job, JobId, NewJob};

use super::letter::{Letter, job, mailbox};
use super::trial::{Desk, Trial};

const LEASE: Duration = Duration::from_secs(60);

/// Jobs told as `lane payload`; those of no lane have a `-`.
async fn send(desk: &Desk, jobs: &[&'static str]) {
    for told in jobs {
        desk.append(Letter::new(*told, &["ann"]).job(of(told))).await;
    }
}

fn of(told: &'static str) -> NewJob {
    match told.split_once(' ').expect("a lane and a payload") {
        ("-", payload) => job("suite", payload),
        (lane, payload) => job("suite", payload).in_lane(lane),
    }
}

async fn take(desk: &Desk) -> Vec<Job> {
    desk.store.outbox().take("suite", 100, LEASE).await.expect("jobs are taken")
}

async fn done(desk: &Desk, job: &Job) {
    assert_eq!(desk.store.outbox().done(job.lease).await.expect("a job is handed back"), Handback::Taken);
}

async fn retry(desk: &Desk, job: &Job, seconds: i64) {
    let retried = desk.store.outbox().retry(job.lease, desk.in_seconds(seconds)).await;
    assert_eq!(retried.expect("a job is handed back"), Handback::Taken);
}

async fn bury(desk: &Desk, job: &Job) {
    let buried = desk.store.outbox().dead(job.lease, "no such host").await;
    assert_eq!(buried.expect("a job is handed back"), Handback::Taken);
}

fn told(jobs: &[Job]) -> Vec<String> {
    let tell = |job: &Job| format!("{} {}", job.lane.as_deref().unwrap_or("-"), String::from_utf8_lossy(&job.payload));
    jobs.iter().map(tell).collect()
}

/// Of each lane the oldest is taken, and the next when that is done; jobs of no lane wait for nobody.
pub(super) async fn lanes_are_done_in_order(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send(&desk, &["ann 1", "ann 2", "bob 1", "- 1", "ann 3", "- 2"]).await;
    let first = take(&desk).await;
    assert_eq!(told(&first), ["ann 1", "bob 1", "- 1", "- 2"]);
    assert!(take(&desk).await.is_empty());
    assert_eq!(desk.waiting("suite").await, 6, "those that stand behind another one wait as well");
    done(&desk, &first[0]).await;
    let second = take(&desk).await;
    assert_eq!(told(&second), ["ann 2"]);
    send(&desk, &["bob 2"]).await;
    assert!(take(&desk).await.is_empty());
    for job in [&second[0], &first[1]] {
        done(&desk, job).await;
    }
    assert_eq!(told(&take(&desk).await), ["ann 3", "bob 2"]);
}

/// The first of a lane holds up the others while it is not to be taken yet, while its lease has run out, and while it is
/// put off; once it is dead they go on.
pub(super) async fn lanes_wait_for_the_first(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let later = of("ann 1").not_before(desk.in_seconds(10));
    desk.append(Letter::new("1", &["ann"]).job(later)).await;
    send(&desk, &["ann 2", "ann 3"]).await;
    assert!(take(&desk).await.is_empty(), "not before its time");
    trial.pass(10);
    assert_eq!(told(&take(&desk).await), ["ann 1"]);
    trial.pass(60);
    let again = take(&desk).await;
    assert_eq!(told(&again), ["ann 1"], "its lease has run out");
    retry(&desk, &again[0], 30).await;
    assert!(take(&desk).await.is_empty(), "it is put off");
    trial.pass(30);
    let again = take(&desk).await;
    assert_eq!((told(&again), again[0].attempts), (vec!["ann 1".to_owned()], 2));
    bury(&desk, &again[0]).await;
    let second = take(&desk).await;
    assert_eq!(told(&second), ["ann 2"]);
    trial.pass(60);
    assert_eq!(told(&take(&desk).await), ["ann 2"]);
}

/// A lane of the same name of another kind is another lane.
pub(super) async fn lanes_of_other_kinds_are_others(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let letter = Letter::new("1", &["ann"]).job(of("ann 1")).job(job("other", "1").in_lane("ann")).job(of("ann 2"));
    desk.append(letter).await;
    assert_eq!(told(&take(&desk).await), ["ann 1"]);
    let other = desk.store.outbox().take("other", 10, LEASE).await.expect("jobs are taken");
    assert_eq!(told(&other), ["ann 1"]);
}

/// A crash between any two steps leaves each lane in its order.
pub(super) async fn lanes_keep_their_order_over_stops(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send(&desk, &["ann 1", "ann 2", "ann 3"]).await;
    let desk = trial.reopen(desk).await;
    assert_eq!(told(&take(&desk).await), ["ann 1"], "stopped behind the append");
    let desk = trial.reopen(desk).await;
    let taken = take(&desk).await;
    assert!(taken.is_empty() || told(&taken) == ["ann 1"], "stopped behind the taking, which may end with its process");
    trial.pass(60);
    let again = take(&desk).await;
    assert_eq!(told(&again), ["ann 1"]);
    retry(&desk, &again[0], 30).await;
    let desk = trial.reopen(desk).await;
    assert!(take(&desk).await.is_empty(), "stopped behind `retry`");
    trial.pass(30);
    let again = take(&desk).await;
    assert_eq!(told(&again), ["ann 1"]);
    done(&desk, &again[0]).await;
    let desk = trial.reopen(desk).await;
    let second = take(&desk).await;
    assert_eq!(told(&second), ["ann 2"], "stopped behind `done`");
    bury(&desk, &second[0]).await;
    let desk = trial.reopen(desk).await;
    assert_eq!(told(&take(&desk).await), ["ann 3"], "stopped behind `dead`");
}

/// Several takers at once never have two jobs of a lane between them, and each lane comes in its order.
pub(super) async fn racing_takers_keep_the_order_of_lanes(trial: &Trial<'_>) {
    const EACH: u8 = 12;
    let desk = trial.open().await;
    for number in 0..EACH {
        let jobs = ["ann", "bob", "cat"].map(|lane| NewJob::new("suite", vec![number]).in_lane(lane));
        let letter = jobs.into_iter().fold(Letter::new(format!("{number}"), &["ann"]), Letter::job);
        desk.append(letter).await;
    }
    let seen: Arc<Mutex<Vec<(String, u8)>>> = Arc::default();
    let takers = (0..5).map(|_| {
        let (desk, seen) = (desk.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            while desk.waiting("suite").await > 0 {
                let jobs = desk.store.outbox().take("suite", 2, LEASE).await.expect("jobs are taken");
                for job in jobs {
                    let lane = job.lane.clone().expect("it has a lane");
                    seen.lock().expect("no taker panics").push((lane, job.payload[0]));
                    tokio::task::yield_now().await;
                    done(&desk, &job).await;
                }
                // In vain perhaps, because the others have them.
                tokio::task::yield_now().await;
            }
        })
    });
    join_all(takers.collect::<Vec<_>>()).await.into_iter().for_each(|taker| taker.expect("no taker panics"));
    let seen = seen.lock().expect("no taker panics");
    for lane in ["ann", "bob", "cat"] {
        let order: Vec<_> = seen.iter().filter(|(of, _)| of == lane).map(|(_, number)| *number).collect();
        assert_eq!(order, (0..EACH).collect::<Vec<_>>(), "{lane}");
    }
}

/// A long lane holds up nobody: all the others can be taken, however they lie.
pub(super) async fn many_lanes_and_a_long_one(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let mut letter = Letter::new("1", &["ann"]);
    for number in 0..40 {
        letter = letter.job(job("suite", "long").in_lane("long")).job(job("suite", "1").in_lane(format!("{number}")));
    }
    desk.append(letter).await;
    let taken = take(&desk).await;
    assert_eq!((taken.len(), told(&taken[..1])), (41, vec!["long long".to_owned()]));
    for job in &taken {
        done(&desk, job).await;
    }
    assert_eq!((told(&take(&desk).await), desk.waiting("suite").await), (vec!["long long".to_owned()], 39));
}

/// Jobs can be written without mail: they name no message and are taken like the others.
pub(super) async fn submitted_jobs_need_no_mail(trial: &Trial<'_>) {
    let desk = trial.open().await;
    let ids = desk.store.outbox().submit(vec![of("ann 1"), of("- 2"), of("ann 3")]).await.expect("jobs are written");
    let taken = take(&desk).await;
    assert_eq!(told(&taken), ["ann 1", "- 2"]);
    assert_eq!(taken.iter().map(|job| job.lease.job).collect::<Vec<_>>(), ids[..2]);
    assert!(ids.len() == 3 && taken.iter().all(|job| job.messages.is_empty() && job.attempts == 0));
    let none = desk.store.outbox().submit(Vec::new()).await.expect("nothing is written");
    assert_eq!((none.len(), desk.waiting("suite").await), (0, 3));
}

/// A dead job waits again at the end of its lane, as it was written and never taken; and it is among the dead no more.
pub(super) async fn the_dead_come_back(trial: &Trial<'_>) {
    let desk = trial.open().await;
    send(&desk, &["ann 1"]).await;
    retry(&desk, &take(&desk).await[0], 0).await;
    let first = take(&desk).await;
    bury(&desk, &first[0]).await;
    send(&desk, &["ann 2"]).await;
    let outbox = desk.store.outbox();
    let dead = outbox.dead_jobs("suite", 10).await.expect("the dead are listed").remove(0);
    assert_eq!((dead.id, dead.attempts, dead.lane.as_deref()), (first[0].lease.job, 2, Some("ann")));
    let filed = vec![Filed { mailbox: mailbox("ann"), id: desk.ids("ann").await[0] }];
    assert_eq!((&dead.messages, &dead.payload[..], dead.reason.as_str()), (&filed, &b"1"[..], "no such host"));
    assert_eq!(outbox.dead_job(dead.id).await.expect("the dead are found"), Some(dead.clone()));
    let revived = outbox.revive(dead.id).await.expect("a dead job comes back").expect("it is among the dead");
    assert_eq!(outbox.dead_job(dead.id).await.expect("the dead are found"), None);
    assert_eq!(outbox.revive(dead.id).await.expect("it is answered"), None, "once");
    assert_eq!(outbox.revive(JobId(7)).await.expect("it is answered"), None);
    assert!(outbox.dead_jobs("suite", 10).await.expect("the dead are listed").is_empty());
    let second = take(&desk).await;
    assert_eq!(told(&second), ["ann 2"], "it was written before");
    done(&desk, &second[0]).await;
    let again = take(&desk).await;
    assert_eq!((told(&again), again[0].attempts, again[0].lease.job), (vec!["ann 1".to_owned()], 0, revived));
    assert_eq!(again[0].messages, filed);
    bury(&desk, &again[0]).await;
    assert_eq!(outbox.dead_job(revived).await.expect("the dead are found").map(|job| job.attempts), Some(1));
}
