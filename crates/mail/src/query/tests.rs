//! The language of a search: what it takes, what it finds, and that it is total.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::address::Charset;
use crate::clock::{doubling, within};
use crate::summary::RCPT_MAX;
use crate::{Address, Digest, Door, Mailbox, MessageId, Recipient, ReversePath, TransactionId, Transport, letter};

const MAIL: &str = "From: \"Müller, Shop\" <No-Reply@Shop.test>\r\nTo: Alice <alice@example.com>, b@sub.example.org\r\n\
    Cc: Carol <carol@example.com>\r\nSubject: Your RESET\r\n link\r\nX-Test-Run: 42\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n\
    --y\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello ΟΔΟΣ,\r\nyour code\r\nis 884201. https://shop.test/verify?t=8F3a9c1be27d4406\r\n\
    --y\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>only in html</b></p>\r\n--y--\r\n\
    --x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"Invoice 7.PDF\"\r\n\r\n%PDF\r\n--x--\r\n";

struct Kept {
    summary: Summary,
    envelope: Envelope,
    raw: Bytes,
}

fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).unwrap()
}

/// A message for these addresses, all of which lead to `alice` but for the last one.
fn kept(raw: &str, rcpt_to: &[&str]) -> Kept {
    let raw = Bytes::copy_from_slice(raw.as_bytes());
    let (other, own) = rcpt_to.split_last().unwrap();
    let recipient = |text: &&str, name| Recipient { address: address(text), mailbox: Mailbox::from_canonical(name) };
    let mut recipients: Vec<_> = own.iter().map(|text| recipient(text, "alice")).collect();
    recipients.push(recipient(other, "other"));
    let Digest { from, subject } = Digest::of(&raw);
    let transport =
        Transport { door: Door::Esmtp, utf8: false, helo: "app".into(), peer: None, tls: None, auth_user: None };
    Kept {
        summary: Summary {
            id: MessageId::new(1),
            received_at: "2026-11-14T09:30:00Z".parse().unwrap(),
            size: raw.len() as u64,
            from: from.unwrap_or_default(),
            subject,
            mail_from: ReversePath(None),
            rcpt_to: own.iter().take(RCPT_MAX).map(|text| address(text)).collect(),
            transaction: TransactionId::new(1),
            other_recipients: (rcpt_to.len() - own.len().min(RCPT_MAX)) as u32,
            expires: None,
            tags: vec!["ci".into(), "Nightly run".into()],
        },
        envelope: Envelope {
            transaction: TransactionId::new(1),
            reverse_path: ReversePath(None),
            recipients,
            transport,
        },
        raw,
    }
}

impl Kept {
    fn letter(&self) -> Letter {
        Letter::of(&self.raw, &letter::Limits::default())
    }

    fn matches(&self, query: &str) -> bool {
        let query = Query::parse(query).unwrap_or_else(|bad| panic!("{query}: {bad}"));
        query.matches(&self.summary, &self.envelope, &self.letter())
    }
}

fn usual() -> Kept {
    kept(MAIL, &["alice+7@example.com", "bob@example.com"])
}

#[test]
fn finds_what_is_there() {
    let mail = usual();
    for query in [
        "",
        "reset",
        "\"reset link\"",
        "subject:\"Reset  Link\"",
        "RESET 884201",
        "müller",
        "MÜLLER",
        "mu\u{308}ller",
        "οδος",
        "οδο",
        "\"your code is 884201\"",
        "body:\"only in html\"",
        "https://shop.test/verify?t=8f",
        "\"https://shop.test\"",
        "from:no-reply@shop.test",
        "from:@shop.test",
        "from:shop",
        "from:shop.test",
        "from:müller",
        "to:alice@example.com",
        "to:@sub.example.org",
        "to:alice",
        "cc:carol@example.com",
        "rcpt:alice+7@example.com",
        "rcpt:@example.com",
        "filename:invoice",
        "filename:\"invoice 7.pdf\"",
        "invoice",
        "header:X-Test-Run=42",
        "header:x-test-run",
        "header:\"x-test-run\"=\"42\"",
        "has:attachment",
        "has:code",
        "has:link",
        "-has:link:unsubscribe",
        "larger:100",
        "smaller:1MB",
        "smaller:1MiB",
        "after:2026-11-14",
        "after:2026-11-14T09:30:00Z",
        "after:2026-11-14t10:30:00+01:00",
        "before:2026-11-15",
        "tag:ci",
        "tag:CI",
        "tag:\"nightly RUN\"",
        "-welcome",
        "-subject:welcome -larger:1MB from:@shop.test",
        "-12:30",
    ] {
        assert!(mail.matches(query), "{query} finds it");
    }
}

