//! Tokens of pages as they are sent, and of what is no page.

use proptest::prelude::*;

use super::*;

/// One word a token, for reading.
fn tokens(html: &str) -> Vec<String> {
    let tell = |token| match token {
        Token::Text(text) => text.to_owned(),
        Token::Reference(text) => format!("&{text}"),
        Token::Open(tag) => format!("<{}", tag.name),
        Token::Close(tag) => format!("/{}", tag.name),
        Token::Unshown(text) => format!("!{text}"),
    };
    Tokens::of(html).map(tell).collect()
}

fn attributes(html: &str) -> Vec<(String, String)> {
    let Some(Token::Open(tag)) = Tokens::of(html).next() else { panic!("no tag: {html}") };
    tag.attributes().map(|(name, value)| (name, value.into_owned())).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[test]
fn a_page_is_text_references_and_tags() {
    assert_eq!(tokens("a<B x='>'>&eacute;</b >&"), ["a", "<b", "&é", "/b", "&"]);
    assert_eq!(tokens("<!-- <p> --><!DOCTYPE x>a<3"), ["a", "<", "3"]);
    assert_eq!(tokens("<style>p > a</style>b"), ["<style", "!p > a", "/style", "b"]);
    assert_eq!(tokens("<script>a"), ["<script", "!a"]);
    assert_eq!(tokens("<a href=\"never ends"), ["<a"]);
}

#[test]
fn attributes_are_read_as_a_browser_reads_them() {
    let expected = pairs(&[("href", "https://x.test/?a=1&b=2"), ("class", "b c"), ("hidden", ""), ("id", "d")]);
    assert_eq!(attributes("<a HREF=\"https://x.test/?a=1&amp;b=2\" class = 'b c' hidden id=d>"), expected);
    assert_eq!(attributes("<br/>"), []);
    assert_eq!(attributes("<a href=https://x.test/a/b>"), pairs(&[("href", "https://x.test/a/b")]));
    assert_eq!(attributes("<a data-href=1 =2 x"), pairs(&[("data-href", "1"), ("", "2"), ("x", "")]));
}

#[test]
fn references_in_values_are_decoded() {
    assert_eq!(decode("a&amp;b&#x41;&nothing;&"), "a&bA&nothing;&");
    assert!(matches!(decode("plain"), Cow::Borrowed("plain")));
}

proptest! {
    #[test]
    fn any_text_is_a_page(html in "(<|>|/|&|;|=|\"|'|!--|a|br|script|x=y| |\\PC){0,60}") {
        for token in Tokens::of(&html) {
            if let Token::Open(tag) | Token::Close(tag) = token {
                prop_assert!(tag.attributes().count() <= html.len());
            }
        }
    }
}
