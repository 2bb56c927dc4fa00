//! The words of matchers.

use std::time::Instant;

use super::*;

#[test]
fn an_expression_is_bounded_and_explained() {
    assert_eq!(TextMatch::regex(&"a".repeat(257), 256).unwrap_err(), BadRegex::Long(256));
    let unclosed = TextMatch::regex("a(b", 256).unwrap_err();
    assert_eq!(unclosed.to_string(), "the expression cannot be read: unclosed group");
    assert!(matches!(TextMatch::regex(r"(\w{999}){999}", 256).unwrap_err(), BadRegex::Syntax(_)));
    assert!(TextMatch::regex(r"(a)\1", 256).is_err(), "what looks back needs another engine");
}

/// Expressions that ruin an engine which tries again, on texts made for it: ten times the text takes about ten times as
/// long.
#[test]
fn t036_expressions_take_linear_time() {
    for bad in ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){12}$", r"(\w+\s?)*$"] {
        let matcher = TextMatch::regex(bad, 256).unwrap();
        let time = |length: usize| {
            let text = "a".repeat(length) + "!";
            (0..3)
                .map(|_| {
                    let begun = Instant::now();
                    matcher.matches(&text);
                    begun.elapsed()
                })
                .min()
                .unwrap()
        };
        let (short, long) = (time(20_000), time(200_000));
        assert!(long <= short * 14 + std::time::Duration::from_millis(2), "{bad}: {short:?}, then {long:?}");
    }
}

#[test]
fn what_a_mail_can_hold_has_names() {
    for name in ["code", "link", "attachment", "link:reset", "link:magic-login", "link:verify"] {
        assert_eq!(Has::parse(name).unwrap().to_string(), name);
    }
    for wrong in ["", "codes", "link:", "link:resett", "Code"] {
        assert!(Has::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn long_texts_are_shown_short_and_on_one_line() {
    assert_eq!(shown("a\r\n  b\tc "), "a b c");
    assert_eq!(shown(&"ä".repeat(500)).chars().count(), SHOWN_MAX + 1);
}
