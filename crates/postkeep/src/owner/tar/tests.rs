//! Messages, receipts and envelopes come back exactly; other tars understand ours, and theirs are read.

use std::io::Cursor;

use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, MessageId, ReversePath};
use proptest::prelude::*;

use super::header::{Header, Kind, exact, moment, record, records};
use super::{Reader, Writer};
use crate::owner::letter::{Found, Letter};

fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).unwrap()
}

fn letter(raw: impl Into<Vec<u8>>, micros: i64) -> Letter {
    Letter {
        received_at: Some(Timestamp::from_microsecond(micros).unwrap()),
        mail_from: Some(ReversePath(Some(address("\"john doe\"@grüße.test")))),
        rcpt_to: vec![address("a@x.test"), address("\"=\\\\ 5\"@x.test")],
        raw: raw.into(),
    }
}

fn written(letters: &[(&str, Letter)]) -> Vec<u8> {
    let mut tar = Writer::new(Vec::new());
    for (number, (mailbox, letter)) in letters.iter().enumerate() {
        tar.write(mailbox, MessageId::new(number as u64), letter).unwrap();
    }
    tar.finish().unwrap()
}

fn read(tar: &[u8], max: usize) -> Vec<Found> {
    let mut reader = Reader::new(Cursor::new(tar), max);
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

#[test]
fn everything_comes_back() {
    let long = format!("\"{}\"@{}", "\u{fc}".repeat(31), "x".repeat(255));
    let mut sent = vec![
        ("alice", letter("", 0)),
        ("\"../../etc\"", letter("\0\r\n", 1_794_737_625_000_042)),
        (&*long, letter(vec![0; 512], -1)),
        ("bob", letter(vec![b'x'; 513], 253_402_207_200_000_000)),
    ];
    sent[0].1.mail_from = Some(ReversePath(None));
    sent[0].1.rcpt_to.clear();
    let found = read(&written(&sent), 1 << 20);
    let expected: Vec<_> =
        sent.into_iter().map(|(name, letter)| Found::Letter(Some(name.to_owned()), letter)).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_is_too_large_or_no_message_is_passed_over() {
    let mut tar = written(&[("a", letter(vec![b'x'; 1001], 0)), ("a", letter(vec![b'x'; 1000], 0))]);
    tar.truncate(tar.len() - 1024);
    for (path, flag) in [("a/link.eml", b'2'), ("a/dev.eml", b'3'), ("g", b'g'), ("dir/", b'5'), ("readme", b'0')] {
        let mut block = Header { path: path.into(), kind: Kind::File, size: 0, modified: 5 }.block();
        block[156] = flag;
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend_from_slice(&block);
    }
    let found = read(&tar, 1000);
    let passed: Vec<&str> = found
        .iter()
        .filter_map(|found| match found {
            Found::Passed(path, _) => Some(&**path),
            Found::Letter(..) => None,
        })
        .collect();
    assert_eq!(passed, ["a/0000000000000.eml", "a/link.eml", "a/dev.eml", "g", "readme"]);
    assert_eq!(found.len(), 6);
}

#[test]
fn t080_a_members_name_is_only_ever_a_mailboxs() {
    for (path, expected) in [
        ("alice/1.eml", Some("alice")),
        ("./alice/1.eml", Some("alice")),
        ("/etc/cron.d/1.eml", Some("cron.d")),
        ("../../../1.eml", Some("..")),
        ("a\\..\\b/1.eml", Some("a\\..\\b")),
        ("1.eml", None),
        ("%2e%2e/1.eml", Some("..")),
        ("%zz/1.eml", Some("%zz")),
        ("a//b//1.eml", Some("b")),
    ] {
        let mut tar = Header { path: path.into(), kind: Kind::File, size: 0, modified: 5 }.block().to_vec();
        tar.extend_from_slice(&[0; 1024]);
        let found = read(&tar, 1000);
        let [Found::Letter(mailbox, letter)] = &found[..] else { panic!("{path}: {found:?}") };
        assert_eq!(mailbox.as_deref(), expected, "{path}");
        assert_eq!(letter.received_at, Some(Timestamp::from_second(5).unwrap()));
    }
}

#[test]
fn what_is_no_tar_is_said_to_be_none() {
    let check = |bytes: &[u8], told: &str| {
        let error = Reader::new(Cursor::new(bytes), 1000).next().unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    };
    check(&[b'x'; 600], "no tar file");
    check(&[&[0x1f, 0x8b][..], &[0; 600]].concat(), "compressed");
    check(b"x", "ends in the middle");
    let tar = written(&[("a", letter(vec![b'x'; 600], 0))]);
    for cut in [600, 1500, 2100, 2500] {
        let mut reader = Reader::new(Cursor::new(&tar[..cut]), 1000);
        assert!(reader.next().is_err(), "{cut}");
    }
    let mut huge = Header { path: "x".into(), kind: Kind::Extended, size: 1 << 30, modified: 0 }.block().to_vec();
    huge.extend_from_slice(&[0; 1024]);
    check(&huge, "too large");
}

#[test]
fn records_and_times() {
    for length in [0, 1, 5, 89, 90, 91, 92, 983, 984, 985, 9980] {
        let mut out = Vec::new();
        record("key", &"v=\n".repeat(length)[..length], &mut out);
        record("k", "", &mut out);
        let found = records(&out);
        assert_eq!((found.len(), found[0].1.len(), found[1].0), (2, length, "k"), "{length}");
    }
    for (text, micros) in [("5", 5_000_000), ("5.1", 5_100_000), ("-0.5", -500_000), ("1.12345678", 1_123_456)] {
        assert_eq!(moment(text).unwrap().as_microsecond(), micros);
    }
    for bad in ["", ".", "-", "1.x", "1e5", "+1", "99999999999999999999", "1.-5"] {
        assert_eq!(moment(bad), None, "{bad}");
    }
}

/// Cut to what a header holds, this path ends with a slash, as that of a directory does.
#[test]
fn a_long_path_that_is_cut_behind_a_slash_is_still_a_message() {
    for length in 90..110 {
        let name = format!("\"{}", "a".repeat(length));
        let sent = letter("x", 5);
        assert_eq!(read(&written(&[(&name, sent.clone())]), 100), [Found::Letter(Some(name), sent)], "{length}");
    }
}

proptest! {
    #[test]
    fn any_message_comes_back(raw in proptest::collection::vec(any::<u8>(), 0..2000), at in -60_000_000_000_000_000i64..253_000_000_000_000_000, name in "[a-c./%\"]{1,150}") {
        let sent = letter(raw, at);
        prop_assert_eq!(moment(&exact(sent.received_at.unwrap())), sent.received_at);
        prop_assert_eq!(read(&written(&[(&name, sent.clone())]), 2000), vec![Found::Letter(Some(name), sent)]);
    }

    #[test]
    fn reading_is_total(mut tar in Just(written(&[("a", letter("x", 5)), ("b", letter("y", 6))])), flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8), cut in any::<prop::sample::Index>()) {
        for (place, byte) in flips {
            let place = place.index(tar.len());
            tar[place] = byte;
        }
        let end = cut.index(tar.len());
        let mut reader = Reader::new(Cursor::new(&tar[..end]), 2000);
        while let Ok(Some(_)) = reader.next() {}
    }
}