#[test]
fn finds_nothing_else() {
    let mail = usual();
    for query in [
        "welcome",
        "-reset",
        "\"link reset\"",
        "reset welcome",
        "body:reset",
        "subject:884201",
        "from:reply@shop.test",
        "from:@test",
        "from:@hop.test",
        "to:@example.org",
        "to:bob@example.com",
        "rcpt:alice@example.com",
        "rcpt:bob@example.com",
        "bob@example.com",
        "cc:alice@example.com",
        "header:X-Test-Run=4",
        "header:X-Test-Run=421",
        "header:Test-Run",
        "x-test-run",
        "larger:1MB",
        "smaller:100",
        "after:2026-11-15",
        "before:2026-11-14",
        "before:2026-11-14T09:30:00Z",
        "tag:c",
        "tag:nightly",
        "-has:attachment",
    ] {
        assert!(!mail.matches(query), "{query} does not find it");
    }
}

#[test]
fn a_name_is_no_address() {
    let mail = kept(
        "From: \"admin@bank.test\" <evil@x.test>\r\nSubject: hi\r\n\r\nhi\r\n",
        &["alice@example.com", "b@example.com"],
    );
    assert!(!mail.matches("from:admin@bank.test"));
    assert!(!mail.matches("from:@bank.test"));
    assert!(mail.matches("from:evil@x.test"));
    assert!(mail.matches("from:bank.test"), "as a part of the text it is there");
}

#[test]
fn marks_cannot_be_forged() {
    let mail = kept(
        "From: a@x.test\r\nSubject: hi\r\nX-A: b\u{2}\u{1}x-test-run\u{3}42\u{2}\r\n\r\nhi\r\n",
        &["alice@example.com", "b@example.com"],
    );
    assert!(!mail.matches("header:x-test-run=42"));
}

#[test]
fn many_recipients_are_looked_up_in_the_envelope() {
    let rcpt_to = ["a1@x.test", "a2@x.test", "a3@x.test", "a4@x.test", "a5@x.test", "other@y.test"];
    let mail = kept(MAIL, &rcpt_to);
    let glance = |query: &str| Query::parse(query).unwrap().glance(&mail.summary);
    assert_eq!(glance("rcpt:a1@x.test"), Glance::Yes);
    assert_eq!(glance("rcpt:a5@x.test"), Glance::Maybe);
    assert!(mail.matches("rcpt:a5@x.test"));
    assert!(!mail.matches("rcpt:other@y.test"), "nobody learns of a recipient elsewhere");
}

#[test]
fn the_summary_decides_what_it_can() {
    let mail = usual();
    let glance = |query: &str| Query::parse(query).unwrap().glance(&mail.summary);
    for (query, expected) in [
        ("", Glance::Yes),
        ("from:@shop.test", Glance::Yes),
        ("from:@bank.test", Glance::No),
        ("subject:reset rcpt:@example.com", Glance::Yes),
        ("reset", Glance::Yes),
        ("-reset", Glance::No),
        ("nowhere", Glance::Maybe),
        ("-nowhere", Glance::Maybe),
        ("nowhere from:@bank.test", Glance::No),
        ("body:reset", Glance::Maybe),
        ("has:attachment", Glance::Maybe),
        ("larger:1GB", Glance::No),
        ("tag:ci", Glance::Yes),
        ("header:x-test-run=42", Glance::Maybe),
    ] {
        assert_eq!(glance(query), expected, "{query}");
    }
}

