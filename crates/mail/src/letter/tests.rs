//! A letter beside the design's example, its limits, and that it agrees with the view of v1.

use super::*;
use crate::clock::doubling;
use crate::mime::View;

fn letter(raw: &str) -> Letter {
    Letter::of(raw.as_bytes(), &Limits::default())
}

fn emails(people: &[Author]) -> Vec<&str> {
    people.iter().map(|person| person.email.as_str()).collect()
}

/// Every part as `id type`, in order.
fn listed(part: &Part) -> Vec<String> {
    let own = format!("{} {}", part.part_id, part.content_type);
    std::iter::once(own).chain(part.sub_parts.iter().flat_map(listed)).collect()
}

const NESTED: &str = "\
From: =?utf-8?Q?J=C3=A4ne?= <jane@shop.test>\r\n\
To: Team: a@x.test, \"B, b\" <b@x.test>;, c@x.test (Cee)\r\n\
Cc: d@x.test\r\n\
Subject: =?utf-8?B?R3LDvMOfZQ==?=\r\n\
Message-ID: <a1@shop.test>\r\n\
Date: Sat, 14 Nov 2026 11:29:59 +0200 (EET)\r\n\
List-Unsubscribe: <mailto:off@shop.test?subject=off>,\r\n <https://shop.test/u?t=1>\r\n\
List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\
Content-Type: multipart/mixed; boundary=out\r\n\r\n\
--out\r\nContent-Type: multipart/alternative; boundary=in\r\n\r\n\
--in\r\nContent-Type: text/plain\r\n\r\nplain\r\n\
--in\r\nContent-Type: text/html\r\n\r\n<p>page <img src=\"cid:logo@x\">\r\n\
--in--\r\n\
--out\r\nContent-Type: image/png\r\nContent-ID: <logo@x>\r\nContent-Transfer-Encoding: base64\r\n\
Content-Disposition: inline; filename=\"../logo.png\"\r\n\r\niVBORw0KGgo=\r\n\
--out--\r\n";

#[test]
fn a_letter_has_everything_at_its_place() {
    let letter = letter(NESTED);
    assert_eq!(letter.from, Some(Author { name: "Jäne".to_owned(), email: "jane@shop.test".to_owned() }));
    assert_eq!(emails(&letter.to), ["a@x.test", "b@x.test", "c@x.test"]);
    assert_eq!(letter.to[1].name, "B, b");
    assert_eq!(letter.to[2].name, "Cee");
    assert_eq!((emails(&letter.cc), letter.bcc.len()), (vec!["d@x.test"], 0));
    assert_eq!(letter.subject, "Grüße");
    assert_eq!(letter.message_id.as_deref(), Some("a1@shop.test"));
    assert_eq!(letter.sent_at.map(|at| at.to_string()).as_deref(), Some("2026-11-14T11:29:59+02:00"));
    assert_eq!((&*letter.text, letter.text_source), ("plain", TextSource::Plain));
    assert_eq!(letter.html.as_deref(), Some("<p>page <img src=\"cid:logo@x\">"));
    assert_eq!(letter.headers[3], ("Subject".to_owned(), "Grüße".to_owned()));
    assert_eq!(letter.defects, Vec::<String>::new());
}

#[test]
fn parts_are_named_by_their_place() {
    let letter = letter(NESTED);
    let expected = ["0 multipart/mixed", "1 multipart/alternative", "1.1 text/plain", "1.2 text/html", "2 image/png"];
    assert_eq!(listed(&letter.parts), expected);
    let sizes: Vec<_> = letter.parts.sub_parts[0].sub_parts.iter().map(|part| part.size).collect();
    assert_eq!(sizes, [Some(5), Some(30)]);
    assert_eq!(listed(&Letter::of(b"Subject: x\r\n\r\nx", &Limits::default()).parts), ["1 text/plain"]);
}

#[test]
fn parts_tell_how_they_are_written() {
    let raw =
        "Content-Type: text/html; charset=\"ISO-8859-1\"\r\nContent-Transfer-Encoding: Quoted-Printable\r\n\r\n<p>=FC";
    let written = |raw: &str| {
        let part = letter(raw).parts;
        (part.charset, part.encoding)
    };
    assert_eq!(written(raw), (Some("ISO-8859-1".to_owned()), Some("quoted-printable".to_owned())));
    assert_eq!(written("Content-Transfer-Encoding: 8bit\r\n\r\nx"), (None, None));
    let odd = "Content-Type: text/plain; charset=\"a<b>\"\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\nx";
    assert_eq!(written(odd), (None, Some("x-uuencode".to_owned())));
}

