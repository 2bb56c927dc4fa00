//! What is sent is read back by a strict client as what was stored.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;

fn sent(raw: &[u8], part: Part, room: usize) -> Vec<u8> {
    let mut stuffer = Stuffer::new(Bytes::copy_from_slice(raw), part);
    let mut out = Vec::new();
    while stuffer.write(&mut out, room) == Progress::More {}
    out
}

/// What a strict client makes of the wire: it ends at CRLF `.` CRLF and nowhere else, and no CR or LF stands alone.
fn received(wire: &[u8]) -> Vec<u8> {
    let (mut text, mut rest) = (Vec::new(), wire);
    loop {
        let end = memchr2(b'\r', b'\n', rest).expect("every line ends");
        assert_eq!(rest.get(end..end + 2), Some(&b"\r\n"[..]), "a CR or LF on its own");
        let (line, behind) = (&rest[..end], &rest[end + 2..]);
        if line == b"." {
            assert_eq!(behind, b"", "the end is the end");
            return text;
        }
        assert!(!line.starts_with(b".") || line.starts_with(b".."), "a dot that is not doubled");
        text.extend_from_slice(line.strip_prefix(b".").unwrap_or(line));
        text.extend_from_slice(b"\r\n");
        rest = behind;
    }
}

/// The bytes with every line end as CRLF, and one at the end: written to be seen right, a byte at a time.
fn normalised(raw: &[u8]) -> Vec<u8> {
    let (mut text, mut place) = (Vec::new(), 0);
    while place < raw.len() {
        match raw[place..] {
            [b'\r', b'\n', ..] => place += 2,
            [b'\r' | b'\n', ..] => place += 1,
            _ => {
                text.push(raw[place]);
                place += 1;
                continue;
            }
        }
        text.extend_from_slice(b"\r\n");
    }
    if !text.is_empty() && !text.ends_with(b"\r\n") {
        text.extend_from_slice(b"\r\n");
    }
    text
}

fn top(raw: &[u8], lines: u64) -> Vec<u8> {
    let (mut kept, mut left) = (Vec::new(), None);
    for line in normalised(raw).split_inclusive(|byte| *byte == b'\n') {
        if left == Some(0) {
            break;
        }
        kept.extend_from_slice(line);
        left = left.map(|left: u64| left - 1).or((line == b"\r\n").then_some(lines));
    }
    kept
}

fn check(raw: &str, expected: &str) {
    for room in [1, 2, 3, 5, 1000] {
        let wire = sent(raw.as_bytes(), Part::Whole, room);
        assert_eq!(String::from_utf8(wire).unwrap(), expected, "{raw:?} in pieces of {room}");
    }
}

#[test]
fn messages_have_their_wire_form() {
    check("", ".\r\n");
    check("a", "a\r\n.\r\n");
    check("a\r\n", "a\r\n.\r\n");
    check("a\r\n\r\nb\r\n", "a\r\n\r\nb\r\n.\r\n");
    check(".", "..\r\n.\r\n");
    check(".\r\n", "..\r\n.\r\n");
    check("a\r\n.\r\nb", "a\r\n..\r\nb\r\n.\r\n");
    check("a\r\n\r\n.\r\n", "a\r\n\r\n..\r\n.\r\n");
    check("a.\r\n..b\r\n", "a.\r\n...b\r\n.\r\n");
}

#[test]
fn t089_a_newline_on_its_own_is_a_line_end_on_the_wire() {
    check("a\n.\nb\n", "a\r\n..\r\nb\r\n.\r\n");
    check("a\r.\rb\r", "a\r\n..\r\nb\r\n.\r\n");
    check("a\n.\r\nb", "a\r\n..\r\nb\r\n.\r\n");
    check("\r\r\n.", "\r\n\r\n..\r\n.\r\n");
    check("\n\r.", "\r\n\r\n..\r\n.\r\n");
}

#[test]
fn top_sends_the_header_and_so_many_lines() {
    let raw = "A: 1\r\nB: 2\r\n\r\n.one\r\ntwo\nthree";
    for (lines, expected) in [
        (0, "A: 1\r\nB: 2\r\n\r\n.\r\n"),
        (1, "A: 1\r\nB: 2\r\n\r\n..one\r\n.\r\n"),
        (2, "A: 1\r\nB: 2\r\n\r\n..one\r\ntwo\r\n.\r\n"),
        (3, "A: 1\r\nB: 2\r\n\r\n..one\r\ntwo\r\nthree\r\n.\r\n"),
        (u64::MAX, "A: 1\r\nB: 2\r\n\r\n..one\r\ntwo\r\nthree\r\n.\r\n"),
    ] {
        for room in [1, 4, 1000] {
            let wire = sent(raw.as_bytes(), Part::Top(lines), room);
            assert_eq!(String::from_utf8(wire).unwrap(), expected, "{lines} lines in pieces of {room}");
        }
    }
    assert_eq!(sent(b"no: body", Part::Top(0), 9), b"no: body\r\n.\r\n");
    assert_eq!(sent(b"\r\nbody\r\n", Part::Top(0), 9), b"\r\n.\r\n");
}

#[test]
fn a_piece_is_bounded_and_never_empty() {
    let raw = Bytes::from("x".repeat(10_000) + &".\n".repeat(5000));
    let (mut stuffer, mut pieces) = (Stuffer::new(raw, Part::Whole), 0);
    loop {
        let mut out = Vec::new();
        let progress = stuffer.write(&mut out, 1000);
        assert!(!out.is_empty() && out.len() <= 2 * 1000 + 64, "{}", out.len());
        pieces += 1;
        if progress == Progress::Done {
            break;
        }
    }
    assert_eq!(pieces, 20);
}

/// Bodies of what makes line ends and dots, and of anything.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let unit = prop_oneof![
        4 => Just(&b"\r\n"[..]),
        4 => Just(&b"."[..]),
        2 => Just(&b"\n"[..]),
        2 => Just(&b"\r"[..]),
        2 => Just(&b"x"[..]),
        1 => Just(&b"a longer stretch of text, so that runs are found"[..]),
        1 => Just(&b"\0\xff"[..]),
    ];
    let made = prop::collection::vec(unit, 0..24).prop_map(|units| units.concat());
    prop_oneof![3 => made, 1 => prop::collection::vec(any::<u8>(), 0..64)]
}

/// 100,000 bodies by a fixed seed, so that a finding comes again.
#[test]
fn t002_t089_every_body_is_read_back_as_it_was() {
    let config = ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() };
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[2; 32]);
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(config, random);
    let cases = (body(), 1..80usize, 0..6u64);
    let ran = runner.run(&cases, |(raw, room, lines)| {
        prop_assert_eq!(received(&sent(&raw, Part::Whole, room)), normalised(&raw));
        prop_assert_eq!(received(&sent(&raw, Part::Top(lines), room)), top(&raw, lines));
        Ok(())
    });
    ran.unwrap();
}
