//! What the memory engine charges, frees and forgets.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};

use crate::change::{Change, News, Position, Scope};
use crate::clock::{Clock, ManualClock};
use crate::conformance::Letter;
use crate::error::Error;
use crate::list::{Order, Page};
use crate::memory::{Drops, Settings};
use crate::outbox::NewJob;
use crate::{Memory, Store};

struct Desk {
    memory: Memory,
    clock: Arc<ManualClock>,
}

impl Desk {
    fn new(settings: Settings) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_second(1_800_000_000).unwrap()));
        Self { memory: Memory::new(settings, clock.clone()), clock }
    }

    async fn append(&self, letter: Letter) -> Vec<MessageId> {
        let filed = self.memory.append(letter.delivery(self.clock.now())).await.unwrap();
        filed.into_iter().map(|filed| filed.id).collect()
    }

    fn folders(&self) -> usize {
        self.memory.state.lock().unwrap().folders.len()
    }

    fn readers(&self) -> usize {
        self.memory.state.lock().unwrap().log.readers_now()
    }
}

fn mailbox(name: &str) -> Mailbox {
    Mailbox::from_canonical(name)
}

#[tokio::test]
async fn a_shared_body_is_charged_once_and_freed_with_its_last_copy() {
    let desk = Desk::new(Settings::default());
    let one = Letter::new("one", &["ann"]).size(1 << 20);
    let ids = desk.append(one).await;
    let charged = desk.memory.bytes();
    assert!((1 << 20..(1 << 20) + 4_096).contains(&charged), "{charged}");
    desk.memory.delete(&mailbox("ann"), &ids, Vec::new()).await.unwrap();
    assert_eq!(desk.memory.bytes(), 0);

    let names = ["ann", "bob", "cat"];
    let ids = desk.append(Letter::new("all", &names).size(1 << 20)).await;
    let charged = desk.memory.bytes();
    assert!((1 << 20..(1 << 20) + 8_192).contains(&charged), "{charged}");
    let read = desk.memory.read(&mailbox("ann"), ids[0]).await.unwrap().unwrap();
    let same = desk.memory.read(&mailbox("cat"), ids[2]).await.unwrap().unwrap();
    assert_eq!(read.raw.as_ptr(), same.raw.as_ptr(), "the same bytes, not equal ones");
    for (name, id) in names.iter().zip(&ids) {
        assert!(desk.memory.bytes() > 1 << 20);
        desk.memory.delete(&mailbox(name), &[*id], Vec::new()).await.unwrap();
    }
    assert_eq!(desk.memory.bytes(), 0, "though a reader still holds the bytes");
    assert_eq!(read.raw.len(), 1 << 20);
}

#[tokio::test]
async fn emptied_mailboxes_are_forgotten_with_their_names() {
    let desk = Desk::new(Settings { messages_max: 1, ..Settings::default() });
    for round in 0..1_000 {
        let name = format!("box{round}");
        let ids = desk.append(Letter::new("1", &[&name])).await;
        assert_eq!(desk.folders(), 1);
        if round % 2 == 0 {
            desk.memory.delete(&mailbox(&name), &ids, Vec::new()).await.unwrap();
        } else {
            desk.memory.purge(&mailbox(&name), Position::END, Vec::new()).await.unwrap();
        }
    }
    assert_eq!((desk.folders(), desk.memory.bytes()), (0, 0));
}

#[tokio::test]
async fn t085_many_tiny_messages_are_bounded_too() {
    let desk = Desk::new(Settings { bytes_max: 1 << 20, ..Settings::default() });
    for round in 0..5_000 {
        desk.append(Letter::new("1", &[&format!("box{round}")])).await;
        assert!(desk.memory.bytes() <= 1 << 20);
    }
    assert!(desk.folders() <= (1 << 20) / 2_500, "{} mailboxes, though each takes 2.5 KB and more", desk.folders());
    assert_eq!(desk.memory.drops(), Drops { room: 5_000 - desk.folders() as u64, cap: 0, age: 0 });
}

