//! Exact to the byte both ways, whatever the message; and files of others are read.

use std::io::Cursor;

use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, ReversePath};
use proptest::prelude::*;

use super::{Reader, write};
use crate::owner::letter::{Found, Letter};

fn letter(raw: impl Into<Vec<u8>>, sender: Option<&str>, micros: i64) -> Letter {
    let address = sender.map(|text| Address::parse(text, Charset::Utf8).unwrap());
    let received_at = Some(Timestamp::from_microsecond(micros).unwrap());
    Letter { received_at, mail_from: Some(ReversePath(address)), rcpt_to: Vec::new(), raw: raw.into() }
}

fn written(letters: &[Letter]) -> Vec<u8> {
    let mut out = Vec::new();
    letters.iter().for_each(|letter| write(&mut out, letter).unwrap());
    out
}

fn read(mbox: &[u8], max: usize) -> Vec<Found> {
    let mut reader = Reader::new(Cursor::new(mbox), max);
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

fn letters(mbox: &[u8]) -> Vec<Letter> {
    let found = read(mbox, 1 << 20).into_iter();
    found
        .map(|found| match found {
            Found::Letter(None, letter) => letter,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn raws(mbox: &[u8]) -> Vec<String> {
    letters(mbox).iter().map(|letter| String::from_utf8_lossy(&letter.raw).into_owned()).collect()
}

#[test]
fn as_it_is_written() {
    let out = written(&[
        letter("A: b\r\n\r\nFrom x\r\n>From y\r\n", Some("ann@sender.test"), 1_794_737_625_000_042),
        letter("no end", None, 0),
    ]);
    let expected = "From ann@sender.test Sun Nov 15 10:13:45 2026 postkeep us=000042\nA: b\r\n\r\n>From x\r\n>>From y\r\n\n\
                    From MAILER-DAEMON Thu Jan  1 00:00:00 1970 postkeep us=000000 open\nno end\n\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn messages_that_are_hard_to_hold() {
    let from = "From ann@x.test Sun Nov 15 09:33:45 2026\n";
    let hostile: Vec<Vec<u8>> =
        ["", "\n", "\n\n", "\r", "\r\n", "a", "a\n", "a\r", "a\n\r", "a\n\n\n", "From ", "From \n"]
            .into_iter()
            .map(Vec::from)
            .chain([
                from.into(),
                format!("\n{from}").into(),
                format!(">{from}>>>>{from}>").into(),
                format!("\n\n{from}\n").into(),
            ])
            .chain([vec![0; 300], b"\0\n\0From \nFrom \0\n".to_vec(), (0..=255).collect(), vec![b'>'; 100_000]])
            .chain([[vec![b'>'; 70_000], b"From x\n".to_vec()].concat()])
            .collect();
    let sent: Vec<Letter> = hostile.into_iter().map(|raw| letter(raw, Some("a@x.test"), 5)).collect();
    assert_eq!(letters(&written(&sent)), sent);
}

#[test]
fn senders_that_are_no_single_word() {
    for sender in [
        "\"john doe\"@x.test",
        "\"a%20b\"@x.test",
        "grüße@bücher.test",
        "a%b@x.test",
        "\"Sun Nov\"@x.test",
        "x@[127.0.0.1]",
    ] {
        let sent = [letter("x\n", Some(sender), -1)];
        assert_eq!(letters(&written(&sent)), sent, "{sender}");
    }
}

#[test]
fn files_of_others_are_read() {
    let check = |mbox: &str, expected: &[&str]| assert_eq!(raws(mbox.as_bytes()), expected, "{mbox:?}");
    check("", &[]);
    check("\n\n", &[]);
    check("From a@b Sun Nov 15 09:33:45 2026\nx\n\nFrom - Sun Nov  5 09:33 2026\ny\n", &["x\n", "y\n"]);
    check("From a@b Sun Nov 15 09:33:45 2026\r\nx\r\n\r\nFrom a@b Sun Nov 15 09:33:45 2026\r\ny", &["x\r\n", "y"]);
    check("From a@b Sun Nov 15 09:33:45 2026\nFrom here to there\n>From a\n\n\n", &["From here to there\nFrom a\n\n"]);
    check("From a@b Sun Nov 15 09:33:45 2026 open\nx\n\n", &["x\n"]);
}

#[test]
fn dates_of_others_are_understood() {
    for (date, second) in [
        ("Sun Nov 15 09:33:45 2026", 1_794_735_225),
        ("Sun Nov 15 09:33:45 2026 +0100", 1_794_735_225 - 3600),
        ("Sun Nov 15 09:33:45 -0130 2026", 1_794_735_225 + 5400),
        ("Sun Nov 15 09:33:45 CET 2026 remote from x", 1_794_735_225),
        ("Sun Nov 15 09:33 2026", 1_794_735_225 - 45),
    ] {
        let found = letters(format!("From a@b {date}\nx\n\n").as_bytes());
        assert_eq!(found[0].received_at.unwrap().as_second(), second, "{date}");
        assert_eq!(found[0].mail_from, letter("", Some("a@b"), 0).mail_from);
    }
}

#[test]
fn what_is_no_mbox_is_said_to_be_none() {
    let mut reader = Reader::new(Cursor::new(b"Subject: x\n\nFrom a@b Sun Nov 15 09:33:45 2026\n"), 100);
    assert!(reader.next().unwrap_err().to_string().contains("no mbox"));
}

#[test]
fn a_message_that_is_too_large_is_passed_over_and_the_next_is_read() {
    for size in [1001, 5000, 100_000] {
        let sent =
            [letter(vec![b'x'; size], None, 0), letter("y\n".repeat(size), None, 0), letter(vec![b'z'; 1000], None, 0)];
        let found = read(&written(&sent), 1000);
        assert!(matches!(&found[..2], [Found::Passed(..), Found::Passed(..)]), "{size}: {:?}", &found[..2]);
        assert_eq!(found[2], Found::Letter(None, sent[2].clone()));
    }
}

/// Bytes among which the format's own signs are frequent.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"From ".to_vec()),
        Just(b">From ".to_vec()),
        Just(b"From a@b Sun Nov 15 09:33:45 2026".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\0".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_go_there_and_back(all in proptest::collection::vec((hostile(), 0i64..4_000_000_000_000_000), 0..6)) {
        let sent: Vec<Letter> = all.into_iter().map(|(raw, at)| letter(raw, Some("a@x.test"), at)).collect();
        prop_assert_eq!(letters(&written(&sent)), sent);
    }

    #[test]
    fn reading_is_total(mbox in hostile(), max in 0usize..50) {
        let mut reader = Reader::new(Cursor::new(&mbox), max);
        while let Ok(Some(_)) = reader.next() {}
    }
}
