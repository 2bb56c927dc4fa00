//! Which plans make sense, at which attempts they act, and that records say what they said.

use proptest::prelude::*;
use store::{Entry, Version};

use super::*;
use crate::faults::Settings;
use crate::stub::{address, mailbox};

fn refusal() -> Act {
    Act { reply: Some(Status { code: 451, enhanced: (4, 3, 0), text: "later".into() }), ..Act::default() }
}

fn new(act: Act) -> NewPlan {
    NewPlan {
        whom: Whom::Everything,
        stage: Stage::Rcpt,
        act,
        when: When::Always,
        per: Per::Plan,
        ttl: None,
        note: String::new(),
    }
}

fn check(plan: NewPlan, member: &str) {
    assert_eq!(plan.checked(&Settings::default()).unwrap_err().member, member);
}

#[test]
fn what_makes_no_sense_is_no_plan() {
    let limits = Settings::default();
    new(refusal()).checked(&limits).unwrap();
    check(new(Act::default()), "reply");
    check(NewPlan { whom: Whom::Mailbox(mailbox("a")), stage: Stage::Mail, ..new(refusal()) }, "stage");
    check(NewPlan { stage: Stage::Mail, per: Per::Pair, ..new(refusal()) }, "per");
    check(NewPlan { when: When::First(0), ..new(refusal()) }, "first");
    check(NewPlan { when: When::Nth(0), ..new(refusal()) }, "nth");
    check(NewPlan { when: When::Percent(101, 1), ..new(refusal()) }, "percent");
    check(NewPlan { ttl: Some(limits.ttl_max + Duration::from_secs(1)), ..new(refusal()) }, "ttl");
    check(NewPlan { ttl: Some(Duration::ZERO), ..new(refusal()) }, "ttl");
    check(NewPlan { note: "a\nb".into(), ..new(refusal()) }, "note");
    check(new(Act { delay: Some(limits.delay_max * 2), ..Act::default() }), "delay");
    check(new(Act { slow: Some(0), ..Act::default() }), "slow");
}

#[test]
fn a_reply_is_a_refusal_on_one_line() {
    let with = |code, enhanced, text: &str| {
        new(Act { reply: Some(Status { code, enhanced, text: text.into() }), ..Act::default() })
    };
    check(with(250, (2, 0, 0), "ok"), "reply.code");
    check(with(600, (6, 0, 0), "ok"), "reply.code");
    check(with(451, (5, 0, 0), "ok"), "reply.enhanced");
    check(with(451, (4, 1000, 0), "ok"), "reply.enhanced");
    check(with(451, (4, 0, 0), "no\r\n250 yes"), "reply.text");
    check(with(451, (4, 0, 0), "nö"), "reply.text");
    check(with(451, (4, 0, 0), &"a".repeat(TEXT_MAX + 1)), "reply.text");
}

#[test]
fn a_plan_that_slows_acts_before_content_comes() {
    let slow = NewPlan { stage: Stage::Data, ..new(Act { slow: Some(100), ..Act::default() }) };
    assert_eq!(slow.checked(&Settings::default()).unwrap().stage, Stage::Rcpt);
    check(NewPlan { stage: Stage::Data, ..new(Act { slow: Some(100), ..refusal() }) }, "slow");
}

#[test]
fn attempts_are_met_as_asked() {
    let fired = |when: When, up_to: u64| (1..=up_to).filter(|attempt| when.fires(*attempt)).collect::<Vec<_>>();
    assert_eq!(fired(When::Always, 3), [1, 2, 3]);
    assert_eq!(fired(When::First(2), 9), [1, 2]);
    assert_eq!(fired(When::Nth(3), 9), [3]);
    assert_eq!(fired(When::Percent(100, 5), 3), [1, 2, 3]);
    // For ever the same: tests are written against these.
    assert_eq!(fired(When::Percent(30, 7), 30), fired(When::Percent(30, 7), 30));
    assert_eq!(fired(When::Percent(30, 7), 20), GOLDEN);
    let many = fired(When::Percent(30, 7), 10_000).len();
    assert!((2_800..3_200).contains(&many), "{many}");
}

/// Which of the first 20 attempts 30 percent with the seed 7 are; also told in docs/faults.md.
const GOLDEN: [u64; 7] = [2, 4, 6, 10, 12, 17, 20];

#[test]
fn senders_are_compared_without_regard_to_case() {
    let from = |text: &str| ReversePath(Some(address(text)));
    let whom = Whom::Sender("a@x.test".into());
    assert!(whom.meets(&from("A@X.test"), None) && !whom.meets(&from("b@x.test"), None));
    let domain = Whom::Sender("@x.test".into());
    assert!(domain.meets(&from("any@X.TEST"), None) && !domain.meets(&from("a@sub.x.test"), None));
    assert!(!domain.meets(&ReversePath(None), None));
    let here = Whom::Mailbox(mailbox("here"));
    assert!(here.meets(&ReversePath(None), Some(&mailbox("here"))) && !here.meets(&ReversePath(None), None));
}

proptest! {
    #[test]
    fn a_record_says_what_the_plan_said(
        kind in 0..3u8, name in "[a-z]{1,9}", stage in 0..3usize, code in 400..600u16, slow in any::<Option<u64>>(),
        delay in proptest::option::of(0..100_000u64), drop in any::<bool>(), percent in 1..=100u8, seed in any::<u64>(),
    ) {
        let whom = match kind {
            0 => Whom::Mailbox(mailbox(&name)),
            1 => Whom::Sender(name.clone()),
            _ => Whom::Everything,
        };
        let reply = Some(Status { code, enhanced: ((code / 100) as u8, 1, 2), text: name.clone() });
        let plan = Plan {
            id: "abc".into(),
            whom,
            stage: STAGES[stage],
            act: Act { reply, delay: delay.map(Duration::from_millis), drop, slow },
            when: When::Percent(percent, seed),
            per: Per::Pair,
            note: name,
            created: Timestamp::UNIX_EPOCH,
            expires: Timestamp::UNIX_EPOCH,
        };
        let entry = Entry { key: "abc".into(), value: plan.write().into(), version: Version(1), expires: Some(plan.expires) };
        prop_assert_eq!(Plan::read(&entry), Some(plan));
    }

    #[test]
    fn no_record_breaks_anything(value in proptest::collection::vec(any::<u8>(), 0..200)) {
        let entry = Entry { key: "abc".into(), value: value.into(), version: Version(1), expires: Some(Timestamp::UNIX_EPOCH) };
        let _ = Plan::read(&entry);
    }
}
