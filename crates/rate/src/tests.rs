//! Quotas by a clock of the tests.

use governor::clock::FakeRelativeClock;
use proptest::prelude::*;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn rate(count: u32, entries_max: usize) -> (FakeRelativeClock, Rate<u32, FakeRelativeClock>) {
    let clock = FakeRelativeClock::default();
    (clock.clone(), Rate::with_clock(Quota { count, per: MINUTE }, entries_max, clock))
}

#[test]
fn a_whole_quota_may_be_used_at_once_and_comes_back_evenly() {
    let (clock, rate) = rate(60, 10);
    assert!((0..60).all(|_| rate.take(&1, 1).is_ok()));
    assert_eq!(rate.take(&1, 1), Err(Duration::from_secs(1)));
    assert_eq!(rate.take(&1, 30), Err(Duration::from_secs(30)), "enough for all of them, or none");
    clock.advance(Duration::from_secs(1));
    assert_eq!((rate.take(&1, 1), rate.take(&1, 1)), (Ok(()), Err(Duration::from_secs(1))));
    clock.advance(MINUTE * 10);
    assert!((0..60).all(|_| rate.take(&1, 1).is_ok()), "and never more than a whole one");
    assert!(rate.take(&1, 1).is_err());
}

#[test]
fn a_key_over_its_rate_costs_no_other_key_anything() {
    let (_clock, rate) = rate(5, 10);
    assert!((0..100).filter(|_| rate.take(&1, 1).is_ok()).count() == 5);
    assert!((0..5).all(|_| rate.take(&2, 1).is_ok()));
}

#[test]
fn more_than_a_quota_counts_as_a_whole_one_and_nothing_as_nothing() {
    let (_clock, rate) = rate(5, 10);
    assert_eq!(rate.take(&1, u32::MAX), Ok(()));
    assert_eq!(rate.take(&1, 0), Ok(()));
    assert_eq!(rate.take(&1, 5), Err(MINUTE));
    assert_eq!((rate.take(&2, 0), rate.remembered()), (Ok(()), 1));
}

#[test]
fn what_has_happened_is_charged_and_a_debt_has_a_floor() {
    let (clock, rate) = rate(60, 10);
    rate.charge(&1, 70);
    assert_eq!(rate.take(&1, 1), Err(Duration::from_secs(11)), "ten owed, and one more");
    for _ in 0..100 {
        rate.charge(&1, u32::MAX);
    }
    assert_eq!(rate.take(&1, 1), Err(Duration::from_secs(61)), "one whole quota owed, and one more");
    clock.advance(Duration::from_secs(61));
    assert_eq!(rate.take(&1, 1), Ok(()));
}

#[test]
fn whether_there_is_room_is_asked_without_taking_any() {
    let (clock, rate) = rate(2, 10);
    for _ in 0..100 {
        assert!(rate.has_room(&1));
    }
    assert_eq!(rate.remembered(), 0);
    assert_eq!((rate.take(&1, 1), rate.has_room(&1)), (Ok(()), true));
    assert_eq!((rate.take(&1, 1), rate.has_room(&1)), (Ok(()), false));
    clock.advance(MINUTE / 2);
    assert!(rate.has_room(&1));
    rate.charge(&1, 2);
    clock.advance(MINUTE / 2);
    assert!(!rate.has_room(&1));
}

#[test]
fn no_more_keys_are_remembered_than_may_be_and_the_new_ones_pass() {
    let (clock, rate) = rate(1, 3);
    for key in 0..1000 {
        assert_eq!(rate.take(&key, 1), Ok(()), "{key}");
    }
    assert_eq!(rate.remembered(), 3);
    assert_eq!(rate.take(&999, 1), Ok(()), "nobody remembers it");
    assert!((0..3).all(|key| rate.take(&key, 1).is_err()), "who is remembered stays bound");
    rate.forget_idle();
    assert_eq!(rate.remembered(), 3, "their quota is not whole again");
    clock.advance(MINUTE * 2);
    rate.forget_idle();
    assert_eq!(rate.remembered(), 0);
    assert_eq!((rate.take(&999, 1), rate.take(&999, 1).is_err()), (Ok(()), true));
}

#[test]
fn a_flood_gives_its_memory_back() {
    let (clock, rate) = rate(1, 100_000);
    (0..100_000).for_each(|key| assert_eq!(rate.take(&key, 1), Ok(())));
    clock.advance(MINUTE * 2);
    rate.forget_idle();
    assert!(rate.ledger.room() < 100, "{}", rate.ledger.room());
}

#[test]
fn one_customer_is_one_host_and_one_network() {
    let check = |ip: &str, host_of: &str, network_of: &str| {
        let ip: IpAddr = ip.parse().unwrap();
        assert_eq!((host(ip).to_string(), network(ip).to_string()), (host_of.into(), network_of.into()));
    };
    check("192.0.2.77", "192.0.2.77", "192.0.2.0");
    check("::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0");
    check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1::");
}

proptest! {
    /// In no stretch of time is more taken than one quota and what came back meanwhile.
    #[test]
    fn a_quota_holds_over_every_stretch_of_time(
        count in 1u32..50,
        steps in proptest::collection::vec((0u64..5_000, 1u32..10), 1..200),
    ) {
        let (clock, rate) = rate(count, 10);
        let (mut now, mut taken) = (0, Vec::new());
        for (pause, many) in steps {
            clock.advance(Duration::from_millis(pause));
            now += pause;
            let many = many.min(count);
            if rate.take(&1, many).is_ok() {
                taken.push((now, many));
            }
        }
        for (first, (began, _)) in taken.iter().enumerate() {
            let mut sum = 0;
            for (ended, many) in &taken[first..] {
                sum += u64::from(*many);
                let back = f64::from(count) * (ended - began) as f64 / 60_000.0;
                prop_assert!(sum as f64 <= f64::from(count) + back + 0.001, "{sum} in {} ms", ended - began);
            }
        }
    }
}
