//! From and Subject as a list shows them.

use proptest::prelude::*;

use super::*;
use crate::clock::{doubling, within};

fn from(field: &str) -> Option<String> {
    Digest::of(format!("{field}\r\nTo: box@x.test\r\n\r\ntext\r\n").as_bytes()).from.map(|author| author.display())
}

#[track_caller]
fn check_from(field: &str, expected: &str) {
    assert_eq!(from(field).unwrap_or_default(), expected, "{field}");
}

#[test]
fn from_is_the_first_address() {
    check_from("From: jane@host.test", "jane@host.test");
    check_from("From: <jane@host.test>", "jane@host.test");
    check_from("From: Jane Doe <jane@host.test>", "Jane Doe <jane@host.test>");
    check_from("From:Jane Doe<jane@host.test>", "Jane Doe <jane@host.test>");
    check_from("From: \"Doe, Jane\" <jane@host.test>", "Doe, Jane <jane@host.test>");
    check_from("From: \"Jane \\\"JD\\\" Doe\" <jane@host.test>", "Jane \"JD\" Doe <jane@host.test>");
    check_from("From: Jane\r\n Doe <jane@host.test>", "Jane Doe <jane@host.test>");
    check_from("From: Jane <jane@host.test>, Joe <joe@host.test>", "Jane <jane@host.test>");
    check_from("from: jane@host.test", "jane@host.test");
    check_from("FROM : jane@host.test", "jane@host.test");
    check_from("From: Jane J. Doe <jane@host.test>", "Jane J. Doe <jane@host.test>");
    check_from("From: jane@host.test\r\nFrom: joe@host.test", "jane@host.test");
    check_from("From: \"john doe\"@host.test", "\"john doe\"@host.test");
    check_from("From: jane@[IPv6:::1]", "jane@[IPv6:::1]");
    check_from("From: Jane <jane@[IPv6:::1]>", "Jane <jane@[IPv6:::1]>");
}

#[test]
fn groups_comments_and_routes_are_read() {
    check_from("From: Team: jane@host.test, joe@host.test;", "jane@host.test");
    check_from("From: Team: Jane Doe <jane@host.test>;", "Jane Doe <jane@host.test>");
    check_from("From: Nobody:;", "");
    check_from("From: Nobody:;, jane@host.test", "jane@host.test");
    check_from("From: (a (nested) comment) jane@host.test", "a (nested) comment <jane@host.test>");
    check_from("From: jane@host.test (Jane Doe)", "Jane Doe <jane@host.test>");
    check_from("From: Jane (home) <jane@host.test>", "Jane <jane@host.test>");
    check_from("From: Jane <@one.test,@two.test:jane@host.test>", "Jane <jane@host.test>");
    check_from("From: jane @ host . test", "jane@host.test");
    check_from("From: , , jane@host.test", "jane@host.test");
}

#[test]
fn names_are_decoded_after_the_structure_was_read() {
    check_from("From: Jörg Müller <jane@host.test>", "Jörg Müller <jane@host.test>");
    check_from("From: =?iso-8859-1?q?J=F6rg_M=FCller?= <jane@host.test>", "Jörg Müller <jane@host.test>");
    check_from("From: =?utf-8?Q?J=C3=B6rg?=\r\n =?utf-8?Q?_M?= <jane@host.test>", "Jörg M <jane@host.test>");
    check_from("From: =?utf-8?B?SsO2cmc=?= Smith <jane@host.test>", "Jörg Smith <jane@host.test>");
    check_from("From: =?utf-8?Q?Doe=2C_Jane?= <jane@host.test>", "Doe, Jane <jane@host.test>");
    check_from("From: =?utf-8?Q?=3Cx=40y.test=3E?= <jane@host.test>", "<x@y.test> <jane@host.test>");
    check_from("From: \"=?utf-8?B?SsO2cmc=?=\" <jane@host.test>", "Jörg <jane@host.test>");
    check_from("From: =?utf-8?Q?Team:_A,_<b>?= <jane@host.test>", "Team: A, <b> <jane@host.test>");
    check_from("From: =?utf-8?Q?a=0D=0AX-Evil:_1=1B[31m?= <jane@host.test>", "a  X-Evil: 1 [31m <jane@host.test>");
}

#[test]
fn unreadable_from_is_none() {
    for field in
        ["X: y", "From:", "From: not an address", "From: jane", "From: Jane <>", "From: Jane <jane>", "From: <@>"]
    {
        assert_eq!(from(field), None, "{field}");
    }
    for field in ["From: \"Jane <jane@host.test>", "From: (", "From: Jane <a b@c>", "From: Jane Doe jane@host.test"] {
        assert_eq!(from(field), None, "{field}");
    }
    for field in ["From: @1@]@[I:z1@]", "From: a@b@c.test", "From: Jane <a@b@c.test>", "From: a@b[c"] {
        assert_eq!(from(field), None, "{field}");
    }
    // Loosely written, but no doubt what is meant.
    check_from("From: jane..doe@host.test.", "jane..doe@host.test.");
    check_from("From: Jane <jane@host.test", "Jane <jane@host.test>");
    check_from("From: broken <x>, jane@host.test", "jane@host.test");
}