#[test]
fn mistakes_say_what_to_do() {
    for (query, words) in [
        ("subjct:reset", "perhaps subject"),
        ("form:a@x.test", "perhaps from"),
        ("Re:hello", "in quotes"),
        ("from:", "nothing behind \"from:\""),
        ("from: a", "nothing behind \"from:\""),
        ("- a", "nothing behind \"-\""),
        ("\"\"", "put the sign in quotes"),
        ("\"open", "not closed"),
        ("from:\"open", "not closed"),
        ("larger:big", "as larger:1MB"),
        ("smaller:99999999999999999999", "not a size"),
        ("larger:99999999999GB", "not a size"),
        ("after:yesterday", "as after:2026-11-14"),
        ("after:2026-11", "not a time"),
        ("has:attachmnt", "perhaps attachment"),
        ("has:link:rest", "perhaps link:reset"),
    ] {
        let bad = Query::parse(query).unwrap_err().to_string();
        assert!(bad.contains(words), "{query}: {bad}");
    }
    assert_eq!(Query::parse("subjct:x").unwrap_err().nearest(), Some("subject"));
    assert_eq!(Query::parse(&"a ".repeat(TERMS_MAX + 1)).unwrap_err(), BadQuery::TooManyTerms);
    assert!(Query::parse(&"a ".repeat(TERMS_MAX)).is_ok());
    assert_eq!(Query::parse(&"a".repeat(TEXT_MAX + 1)).unwrap_err(), BadQuery::TooLong);
    assert!(Query::parse(&"a".repeat(TEXT_MAX)).is_ok());
}

#[test]
fn needles_are_what_must_be_there() {
    let query = Query::parse("reset -welcome from:@shop.test tag:ci has:attachment header:X-Run=42 larger:1").unwrap();
    let needles: Vec<_> = query.needles().map(|needle| needle.text).collect();
    assert_eq!(needles, ["reset", "@shop.test\u{2}", "\u{1}x-run\u{3}42\u{2}"]);
}

#[test]
fn t036_terms_take_linear_time() {
    let mail = usual();
    // The same letters again and again: what makes a pattern that goes back take for ever.
    let query = Query::parse(&format!("body:{}b -body:{}c", "a".repeat(500), "a".repeat(500))).unwrap();
    let letter = |bytes: &[u8]| {
        let raw = [b"Subject: x\r\n\r\n", bytes].concat();
        Letter::of(&raw, &letter::Limits::default())
    };
    let body = |size: usize| b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(size / 56);
    doubling(100_000, body, |bytes| query.matches(&mail.summary, &mail.envelope, &letter(bytes)));
    within(500, || Query::parse(&"-\"\\\"".repeat(TEXT_MAX / 4)));
}

proptest! {
    /// Any text is a query or a mistake that says something; a query that was read matches or does not.
    #[test]
    fn is_total(text in ".{0,200}", keyed in "(-?(from|to|has|larger|after|header|tag)?:?[\"a-z@=\\\\ ]{0,6}){0,8}") {
        let mail = usual();
        let letter = mail.letter();
        for text in [text, keyed] {
            match Query::parse(&text) {
                Ok(query) => {
                    let matches = query.matches(&mail.summary, &mail.envelope, &letter);
                    match query.glance(&mail.summary) {
                        Glance::Yes => prop_assert!(matches),
                        Glance::No => prop_assert!(!matches),
                        Glance::Maybe => {}
                    }
                }
                Err(bad) => prop_assert!(bad.to_string().len() > 20),
            }
        }
    }

    /// A part of a text is found in it, however the whole is written: what an index relies on.
    #[test]
    fn a_part_folds_to_a_part(before in "\\PC{0,10}", word in "[a-zA-ZΑ-Ωа-яß一-龥]{1,8}", after in "\\PC{0,10}") {
        let whole = fold(&format!("{before} {} {after}", word.to_uppercase()));
        prop_assert!(whole.contains(&fold(&word.to_uppercase())), "{whole}");
        prop_assert_eq!(fold(&whole), whole.clone(), "twice is once");
    }
}
