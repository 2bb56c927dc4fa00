//! The corpus of searches: some mails, and which of them each query finds.

use crate::change::Scope;
use crate::search::{Asked, Span};

use super::Need;
use super::letter::mailbox;
use super::searching::{AMPLE, found, of_ann};
use super::trial::{Desk, Trial};

/// Mails of the mailbox `ann`, and one of `bob`. Each is known by its subject's last word.
pub(super) const MAILS: &[(&str, &str)] = &[
    (
        "ann",
        "From: Shop <no-reply@shop.test>\r\nTo: ann@example.com\r\nSubject: Your reset link one\r\n\r\nHello Ann\r\n",
    ),
    (
        "ann",
        "From: =?utf-8?q?M=C3=BCller?= <mueller@xn--mller-kva.test>\r\nTo: Ann <ann@example.com>\r\n\
         Cc: carol@example.org\r\nSubject: =?utf-8?b?0J/RgNC40LLQtdGC?= two\r\nX-Test-Run: 42\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\r\nYour CODE\r\nis 884201, \u{4f60}\u{597d}\u{4e16}\u{754c}.\r\n",
    ),
    (
        "ann",
        "From: a@shop.test\r\nTo: ann@example.com\r\nSubject: page three\r\nX-Test-Run: 421\r\n\
         Content-Type: text/html; charset=utf-8\r\n\r\n<p>Click <b>here</b> to go on: \
         <a href=\"https://shop.test/v?token=abc\">https://shop.test/v?token=ABC</a></p>\r\n",
    ),
    (
        "ann",
        "From: b@bank.test\r\nTo: ann@example.com\r\nSubject: file four\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee the file. \"Quoted\" it's\r\n\
         --x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"Rechnung 7.pdf\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--x--\r\n",
    ),
    ("ann", "From: evil@x.test\r\nSubject: five\r\n\r\nAND OR NOT NEAR(a b) * ^ subject : { } ( ) reset\r\n"),
    ("bob", "From: a@shop.test\r\nTo: bob@example.com\r\nSubject: six for bob\r\n\r\nreset reset\r\n"),
];

/// A mail that matches much, and goes.
pub(super) const GONE: &str = "From: a@shop.test\r\nSubject: reset gone\r\n\r\nCODE 884201 here\r\n";

/// What finds which mails of `ann`, newest first.
const QUERIES: &[(&str, &[&str])] = &[
    ("", &["five", "four", "three", "two", "one"]),
    ("reset", &["five", "one"]),
    ("RESET", &["five", "one"]),
    ("rese", &["five", "one"]),
    ("re", &["five", "four", "three", "one"]),
    ("\"reset link\"", &["one"]),
    ("\"link reset\"", &[]),
    ("subject:reset", &["one"]),
    ("body:reset", &["five"]),
    ("reset -link", &["five"]),
    ("-reset", &["four", "three", "two"]),
    ("from:@shop.test", &["three", "one"]),
    ("from:no-reply@shop.test", &["one"]),
    ("from:reply@shop.test", &[]),
    ("from:shop", &["three", "one"]),
    ("from:m\u{fc}ller", &["two"]),
    ("from:M\u{dc}LLER", &["two"]),
    ("\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}", &["two"]),
    ("\u{41f}\u{420}\u{418}", &["two"]),
    ("\u{597d}\u{4e16}\u{754c}", &["two"]),
    ("\u{597d}\u{4e16}", &["two"]),
    ("\u{597d}", &["two"]),
    ("\"your code is 884201\"", &["two"]),
    ("8842", &["two"]),
    ("to:ann@example.com", &["four", "three", "two", "one"]),
    ("cc:@example.org", &["two"]),
    ("rcpt:ann@example.com", &["five", "four", "three", "two", "one"]),
    ("rcpt:bob@example.com", &[]),
    ("header:x-test-run=42", &["two"]),
    ("header:X-Test-Run", &["three", "two"]),
    ("https://shop.test/v?token=abc", &["three"]),
    ("\"click here to\"", &["three"]),
    ("has:attachment", &["four"]),
    ("filename:rechnung", &["four"]),
    ("\"rechnung 7.pdf\"", &["four"]),
    ("\"\\\"quoted\\\" it's\"", &["four"]),
    ("'s", &["four"]),
    ("\"and or not near(a b) * ^ subject : {\"", &["five"]),
    ("NEAR(a", &["five"]),
    ("smaller:1GB larger:1", &["five", "four", "three", "two", "one"]),
    ("larger:1GB", &[]),
    ("tag:suite", &["five", "four", "three", "two", "one"]),
    ("tag:suit", &[]),
    ("after:2000-01-01 before:2200-01-01 three", &["three"]),
];

pub(super) async fn check(trial: &Trial<'_>, desk: &Desk) {
    let here = desk.subjects("ann").await;
    for (text, expected) in QUERIES {
        let query = mail::Query::parse(text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        let asked = Asked { query, limits: mail::letter::Limits::default() };
        let answer = desk.store.search(&asked, &of_ann(), AMPLE).await.expect("a search is answered");
        let gone = |subject: &&str| subject.ends_with("gone") && here.iter().any(|held| held == subject);
        let mut names: Vec<_> = found(&answer).into_iter().filter(|subject| !gone(subject)).collect();
        names.iter_mut().for_each(|subject| *subject = subject.rsplit(' ').next().unwrap_or_default());
        assert_eq!(names, *expected, "{text} in {here:?}");
        assert_eq!((answer.stopped_by, answer.undecided), (None, 0), "{text}");
        if trial.lacks(Need::Recent) {
            continue;
        }
        let all = desk.store.search(&asked, &Span::all(Scope::All), AMPLE).await.expect("a search is answered");
        let of_ann: Vec<_> = all.items.iter().filter(|item| item.mailbox == mailbox("ann")).collect();
        assert_eq!(of_ann, answer.items.iter().collect::<Vec<_>>(), "{text} over all mailboxes");
    }
}
