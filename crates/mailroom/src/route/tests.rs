//! Rules as a table, and in a mailroom: what is judged is where mail really goes.

use std::sync::Arc;

use bytes::Bytes;
use mail::Naming;

use super::*;
use crate::access::{Mode, Rules};
use crate::policy::Policy;
use crate::stub::{self, ANYBODY, address, mailbox, parcel};
use crate::verdict::Decision;
use crate::{Error, Mailroom, Parcel, Quota, Settings};

const RAW: &[u8] =
    b"X-Team: Blue\r\nX-Run: =?utf-8?q?r=C3=BCn?=\r\n 7\r\nX-Team: second\r\nSubject: x\r\n\r\nX-Body: no\r\n";

fn rule(to: &str) -> Route {
    Route { login: None, peer: Vec::new(), recipient: None, header: None, mailbox: to.parse().unwrap() }
}

fn login(pattern: &str, to: &str) -> Route {
    Route { login: Some(Glob::new(pattern)), ..rule(to) }
}

fn recipient(pattern: &str, to: &str) -> Route {
    Route { recipient: Some(Glob::new(pattern)), ..rule(to) }
}

fn header(name: &str, value: &str, to: &str) -> Route {
    Route { header: Some(Header { name: name.into(), value: Glob::new(value) }), ..rule(to) }
}

fn peer(from: &str, to: &str, mailbox: &str) -> Route {
    Route { peer: vec![from.parse().unwrap()..=to.parse().unwrap()], ..rule(mailbox) }
}

/// Where a message from `team-a` at 10.1.2.3 to this address goes.
fn goes(naming: Naming, rules: Vec<Route>, to: &str) -> String {
    let to = address(to);
    let peer = Some("10.1.2.3".parse().unwrap());
    let facts = Facts { login: Some("Team-A"), peer, recipient: &to, raw: Some(RAW) };
    Routes::new(rules, naming).mailbox(facts).unwrap().to_string()
}

#[test]
fn the_first_rule_that_fits_names_the_mailbox() {
    let rows: Vec<(&str, Vec<Route>, &str)> = vec![
        ("no rule", vec![], "jane"),
        ("a login is its mailbox", vec![login("*", "{login}")], "team-a"),
        ("in any case", vec![login("TEAM-?", "{login}")], "team-a"),
        ("another login", vec![login("team-b*", "b")], "jane"),
        ("a recipient", vec![recipient("*@shop.test", "shop")], "shop"),
        ("a recipient with its tag", vec![recipient("jane+ci*@*", "ci-{local}")], "ci-jane"),
        ("the domain", vec![recipient("*", "{domain}")], "shop.test"),
        ("a header", vec![header("x-team", "*", "team-{header}")], "team-blue"),
        ("the first of a header", vec![header("X-Team", "second", "x")], "jane"),
        ("a header that is not there", vec![header("X-Body", "*", "x")], "jane"),
        ("a peer", vec![peer("10.0.0.0", "10.255.255.255", "lab")], "lab"),
        ("another peer", vec![peer("10.2.0.0", "10.2.255.255", "lab")], "jane"),
        ("in order", vec![login("nobody", "n"), recipient("*", "first"), rule("second")], "first"),
        ("a rule without conditions", vec![rule("all")], "all"),
        // Neither a name nor an address: the naming decides, and no other rule.
        ("what is no name", vec![header("X-Run", "*", "{header}"), rule("all")], "jane"),
        ("too long for a name", vec![rule(&"x".repeat(65))], "jane"),
    ];
    for (what, rules, expected) in rows {
        assert_eq!(goes(Naming::Local, rules, "Jane+ci-7@Shop.test"), expected, "{what}");
    }
    let both = Route { login: Some(Glob::new("team-*")), ..recipient("*@else.test", "x") };
    assert_eq!(goes(Naming::Local, vec![both], "jane@shop.test"), "jane", "all conditions must hold");
    assert_eq!(goes(Naming::Full, vec![login("*", "{login}@{domain}")], "j@Shop.test"), "team-a@shop.test");
    assert_eq!(goes(Naming::Full, vec![login("*", "{login}")], "j@Shop.test"), "j@shop.test", "no whole address");
}

#[test]
fn a_place_with_nothing_for_it_lets_the_next_rule_try() {
    let to = address("jane@x.test");
    let facts = Facts { login: None, peer: None, recipient: &to, raw: None };
    let rules =
        vec![rule("{login}"), header("Subject", "*", "h"), peer("0.0.0.0", "255.255.255.255", "p"), rule("rest")];
    assert_eq!(Routes::new(rules, Naming::Local).mailbox(facts).unwrap().as_str(), "rest");
}

#[test]
fn a_template_says_what_is_wrong_with_it() {
    let wrong = |text: &str| text.parse::<Template>().unwrap_err();
    assert_eq!(wrong(" "), BadTemplate::Empty);
    assert_eq!(wrong("{user}"), BadTemplate::Unknown("user".into()));
    for text in ["{login", "a}b", "{", "}"] {
        assert_eq!(wrong(text), BadTemplate::Brace, "{text}");
    }
    assert!("a-{local}-{domain}".parse::<Template>().unwrap().has(Place::Domain));
}

