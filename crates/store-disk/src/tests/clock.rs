//! F11: a clock that jumps takes no mail with it, and gives no id twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use mail::MessageId;
use store::conformance::Letter;
use store::{Clock, ManualClock, Store};

use super::bench::{Bench, mailbox, subjects, until};
use crate::Disk;
use crate::row::micros;
use crate::sundial::Sundial;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Mail is kept for a week, and a jump is not believed for a day.
fn week() -> Bench {
    Bench::new(|settings| {
        settings.retention = Some(Duration::from_secs(7 * DAY.unsigned_abs()));
        settings.jump_hold = Duration::from_secs(DAY.unsigned_abs());
    })
}

/// Wait until the writer has let go what it would now: a message that has lapsed is gone.
async fn swept(bench: &Bench, disk: &Disk, believed: jiff::Timestamp) {
    let [id] = bench.send(disk, Letter::new("brief", &["brief"]).expires(believed)).await[..] else { panic!() };
    let rows = format!("SELECT count(*) FROM message WHERE id = {}", id.number());
    until("the writer lets go what has lapsed", || bench.number(&rows) == 0);
}

#[tokio::test]
async fn f11_a_clock_that_jumps_hides_nothing_and_lets_nothing_go() {
    for jump in [10 * YEAR, HOUR, -HOUR] {
        let bench = week();
        let disk = bench.open();
        let mut ids: Vec<MessageId> = Vec::new();
        let before = bench.clock.now();
        ids.extend(bench.send(&disk, Letter::new("first", &["jump"])).await);
        ids.extend(bench.send(&disk, Letter::new("second", &["jump", "other"])).await);
        bench.pass(jump);
        // An hour is believed either way.
        let believed = if jump == 10 * YEAR { before } else { bench.clock.now() };
        swept(&bench, &disk, believed).await;
        assert_eq!(subjects(&disk, "jump").await, ["first", "second"], "{jump}");
        ids.extend(bench.send(&disk, Letter::new("third", &["jump"])).await);
        bench.pass(-jump);
        ids.extend(bench.send(&disk, Letter::new("fourth", &["jump"])).await);
        swept(&bench, &disk, bench.clock.now()).await;
        assert_eq!(subjects(&disk, "jump").await, ["first", "second", "third", "fourth"], "{jump}");
        assert!(ids.is_sorted_by(|one, next| one < next), "{jump}: {ids:?}");
    }
}

#[tokio::test]
async fn f11_mail_ages_as_ever_when_the_clock_is_right_again() {
    let bench = week();
    let disk = bench.open();
    bench.send(&disk, Letter::new("mail", &["age"])).await;
    bench.pass(10 * YEAR);
    assert_eq!(subjects(&disk, "age").await, ["mail"]);
    bench.pass(-10 * YEAR);
    for _ in 0..20 {
        assert_eq!(subjects(&disk, "age").await, ["mail"]);
        bench.pass(8 * HOUR);
    }
    assert_eq!(subjects(&disk, "age").await, ["mail"], "after 160 hours");
    bench.pass(8 * HOUR);
    assert_eq!(subjects(&disk, "age").await, [""; 0], "after a week");
    until("it is let go", || bench.number("SELECT count(*) FROM message") == 0);
}

#[tokio::test]
async fn f11_a_start_long_after_the_last_write_lets_nothing_go() {
    let bench = week();
    let disk = bench.open();
    let before = bench.clock.now();
    bench.send(&disk, Letter::new("mail", &["long"])).await;
    drop(disk);
    bench.pass(30 * DAY);
    let disk = bench.open();
    assert_eq!(subjects(&disk, "long").await, ["mail"]);
    swept(&bench, &disk, before).await;
    assert_eq!(subjects(&disk, "long").await, ["mail"]);
}

#[tokio::test]
async fn f11_a_restart_does_not_make_a_jump_believed() {
    let bench = week();
    let disk = bench.open();
    let before = bench.clock.now();
    bench.send(&disk, Letter::new("mail", &["again"])).await;
    bench.pass(10 * YEAR);
    bench.send(&disk, Letter::new("written in the future", &["again"])).await;
    drop(disk);
    let disk = bench.open();
    assert_eq!(subjects(&disk, "again").await, ["mail", "written in the future"]);
    swept(&bench, &disk, before).await;
    assert_eq!(subjects(&disk, "again").await, ["mail", "written in the future"]);
}

