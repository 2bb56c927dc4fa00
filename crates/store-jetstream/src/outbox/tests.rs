//! What the suite of all engines does not ask: several nodes, lost answers, many jobs, no room.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use mail::{Mailbox, MessageId};
use store::outbox::{Handback, Outbox as _};
use store::{Error, Filed, Job, JobId, NewJob};

use super::Outbox;
use crate::names::Deed;
use crate::record::JobLine;
use crate::registry::rig::{Rig, Wire};

const LEASE: Duration = Duration::from_secs(60);

fn jobs(payloads: &[&str]) -> Vec<JobLine> {
    payloads.iter().map(|payload| JobLine::new(NewJob::new("tests", payload.as_bytes().to_vec()))).collect()
}

fn numbered(count: usize) -> Vec<JobLine> {
    let payloads: Vec<_> = (0..count).map(|number| number.to_string()).collect();
    jobs(&payloads.iter().map(String::as_str).collect::<Vec<_>>())
}

async fn write(outbox: &Outbox, deed: Deed, jobs: &[JobLine]) {
    let messages = [Filed { mailbox: Mailbox::from_canonical("ann"), id: MessageId::new(7) }];
    outbox.write(deed, jobs, &messages, outbox.office.patience()).await.expect("jobs are written");
}

async fn take(outbox: &Outbox, limit: usize) -> Vec<Job> {
    outbox.take("tests", limit, LEASE).await.expect("jobs are taken")
}

async fn take_one(outbox: &Outbox) -> Job {
    let mut taken = take(outbox, 1).await;
    assert_eq!(taken.len(), 1, "one job can be taken");
    taken.remove(0)
}

async fn waiting(outbox: &Outbox) -> u64 {
    outbox.waiting("tests").await.expect("jobs are counted")
}

fn payloads(jobs: &[Job]) -> Vec<String> {
    jobs.iter().map(|job| String::from_utf8_lossy(&job.payload).into_owned()).collect()
}

async fn done(outbox: &Outbox, job: &Job) -> Handback {
    outbox.done(job.lease).await.expect("a job is handed back")
}

