//! The view of a message: bodies, attachments, names; and that no message is too much.

use proptest::prelude::*;

use super::*;
use crate::clock::{doubling, within};

mod bodies;
mod bombs;
mod files;
mod pages;

/// A part with its content as given.
fn leaf(content_type: &str, fields: &str, content: &str) -> String {
    format!("Content-Type: {content_type}\r\n{fields}\r\n{content}")
}

fn attached(content_type: &str, content: &str, name: &str) -> String {
    leaf(content_type, &format!("Content-Disposition: attachment; filename=\"{name}\"\r\n"), content)
}

/// A multipart; its boundary is made from its length, so that nested ones differ.
fn multipart(kind: &str, parts: &[&str]) -> String {
    let boundary = format!("=_{}_{}", parts.len(), parts.iter().map(|part| part.len()).sum::<usize>());
    let body: String = parts.iter().map(|part| format!("--{boundary}\r\n{part}\r\n")).collect();
    format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n\r\n{body}--{boundary}--\r\n")
}

fn view(entity: &str) -> View {
    View::of(format!("From: jane@host.test\r\nMIME-Version: 1.0\r\n{entity}").as_bytes())
}

fn names(view: &View) -> Vec<&str> {
    view.attachments.iter().map(|one| one.filename.as_str()).collect()
}

const PLAIN: &str = "Content-Type: text/plain; charset=utf-8\r\n\r\nplain words";
const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n\r\n<p>html words</p>";
const PNG: &str = "Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=";

#[test]
fn header_has_canonical_names_and_raw_values() {
    let raw = b"x-thing: 1\r\nMIME-Version: 1.0\r\nX-THING: a\r\n b\r\nSubject: =?utf-8?Q?x?= \xe9\r\n\r\n";
    let expected =
        [("X-Thing", "1"), ("Mime-Version", "1.0"), ("X-Thing", "a b"), ("Subject", "=?utf-8?Q?x?= \u{fffd}")];
    let expected: Vec<_> = expected.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    assert_eq!(View::of(raw).header, expected);
}

#[test]
fn header_is_that_of_the_message_alone() {
    let view = view(&multipart("mixed", &["X-Part: 1\r\n\r\nx", &leaf("message/rfc822", "", "X-Inner: 1\r\n\r\nx")]));
    assert_eq!(
        view.header.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["From", "Mime-Version", "Content-Type"]
    );
}

/// Mail near the grammar: headers, boundaries and encodings in any order.
fn nearly_mail() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("Content-Type: multipart/mixed; boundary=b\r\n"),
        Just("Content-Type: multipart/alternative; boundary=\"c\"\r\n"),
        Just("Content-Type: text/html; charset=utf-16\r\n"),
        Just("Content-Type: text/plain; charset=iso-2022-jp\r\n"),
        Just("Content-Type: message/rfc822\r\n"),
        Just("Content-Disposition: attachment; filename*0*=utf-8''%41; filename*1=../x\r\n"),
        Just("Content-Transfer-Encoding: base64\r\n"),
        Just("Content-Transfer-Encoding: quoted-printable\r\n"),
        Just("\r\n"),
        Just("--b\r\n"),
        Just("--b--\r\n"),
        Just("--c\r\n"),
        Just("--c--\r\n"),
        Just("<a href=\"http://x.test/\">a =3D\r\n"),
        Just("SGVsbG8=\r\n"),
        Just("=\r\n"),
        Just("words"),
    ];
    let noise = proptest::collection::vec(any::<u8>(), 0..8);
    let piece = prop_oneof![8 => line.prop_map(|text| text.as_bytes().to_vec()), 1 => noise];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What holds for every view.
