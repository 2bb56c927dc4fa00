//! Names of transactions.

use std::collections::HashSet;

use jiff::Timestamp;

use super::Transactions;

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap()
}

#[test]
fn they_ascend_within_a_millisecond_and_over_time() {
    let transactions = Transactions::default();
    let names: Vec<_> = (0..3000).map(|number| transactions.begin(at(1_800_000_000_000 + number / 1500))).collect();
    assert!(names.is_sorted_by(|a, b| a < b));
}

#[test]
fn they_are_of_version_7_and_tell_the_millisecond() {
    let name = uuid::Uuid::from_u128(Transactions::default().begin(at(1_800_000_000_123)).number());
    assert_eq!((name.get_version_num(), name.get_variant()), (7, uuid::Variant::RFC4122));
    assert_eq!(name.get_timestamp().unwrap().to_unix(), (1_800_000_000, 123_000_000));
}

#[test]
fn no_two_are_the_same() {
    let (one, other) = (Transactions::default(), Transactions::default());
    let names: HashSet<_> = (0..100_000).flat_map(|_| [one.begin(at(1)), other.begin(at(1))]).collect();
    assert_eq!(names.len(), 200_000);
}