#[tokio::test]
async fn envelopes_of_many_recipients_are_charged() {
    let desk = Desk::new(Settings::default());
    let names: Vec<String> = (0..1_000).map(|number| format!("a-rather-long-mailbox-name-{number}")).collect();
    let mut delivery =
        Letter::new("1", &names.iter().map(String::as_str).collect::<Vec<_>>()).delivery(desk.clock.now());
    delivery.copies.truncate(1);
    desk.memory.append(delivery).await.unwrap();
    assert!(desk.memory.bytes() > 100_000, "{}", desk.memory.bytes());
}

#[tokio::test]
async fn sweep_frees_what_has_lapsed_in_slices() {
    let retention = Some(Duration::from_secs(60));
    let desk = Desk::new(Settings { retention, messages_max: 0, ..Settings::default() });
    for round in 0..2_000 {
        desk.append(Letter::new("1", &[&format!("box{}", round % 300)])).await;
    }
    desk.clock.advance(SignedDuration::from_secs(60));
    assert_eq!(desk.memory.sweep(700), 700);
    assert_eq!(desk.memory.sweep(usize::MAX), 1_300);
    assert_eq!((desk.memory.sweep(usize::MAX), desk.folders(), desk.memory.bytes()), (0, 0, 0));
    assert_eq!(desk.memory.drops().age, 2_000);
}

#[tokio::test]
async fn streams_leave_nothing_behind_and_end_with_the_engine() {
    let desk = Desk::new(Settings::default());
    let all = desk.memory.changes(Scope::All, Position::START).await.unwrap();
    let mut one = desk.memory.changes(Scope::Mailbox(mailbox("ann")), Position::START).await.unwrap();
    assert_eq!(desk.readers(), 2);
    drop(all);
    assert_eq!(desk.readers(), 1);
    desk.append(Letter::new("1", &["ann"])).await;
    let mut records = desk.memory.registry().watch("suite").await.unwrap();
    drop(desk);
    assert!(matches!(one.next().now_or_never(), Some(Some(News::Change(Change::Delivered { .. })))));
    assert_eq!(one.next().now_or_never(), Some(None));
    assert!(matches!(records.next().now_or_never(), Some(None)));
}

#[tokio::test]
async fn a_stream_wakes_its_reader() {
    let desk = Desk::new(Settings::default());
    let mut stream = desk.memory.changes(Scope::All, Position::START).await.unwrap();
    let reader = tokio::spawn(async move { stream.next().await });
    tokio::task::yield_now().await;
    desk.append(Letter::new("1", &["ann"])).await;
    let change = tokio::time::timeout(Duration::from_secs(5), reader).await.expect("it is woken").unwrap();
    assert!(matches!(change, Some(News::Change(Change::Delivered { .. }))));
}

#[tokio::test]
async fn jobs_are_bounded_and_refuse_what_carries_them() {
    let desk = Desk::new(Settings { jobs_bytes_max: 4_096, dead_jobs_max: 2, ..Settings::default() });
    let job = NewJob::new("hook", vec![0; 1_000]);
    for _ in 0..2 {
        desk.append(Letter::new("fits", &["ann"]).job(job.clone())).await;
    }
    let full = Letter::new("too much", &["ann"]).job(job.clone());
    assert!(matches!(desk.memory.append(full.delivery(desk.clock.now())).await, Err(Error::Full { .. })));
    let purge = desk.memory.purge(&mailbox("ann"), Position::END, vec![job]).await;
    assert!(matches!(purge, Err(Error::Full { .. })), "{purge:?}");
    let listing =
        desk.memory.list(&mailbox("ann"), Page { after: None, limit: 9, order: Order::Oldest }).await.unwrap();
    assert_eq!(listing.items.len(), 2, "nothing was put in or taken out");
    desk.append(Letter::new("without", &["ann"])).await;
    for job in desk.memory.outbox().take("hook", 9, Duration::from_secs(1)).await.unwrap() {
        desk.memory.outbox().dead(job.lease, "no").await.unwrap();
    }
    assert_eq!(desk.memory.outbox().dead_jobs("hook", 9).await.unwrap().len(), 2);
}

