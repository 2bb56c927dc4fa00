//! T085: every bound of the settings holds, and what is let go makes room again without a restart.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use rusqlite::Connection;
use store::conformance::Letter;
use store::outbox::Outbox;
use store::{Clock, Error, Expect, NewJob, News, Position, Put, Registry, Scope, Store};

use super::bench::{Bench, PATIENCE, assert_whole, mailbox, subjects, until};
use crate::Disk;
use crate::pool::Pool;
use crate::schema;

fn job(payload: usize) -> NewJob {
    NewJob::new("hook", vec![7; payload])
}

fn is_full<T>(answer: store::Result<T>, key: &str) {
    match answer.map(drop) {
        Err(Error::Full { what }) => assert!(what.contains(key), "{what}"),
        other => panic!("{other:?}"),
    }
}

fn is_put_off<T>(answer: store::Result<T>, key: &str) {
    match answer.map(drop) {
        Err(Error::TryLater { why, .. }) => assert!(why.contains(key), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// Send until it is refused; how many were taken.
async fn fill(bench: &Bench, disk: &Disk, to: &str) -> usize {
    for number in 0..500 {
        let letter = Letter::new(format!("{number}"), &[to]).size(50_000);
        if let Err(error) = bench.try_send(disk, &letter).await {
            assert!(matches!(error, Error::Full { .. }), "{error:?}");
            return number;
        }
    }
    panic!("it is never full")
}

#[tokio::test]
async fn t085_f05_bytes_max_refuses_mail_and_deletes_make_room_again() {
    const MAX: u64 = 2 << 20;
    let bench = Bench::new(|settings| settings.bytes_max = Some(MAX));
    let disk = bench.open();
    let taken = fill(&bench, &disk, "full").await;
    assert!((20..42).contains(&taken), "{taken} of 50,000 bytes in 2 MiB");
    is_full(bench.try_send(&disk, &Letter::new("more", &["full", "other"]).size(50_000)).await, "store.disk.bytes_max");
    assert_eq!(subjects(&disk, "full").await.len(), taken, "reading goes on");
    assert_eq!(subjects(&disk, "other").await, [""; 0]);
    let in_use = bench.number("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count");
    assert!(in_use.unsigned_abs() * 8192 <= MAX + 100_000, "{in_use} pages");
    assert_eq!(disk.purge(&mailbox("full"), Position::END, Vec::new()).await.unwrap(), taken as u64);
    assert_eq!(fill(&bench, &disk, "full").await, taken, "as many as before");
    let listing = disk.recent(store::RecentPage { before: None, limit: 10 }).await.unwrap();
    let ids: Vec<_> = listing.items.iter().map(|item| item.summary.id).collect();
    assert_eq!(Store::delete(&disk, &mailbox("full"), &ids, Vec::new()).await.unwrap().len(), 10);
    assert_eq!(fill(&bench, &disk, "full").await, 10);
    disk.close();
    assert_whole(&bench.database());
}

#[tokio::test]
async fn t085_f05_a_purge_of_a_large_mailbox_makes_room_again() {
    let bench = Bench::new(|settings| settings.bytes_max = Some(6 << 20));
    let disk = bench.open();
    for number in 0..600 {
        bench.send(&disk, Letter::new(format!("{number}"), &["many"])).await;
    }
    fill(&bench, &disk, "full").await;
    disk.purge(&mailbox("many"), Position::END, Vec::new()).await.unwrap();
    until("what was purged is gone", || bench.number("SELECT count(*) FROM grave") == 0);
    assert!(fill(&bench, &disk, "full").await > 5, "there is room for more");
}

#[tokio::test]
async fn t085_free_min_refuses_mail_while_the_rest_goes_on() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    let [id] = bench.send(&disk, Letter::new("kept", &["a"])).await[..] else { panic!() };
    drop(disk);
    let bench = Bench { settings: crate::Settings { free_min: 1 << 60, ..bench.settings.clone() }, ..bench };
    let disk = bench.open();
    is_full(bench.try_send(&disk, &Letter::new("more", &["a"])).await, "store.disk.free_min");
    assert_eq!(subjects(&disk, "a").await, ["kept"]);
    assert!(matches!(disk.put("kind", "key", Bytes::new(), None, Expect::Any).await, Ok(Put::Written(_))));
    assert_eq!(Store::delete(&disk, &mailbox("a"), &[id], Vec::new()).await.unwrap(), [id]);
}

#[tokio::test]
async fn jobs_bytes_max_holds_over_a_restart_and_what_is_done_makes_room() {
    let bench = Bench::new(|settings| settings.jobs_bytes_max = 10_000);
    let mut disk = bench.open();
    let with_job = |name: &str| Letter::new("x", &[name]).job(job(2_000));
    let mut taken = 0;
    while taken < 100 && bench.try_send(&disk, &with_job("a")).await.is_ok() {
        taken += 1;
    }
    assert_eq!(taken, 4);
    disk = bench.reopen_after_crash(disk);
    is_full(bench.try_send(&disk, &with_job("b")).await, "10000 bytes");
    let [id] = bench.send(&disk, Letter::new("without", &["b"])).await[..] else { panic!() };
    is_full(Store::delete(&disk, &mailbox("b"), &[id], vec![job(2_000)]).await, "10000 bytes");
    assert_eq!(subjects(&disk, "b").await, ["without"], "what was refused was not done");
    let jobs = disk.take("hook", 1, Duration::from_secs(60)).await.unwrap();
    disk.done(jobs[0].lease).await.unwrap();
    bench.send(&disk, with_job("b")).await;
    is_full(bench.try_send(&disk, &with_job("b")).await, "10000 bytes");
}

#[tokio::test]
async fn registry_bytes_max_holds_over_a_restart_and_deletes_make_room() {
    let bench = Bench::new(|settings| settings.registry_bytes_max = 10_000);
    let mut disk = bench.open();
    let value = Bytes::from(vec![7; 2_000]);
    for key in ["1", "2", "3", "4"] {
        disk.put("kind", key, value.clone(), None, Expect::Absent).await.unwrap();
    }
    disk = bench.reopen_after_crash(disk);
    is_full(disk.put("kind", "5", value.clone(), None, Expect::Absent).await, "10000 bytes");
    disk.put("kind", "4", value.clone(), None, Expect::Any).await.expect("in the place of another");
    disk.registry().delete("kind", "4", Expect::Any).await.unwrap();
    disk.put("kind", "5", value, None, Expect::Absent).await.unwrap();
    assert_eq!(disk.registry().list("kind").await.unwrap().len(), 4);
}

/// Mail is kept when there is no room for a job that need not be; what is done makes room for the next.
#[tokio::test]
async fn f24_full_of_jobs_keeps_the_mail_and_counts_what_is_left_out() {
    let bench = Bench::new(|settings| settings.jobs_bytes_max = 10_000);
    let disk = bench.open();
    let with_job = || Letter::new("x", &["a"]).job(job(2_000).if_there_is_room());
    for _ in 0..10 {
        bench.send(&disk, with_job()).await;
    }
    assert_eq!((subjects(&disk, "a").await.len(), disk.waiting("hook").await.unwrap(), disk.left_out()), (10, 4, 6));
    is_full(bench.try_send(&disk, &with_job().job(job(2_000))).await, "store.disk.jobs_bytes_max");
    is_full(disk.submit(vec![job(2_000).if_there_is_room()]).await, "store.disk.jobs_bytes_max");
    let taken = disk.take("hook", 1, Duration::from_secs(60)).await.unwrap();
    disk.dead(taken[0].lease, "no").await.unwrap();
    bench.send(&disk, with_job()).await;
    is_full(disk.revive(taken[0].lease.job).await, "store.disk.jobs_bytes_max");
    assert!(disk.dead_job(taken[0].lease.job).await.unwrap().is_some(), "the dead stays dead");
    assert_eq!((disk.waiting("hook").await.unwrap(), disk.left_out()), (4, 6));
}

/// Whoever asks for jobs in vain, again and again, does not make the writer write.
#[tokio::test]
async fn asking_for_jobs_in_vain_writes_nothing() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    bench.send(&disk, Letter::new("x", &["a"]).job(job(1).in_lane("a")).job(job(1).in_lane("a"))).await;
    assert_eq!(disk.take("hook", 10, Duration::from_secs(60)).await.unwrap().len(), 1);
    let log = || std::fs::metadata(bench.database().with_extension("db-wal")).map_or(0, |log| log.len());
    let before = log();
    for _ in 0..50 {
        assert!(disk.take("hook", 10, Duration::from_secs(60)).await.unwrap().is_empty());
    }
    assert_eq!(log(), before);
}

/// What a process had in hand when it died is taken by the next one at once.
#[tokio::test]
async fn jobs_of_a_process_that_died_are_taken_at_once() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    bench.send(&disk, Letter::new("x", &["a"]).job(job(1).in_lane("a")).job(job(2).in_lane("a"))).await;
    assert_eq!(disk.take("hook", 10, Duration::from_secs(60)).await.unwrap().len(), 1);
    drop(disk);
    let disk = bench.open();
    let taken = disk.take("hook", 10, Duration::from_secs(60)).await.unwrap();
    assert_eq!(taken.iter().map(|job| (job.payload.len(), job.attempts)).collect::<Vec<_>>(), [(1, 1)]);
    disk.done(taken[0].lease).await.unwrap();
    assert_eq!(disk.take("hook", 10, Duration::from_secs(60)).await.unwrap().len(), 1);
}

