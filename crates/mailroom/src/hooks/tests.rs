//! Those who have a say, as the verbs ask them.

use std::sync::Mutex;

use mail::Naming;
use store::{Position, Scope};

use super::*;
use crate::error::Error;
use crate::room::{Mailroom, Which};
use crate::stub::{self, ANYBODY, address, mailbox, parcel};
use crate::verdict::Decision;
use crate::{Policy, Say, Settings};

/// Says what it was told to say, and remembers what it was told.
#[derive(Default)]
struct Voice {
    opinion: Mutex<Option<Opinion>>,
    handling: Mutex<Option<Handling>>,
    asked: Mutex<Vec<String>>,
    told: Mutex<Vec<String>>,
    deaf: bool,
}

impl Voice {
    fn ask(&self, what: String) -> Opinion {
        self.asked.lock().unwrap().push(what);
        self.opinion.lock().unwrap().clone().unwrap_or(Opinion::Defer)
    }
}

#[async_trait]
impl Hooks for Voice {
    fn wants(&self, _moment: Moment) -> bool {
        !self.deaf
    }

    async fn mail_from(&self, visit: &Visit<'_>) -> Opinion {
        self.ask(format!("from {:?}", visit.sender.0.as_ref().map(ToString::to_string)))
    }

    async fn rcpt_to(&self, visit: &Visit<'_>, recipient: &Address) -> Opinion {
        self.ask(format!("to {recipient} after {}", visit.accepted.len()))
    }

    async fn message(&self, arriving: Arriving) -> Handling {
        let names: Vec<_> = arriving.mailboxes.iter().map(Mailbox::as_str).collect();
        self.asked.lock().unwrap().push(format!("{} for {}", arriving.digest.subject, names.join(",")));
        self.handling.lock().unwrap().clone().unwrap_or(Handling::USUAL)
    }

    fn after(&self, after: After) {
        let (word, mailbox, summary) = match after {
            After::Delivered(mailbox, summary) => ("delivered", mailbox, summary),
            After::Deleted(mailbox, summary) => ("deleted", mailbox, summary),
        };
        self.told.lock().unwrap().push(format!("{word} {mailbox}/{} {}", summary.id.number(), summary.subject));
    }
}

fn house(voice: Voice, policy: Policy) -> (Arc<Voice>, Arc<stub::Stub>, Arc<Mailroom>) {
    let voice = Arc::new(voice);
    let hooks = Say(Some(Arc::clone(&voice) as Arc<dyn Hooks>));
    let (stub, room) = stub::open(Settings { hooks, policy, naming: Naming::Local, ..Settings::default() });
    (voice, stub, room)
}

fn rejecting() -> Policy {
    Policy { reject: vec!["x.test".parse().unwrap()], ..Policy::default() }
}