#[tokio::test]
async fn f11_ids_are_never_given_twice_over_restarts_and_steps_back() {
    let bench = week();
    let mut ids: Vec<MessageId> = Vec::new();
    for step in [0, -HOUR, 2 * HOUR, -YEAR, 0, YEAR] {
        bench.pass(step);
        let mut disk = bench.open();
        ids.extend(bench.send(&disk, Letter::new("x", &["a", "b"])).await);
        let last = ids[ids.len() - 1];
        disk.delete(&mailbox("b"), &[last], Vec::new()).await.unwrap();
        disk = bench.reopen_after_crash(disk);
        ids.extend(bench.send(&disk, Letter::new("x", &["b"])).await);
    }
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
}

/// A sundial and the clock under it, at times that are told: of the clock in hours since the beginning, and passed.
struct Times {
    clock: Arc<ManualClock>,
    dial: Sundial,
    start: Instant,
    zero: i64,
}

impl Times {
    fn new(retention: Option<i64>, hold: i64) -> Self {
        let clock = Bench::new(|_| ()).clock;
        let hours = |hours: i64| Duration::from_secs((hours * HOUR).unsigned_abs());
        let dial = Sundial::new(clock.clone(), retention.map(hours), hours(hold), 0);
        let zero = micros(clock.now());
        Self { clock, dial, start: Instant::now(), zero }
    }

    /// So many hours have passed since the beginning, and the clock says so many: which hour is believed?
    fn at(&self, passed: i64, said: i64) -> i64 {
        let now = micros(self.clock.now()) - self.zero;
        self.clock.advance(SignedDuration::from_hours(said) - SignedDuration::from_micros(now));
        let instant = self.start + Duration::from_secs((passed * HOUR).unsigned_abs());
        let believed = self.dial.at(instant) - self.zero;
        // Some real time has passed between the beginnings of the two.
        (believed + 1_800_000_000).div_euclid(3_600_000_000)
    }
}

#[test]
fn f11_a_jump_is_believed_after_the_hold() {
    let times = Times::new(Some(7 * 24), 24);
    assert_eq!(times.at(1, 1), 1);
    assert_eq!(times.at(2, 1_000), 2, "not at first");
    assert_eq!(times.at(25, 1_023), 25, "not within the hold");
    assert_eq!(times.at(26, 1_024), 1_024, "after it");
    assert_eq!(times.at(27, 1_025), 1_025, "and from then on");
    assert_eq!(times.at(28, 3_000), 28 + 998, "until the next jump");
}

#[test]
fn f11_a_clock_that_comes_back_is_believed_at_once_and_the_hold_begins_anew() {
    let times = Times::new(Some(7 * 24), 24);
    assert_eq!(times.at(1, 1_000), 1);
    assert_eq!(times.at(20, 20), 20, "it is right again");
    assert_eq!(times.at(26, 1_026), 26, "another jump has its own hold");
    assert_eq!(times.at(49, 1_049), 49);
    assert_eq!(times.at(50, 1_050), 1_050);
    assert_eq!(times.at(51, 5), 5, "back is always believed");
}

#[test]
fn f11_a_small_step_is_none_and_a_short_retention_is_held_no_longer_than_itself() {
    let times = Times::new(Some(200), 24);
    assert_eq!(times.at(1, 11), 11, "a twentieth");
    assert_eq!(times.at(2, 23), 12, "more than that");
    let times = Times::new(Some(3), 24);
    assert_eq!(times.at(1, 1_000), 1);
    assert_eq!(times.at(3, 1_000), 3);
    assert_eq!(times.at(4, 1_000), 1_000, "three hours after the jump");
    let times = Times::new(None, 24);
    assert_eq!(times.at(1, 1_000), 1_000, "without an age there is nothing to hold");
    let times = Times::new(Some(24), 0);
    assert_eq!(times.at(1, 1_000), 1_000, "a hold of 0 is none");
}
