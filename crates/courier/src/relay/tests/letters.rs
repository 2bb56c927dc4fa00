//! What is sent, of what is kept.

use super::super::letter::{GUARD, passages};
use super::*;

fn sent(raw: &[u8], door: Door) -> Vec<u8> {
    Letter::new(raw, &envelope(door), "r1", ReversePath(None), vec![address("b@y.test")]).content.to_vec()
}

#[test]
fn our_return_path_stays_here_and_nothing_else() {
    let rest = "Received: by x\r\nReturn-Path: <theirs@x.test>\r\nSubject: a\r\n\r\n.\r\nbody";
    let kept = format!("Return-Path: <a@x.test>\r\n{rest}");
    assert_eq!(sent(kept.as_bytes(), Door::Esmtp), format!("{GUARD}: r1\r\n{rest}").as_bytes());
    assert_eq!(sent(kept.as_bytes(), Door::Import), format!("{GUARD}: r1\r\n{kept}").as_bytes());
    assert_eq!(sent(b"", Door::Esmtp), format!("{GUARD}: r1\r\n").as_bytes());
}

#[test]
fn a_file_with_the_line_ends_of_unix_gets_those_of_mail() {
    assert_eq!(
        sent(b"Subject: a\n\n.\nb", Door::Import),
        format!("{GUARD}: r1\r\nSubject: a\r\n\r\n.\r\nb").as_bytes()
    );
    assert!(!letter(b"Subject: a\n\n.\nb\n", &["b@y.test"]).needs.binary);
}

#[test]
fn what_is_needed_by_example() {
    let needs = |raw: &[u8], to: &str| {
        let needs = letter(raw, &[to]).needs;
        (needs.eight_bit, needs.utf8, needs.utf8_wanted, needs.binary)
    };
    for (raw, to, expected) in [
        (&b"A: b\r\n\r\nc"[..], "b@y.test", (false, false, false, false)),
        ("A: b\r\n\r\nü".as_bytes(), "b@y.test", (true, false, false, false)),
        ("A: ü\r\n\r\nc".as_bytes(), "b@y.test", (true, false, true, false)),
        (b"A: \xfc\r\n\r\nc", "b@y.test", (true, false, false, false)),
        (b"A: b\r\n\r\nc", "bü@y.test", (false, true, true, false)),
        (b"A: b\r\n\r\nc\n", "b@y.test", (false, false, false, true)),
        (b"A: b\r\n\r\nc\r", "b@y.test", (false, false, false, true)),
        (b"A: b\r\n\r\nc\r\r\n", "b@y.test", (false, false, false, true)),
        (b"A: b\r\n\r\n\0", "b@y.test", (false, false, false, true)),
    ] {
        assert_eq!(needs(raw, to), expected, "{raw:?} {to}");
    }
    let mut told = envelope(Door::Esmtp);
    told.transport.utf8 = true;
    let letter = Letter::new("A: ü\r\n\r\n".as_bytes(), &told, "r1", ReversePath(None), vec![address("b@y.test")]);
    assert!(letter.needs.utf8);
}

#[test]
fn t022_passages_are_counted_in_the_header_only() {
    let once = sent(b"Subject: a\r\n\r\nb\r\n", Door::Import);
    assert_eq!(passages(&once), 1);
    assert_eq!(passages(&sent(&once, Door::Import)), 2);
    assert_eq!(passages(format!("A: b\r\n\r\n{GUARD}: x\r\n").as_bytes()), 0);
}