#[track_caller]
fn check_subject(field: &str, expected: &str) {
    let raw = format!("From: jane@host.test\r\n{field}\r\n\r\ntext\r\n");
    assert_eq!(Digest::of(raw.as_bytes()).subject, expected, "{field}");
}

#[test]
fn subject_is_decoded() {
    check_subject("Subject: hello world", "hello world");
    check_subject("X-Other: 1", "");
    check_subject("Subject:", "");
    check_subject("Subject:hello", "hello");
    check_subject("Subject:    hello  ", "hello");
    check_subject("SUBJECT: hello", "hello");
    check_subject("Subject: one\r\nSubject: two", "one");
    check_subject("Subject: hello\r\n world", "hello world");
    check_subject("Subject: grüße 世界", "grüße 世界");
    check_subject("Subject: =?utf-8?B?Z3LDvA==?=\r\n =?utf-8?B?w59l?=", "grüße");
    check_subject("Subject: =?utf-8?Q?broken", "=?utf-8?Q?broken");
    check_subject("Subject: a\tb\u{1b}[31m", "a b [31m");
    check_subject("Subject: =?utf-8?Q?=00=0A=C2=85x?=", "x");
    check_subject("\r\nSubject: in the body", "");
}

#[test]
fn t026_a_header_bomb_is_read_in_time() {
    let bomb = "From: a@b.test, c@d.test\r\n".repeat(500_000);
    within(200, || Digest::of(bomb.as_bytes()));
    let late = format!("{}Subject: late\r\n\r\n", "X: y\r\n".repeat(1500));
    assert_eq!(Digest::of(late.as_bytes()), Digest::default());
}

#[test]
fn t028_comments_do_not_recurse() {
    for piece in ["(", "((\\(", "()", "\"\\\"", "<", "[", ",", ":", "=?utf-8?Q?", "a@b ", "\\"] {
        let bomb = |size: usize| format!("From: {}\r\n\r\n", piece.repeat(size / piece.len())).into_bytes();
        within(200, || Digest::of(&bomb(1_000_000)));
        doubling(10_000, bomb, Digest::of);
    }
}

/// The oracle writes names a little differently, so only the address is compared, and only where both find one.
fn oracle(field: &str) -> Option<String> {
    let list = mailparse::addrparse(field).ok()?;
    list.iter().find_map(|entry| match entry {
        mailparse::MailAddr::Single(one) => Some(one.addr.clone()),
        mailparse::MailAddr::Group(group) => group.addrs.first().map(|one| one.addr.clone()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn t016_first_address_agrees_with_another_reader(
        name in "([A-Za-z]{1,6}( [A-Za-z]{1,6})?|\"[A-Za-z,<>@:;() ]{1,12}\")?",
        local in "[a-z0-9]{1,8}(\\.[a-z0-9%+_-]{1,8})?",
        domain in "[a-z]{1,8}(\\.[a-z]{1,8}){1,2}",
        group in "([A-Z][a-z]{1,5}: )?",
        more in "(, [a-z]{1,5}@[a-z]{1,5}\\.test|, \"x, y\" <z@z\\.test>){0,2}",
    ) {
        let one = if name.is_empty() { format!("{local}@{domain}") } else { format!("{name} <{local}@{domain}>") };
        let end = if group.is_empty() { "" } else { ";" };
        let field = format!("{group}{one}{more}{end}");
        let ours = Digest::of(format!("From: {field}\r\n\r\n").as_bytes()).from.map(|author| author.email);
        prop_assert_eq!(&ours, &Some(format!("{local}@{domain}")));
        if let Some(theirs) = oracle(&field) {
            prop_assert_eq!(ours, Some(theirs), "{}", field);
        }
    }

    #[test]
    fn t016_no_from_field_brings_out_what_it_does_not_say(field in "[a-z@<>\",:;()\\\\\\[\\]. =?]{0,40}") {
        if let Some(author) = Digest::of(format!("From: {field}\r\n\r\n").as_bytes()).from {
            prop_assert!(author.email.contains('@'));
            prop_assert!(!author.email.contains(char::is_control));
        }
    }

    #[test]
    fn digest_is_total_and_clean(raw in proptest::collection::vec(any::<u8>(), 0..200), field in "(From|Subject): ") {
        let digest = Digest::of(&[field.as_bytes(), &raw].concat());
        let author = digest.from.unwrap_or_default();
        prop_assert!(![digest.subject, author.name, author.email].concat().contains(char::is_control));
    }
}
