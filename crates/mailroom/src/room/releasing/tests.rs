//! Who may release what to whom, and what is kept of it.

use std::net::IpAddr;
use std::time::Duration;

use mail::Naming;
use rate::Quota;

use super::*;
use crate::Settings;
use crate::access::{Grant, Origin, Rules as AccessRules, Scopes};
use crate::outgoing::relay::{Allowed, Rule};
use crate::outgoing::release::State;
use crate::stub::{self, ANYBODY, address, mailbox, parcel};

fn rules() -> Rules {
    let allow = ["*@real.test"].map(|text| Allowed::parse(text).unwrap()).to_vec();
    Rules { enabled: true, allow, rate: None, ..Rules::default() }
}

fn settings(mode: Mode, relay: Rules) -> Settings {
    Settings { relay, access: AccessRules::from(mode), ..Settings::default() }
}

fn ask(to: &[&str]) -> ReleaseAsk {
    ReleaseAsk { to: to.iter().map(|text| address(text)).collect(), from: None }
}

fn token(scope: &str) -> Caller {
    let scopes = Scopes::parse([scope], Naming::Local).unwrap();
    Caller::Token { grant: Arc::new(Grant::new("t".to_owned(), "tester".to_owned(), scopes, Origin::File)) }
}

fn from(ip: &str) -> Caller {
    Caller::Anonymous { peer: Some(ip.parse::<IpAddr>().unwrap()) }
}

/// A room that holds a message for `a`.
async fn filled(settings: Settings) -> Arc<Mailroom> {
    let (_, room) = stub::open(settings);
    let parcel = parcel(&room, &["a@x.test"]);
    room.deliver(&Caller::Program, parcel).await.unwrap();
    room
}

async fn jobs(room: &Mailroom) -> Vec<Job> {
    room.take_jobs(&Caller::Program, KIND, 10, Duration::from_secs(60)).await.unwrap()
}

#[tokio::test]
async fn a_release_is_a_job_and_a_record() {
    let room = filled(settings(Mode::Open, rules())).await;
    let asked = ask(&["b@real.test", "c@real.test", "b@real.test"]);
    let release = room.release(&ANYBODY, &mailbox("a"), Which::Latest, asked).await.unwrap().unwrap();
    assert_eq!((release.recipients.len(), release.subject.as_str(), release.overall()), (2, "hello", Overall::Queued));
    assert_eq!(room.read_release(&ANYBODY, &release.id).await.unwrap(), Some(release.clone()));
    let jobs = jobs(&room).await;
    assert_eq!(room.begin_release(&Caller::Program, &jobs[0]).await.unwrap(), Some(release));
    assert!(room.release(&ANYBODY, &mailbox("b"), Which::Latest, ask(&["b@real.test"])).await.unwrap().is_none());
}

#[tokio::test]
async fn t075_only_this_machine_or_a_token_releases_in_open_mode() {
    let room = filled(settings(Mode::Open, rules())).await;
    let here = mailbox("a");
    let mut may = Vec::new();
    for (caller, expected) in [
        (ANYBODY, true),
        (from("127.0.0.1"), true),
        (from("::1"), true),
        (from("::ffff:127.0.0.1"), true),
        (from("192.0.2.1"), false),
        (from("0.0.0.0"), false),
        (token("release:a"), true),
        (token("admin:*"), true),
        (token("rw:*"), false),
        (token("release:b"), false),
        (Caller::Inbox { mailbox: here.clone() }, false),
    ] {
        let answer = room.release(&caller, &here, Which::Latest, ask(&["b@real.test"])).await;
        let refused = matches!(answer, Err(Error::Denied(Denial::ReleaseNeedsToken)));
        assert_eq!(!refused, expected, "{caller:?} {answer:?}");
        may.push(!refused);
    }
    assert_eq!(jobs(&room).await.len(), may.iter().filter(|may| **may).count());
}

#[tokio::test]
async fn t075_in_public_mode_it_takes_an_admin() {
    let mut settings = settings(Mode::Public, rules());
    settings.access.public_verbs = crate::access::Verbs::of(&[Verb::Read, Verb::Release]);
    let room = filled(settings).await;
    for (caller, expected) in [(from("127.0.0.1"), false), (token("release:a"), false), (token("admin:*"), true)] {
        let answer = room.release(&caller, &mailbox("a"), Which::Latest, ask(&["b@real.test"])).await;
        assert_eq!(answer.is_ok(), expected, "{caller:?} {answer:?}");
        assert_eq!(room.releases(&caller, None, 10).await.is_ok(), expected, "{caller:?}");
    }
    assert_eq!(jobs(&room).await.len(), 1);
}

