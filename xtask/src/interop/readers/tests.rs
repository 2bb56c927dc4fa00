//! What a program is said to store when the server keeps this.

use super::*;

fn check(found: &[u8], expected: &[u8]) {
    assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn what_pop3_hands_out_is_lines_that_end_with_crlf() {
    check(&handed_out(b"one\r\ntwo\r\n"), b"one\r\ntwo\r\n");
    check(&handed_out(b"one\ntwo\rthree\r\r\n\n"), b"one\r\ntwo\r\nthree\r\n\r\n\r\n");
    check(&handed_out(b"no end"), b"no end\r\n");
    check(&handed_out(b""), b"");
}

#[test]
fn lines_of_unix_lose_the_cr_before_an_lf_and_no_other() {
    check(&unix(b"one\r\ntwo\r three\r\r\n\0\r\n"), b"one\ntwo\r three\r\n\0\n");
}

#[test]
fn a_message_is_found_by_the_id_of_its_uppermost_trace_field() {
    let source =
        b"Return-Path: <>\r\nReceived: from x ([::1])\r\n by y with ESMTP id 01ab\r\n for <z>;\r\n\r\nan id 77\r\n";
    assert_eq!(id(source).as_deref(), Some(b"01ab".as_slice()));
    assert_eq!(id(b"Subject: none\r\n\r\n"), None);
}

#[test]
fn a_header_without_an_end_gets_one() {
    check(&with_ended_header(b"A: b\r\n".to_vec()), b"A: b\r\n\r\n");
    check(&with_ended_header(b"A: b\r\n\r\nbody".to_vec()), b"A: b\r\n\r\nbody");
}

#[test]
fn of_what_mutt_stores_only_its_own_fields_are_left_out() {
    let stored = b"A: b\nContent-Length: 9\nLines: 1\n\nLines: 9\n".to_vec();
    check(&mutt::without_own(stored), b"A: b\n\nLines: 9\n");
}