/// Questions of the outbox are answered from the indexes, however many jobs wait.
#[test]
fn jobs_are_found_without_looking_at_the_others() {
    let bench = Bench::new(|_| ());
    drop(bench.open());
    let connection = Connection::open(bench.database()).unwrap();
    let plan = |sql: &str| {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let lines = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        lines.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    let take =
        plan("SELECT payload FROM job WHERE kind = 'a' AND behind = 0 AND ready_at <= 1 ORDER BY ready_at, id LIMIT 3");
    assert!(
        take.contains("job_by_turn (kind=? AND behind=? AND ready_at<?)") && !take.contains("TEMP B-TREE"),
        "{take}"
    );
    let last = plan("SELECT EXISTS (SELECT 1 FROM job WHERE kind = 'a' AND lane = 'b')");
    assert!(last.contains("job_by_lane (kind=? AND lane=?)"), "{last}");
    let next = plan("UPDATE job SET behind = 0 WHERE id = (SELECT min(id) FROM job WHERE kind = 'a' AND lane = 'b')");
    assert!(next.contains("job_by_lane (kind=? AND lane=?)") && !next.contains("SCAN"), "{next}");
}

#[tokio::test]
async fn dead_jobs_max_keeps_the_last() {
    let bench = Bench::new(|settings| settings.dead_jobs_max = 3);
    let disk = bench.open();
    for number in 0..5 {
        bench.send(&disk, Letter::new("x", &["a"]).job(job(number))).await;
        let jobs = disk.take("hook", 1, Duration::from_secs(60)).await.unwrap();
        disk.dead(jobs[0].lease, "no use").await.unwrap();
    }
    let dead = disk.dead_jobs("hook", 10).await.unwrap();
    assert_eq!(dead.iter().map(|dead| dead.payload.len()).collect::<Vec<_>>(), [4, 3, 2]);
    assert_eq!(bench.number("SELECT count(*) FROM dead_job"), 3);
}

#[tokio::test]
async fn changes_max_bounds_what_is_remembered() {
    let bench = Bench::new(|settings| settings.changes_max = 4);
    let disk = bench.open();
    let start = disk.position(&mailbox("a")).await.unwrap();
    for _ in 0..6 {
        let ids = bench.send(&disk, Letter::new("x", &["a"])).await;
        Store::delete(&disk, &mailbox("a"), &ids, Vec::new()).await.unwrap();
    }
    assert_eq!(bench.number("SELECT count(*) FROM removal"), 4);
    let mut changes = disk.changes(Scope::All, start).await.unwrap();
    assert!(matches!(changes.next().await, Some(News::Lost { .. })), "what is not remembered is said to be lost");
}

#[tokio::test]
async fn lag_max_bounds_what_waits_for_a_slow_reader() {
    let bench = Bench::new(|settings| settings.lag_max = 4);
    let disk = bench.open();
    let mut slow = disk.changes(Scope::All, Position::END).await.unwrap();
    for _ in 0..20 {
        bench.send(&disk, Letter::new("x", &["a"])).await;
    }
    let mut told = Vec::new();
    while let Ok(Some(news)) = tokio::time::timeout(Duration::from_millis(100), slow.next()).await {
        told.push(matches!(news, News::Lost { .. }));
    }
    assert!(told.len() <= 5 && told.contains(&true), "{told:?}");
}

/// The writer cannot begin as long as somebody else holds this: like a disk that does not answer.
fn hold_up(bench: &Bench) -> Connection {
    let beside = bench.beside();
    beside.execute_batch("BEGIN IMMEDIATE").unwrap();
    beside
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f07_queue_max_bounds_what_waits_for_the_disk() {
    let bench = Bench::new(|settings| settings.queue_max = 3);
    let disk = Arc::new(bench.open());
    let held = hold_up(&bench);
    let send = |subject: &str| {
        let (disk, delivery) = (Arc::clone(&disk), Letter::new(subject, &["a"]).delivery(bench.clock.now()));
        tokio::spawn(async move { disk.append(delivery).await })
    };
    let mut waiting = vec![send("begun")];
    // The writer has taken it, and sticks; now three may wait.
    tokio::time::sleep(Duration::from_millis(100)).await;
    waiting.extend(["one", "two", "three"].map(send));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    is_put_off(bench.try_send(&disk, &Letter::new("too many", &["a"])).await, "store.disk.queue_max");
    assert!(begun.elapsed() < Duration::from_secs(2), "at once");
    assert_eq!(subjects(&disk, "a").await, [""; 0], "reading goes on, and nothing is there yet");
    held.execute_batch("ROLLBACK").unwrap();
    for sent in waiting {
        sent.await.unwrap().expect("what waited is kept");
    }
    let mut kept = subjects(&disk, "a").await;
    kept.sort();
    assert_eq!(kept, ["begun", "one", "three", "two"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f07_wait_max_bounds_how_long_a_write_waits_until_it_is_begun() {
    let bench = Bench::new(|settings| settings.wait_max = Duration::from_millis(300));
    let disk = Arc::new(bench.open());
    let held = hold_up(&bench);
    let (other, delivery) = (Arc::clone(&disk), Letter::new("begun", &["a"]).delivery(bench.clock.now()));
    let begun = tokio::spawn(async move { other.append(delivery).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let since = Instant::now();
    is_put_off(bench.try_send(&disk, &Letter::new("late", &["a"])).await, "300ms");
    assert!((300..3_000).contains(&since.elapsed().as_millis()), "{:?}", since.elapsed());
    assert!(!begun.is_finished(), "the outcome of what was begun is waited for");
    held.execute_batch("ROLLBACK").unwrap();
    begun.await.unwrap().expect("it is kept");
    bench.send(&disk, Letter::new("after", &["a"])).await;
    assert_eq!(subjects(&disk, "a").await, ["begun", "after"], "what was put off is not there, now or later");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f07_queue_max_bounds_the_reads_that_wait() {
    let bench = Bench::new(|_| ());
    drop(bench.open());
    let pool = Arc::new(Pool::start("store-reader", 1, 2, || schema::open_reader(&bench.database())).unwrap());
    let (go, stop) = channel::<()>();
    let own = Arc::clone(&pool);
    let slow = tokio::spawn(async move { own.ask(move |_| Ok(stop.recv().is_err())).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let waiting: Vec<_> = (0..2)
        .map(|number| {
            let own = Arc::clone(&pool);
            tokio::spawn(async move { own.ask(move |_| Ok(number)).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let asked = tokio::time::timeout(PATIENCE, pool.ask(|_| Ok(()))).await;
    is_put_off(asked.expect("at once"), "store.disk.queue_max");
    drop(go);
    assert!(slow.await.unwrap().unwrap());
    for (number, waited) in waiting.into_iter().enumerate() {
        assert_eq!(waited.await.unwrap().unwrap(), number);
    }
}
