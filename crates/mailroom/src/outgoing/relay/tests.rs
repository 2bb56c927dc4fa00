//! Who may be written to, and which mail goes on by itself.

use store::Copy;

use super::*;
use crate::Settings;
use crate::stub::{self, address, mailbox, parcel};

fn rules(allow: &[&str], rules: Vec<Rule>) -> Rules {
    let allow = allow.iter().map(|text| Allowed::parse(text).unwrap()).collect();
    Rules { enabled: true, allow, rules, ..Rules::default() }
}

fn rule(name: &str, mailbox: &str, recipient: &str, to: &[&str]) -> Rule {
    let glob = |text: &str| Some(text).filter(|text| !text.is_empty()).map(Glob::new);
    let to = to.iter().map(|text| address(text)).collect();
    Rule { name: name.to_owned(), mailbox: glob(mailbox), recipient: glob(recipient), to }
}

/// A delivery to these addresses, each of which leads to the mailbox of its local part.
fn delivery(to: &[&str]) -> Delivery {
    let (_, room) = stub::open(Settings::default());
    parcel(&room, to).sort()
}

fn told(rules: &Rules, delivery: &Delivery) -> Vec<String> {
    let told = |forward: &Forward<'_>| {
        let to: Vec<_> = forward.to.iter().map(ToString::to_string).collect();
        format!("{} {} {}", forward.rule.name, forward.mailbox, to.join(","))
    };
    rules.forwards(delivery).iter().map(told).collect()
}

#[test]
fn t075_nobody_is_allowed_who_is_not_named() {
    let check = |allow: &[&str], to: &str, expected: bool| {
        assert_eq!(rules(allow, Vec::new()).allows(&address(to)), expected, "{allow:?} {to}");
    };
    check(&[], "a@example.com", false);
    check(&["a@example.com"], "A@Example.COM", true);
    check(&["a@example.com"], "b@example.com", false);
    check(&["*@example.com"], "b@example.com", true);
    check(&["*@example.com"], "b@sub.example.com", false);
    check(&["*@*.example.com"], "b@sub.example.com", true);
    check(&["*@example.com"], "b@example.com.evil.test", false);
    check(&["qa-?@example.com"], "qa-1@example.com", true);
    // What a forgiving server would send elsewhere.
    check(&["*@example.com"], "\"eve@evil.test\"@example.com", false);
    check(&["*@example.com"], "eve%evil.test@example.com", false);
    check(&["*@example.com"], "evil.test!eve@example.com", false);
    check(&["eve%evil.test@example.com"], "eve%evil.test@example.com", true);
    check(&["*@example.com"], "\"a@example.com\"@evil.test", false);
}

#[test]
fn what_is_no_pattern_is_told() {
    for text in ["", "example.com", "@example.com", "*", "*@*", "a@", "a b@example.com", "*@x@example.com", "*@?.*"] {
        assert_eq!(Allowed::parse(text).err(), Some(BadAllowed), "{text:?}");
    }
    assert!(Allowed::parse("*@example.*").is_ok());
}

#[test]
fn a_rule_sends_on_what_fits_it_and_the_first_decides() {
    let rules = rules(
        &["*@real.test"],
        vec![
            rule("support", "support", "", &["team@real.test"]),
            rule("keep", "", "*@real.test", &[]),
            rule("never", "", "", &["nobody@elsewhere.test"]),
        ],
    );
    assert_eq!(told(&rules, &delivery(&["a@real.test"])), ["keep a a@real.test"]);
    assert_eq!(told(&rules, &delivery(&["support@x.test"])), ["support support team@real.test"]);
    assert_eq!(told(&rules, &delivery(&["a@x.test"])), Vec::<String>::new());
    let several = delivery(&["a@real.test", "support@real.test", "b@real.test", "support@x.test", "c@x.test"]);
    assert_eq!(told(&rules, &several), ["keep a a@real.test,b@real.test", "support support team@real.test"]);
}

#[test]
fn without_a_smart_host_nothing_leaves() {
    let off = Rules { enabled: false, ..rules(&["*@real.test"], vec![rule("all", "", "", &[])]) };
    assert_eq!(told(&off, &delivery(&["a@real.test"])), Vec::<String>::new());
}

#[test]
fn a_rule_writes_to_no_more_than_it_may() {
    let few = Rules { recipients_max: 2, ..rules(&["*@real.test"], vec![rule("all", "", "", &[])]) };
    let several = delivery(&["a@real.test", "b@real.test", "c@real.test"]);
    assert_eq!(told(&few, &several), ["all a a@real.test,b@real.test"]);
}

/// Mail that a script led to a mailbox which no recipient names is for all of them.
#[test]
fn where_nobody_led_everybody_does() {
    let all = rules(&["*@real.test"], vec![rule("box", "archive", "", &[])]);
    let mut led = delivery(&["a@real.test", "b@real.test"]);
    led.copies = vec![Copy { mailbox: mailbox("archive"), rcpt_to: Vec::new(), other_recipients: 2, expires: None }];
    assert_eq!(told(&all, &led), ["box archive a@real.test,b@real.test"]);
}