fn open(rules: Vec<Route>, more: Settings) -> (Arc<stub::Stub>, Arc<Mailroom>) {
    stub::open(Settings { routes: rules, ..more })
}

fn with_header(parcel: Parcel) -> Parcel {
    Parcel { raw: Bytes::from_static(RAW), ..parcel }
}

async fn filed(room: &Mailroom, parcel: Parcel) -> Vec<String> {
    let delivered = room.deliver(&ANYBODY, parcel).await.unwrap();
    delivered.filed.into_iter().map(|filed| filed.mailbox.to_string()).collect()
}

#[tokio::test]
async fn one_message_for_many_recipients_that_a_rule_brings_together_is_one_copy() {
    let rules = vec![header("X-Team", "blue", "blue"), recipient("c@*", "sea")];
    let (stub, room) = open(rules, Settings::default());
    assert_eq!(filed(&room, with_header(parcel(&room, &["a@x.test", "b@y.test", "c@x.test"]))).await, ["blue"]);
    let kept = room.read(&ANYBODY, &mailbox("blue"), crate::Which::Latest).await.unwrap().unwrap();
    let to: Vec<_> =
        kept.envelope.recipients.iter().map(|to| (to.address.to_string(), to.mailbox.to_string())).collect();
    let expected = [("a@x.test", "blue"), ("b@y.test", "blue"), ("c@x.test", "blue")];
    assert_eq!(to, expected.map(|(address, mailbox)| (address.to_owned(), mailbox.to_owned())), "as they were given");
    assert_eq!(stub.messages(), 1);
    // Without that header the address decides for one of them, a rule for the other.
    assert_eq!(filed(&room, parcel(&room, &["a@x.test", "c@x.test"])).await, ["a", "sea"]);
}

#[tokio::test]
async fn what_is_discarded_stays_discarded_wherever_it_would_go() {
    let policy = Policy { discard: vec!["quiet.test".parse().unwrap()], ..Policy::default() };
    let (stub, room) = open(vec![rule("all")], Settings { policy, ..Settings::default() });
    let mut both = parcel(&room, &["a@quiet.test", "b@quiet.test"]);
    both.discarded = vec![0, 1];
    assert!(filed(&room, both).await.is_empty());
    assert_eq!(stub.messages(), 0);
}

#[tokio::test]
async fn a_recipient_is_judged_by_the_mailbox_that_a_rule_names() {
    let (_stub, room) = open(vec![login("team", "{login}")], Settings::default());
    let judged = async |user: Option<&str>| {
        let caller = Caller::Sender { user: user.map(str::to_owned), peer: None };
        room.judge_recipient(&crate::Visit::of(&caller, &mail::ReversePath(None)), &address("jane@x.test"))
            .await
            .1
            .unwrap()
            .to_string()
    };
    assert_eq!(
        (judged(Some("team")).await, judged(Some("other")).await, judged(None).await),
        ("team".into(), "jane".into(), "jane".into())
    );
}

#[tokio::test]
async fn t023_a_mailbox_that_only_the_header_names_has_its_rate_too() {
    let once = Some(Quota { count: 1, per: std::time::Duration::from_secs(3600) });
    let (stub, room) =
        open(vec![header("X-Team", "*", "{header}")], Settings { mailbox_max: once, ..Settings::default() });
    assert_eq!(filed(&room, with_header(parcel(&room, &["a@x.test"]))).await, ["blue"]);
    let second = room.deliver(&ANYBODY, with_header(parcel(&room, &["b@x.test", "c@x.test"]))).await;
    assert!(matches!(second, Err(Error::TooOften { .. })), "{second:?}");
    assert_eq!(stub.messages(), 1, "all or none");
    // It is one message for that mailbox, whoever is among its recipients.
    let (_, room) =
        open(vec![header("X-Team", "*", "{header}")], Settings { mailbox_max: once, ..Settings::default() });
    assert_eq!(filed(&room, with_header(parcel(&room, &["b@x.test", "c@x.test"]))).await, ["blue"]);
    let accepted = room
        .judge_recipient(&crate::Visit::of(&ANYBODY, &mail::ReversePath(None)), &address("d@x.test"))
        .await
        .0
        .decision;
    assert_eq!(accepted, Decision::Accept);
}

#[tokio::test]
async fn a_mailbox_that_only_the_header_names_may_be_denied_all_the_same() {
    let access = Rules { mode: Mode::Only("a"), ..Rules::default() };
    let (stub, room) = open(vec![header("X-Team", "*", "{header}")], Settings { access, ..Settings::default() });
    let judged = room
        .judge_recipient(&crate::Visit::of(&ANYBODY, &mail::ReversePath(None)), &address("a@x.test"))
        .await
        .0
        .decision;
    assert_eq!(judged, Decision::Accept, "by its address");
    let denied = room.deliver(&ANYBODY, with_header(parcel(&room, &["a@x.test"]))).await;
    assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");
    assert_eq!(stub.messages(), 0);
    assert_eq!(filed(&room, parcel(&room, &["a@x.test"])).await, ["a"]);
}