#[tokio::test]
async fn t075_nothing_leaves_to_strangers_too_many_or_too_often() {
    let off = filled(settings(Mode::Open, Rules { enabled: false, ..rules() })).await;
    let asked = |room: Arc<Mailroom>, to: Vec<&'static str>| async move {
        room.release(&ANYBODY, &mailbox("a"), Which::Latest, ask(&to)).await
    };
    assert!(matches!(asked(off, vec!["b@real.test"]).await, Err(Error::NoRelay)));
    let rate = Some(Quota { count: 3, per: Duration::from_secs(3600) });
    let room = filled(settings(Mode::Open, Rules { recipients_max: 2, rate, ..rules() })).await;
    let strangers = asked(Arc::clone(&room), vec!["b@real.test", "eve@evil.test"]).await;
    assert!(matches!(strangers, Err(Error::NotAllowed { recipients }) if recipients == ["eve@evil.test"]));
    for to in [vec![], vec!["b@real.test", "c@real.test", "d@real.test"]] {
        assert!(matches!(asked(Arc::clone(&room), to).await, Err(Error::BadRelease(_))));
    }
    assert!(asked(Arc::clone(&room), vec!["b@real.test", "c@real.test"]).await.is_ok());
    let often = asked(Arc::clone(&room), vec!["b@real.test", "c@real.test"]).await;
    assert!(matches!(often, Err(Error::TooOften { .. })), "{often:?}");
    assert_eq!(jobs(&room).await.len(), 1);
}

#[tokio::test]
async fn the_envelope_says_who_it_is_from() {
    let original = ReversePath(Some(address("app@x.test")));
    let own = Rules { from: Some(address("us@real.test")), ..rules() };
    assert_eq!(sender(&rules(), &original), Some(address("app@x.test")));
    assert_eq!(sender(&own, &original), Some(address("us@real.test")));
    // What nobody is to answer stays so.
    assert_eq!(sender(&own, &ReversePath(None)), None);
}

#[tokio::test]
async fn releases_are_listed_newest_first_and_for_whom_they_are() {
    let room = filled(settings(Mode::Token, rules())).await;
    let (here, admin) = (mailbox("a"), token("admin:*"));
    for _ in 0..3 {
        room.release(&admin, &here, Which::Latest, ask(&["b@real.test"])).await.unwrap().unwrap();
    }
    let all = room.releases(&admin, None, 10).await.unwrap();
    assert!(all.len() == 3 && all.is_sorted_by(|one, next| one.id > next.id));
    assert_eq!(room.releases(&token("release:a"), Some(&here), 2).await.unwrap().len(), 2);
    assert_eq!(room.releases(&token("release:b"), None, 10).await.unwrap(), []);
    assert_eq!(room.read_release(&token("release:b"), &all[0].id).await.unwrap(), None);
    assert!(room.releases(&token("rw:*"), None, 10).await.is_err());
    assert_eq!(all[0].by.as_deref(), Some("tester"));
}

#[tokio::test]
async fn what_became_of_it_is_kept_and_the_oldest_forgotten() {
    let room = filled(settings(Mode::Open, Rules { kept_max: 2, ..rules() })).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let release = room.release(&ANYBODY, &mailbox("a"), Which::Latest, ask(&["b@real.test"])).await;
        ids.push(release.unwrap().unwrap().id);
    }
    assert_eq!(room.forget_releases(&Caller::Program).await.unwrap(), 1);
    assert_eq!(room.read_release(&ANYBODY, &ids[0]).await.unwrap(), None);
    let mut release = room.read_release(&ANYBODY, &ids[1]).await.unwrap().unwrap();
    release.recipients[0].state = State::Sent;
    room.keep_release(&Caller::Program, &release).await.unwrap();
    release.recipients[0].state = State::Queued;
    room.keep_release(&Caller::Program, &release).await.unwrap();
    assert_eq!(room.read_release(&ANYBODY, &ids[1]).await.unwrap().unwrap().overall(), Overall::Done);
}

#[tokio::test]
async fn a_rule_counts_when_it_is_first_tried() {
    let rate = Some(Quota { count: 1, per: Duration::from_secs(3600) });
    let rule = Rule { name: "all".to_owned(), mailbox: None, recipient: None, to: vec![address("b@real.test")] };
    let room = filled(settings(Mode::Open, Rules { rate, rules: vec![rule], ..rules() })).await;
    let release = room.read(&ANYBODY, &mailbox("a"), Which::Latest).await.unwrap().unwrap();
    let mut errand = room.errand(&ANYBODY, &mailbox("a"), &release.summary, ask(&["b@real.test"]));
    errand.rule = Some("all".to_owned());
    let mut release = errand.begin(release.summary.id);
    assert_eq!(room.pace_release(&release), Ok(()));
    assert!(room.pace_release(&release).is_err());
    release.recipients[0].attempts = 1;
    assert_eq!(room.pace_release(&release), Ok(()));
}