fn check_sound(raw: &[u8], view: &View) -> Result<(), TestCaseError> {
    let content: usize = view.attachments.iter().map(|one| one.content.len()).sum();
    prop_assert!(content <= raw.len() && view.attachments.len() <= PARTS_MAX);
    prop_assert!(view.html.len() <= 3 * raw.len() && view.text.len() <= 12 * raw.len() + 16);
    prop_assert!(!view.text.contains('\r') && !view.html.contains('\r'));
    for one in &view.attachments {
        prop_assert!(!one.filename.is_empty() && one.filename.len() <= 255, "{}", one.filename);
        let odd = |letter: char| letter.is_control() || matches!(letter, '/' | '\\');
        prop_assert!(!one.filename.contains(odd) && one.filename != "." && one.filename != "..", "{}", one.filename);
        prop_assert!(one.content_type.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn t037_any_bytes_have_a_view(raw in proptest::collection::vec(any::<u8>(), 0..400)) {
        check_sound(&raw, &View::of(&raw))?;
    }

    #[test]
    fn t037_any_mail_has_a_sound_view(raw in nearly_mail()) {
        check_sound(&raw, &View::of(&raw))?;
    }

    /// Two readers of other make find the same leaves where a message is well formed.
    #[test]
    fn t031_leaves_agree_with_other_readers(tree in tree()) {
        let raw = tree.write(&mut 0);
        let ours: Vec<_> =
            walk::leaves(raw.as_bytes()).map(|leaf| (leaf.entity.content_type, leaf.content.to_vec())).collect();
        let mut expected = Vec::new();
        tree.leaves(&mut expected);
        prop_assert_eq!(&ours, &expected, "{}", raw);
        prop_assert_eq!(&leaves_of_mail_parser(raw.as_bytes()), &expected, "{}", raw);
        // This one is not of one mind about line breaks before a delimiter.
        expected.iter_mut().for_each(|(_, content)| content.truncate(content.trim_ascii_end().len()));
        prop_assert_eq!(&leaves_of_mailparse(raw.as_bytes()), &expected, "{}", raw);
    }
}

/// A well-formed entity.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(&'static str, String),
    Multipart(&'static str, Vec<Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let kind = prop::sample::select(vec!["text/plain", "text/html", "image/png", "application/pdf", "text/calendar"]);
    let content = "([ -~]{0,30}(\r\n)?){0,4}";
    let leaf = (kind, content).prop_map(|(kind, content)| Tree::Leaf(kind, content));
    leaf.prop_recursive(4, 20, 4, |inner| {
        let kind = prop::sample::select(vec!["mixed", "alternative", "related", "signed", "x-odd"]);
        (kind, proptest::collection::vec(inner, 1..4)).prop_map(|(kind, children)| Tree::Multipart(kind, children))
    })
    .prop_filter("one leaf has no delimiter to differ about", |tree| matches!(tree, Tree::Multipart(..)))
}

impl Tree {
    fn write(&self, number: &mut usize) -> String {
        match self {
            Self::Leaf(kind, content) => format!("Content-Type: {kind}\r\n\r\n{content}"),
            Self::Multipart(kind, children) => {
                *number += 1;
                let boundary = format!("=_{number}_=");
                let parts: String =
                    children.iter().map(|child| format!("--{boundary}\r\n{}\r\n", child.write(number))).collect();
                format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n\r\n{parts}--{boundary}--")
            }
        }
    }

    fn leaves(&self, out: &mut Vec<(String, Vec<u8>)>) {
        match self {
            Self::Leaf(kind, content) => out.push((kind.to_string(), content.as_bytes().to_vec())),
            Self::Multipart(_, children) => children.iter().for_each(|child| child.leaves(out)),
        }
    }
}

fn leaves_of_mailparse(raw: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mail = mailparse::parse_mail(raw).unwrap();
    let leaves = mail.parts().filter(|part| part.subparts.is_empty());
    let content = |part: &mailparse::ParsedMail<'_>| part.get_body_raw().unwrap().trim_ascii_end().to_vec();
    leaves.map(|part| (part.ctype.mimetype.clone(), content(part))).collect()
}

fn leaves_of_mail_parser(raw: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mail = mail_parser::MessageParser::new().parse(raw).unwrap();
    let leaves = mail.parts().filter(|part| !part.is_multipart());
    let kind = |part: &mail_parser::MessagePart<'_>| {
        let found = part.content_type().unwrap();
        format!("{}/{}", found.ctype(), found.subtype().unwrap())
    };
    leaves.map(|part| (kind(&part), part.raw_body().to_vec())).collect()
}
