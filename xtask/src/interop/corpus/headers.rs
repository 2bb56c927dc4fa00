//! Letters whose header is what matters.

use super::{Draft, Recipe};

pub(super) const RECIPES: &[Recipe] = &[
    ("plain-ascii", false, |draft| draft.ascii("A line of text.\r\nAnd another one.\r\n")),
    ("utf8-header", false, utf8_header),
    ("utf8-address", true, |draft| draft.text("utf-8", "Надіслано на пошту.\r\n".as_bytes())),
    ("encoded-words", false, encoded_words),
    ("folded-header", false, folded),
    ("long-header", false, long_header),
    ("header-line-998", false, |draft| one_line(draft, 998)),
    ("header-line-3000", false, |draft| one_line(draft, 3000)),
    ("many-recipients", false, many_recipients),
    ("odd-fields", false, odd_fields),
    ("foreign-trace", false, foreign_trace),
];

fn headed(draft: &Draft<'_>, fields: &str) -> Vec<u8> {
    format!("{}{fields}\r\nThe header is what matters.\r\n", draft.head()).into_bytes()
}

fn utf8_header(draft: &Draft<'_>) -> Vec<u8> {
    headed(draft, "X-Greeting: Grüße, здравствуй, 日本語 \u{1F4EE}\r\n")
}

fn encoded_words(draft: &Draft<'_>) -> Vec<u8> {
    headed(draft, "X-Greeting: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?iso-8859-1?B?aW4gTGF0aW4tMQ==?=\r\n")
}

fn folded(draft: &Draft<'_>) -> Vec<u8> {
    headed(draft, "X-Folded: one\r\n two\r\n\tthree\r\n  \t four\r\nX-Begins-Below:\r\n the value\r\nX-Empty:\r\n")
}

fn long_header(draft: &Draft<'_>) -> Vec<u8> {
    let lines: String = (0..200).map(|line| format!("\r\n <reference.number.{line:04}@interop.test>")).collect();
    headed(draft, &format!("References:{lines}\r\n"))
}

/// A field that is one line of this many octets.
fn one_line(draft: &Draft<'_>, octets: usize) -> Vec<u8> {
    let name = "X-Long: ";
    headed(draft, &format!("{name}{}\r\n", "w".repeat(octets - name.len())))
}

fn many_recipients(draft: &Draft<'_>) -> Vec<u8> {
    let others: String =
        (0..200).map(|other| format!(",\r\n \"Other, {other}\" <other-{other}@example.test>")).collect();
    headed(draft, &format!("Cc: <first@example.test>{others}\r\n"))
}

/// Fields that a client may be tempted to repair: twice the same, odd case, blanks at the end, nothing but a blank.
fn odd_fields(draft: &Draft<'_>) -> Vec<u8> {
    headed(draft, "X-Twice: one\r\nx-twice: two\r\nX-BLANKS:   around   \r\nX-Tight:value\r\nX-Blank: \r\n")
}

/// A message that has travelled before.
fn foreign_trace(draft: &Draft<'_>) -> Vec<u8> {
    let trace = "Return-Path: <elsewhere@example.test>\r\n\
                 Received: from there.example.test (there.example.test [192.0.2.1])\r\n\tby mx.example.test with ESMTP \
                 id 4711;\r\n\tMon, 02 Nov 2026 09:59:00 +0000\r\n";
    format!("{trace}{}\r\nThe trace below is not ours.\r\n", draft.head()).into_bytes()
}
