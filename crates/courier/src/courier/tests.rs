//! The round on a store in memory, with a carrier that does as it is told.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use mailroom::Settings;
use store::{Memory, NewJob, Store, SystemClock};

use super::*;

const KIND: &str = "errand";

/// Notes what it carries. `break` breaks it down at the first attempt, `slow` takes long.
#[derive(Default)]
struct Porter {
    carried: Mutex<Vec<String>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Carrier for Porter {
    fn kind(&self) -> &str {
        KIND
    }

    fn hands(&self) -> usize {
        3
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(200)
    }

    async fn carry(&self, job: &Job) -> Outcome {
        let what = String::from_utf8(job.payload.to_vec()).unwrap();
        self.carried.lock().unwrap().push(what.clone());
        assert!(what != "break" || job.attempts > 0, "on purpose");
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        if what == "slow" {
            sleep(Duration::from_millis(50)).await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        match what.as_str() {
            "again" if job.attempts == 0 => Outcome::Again(jiff::Timestamp::now()),
            "dead" => Outcome::Dead("for a reason".to_owned()),
            _ => Outcome::Done,
        }
    }
}

/// Jobs that nobody rings for, as those of another node; and what came of them.
async fn carried(jobs: &[&'static str]) -> (Arc<Porter>, Arc<Mailroom>) {
    let (store, porter) = (Arc::new(Memory::new(Default::default(), Arc::new(SystemClock))), Arc::<Porter>::default());
    let room = Mailroom::new(Arc::clone(&store) as Arc<dyn Store>, Settings::default());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let courier = Courier::new(Arc::clone(&room)).with(Arc::clone(&porter) as Arc<dyn Carrier>);
    let running = tokio::spawn(courier.run(async move { drop(stopped.await) }));
    store.outbox().submit(jobs.iter().map(|job| NewJob::new(KIND, *job)).collect()).await.unwrap();
    let begin = Instant::now();
    while room.jobs_waiting(&Caller::Program, KIND).await.unwrap() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", porter.carried.lock().unwrap());
        sleep(Duration::from_millis(5)).await;
    }
    drop(stop);
    running.await.unwrap();
    (porter, room)
}

#[tokio::test]
async fn what_nobody_rang_for_is_found_and_done() {
    let (porter, room) = carried(&["a", "again", "dead"]).await;
    let mut carried = porter.carried.lock().unwrap().clone();
    carried.sort();
    assert_eq!(carried, ["a", "again", "again", "dead"]);
    let dead = room.dead_jobs(&Caller::Program, KIND, 10).await.unwrap();
    assert_eq!((dead.len(), dead[0].reason.as_str()), (1, "for a reason"));
}

#[tokio::test]
async fn an_attempt_that_breaks_down_is_made_again_and_others_go_on() {
    let (porter, _room) = carried(&["break", "a", "b"]).await;
    let carried = porter.carried.lock().unwrap().clone();
    assert_eq!(carried.iter().filter(|what| *what == "break").count(), 2);
    assert_eq!(carried.last().unwrap(), "break", "the others did not wait for its lease");
}

#[tokio::test]
async fn no_more_are_under_way_than_there_are_hands() {
    let (porter, _room) = carried(&["slow"; 12]).await;
    assert_eq!((porter.most.load(Ordering::SeqCst), porter.carried.lock().unwrap().len()), (3, 12));
}
