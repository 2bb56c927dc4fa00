//! The rules as a table.

use mail::{Address, ReversePath};
use proptest::prelude::*;

use super::{BadPattern, Pattern, Policy};
use crate::stub::address;
use crate::verdict::{Decision, Verdict};

fn patterns(text: &str) -> Vec<Pattern> {
    text.split_whitespace().map(|pattern| pattern.parse().unwrap()).collect()
}

/// `accept`, `discard`, or the reply's codes and the key it names.
fn told(verdict: Verdict) -> String {
    match verdict.decision {
        Decision::Accept => "accept".into(),
        Decision::Discard => "discard".into(),
        Decision::Refuse(status) => {
            let (class, subject, detail) = status.enhanced;
            let key = status.text.split_whitespace().find(|word| word.starts_with("policy.")).unwrap();
            format!("{} {class}.{subject}.{detail} {key}", status.code)
        }
    }
}

#[test]
fn recipients_by_domain() {
    let check = |accept: &str, reject: &str, discard: &str, recipient: &str, expected: &str| {
        let (accept, reject, discard) = (patterns(accept), patterns(reject), patterns(discard));
        let policy = Policy { accept, reject, discard, reject_senders: patterns("*") };
        assert_eq!(told(policy.recipient(&address(recipient))), expected, "{recipient}");
    };
    let (rejected, unknown) = ("550 5.7.1 policy.reject", "550 5.1.2 policy.accept");
    check("", "", "", "a@x.test", "accept");
    check("", "x.test", "", "a@x.test", rejected);
    check("", "x.test", "", "a@X.TEST", rejected);
    check("", "x.test", "", "a@y.test", "accept");
    check("", "x.test", "", "a@sub.x.test", "accept");
    check("", "", "x.test", "a@x.test", "discard");
    check("x.test", "", "", "a@x.test", "accept");
    check("x.test", "", "", "a@y.test", unknown);
    check("x.test y.test", "", "", "a@y.test", "accept");
    // Reject before discard before accept.
    check("x.test", "x.test", "x.test", "a@x.test", rejected);
    check("y.test", "", "x.test", "a@x.test", "discard");
    check("*.x.test", "secret.x.test", "", "a@secret.x.test", rejected);
    check("*.x.test", "secret.x.test", "", "a@open.x.test", "accept");
    // Both spellings of a name are one.
    check("", "bücher.test", "", "a@xn--bcher-kva.test", rejected);
    check("", "xn--bcher-kva.test", "", "a@BÜCHER.test", rejected);
    check("", "b?cher.test", "", "a@xn--bcher-kva.test", rejected);
    check("", "[192.0.2.1]", "", "a@[192.0.2.1]", rejected);
    check("", "[192.0.2.*", "", "a@[192.0.2.1]", rejected);
    check("", "[*]", "", "a@[IPv6:::1]", rejected);
}

#[test]
fn the_postmaster_need_not_be_accepted_by_name() {
    let policy = Policy { accept: patterns("x.test"), reject: patterns("bad.test"), ..Policy::default() };
    assert_eq!(told(policy.recipient(&Address::postmaster("host.test"))), "accept");
    assert_eq!(told(policy.recipient(&address("PostMaster@y.test"))), "accept");
    assert_eq!(told(policy.recipient(&address("postmaster@bad.test"))), "550 5.7.1 policy.reject");
}

#[test]
fn senders_by_domain() {
    let policy =
        Policy { reject_senders: patterns("*.spam.test bad.test"), reject: patterns("*"), ..Policy::default() };
    let check = |sender: Option<&str>, expected: &str| {
        assert_eq!(told(policy.sender(&ReversePath(sender.map(address)))), expected, "{sender:?}");
    };
    let rejected = "550 5.7.1 policy.reject_senders";
    check(Some("a@bad.test"), rejected);
    check(Some("+tag@Bad.Test"), rejected);
    check(Some("a@x.spam.test"), rejected);
    check(Some("a@spam.test"), "accept");
    check(Some("a@good.test"), "accept");
    check(None, "accept");
}

#[test]
fn the_null_sender_is_never_refused() {
    let policy = Policy { reject_senders: patterns("*"), ..Policy::default() };
    assert_eq!(told(policy.sender(&ReversePath(None))), "accept");
}

#[test]
fn wildcards() {
    let check = |pattern: &str, domain: &str, expected: bool| {
        assert_eq!(pattern.parse::<Pattern>().unwrap().matches(domain), expected, "{pattern} on {domain}");
    };
    check("*", "x.test", true);
    check("*", "", true);
    check("x.test", "x.test", true);
    check("x.test", "x.test.org", false);
    check("x.test", "ax.test", false);
    check("*.x.test", "a.b.x.test", true);
    check("*.x.test", "x.test", false);
    check("*x.test", "ax.test", true);
    check("a*c*e.test", "abcde.test", true);
    check("a*c*e.test", "abde.test", false);
    check("*.test", "x.test.test", true);
    check("x.*", "x.test", true);
    check("mail-?.test", "mail-1.test", true);
    check("mail-?.test", "mail-.test", false);
    check("mail-?.test", "mail-12.test", false);
    check("?.test", "ü.test", true);
    check("??*", "a", false);
}

#[test]
fn what_is_no_pattern() {
    let check = |text: &str, expected| assert_eq!(text.parse::<Pattern>(), Err(expected), "{text}");
    check("", BadPattern::Syntax);
    check("a..test", BadPattern::Syntax);
    check("x.test.", BadPattern::Syntax);
    check("a@x.test", BadPattern::Address);
    check("*@x.test", BadPattern::Address);
    check("a b.test", BadPattern::Syntax);
    check("x.test,y.test", BadPattern::Syntax);
    check("x.test,*.y.test", BadPattern::Syntax);
    check("*.x test", BadPattern::Syntax);
    check("[192.0.2.1", BadPattern::Syntax);
}

/// As simple as it can be written, and as slow.
fn oracle(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skip| oracle(rest, &text[skip..])),
        ['?', rest @ ..] => !text.is_empty() && oracle(rest, &text[1..]),
        [wanted, rest @ ..] => text.first() == Some(wanted) && oracle(rest, &text[1..]),
    }
}

proptest! {
    #[test]
    fn matches_as_the_oracle_does(pattern in "[ab?*]{0,8}", text in "[ab]{0,10}") {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let expected = oracle(&chars(&pattern), &chars(&text));
        prop_assert_eq!(Pattern(pattern.into()).matches(&text), expected);
    }
}

#[test]
fn a_hostile_domain_takes_no_long_time() {
    let pattern: Pattern = "*a*a*a*a*a*a*a*a*a*b".parse().unwrap();
    let began = std::time::Instant::now();
    assert!(!pattern.matches(&"a".repeat(255)));
    assert!(began.elapsed().as_millis() < 100);
}