#[tokio::test]
async fn an_opinion_comes_before_policy() {
    let (voice, _stub, room) = house(Voice::default(), rejecting());
    let nobody = ReversePath(None);
    let judge = async || room.judge_recipient(&Visit::of(&ANYBODY, &nobody), &address("a@x.test")).await.0;
    assert!(judge().await.is_refusal(), "without an opinion policy decides");
    *voice.opinion.lock().unwrap() = Some(Opinion::Allow);
    assert_eq!(judge().await, Verdict::ACCEPT);
    let no = Verdict::refuse(552, (5, 2, 2), "not today");
    *voice.opinion.lock().unwrap() = Some(Opinion::Judge(no.clone()));
    assert_eq!(judge().await, no);
    assert_eq!(room.judge_sender(&Visit::of(&ANYBODY, &nobody)).await, no);
    assert_eq!(voice.asked.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn who_is_not_interested_is_not_asked() {
    let (voice, stub, room) = house(Voice { deaf: true, ..Voice::default() }, Policy::default());
    room.judge_recipient(&Visit::of(&ANYBODY, &ReversePath(None)), &address("a@x.test")).await;
    room.deliver(&ANYBODY, parcel(&room, &["a@x.test"])).await.unwrap();
    room.purge(&ANYBODY, &mailbox("a")).await.unwrap();
    assert!(voice.asked.lock().unwrap().is_empty() && voice.told.lock().unwrap().is_empty());
    assert_eq!(stub.messages(), 0);
}

#[tokio::test]
async fn i1_a_message_that_is_refused_leaves_nothing() {
    let (voice, stub, room) = house(Voice::default(), Policy::default());
    let no = Verdict::refuse(554, (5, 6, 0), "no");
    *voice.handling.lock().unwrap() = Some(Handling::judged(no.clone()));
    let refused = room.deliver(&ANYBODY, parcel(&room, &["a@x.test", "b@x.test"])).await;
    assert!(matches!(refused, Err(Error::Refused(verdict)) if *verdict == no));
    assert_eq!((stub.messages(), voice.told.lock().unwrap().len()), (0, 0));
    *voice.handling.lock().unwrap() = Some(Handling::judged(Verdict::DISCARD));
    assert!(room.deliver(&ANYBODY, parcel(&room, &["a@x.test"])).await.unwrap().filed.is_empty());
    assert_eq!((stub.messages(), voice.told.lock().unwrap().len()), (0, 0));
}

#[tokio::test]
async fn a_message_goes_where_it_is_led_each_mailbox_once() {
    let (voice, _stub, room) = house(Voice::default(), Policy::default());
    let mailboxes = Some(["team", "a", "team"].map(mailbox).to_vec());
    let subject = Some("seen".to_owned());
    *voice.handling.lock().unwrap() =
        Some(Handling { mailboxes, subject, tags: vec!["hot".into()], ..Handling::USUAL });
    let delivered = room.deliver(&ANYBODY, parcel(&room, &["a@x.test", "b@x.test"])).await.unwrap();
    let names: Vec<_> = delivered.filed.iter().map(|filed| filed.mailbox.as_str()).collect();
    assert_eq!(names, ["team", "a"]);
    let read = async |name: &str| room.read(&ANYBODY, &mailbox(name), Which::Latest).await.unwrap().unwrap().summary;
    let (team, own) = (read("team").await, read("a").await);
    assert_eq!((team.rcpt_to.len(), own.rcpt_to.len(), own.other_recipients), (2, 1, 1));
    assert_eq!((team.subject.as_str(), team.tags.as_slice()), ("seen", ["hot".to_owned()].as_slice()));
    assert_eq!(voice.asked.lock().unwrap().as_slice(), ["hello for a,b"]);
}

#[tokio::test]
async fn what_was_thrown_away_may_be_kept_after_all() {
    let (voice, stub, room) = house(Voice::default(), Policy::default());
    *voice.handling.lock().unwrap() = Some(Handling { mailboxes: Some(vec![mailbox("kept")]), ..Handling::USUAL });
    let mut gone = parcel(&room, &["a@x.test"]);
    gone.discarded.push(0);
    room.deliver(&ANYBODY, gone).await.unwrap();
    assert_eq!(stub.messages(), 1);
}

#[tokio::test]
async fn what_happened_is_told_afterwards_with_its_id() {
    let voice = Arc::new(Voice::default());
    let hooks = Say(Some(Arc::clone(&voice) as Arc<dyn Hooks>));
    let memory = store::Memory::new(
        store::memory::Settings { retention: None, ..Default::default() },
        Arc::new(store::SystemClock),
    );
    let room = Mailroom::new(Arc::new(memory), Settings { hooks, ..Settings::default() });
    let mut ids = Vec::new();
    for _ in 0..3 {
        let delivered = room.deliver(&ANYBODY, parcel(&room, &["a@x.test"])).await.unwrap();
        ids.push(delivered.filed[0].id.number());
    }
    let here = mailbox("a");
    assert!(room.delete(&ANYBODY, &here, Which::Latest).await.unwrap());
    let until = room.cursor(&Scope::Mailbox(here.clone()), Position(ids[0]));
    assert_eq!(room.purge_until(&ANYBODY, &here, &until).await.unwrap(), 1);
    assert_eq!(room.purge(&ANYBODY, &here).await.unwrap(), 1);
    let told = voice.told.lock().unwrap().clone();
    let line = |word: &str, place: usize| format!("{word} a/{} hello", ids[place]);
    let delivered = [0, 1, 2].map(|place| line("delivered", place));
    assert_eq!(told, [delivered, [2, 0, 1].map(|place| line("deleted", place))].concat());
}

#[tokio::test]
async fn access_is_asked_before_anybody_has_a_say() {
    let access = crate::access::Rules { mode: crate::access::Mode::Only("a"), ..Default::default() };
    let voice = Arc::new(Voice::default());
    *voice.handling.lock().unwrap() = Some(Handling { mailboxes: Some(vec![mailbox("b")]), ..Handling::USUAL });
    *voice.opinion.lock().unwrap() = Some(Opinion::Allow);
    let hooks = Say(Some(Arc::clone(&voice) as Arc<dyn Hooks>));
    let (stub, room) = stub::open(Settings { hooks, access, ..Settings::default() });
    let (verdict, _) = room.judge_recipient(&Visit::of(&ANYBODY, &ReversePath(None)), &address("b@x.test")).await;
    assert!(verdict.is_refusal());
    let denied = room.deliver(&ANYBODY, parcel(&room, &["a@x.test"])).await;
    assert!(matches!(denied, Err(Error::Denied(_))), "{denied:?}");
    let Decision::Refuse(_) = verdict.decision else { panic!("refused") };
    assert_eq!(stub.messages(), 0);
}