/// Mail is kept when there is no room for a job that need not be; the others go on.
#[tokio::test]
async fn f24_full_of_jobs_keeps_the_mail_and_counts_what_is_left_out() {
    let desk = Desk::new(Settings { jobs_bytes_max: 4_096, ..Settings::default() });
    let (outbox, job) = (desk.memory.outbox(), NewJob::new("hook", vec![0; 1_000]).if_there_is_room());
    for number in 0..5 {
        desk.append(Letter::new(format!("{number}"), &["ann"]).job(job.clone())).await;
    }
    assert_eq!((outbox.waiting("hook").await.unwrap(), outbox.left_out()), (2, 3));
    assert_eq!(desk.memory.purge(&mailbox("ann"), Position::END, vec![job.clone()]).await.unwrap(), 5);
    assert_eq!((outbox.waiting("hook").await.unwrap(), outbox.left_out()), (2, 4));
    assert!(matches!(outbox.submit(vec![job.clone()]).await, Err(Error::Full { .. })), "it is told");
    let must = Letter::new("must", &["ann"]).job(NewJob::new("hook", vec![0; 1_000])).job(job.clone());
    assert!(matches!(desk.memory.append(must.delivery(desk.clock.now())).await, Err(Error::Full { .. })));
    let taken = outbox.take("hook", 1, Duration::from_secs(1)).await.unwrap();
    outbox.dead(taken[0].lease, "no").await.unwrap();
    desk.append(Letter::new("fits", &["ann"]).job(job)).await;
    assert!(matches!(outbox.revive(taken[0].lease.job).await, Err(Error::Full { .. })), "the dead stays dead");
    assert!(outbox.dead_job(taken[0].lease.job).await.unwrap().is_some());
    assert_eq!((outbox.waiting("hook").await.unwrap(), outbox.left_out()), (2, 4));
}

#[tokio::test]
async fn dead_jobs_are_bounded() {
    let desk = Desk::new(Settings { dead_jobs_max: 2, ..Settings::default() });
    for name in ["1", "2", "3"] {
        let job = NewJob::new("hook", name);
        desk.append(Letter::new("1", &["ann"]).job(job)).await;
        let taken = desk.memory.outbox().take("hook", 1, Duration::from_secs(1)).await.unwrap();
        desk.memory.outbox().dead(taken[0].lease, "no").await.unwrap();
    }
    let dead = desk.memory.outbox().dead_jobs("hook", 9).await.unwrap();
    assert_eq!(dead.iter().map(|job| &job.payload[..]).collect::<Vec<_>>(), [b"3", b"2"]);
}

#[tokio::test]
async fn records_are_bounded_and_expired_ones_make_room() {
    use crate::registry::Expect;
    let desk = Desk::new(Settings { registry_bytes_max: 10_000, ..Settings::default() });
    let registry = desk.memory.registry();
    let put =
        |key: String, expires| registry.put("session", &key.leak()[..], vec![0; 1_000].into(), expires, Expect::Any);
    let brief = Some(desk.clock.now() + SignedDuration::from_secs(60));
    for key in 0..7 {
        put(format!("brief{key}"), brief).await.unwrap();
    }
    assert!(matches!(put("more".to_owned(), None).await, Err(Error::Full { .. })));
    put("brief0".to_owned(), brief).await.expect("a record replaced takes no more room");
    desk.clock.advance(SignedDuration::from_secs(60));
    for key in 0..7 {
        put(format!("kept{key}"), None).await.unwrap();
    }
    assert_eq!(registry.list("session").await.unwrap().len(), 7);
}

/// A clock far in the future, as a broken one may be, neither overflows an id nor stops them from ascending.
#[tokio::test]
async fn t084_ids_ascend_beyond_the_range_of_the_clock() {
    let desk = Desk::new(Settings { retention: None, ..Settings::default() });
    let mut last = desk.append(Letter::new("1", &["ann"])).await[0];
    for jump in [SignedDuration::from_hours(24 * 365 * 7_900), SignedDuration::from_hours(-24 * 365 * 9_900)] {
        desk.clock.advance(jump);
        for _ in 0..3 {
            let next = desk.append(Letter::new("1", &["ann"])).await[0];
            assert!(next > last && next.number() < u64::MAX / 2 + 1_000);
            last = next;
        }
    }
}

/// A step that panicked, which none does, would not lock everybody out.
#[tokio::test]
async fn a_panic_under_the_lock_is_not_for_ever() {
    let desk = Desk::new(Settings::default());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        desk.memory.step(|_, _, _| panic!("on purpose"));
    }));
    assert!(panicked.is_err());
    desk.append(Letter::new("1", &["ann"])).await;
}