#[test]
fn attachments_are_told_with_their_sum() {
    let letter = letter(NESTED);
    let expected = Attached {
        part_id: "2".to_owned(),
        name: "logo.png".to_owned(),
        content_type: "image/png".to_owned(),
        real_type: Some("image/png"),
        size: 8,
        sha256: "4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6".to_owned(),
        cid: Some("logo@x".to_owned()),
    };
    assert_eq!(letter.attachments, [expected]);
}

#[test]
fn a_part_is_read_by_its_name() {
    let part = Letter::part(NESTED.as_bytes(), "2").expect("the image");
    assert_eq!(
        (&*part.name, &*part.content_type, &part.content[..]),
        ("logo.png", "image/png", &b"\x89PNG\r\n\x1a\n"[..])
    );
    assert_eq!(Letter::part(NESTED.as_bytes(), "1.1").expect("the text").content, "plain");
    for unknown in ["0", "1", "3", "1.3", "01.1", "", "1.1.1", "١"] {
        assert_eq!(Letter::part(NESTED.as_bytes(), unknown), None, "{unknown}");
    }
    assert_eq!(Letter::part(b"Subject: x\r\n\r\nwhole", "1").expect("the whole").content, "whole");
}

#[test]
fn text_comes_from_the_page_when_there_is_no_other() {
    let letter = letter("Content-Type: text/html\r\n\r\n<p>Hello <b>you</b>");
    assert_eq!((&*letter.text, letter.text_source), ("Hello you", TextSource::Html));
    let empty = self::letter("Subject: x\r\n\r\n");
    assert_eq!((&*empty.text, empty.text_source, empty.html), ("", TextSource::Plain, None));
}

#[test]
fn long_bodies_are_cut_between_characters_and_it_is_told() {
    let limits = Limits { text_max: 5, ..Limits::default() };
    let plain = Letter::of("Content-Type: text/plain; charset=utf-8\r\n\r\nabcdö".as_bytes(), &limits);
    assert_eq!((&*plain.text, plain.truncated), ("abcd", vec!["text"]));
    let page = Letter::of(b"Content-Type: text/html\r\n\r\n<p>abcdef", &limits);
    assert_eq!((&*page.text, page.html.as_deref(), page.truncated), ("ab", Some("<p>ab"), vec!["text", "html"]));
    let exact = Letter::of(b"Subject: x\r\n\r\nabcde", &limits);
    assert_eq!((&*exact.text, exact.truncated), ("abcde", vec![]));
}

#[test]
fn ways_to_unsubscribe_are_told() {
    let offer = letter(NESTED).unsubscribe.expect("an offer");
    assert!(offer.one_click);
    assert_eq!(offer.https, ["https://shop.test/u?t=1"]);
    assert_eq!(offer.mailto, ["mailto:off@shop.test?subject=off"]);
    let plain =
        letter("List-Unsubscribe: <http://x.test/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\n");
    assert!(!plain.unsubscribe.expect("an offer").one_click, "RFC 8058 §3.1 wants https");
    assert_eq!(letter("List-Unsubscribe: none, <ftp://x.test>\r\n\r\n").unsubscribe, None);
}

#[test]
fn dates_keep_their_offset() {
    let cases = [
        ("Sat, 14 Nov 2026 09:29:59 +0000", "2026-11-14T09:29:59+00:00"),
        ("14 Nov 2026 09:29 -0330", "2026-11-14T09:29:00-03:30"),
        ("Mon, 14 Nov 2026 09:29:59 GMT", "2026-11-14T09:29:59+00:00"),
        ("Sat, 14 Nov 26 09:29:59 EST", "2026-11-14T09:29:59-05:00"),
        ("Sat, 14 Nov 2026 09:29:59 UTC", "2026-11-14T09:29:59+00:00"),
    ];
    for (written, shown) in cases {
        assert_eq!(SentAt::read(written).map(|at| at.to_string()).as_deref(), Some(shown), "{written}");
    }
    for broken in ["", "yesterday", "2026-11-14", "Sat, 31 Feb 2026 09:29:59 +0000"] {
        assert_eq!(SentAt::read(broken), None, "{broken}");
    }
}