async fn dead(outbox: &Outbox) -> Vec<String> {
    let dead = outbox.dead_jobs("tests", 100).await.expect("the dead are listed");
    dead.iter().map(|job| String::from_utf8_lossy(&job.payload).into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_a_deed_are_written_once() {
    let Some(rig) = Rig::new() else { return };
    let (outbox, other) = (Outbox::new(rig.node().await), Outbox::new(rig.node().await));
    let (deed, three) = (Deed::new(), numbered(3));
    join_all([&outbox, &other, &outbox].map(|outbox| write(outbox, deed, &three))).await;
    let taken = take(&outbox, 10).await;
    assert_eq!(payloads(&taken), ["0", "1", "2"]);
    assert_eq!(taken[0].messages[0].id, MessageId::new(7));
    assert_eq!(done(&outbox, &taken[1]).await, Handback::Taken);
    write(&other, deed, &three).await;
    assert_eq!(waiting(&other).await, 2, "what is done does not come back");
    write(&other, Deed::new(), &numbered(1)).await;
    assert_eq!(waiting(&outbox).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_jobs_are_written_once_and_taken_in_order() {
    let Some(rig) = Rig::new() else { return };
    let (outbox, deed) = (Outbox::new(rig.node().await), Deed::new());
    write(&outbox, deed, &numbered(2_500)).await;
    write(&outbox, deed, &numbered(2_500)).await;
    assert_eq!(waiting(&outbox).await, 2_500);
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.extend(payloads(&take(&outbox, 500).await));
    }
    assert!(seen.iter().eq(&(0..2_500).map(|number| number.to_string()).collect::<Vec<_>>()), "{}", seen.len());
    assert!(take(&outbox, 1).await.is_empty());
    rig.pass(60);
    assert_eq!(payloads(&take(&outbox, 3).await), ["0", "1", "2"], "in their first order, though all were rewritten");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn takers_on_several_nodes_share_the_jobs() {
    let Some(rig) = Rig::new() else { return };
    let nodes = join_all((0..2).map(|_| rig.node())).await;
    let nodes: Vec<_> = nodes.into_iter().map(|office| Arc::new(Outbox::new(office))).collect();
    write(&nodes[0], Deed::new(), &numbered(200)).await;
    let takers = nodes.iter().cycle().take(6).cloned().map(|outbox| {
        tokio::spawn(async move {
            let mut taken: Vec<JobId> = Vec::new();
            loop {
                let jobs = take(&outbox, 3).await;
                if jobs.is_empty() {
                    return taken;
                }
                for job in jobs {
                    assert_eq!((job.attempts, done(&outbox, &job).await), (0, Handback::Taken));
                    taken.push(job.lease.job);
                }
            }
        })
    });
    let taken = join_all(takers.collect::<Vec<_>>()).await;
    let mut taken: Vec<_> = taken.into_iter().flat_map(|taken| taken.expect("no taker panics")).collect();
    let count = taken.len();
    taken.sort();
    taken.dedup();
    assert_eq!((count, taken.len(), waiting(&nodes[1]).await), (200, 200, 0));
}

/// What one node remembers of jobs that another has taken, put back or done since does no harm.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_did_since_is_seen() {
    let Some(rig) = Rig::new() else { return };
    let (here, there) = (Outbox::new(rig.node().await), Outbox::new(rig.node().await));
    write(&here, Deed::new(), &numbered(4)).await;
    let late = take(&here, 4).await;
    rig.pass(60);
    let taken = take(&there, 4).await;
    assert_eq!(done(&there, &taken[0]).await, Handback::Taken);
    let retried = there.retry(taken[1].lease, rig.in_seconds(10)).await;
    assert_eq!(retried.expect("a job is handed back"), Handback::Taken);
    let died = there.dead(taken[2].lease, "no").await;
    assert_eq!(died.expect("a job is handed back"), Handback::Taken);
    for job in &late {
        assert_eq!(done(&here, job).await, Handback::Late);
    }
    assert_eq!((waiting(&here).await, take(&here, 4).await.len()), (2, 0));
    rig.pass(10);
    let again = take(&here, 4).await;
    assert_eq!((payloads(&again), again[0].attempts), (vec!["1".to_owned()], 2));
    rig.pass(50);
    assert_eq!(payloads(&take(&here, 4).await), ["3"]);
    assert_eq!((dead(&here).await, waiting(&here).await), (vec!["2".to_owned()], 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_keep_their_place_when_they_come_back() {
    let Some(rig) = Rig::new() else { return };
    let (outbox, other) = (Outbox::new(rig.node().await), Outbox::new(rig.node().await));
    write(&outbox, Deed::new(), &numbered(3)).await;
    let taken = take(&outbox, 3).await;
    for number in [2, 0, 1] {
        let retried = outbox.retry(taken[number].lease, rig.in_seconds(0)).await;
        assert_eq!(retried.expect("a job is handed back"), Handback::Taken);
    }
    write(&outbox, Deed::new(), &jobs(&["new"])).await;
    assert_eq!(payloads(&take(&other, 2).await), ["0", "1"]);
    assert_eq!(payloads(&take(&outbox, 3).await), ["2", "new"]);
}

fn laned(lane: &str, payloads: &[&str]) -> Vec<JobLine> {
    let job = |payload: &&str| JobLine::new(NewJob::new("tests", payload.as_bytes().to_vec()).in_lane(lane));
    payloads.iter().map(job).collect()
}

/// One node takes the first of a lane between the other's reading and its taking: that one must not go on to the second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_is_held_up_by_what_another_node_took_a_moment_ago() {
    let Some(rig) = Rig::new() else { return };
    let (here, there) = (Outbox::new(rig.node().await), Outbox::new(rig.node().await));
    write(&here, Deed::new(), &laned("ann", &["1", "2"])).await;
    let (line, patience) = (there.line("tests"), there.office.patience());
    assert!(there.read_on("tests", &line, patience).await.expect("it is read"));
    let first = take_one(&here).await;
    let taken = there.take_known(&line, "tests", 9, LEASE, patience).await.expect("it is answered");
    assert_eq!(payloads(&taken), [""; 0], "the first is leased");
    assert_eq!(done(&here, &first).await, Handback::Taken);
    rig.pass(60);
    assert_eq!(payloads(&take(&there, 9).await), ["2"], "the first is gone");
}

/// The first of a lane was put back behind the second before a node reads either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_keeps_its_order_for_a_node_that_reads_it_late() {
    let Some(rig) = Rig::new() else { return };
    let (here, there) = (Outbox::new(rig.node().await), Outbox::new(rig.node().await));
    write(&here, Deed::new(), &laned("ann", &["1"])).await;
    write(&here, Deed::new(), &laned("ann", &["2"])).await;
    let first = take_one(&here).await;
    let retried = here.retry(first.lease, rig.in_seconds(30)).await;
    assert_eq!(retried.expect("a job is handed back"), Handback::Taken);
    write(&here, Deed::new(), &laned("ann", &["3"])).await;
    assert!(take(&there, 9).await.is_empty(), "the first is put off");
    rig.pass(30);
    for number in ["1", "2", "3"] {
        let taken = take(&there, 9).await;
        assert_eq!(payloads(&taken), [number]);
        assert_eq!(done(&there, &taken[0]).await, Handback::Taken);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn takers_on_several_nodes_keep_the_order_of_lanes() {
    let Some(rig) = Rig::new() else { return };
    let nodes = join_all((0..2).map(|_| rig.node())).await;
    let nodes: Vec<_> = nodes.into_iter().map(|office| Arc::new(Outbox::new(office))).collect();
    for number in 0..20 {
        let number = number.to_string();
        let jobs = ["ann", "bob", "cat"].iter().flat_map(|lane| laned(lane, &[&number])).collect::<Vec<_>>();
        write(&nodes[0], Deed::new(), &jobs).await;
    }
    let seen: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let takers = nodes.iter().cycle().take(6).cloned().map(|outbox| {
        let seen = Arc::clone(&seen);
        tokio::spawn(async move {
            while waiting(&outbox).await > 0 {
                for job in take(&outbox, 2).await {
                    // Every third comes back once, and holds up its lane meanwhile.
                    let number: usize = payloads(std::slice::from_ref(&job))[0].parse().expect("a number");
                    if number.is_multiple_of(3) && job.attempts == 0 {
                        let at = outbox.office.clock.now();
                        outbox.retry(job.lease, at).await.expect("a job is handed back");
                        continue;
                    }
                    let lane = job.lane.clone().expect("it has a lane");
                    seen.lock().expect("no taker panics").push((lane, number.to_string()));
                    assert_eq!(done(&outbox, &job).await, Handback::Taken);
                }
            }
        })
    });
    let takers: Vec<_> = takers.collect();
    // What one node has taken and done, the other takes for leased until that has run out.
    let aged = async {
        while waiting(&nodes[0]).await > 0 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), aged).await.expect("they are done");
    join_all(takers).await.into_iter().for_each(|taker| taker.expect("no taker panics"));
    let seen = seen.lock().expect("no taker panics");
    for lane in ["ann", "bob", "cat"] {
        let order: Vec<_> = seen.iter().filter(|(of, _)| of == lane).map(|(_, number)| number.clone()).collect();
        assert_eq!(order, (0..20).map(|number| number.to_string()).collect::<Vec<_>>(), "{lane}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f24_full_of_jobs_leaves_out_what_need_not_be_and_counts_it() {
    let Some(mut rig) = Rig::new() else { return };
    rig.settings.jobs_max = 3;
    let outbox = Outbox::new(rig.node().await);
    let (may, must) = (NewJob::new("tests", "may").if_there_is_room(), NewJob::new("tests", "must"));
    let admitted = outbox.admit(vec![may.clone(); 5]).await.expect("they need not be");
    assert_eq!((admitted.len(), outbox.left_out()), (3, 2));
    write(&outbox, Deed::new(), &admitted).await;
    assert_eq!((outbox.admit(vec![may.clone()]).await.expect("it need not be").len(), outbox.left_out()), (0, 3));
    outbox.admit(vec![may.clone(), must.clone()]).await.expect_err("one must be");
    outbox.submit(vec![may.clone()]).await.expect_err("it is told");
    let job = take_one(&outbox).await;
    assert_eq!(outbox.dead(job.lease, "no").await.expect("a job is handed back"), Handback::Taken);
    assert_eq!(outbox.admit(vec![must.clone(), may]).await.expect("there is room for one").len(), 1);
    write(&outbox, Deed::new(), &[JobLine::new(must)]).await;
    outbox.revive(job.lease.job).await.expect_err("there is no room");
    assert!(outbox.dead_job(job.lease.job).await.expect("it is answered").is_some(), "the dead stays dead");
}

async fn lossy() -> Option<(Rig, Wire, Outbox, Outbox)> {
    let rig = Rig::new()?;
    let wire = rig.wire().await;
    let (lossy, other) = (Outbox::new(rig.node_over(&wire).await), Outbox::new(rig.node().await));
    Some((rig, wire, lossy, other))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_taking_whose_answer_was_lost_is_known_again() {
    let Some((rig, wire, lossy, other)) = lossy().await else { return };
    wire.lose_answer_to("Nats-Batch-Commit");
    write(&lossy, Deed::new(), &numbered(2)).await;
    assert_eq!((wire.is_done(), waiting(&other).await), (true, 2));
    wire.lose_answer_to(format!("PUB {}.j.w.", rig.settings.prefix));
    let job = take_one(&lossy).await;
    assert_eq!((wire.is_done(), &job.payload[..], job.attempts), (true, &b"0"[..], 0));
    assert_eq!(payloads(&take(&other, 2).await), ["1"]);
    assert_eq!((done(&lossy, &job).await, waiting(&other).await), (Handback::Taken, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handback_whose_answer_was_lost_is_known_again() {
    let Some((rig, wire, lossy, other)) = lossy().await else { return };
    write(&lossy, Deed::new(), &numbered(3)).await;
    let taken = take(&lossy, 3).await;
    wire.lose_answer_to("$JS.API.STREAM.MSG.DELETE");
    assert_eq!((done(&lossy, &taken[0]).await, wire.is_done()), (Handback::Taken, true));
    wire.lose_answer_to(format!("PUB {}.j.w.", rig.settings.prefix));
    let retried = lossy.retry(taken[1].lease, rig.in_seconds(0)).await.expect("a job is handed back");
    assert_eq!((retried, wire.is_done()), (Handback::Taken, true));
    wire.lose_answer_to("Nats-Batch-Commit");
    let died = lossy.dead(taken[2].lease, "no").await.expect("a job is handed back");
    assert_eq!((died, wire.is_done(), waiting(&other).await), (Handback::Taken, true, 1));
    assert_eq!((payloads(&take(&other, 3).await), dead(&other).await), (vec!["1".to_owned()], vec!["2".to_owned()]));
    assert_eq!(done(&lossy, &taken[0]).await, Handback::Late, "it is gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_of_jobs_is_said_and_ends() {
    let Some(mut rig) = Rig::new() else { return };
    rig.settings.jobs_max = 3;
    let outbox = Outbox::new(rig.node().await);
    outbox.room_for(4).await.expect_err("four are too many");
    outbox.room_for(2).await.expect("there is room for three");
    write(&outbox, Deed::new(), &numbered(2)).await;
    outbox.room_for(1).await.expect("there is room for three");
    write(&outbox, Deed::new(), &numbered(1)).await;
    let refused = outbox.room_for(1).await;
    assert!(matches!(&refused, Err(Error::Full { what }) if what.contains("store.jetstream.jobs_max")), "{refused:?}");
    let job = take_one(&outbox).await;
    outbox.room_for(1).await.expect_err("a job that is taken is still there");
    done(&outbox, &job).await;
    outbox.room_for(1).await.expect("one has gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_of_the_dead_go() {
    let Some(mut rig) = Rig::new() else { return };
    rig.settings.dead_jobs_max = 2;
    let outbox = Outbox::new(rig.node().await);
    write(&outbox, Deed::new(), &numbered(4)).await;
    for job in take(&outbox, 4).await {
        assert_eq!(outbox.dead(job.lease, "no").await.expect("a job is handed back"), Handback::Taken);
        assert_eq!(outbox.dead(job.lease, "no").await.expect("a job is handed back"), Handback::Late);
    }
    assert_eq!((dead(&outbox).await, waiting(&outbox).await), (vec!["3".to_owned(), "2".to_owned()], 0));
}
