//! What a relay is said to hand on, and what is said to it.

use super::intake::stuffed;
use super::*;
use crate::interop::corpus;

fn letter(name: &str) -> Letter {
    corpus::letters("relay", Transport::Plain).into_iter().find(|letter| letter.name == name).expect("a letter")
}

#[test]
fn an_empty_line_parts_the_fields_of_a_relay_from_text_without_a_header() {
    let begins = |name, with: &[u8]| assert!(below_fields(&letter(name)).starts_with(with), "{name}");
    begins("plain-ascii", b"From: ");
    begins("foreign-trace", b"Return-Path: ");
    begins("no-header", b"\r\nOnly a body");
    begins("nothing-of-both", b"\r\nNeither a header");
    begins("dot-is-all", b"\r\n.\r\n");
    assert_eq!(below_fields(&letter("empty-message")), b"\r\n");
}

#[test]
fn a_dot_at_the_begin_of_a_line_is_doubled_and_one_alone_ends_the_message() {
    let check = |content: &[u8], sent: &[u8]| {
        assert_eq!(stuffed(content).escape_ascii().to_string(), sent.escape_ascii().to_string())
    };
    check(b"x.\r\n", b"x.\r\n.\r\n");
    check(b".\r\n..\r\n.x\r\n", b"..\r\n...\r\n..x\r\n.\r\n");
    check(b"", b".\r\n");
}