#[test]
fn what_is_broken_is_told() {
    let cases = [
        ("Subject: a\r\nSubject: b\r\n\r\n", "Subject stands 2 times"),
        ("From: nobody at all\r\n\r\n", "From cannot be read"),
        ("Date: soon\r\n\r\n", "Date cannot be read"),
        ("Subject: a\r\nno field\r\n", "put an empty line between"),
        ("Content-Type: multipart/mixed\r\n\r\nx", "part 1: a multipart without a boundary"),
        ("Content-Type: multipart/mixed; boundary=b\r\n\r\nx", "part 1: the boundary of this multipart never comes"),
        ("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx", "part 0: this multipart does not end"),
        ("Content-Type: text/plain; charset=x-odd\r\n\r\nx", "part 1: the charset \"x-odd\" is unknown"),
        ("Content-Type: text/plain; charset=utf-8\r\n\r\n\u{fffd}", "part 1: there are octets that are no \"utf-8\""),
        ("Content-Transfer-Encoding: uuencode\r\n\r\nx", "the transfer encoding \"uuencode\" is unknown"),
        ("Content-Transfer-Encoding: base64\r\n\r\n!!!!", "are none of base64"),
    ];
    for (raw, expected) in cases {
        let defects = letter(raw).defects;
        assert!(defects.len() == 1 && defects[0].contains(expected), "{raw:?} gave {defects:?}");
    }
}

#[test]
fn a_letter_agrees_with_the_view_of_v1() {
    let view = View::of(NESTED.as_bytes());
    let letter = letter(NESTED);
    assert_eq!((view.text, Some(view.html)), (letter.text, letter.html));
    let names =
        |attachments: &[crate::Attachment]| attachments.iter().map(|one| one.filename.clone()).collect::<Vec<_>>();
    assert_eq!(names(&view.attachments), letter.attachments.iter().map(|one| one.name.clone()).collect::<Vec<_>>());
}

/// A multipart in a multipart, so many deep, with a text in the innermost.
fn deep(levels: usize) -> String {
    let open = |level: usize| format!("Content-Type: multipart/mixed; boundary=b{level}.\r\n\r\n--b{level}.\r\n");
    (0..levels).map(open).collect::<String>() + "\r\nhello\r\n"
}

#[test]
fn the_tree_ends_at_its_depth_and_loses_no_part() {
    let letter = letter(&deep(60));
    let deepest = |part: &Part| {
        let (mut part, mut depth) = (part.clone(), 0);
        while let Some(inner) = part.sub_parts.pop() {
            (part, depth) = (inner, depth + 1);
        }
        depth
    };
    assert_eq!(deepest(&letter.parts), TREE_DEPTH_MAX);
    let listed = listed(&letter.parts);
    assert_eq!(listed.len(), 61);
    assert!(listed[60].starts_with(&"1.".repeat(59)) && listed[60].ends_with("1 text/plain"), "{}", listed[60]);
    assert_eq!(letter.defects.len(), defects::DEFECTS_MAX);
}

#[test]
fn people_and_defects_have_an_end() {
    let many = letter(&format!("To: {}\r\n\r\n", "a@b.test,".repeat(5000)));
    assert_eq!(many.to.len(), PEOPLE_MAX);
    let parts = "--b\r\nContent-Transfer-Encoding: x\r\n\r\n\r\n".repeat(100);
    let broken = letter(&format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{parts}--b--\r\n"));
    assert_eq!(broken.defects.len(), defects::DEFECTS_MAX);
}

#[test]
fn memory_is_counted_about_right() {
    let small = letter(NESTED).bytes();
    let large = letter(&format!("Subject: x\r\n\r\n{}", "x".repeat(100_000))).bytes();
    assert!((1000..10_000).contains(&small), "{small}");
    assert!((100_000..110_000).contains(&large), "{large}");
}

#[test]
fn a_letter_takes_linear_time() {
    let shapes: [fn(usize) -> String; 4] = [
        |n| format!("To: {}\r\n\r\n", "a@b.test, ".repeat(n)),
        |n| format!("To: {}\r\n\r\n", "(".repeat(n)),
        |n| format!("List-Unsubscribe: {}\r\n\r\n", "<".repeat(n)),
        |n| format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", "--b\r\n\r\nx\r\n".repeat(n)),
    ];
    for shape in shapes {
        doubling(1000, |n| shape(n).into_bytes(), |raw| Letter::of(raw, &Limits::default()));
    }
}
