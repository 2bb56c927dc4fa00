//! How recipients become copies.

use std::collections::BTreeSet;

use mail::Recipient;
use proptest::prelude::*;

use super::copies;
use crate::stub::{address, mailbox};

/// `address>mailbox` in words, discarded ones by index; expected as `mailbox: addresses +others`.
fn check(recipients: &[&str], discarded: &[usize], expected: &[&str]) {
    let told: Vec<String> = copies(&sorted(recipients), discarded)
        .iter()
        .map(|copy| {
            let led_here: Vec<String> = copy.rcpt_to.iter().map(ToString::to_string).collect();
            format!("{}: {} +{}", copy.mailbox, led_here.join(" "), copy.other_recipients)
        })
        .collect();
    assert_eq!(told, expected);
}

fn sorted(recipients: &[&str]) -> Vec<Recipient> {
    let recipient = |text: &&str| {
        let (to, name) = text.split_once('>').unwrap();
        Recipient { address: address(to), mailbox: mailbox(name) }
    };
    recipients.iter().map(recipient).collect()
}

#[test]
fn one_copy_for_each_mailbox() {
    check(&["a@x.test>a"], &[], &["a: a@x.test +0"]);
    check(&["b@x.test>b", "a@x.test>a"], &[], &["b: b@x.test +1", "a: a@x.test +1"]);
    check(&["a@x.test>a", "b@x.test>b", "A@x.test>a"], &[], &["a: a@x.test A@x.test +1", "b: b@x.test +2"]);
    check(&[], &[], &[]);
}

#[test]
fn t082_aliases_give_one_copy() {
    check(
        &["a+1@x.test>a", "a+2@x.test>a", "A@x.test>a", "a@y.test>a", "\"a\"@x.test>a"],
        &[],
        &["a: a+1@x.test a+2@x.test A@x.test a@y.test +1"],
    );
}

#[test]
fn discarded_recipients_get_no_copy_but_are_counted() {
    check(&["a@x.test>a"], &[0], &[]);
    check(&["a@x.test>a", "b@x.test>b"], &[0], &["b: b@x.test +1"]);
    check(&["a@x.test>a", "a@y.test>a"], &[0], &["a: a@y.test +1"]);
    check(&["a@x.test>a", "b@x.test>b"], &[0, 1, 7], &[]);
}

proptest! {
    /// Every kept recipient's mailbox has exactly one copy, no other has one, and nobody is counted twice.
    #[test]
    fn each_mailbox_once(names in prop::collection::vec(0_u8..6, 0..40), drop in prop::collection::vec(0_usize..40, 0..10)) {
        let mut drop = drop;
        drop.sort_unstable();
        let texts: Vec<String> = names.iter().map(|name| format!("u{name}@x.test>u{name}")).collect();
        let recipients = sorted(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let copies = copies(&recipients, &drop);
        let kept = recipients.iter().enumerate().filter(|(index, _)| !drop.contains(index));
        let wanted: BTreeSet<_> = kept.map(|(_, recipient)| recipient.mailbox.clone()).collect();
        let got: BTreeSet<_> = copies.iter().map(|copy| copy.mailbox.clone()).collect();
        prop_assert_eq!(got.len(), copies.len());
        prop_assert_eq!(got, wanted);
        for copy in &copies {
            prop_assert!((1..=mail::summary::RCPT_MAX).contains(&copy.rcpt_to.len()));
            prop_assert_eq!(copy.rcpt_to.len() + copy.other_recipients as usize, recipients.len());
        }
    }
}
