//! Faults through the mailroom: what is answered, counted, told and sent back.

use std::sync::Arc;
use std::time::Duration;

use mail::{Door, Envelope, Recipient, ReversePath, Transport};
use store::{Memory, Store};

use super::*;
use crate::access::{Mode, Rules};
use crate::hooks::Visit;
use crate::refusals::{ByFault, Refused, Stage};
use crate::stub::{ANYBODY, address, mailbox};
use crate::verdict::{Decision, Status, Verdict};
use crate::{Caller, Error, Mailroom, Page, Parcel, Which};

/// Two nodes over one store.
struct Rig {
    rooms: Vec<Arc<Mailroom>>,
}

impl Rig {
    async fn new(settings: crate::Settings) -> Self {
        let clock: Arc<dyn store::Clock> = Arc::new(store::SystemClock);
        let store: Arc<dyn Store> = Arc::new(Memory::new(store::memory::Settings::default(), clock));
        let mut rooms = Vec::new();
        for _ in 0..2 {
            let room = Mailroom::new(Arc::clone(&store), settings.clone());
            tokio::spawn(room.recall().await.unwrap());
            rooms.push(room);
        }
        Self { rooms }
    }

    fn room(&self) -> &Mailroom {
        &self.rooms[0]
    }

    async fn rcpt(&self, sender: &str, recipient: &str) -> Verdict {
        rcpt(self.room(), sender, recipient).await
    }

    async fn mail(&self, sender: &str) -> Verdict {
        let sender = path(sender);
        self.room().judge_sender(&Visit::of(&ANYBODY, &sender)).await
    }

    async fn deliver(&self, sender: &str, recipient: &str) -> crate::Result<crate::Delivered> {
        self.room().deliver(&ANYBODY, self.parcel(sender, recipient)).await
    }

    fn parcel(&self, sender: &str, recipient: &str) -> Parcel {
        let room = self.room();
        let address = address(recipient);
        let mailbox = room.named(recipient).unwrap();
        let peer = None;
        let transport =
            Transport { door: Door::Esmtp, utf8: false, helo: "app".into(), peer, tls: None, auth_user: None };
        let envelope = Envelope {
            transaction: room.begin(),
            reverse_path: path(sender),
            recipients: vec![Recipient { address, mailbox }],
            transport,
        };
        let raw = format!("To: <{recipient}>\r\nSubject: hello\r\n\r\nhello\r\n").into();
        Parcel { raw, envelope: Arc::new(envelope), discarded: Vec::new(), received_at: room.now() }
    }

    async fn subjects(&self, name: &str) -> Vec<String> {
        let page = Page { after: None, limit: 10, order: crate::Order::Oldest };
        let listing = self.room().list(&ANYBODY, &mailbox(name), page).await.unwrap();
        listing.items.iter().map(|summary| summary.subject.clone()).collect()
    }
}

async fn rcpt(room: &Mailroom, sender: &str, recipient: &str) -> Verdict {
    let sender = path(sender);
    room.judge_recipient(&Visit::of(&ANYBODY, &sender), &address(recipient)).await.0
}

fn path(sender: &str) -> ReversePath {
    ReversePath((!sender.is_empty()).then(|| address(sender)))
}

fn plan(whom: Whom, when: When) -> NewPlan {
    let reply = Some(Status { code: 451, enhanced: (4, 7, 1), text: String::new() });
    let act = Act { reply, ..Act::default() };
    NewPlan { whom, stage: Stage::Rcpt, act, when, per: Per::Plan, ttl: None, note: String::new() }
}

fn code(verdict: &Verdict) -> u16 {
    match &verdict.decision {
        Decision::Refuse(status) => status.code,
        _ => 250,
    }
}

#[tokio::test]
async fn an_address_is_answered_at_its_stage_and_nowhere_else() {
    let rig = Rig::new(crate::Settings::default()).await;
    assert_eq!(code(&rig.mail("451.mail@fault.example.com").await), 451);
    assert_eq!(code(&rig.mail("451.rcpt@fault.example.com").await), 250);
    assert_eq!(code(&rig.mail("mistyped@fault.example.com").await), 550);
    let verdict = rig.rcpt("a@x.test", "550-5.2.1.rcpt@FAULT.example.com").await;
    assert_eq!(verdict.fault.as_deref().unwrap().name(), "550-5.2.1.rcpt@FAULT.example.com");
    assert_eq!(code(&verdict), 550);
    assert_eq!(code(&rig.rcpt("a@x.test", "550-5.2.1.rcpt@x.test").await), 250, "another domain is nobody's");
    assert_eq!(code(&rig.rcpt("a@x.test", "postmaster@fault.example.com").await), 250);
    let Err(Error::Refused(verdict)) = rig.deliver("a@x.test", "drop.data@fault.example.com").await else { panic!() };
    assert!(verdict.silent && verdict.hang_up);
    assert!(rig.subjects("drop.data").await.is_empty());
    let delivered = rig.deliver("a@x.test", "delay-2s.data@fault.example.com").await.unwrap();
    assert_eq!(delivered.delay, Some(Duration::from_secs(2)));
    assert_eq!(rig.rcpt("a@x.test", "slow-1k@fault.example.com").await.slow, Some(1024));
    assert!(rig.rcpt("a@x.test", "421@fault.example.com").await.hang_up);
}

#[tokio::test]
async fn policy_does_not_hide_a_fault_and_no_domain_is_no_faults() {
    let mut settings = crate::Settings::default();
    settings.policy.accept = vec!["x.test".parse().unwrap()];
    let rig = Rig::new(settings.clone()).await;
    assert_eq!(code(&rig.rcpt("", "bounce@fault.example.com").await), 250);
    assert_eq!(code(&rig.rcpt("", "bob@y.test").await), 550);
    settings.faults.domain = String::new();
    settings.policy.accept.clear();
    let rig = Rig::new(settings).await;
    assert_eq!(code(&rig.rcpt("", "451@fault.example.com").await), 250);
}

#[tokio::test]
async fn what_comes_back_lies_in_the_senders_mailbox() {
    let rig = Rig::new(crate::Settings::default()).await;
    let mut told = rig.room().watch_refusals(&ANYBODY).unwrap();
    rig.deliver("app@shop.test", "bounce-5.2.2_complaint_vacation@fault.example.com").await.unwrap();
    let expected = ["Undelivered Mail Returned to Sender", "Complaint (abuse) about your mail", "Auto: hello"];
    assert_eq!(rig.subjects("app").await, expected);
    assert_eq!(rig.subjects("bounce-5.2.2_complaint_vacation").await, ["hello"], "it was taken");
    let Refused::Acted(acted) = told.next().await else { panic!() };
    assert_eq!((acted.stage, &*acted.what), (Stage::Data, "a bounce (5.2.2) went to app@shop.test"));
    let stored = rig.room().read(&ANYBODY, &mailbox("app"), Which::Latest).await.unwrap().unwrap();
    assert_eq!(stored.envelope.reverse_path, ReversePath(None));
    rig.deliver("", "bounce_vacation@fault.example.com").await.unwrap();
    assert_eq!(rig.subjects("app").await.len(), 3);
}

#[tokio::test]
async fn what_comes_back_meets_no_plan() {
    let rig = Rig::new(crate::Settings::default()).await;
    let whom = Whom::Mailbox(mailbox("app"));
    rig.room().plan_fault(&ANYBODY, NewPlan { stage: Stage::Data, ..plan(whom, When::Always) }).await.unwrap();
    rig.deliver("app@x.test", "bounce@fault.example.com").await.unwrap();
    assert_eq!(rig.subjects("app").await.len(), 1);
    assert!(rig.deliver("b@x.test", "app@x.test").await.is_err());
}

#[tokio::test]
async fn two_nodes_count_together() {
    let rig = Rig::new(crate::Settings::default()).await;
    let made = rig.room().plan_fault(&ANYBODY, plan(Whom::Mailbox(mailbox("b")), When::First(3))).await.unwrap();
    while rig.rooms[1].faults_in_force(&ANYBODY) == 0 {
        tokio::task::yield_now().await;
    }
    let mut codes = Vec::new();
    for attempt in 0..6 {
        let verdict = rcpt(&rig.rooms[attempt % 2], "a@x.test", "b@x.test").await;
        if let Some(fault) = &verdict.fault {
            let expected = format!("the fault plan {} ({} of 3)", made.id, attempt + 1);
            assert_eq!(fault.to_string(), expected);
        }
        codes.push(code(&verdict));
    }
    assert_eq!(codes, [451, 451, 451, 250, 250, 250]);
    assert_eq!(code(&rcpt(rig.room(), "a@x.test", "c@x.test").await), 250);
    let listed = rig.rooms[1].fault_plans(&ANYBODY).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].1.attempts, listed[0].1.fired), (6, 3));
    assert_eq!(listed[0].0, made);
    assert!(made.act.reply.unwrap().text.contains(&made.id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn however_many_try_at_once_so_many_fail_as_planned() {
    let rig = Rig::new(crate::Settings::default()).await;
    rig.room().plan_fault(&ANYBODY, plan(Whom::Everything, When::First(1000))).await.unwrap();
    while rig.rooms[1].faults_in_force(&ANYBODY) == 0 {
        tokio::task::yield_now().await;
    }
    // Nodes that read at the same moment what they both then write: it takes some thousand attempts to be sure of that.
    let trying = (0..4).map(|number| {
        let room = Arc::clone(&rig.rooms[number % 2]);
        tokio::spawn(async move {
            let mut refused = 0;
            for _ in 0..2500 {
                refused += usize::from(code(&rcpt(&room, "a@x.test", "b@x.test").await) == 451);
            }
            refused
        })
    });
    let mut refused = 0;
    for one in trying.collect::<Vec<_>>() {
        refused += one.await.unwrap();
    }
    assert_eq!(refused, 1000);
    let (_, count) = rig.room().fault_plans(&ANYBODY).await.unwrap().remove(0);
    assert_eq!((count.attempts, count.fired), (10_000, 1000));
}

#[tokio::test]
async fn pairs_are_counted_apart_as_greylisting_does() {
    let mut settings = crate::Settings::default();
    settings.faults.pairs_max = 2;
    let rig = Rig::new(settings).await;
    let new = NewPlan { per: Per::Pair, ..plan(Whom::Everything, When::First(1)) };
    rig.room().plan_fault(&ANYBODY, new).await.unwrap();
    for (sender, recipient) in [("a@x.test", "b@x.test"), ("A@x.test", "c@x.test")] {
        assert_eq!(code(&rig.rcpt(sender, recipient).await), 451);
        assert_eq!(code(&rig.rcpt(&sender.to_lowercase(), recipient).await), 250);
    }
    // Beyond the limit all others are counted together.
    assert_eq!(code(&rig.rcpt("d@x.test", "b@x.test").await), 451);
    assert_eq!(code(&rig.rcpt("e@x.test", "b@x.test").await), 250);
    assert_eq!(code(&rig.rcpt("a@x.test", "b@x.test").await), 250, "a pair that is known stays known");
}

#[tokio::test]
async fn a_plan_ends_when_it_is_removed_or_its_time_is_over() {
    let rig = Rig::new(crate::Settings::default()).await;
    let always = plan(Whom::Sender("@x.test".into()), When::Always);
    let made = rig.room().plan_fault(&ANYBODY, always.clone()).await.unwrap();
    assert_eq!(code(&rig.rcpt("a@x.test", "b@y.test").await), 451);
    assert!(rig.room().remove_fault(&ANYBODY, &made.id).await.unwrap());
    assert_eq!(code(&rig.rcpt("a@x.test", "b@y.test").await), 250);
    assert!(!rig.room().remove_fault(&ANYBODY, &made.id).await.unwrap());
    assert!(!rig.room().remove_fault(&ANYBODY, "no such id").await.unwrap());
    let short = NewPlan { ttl: Some(Duration::from_millis(1)), ..always };
    rig.room().plan_fault(&ANYBODY, short).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(code(&rig.rcpt("a@x.test", "b@y.test").await), 250);
    assert_eq!(rig.room().faults_in_force(&ANYBODY), 0);
    assert!(rig.room().fault_plans(&ANYBODY).await.unwrap().is_empty());
}

#[tokio::test]
async fn so_many_plans_and_no_more() {
    let mut settings = crate::Settings::default();
    settings.faults.plans_max = 1;
    let rig = Rig::new(settings.clone()).await;
    let new = || plan(Whom::Everything, When::Always);
    rig.room().plan_fault(&ANYBODY, new()).await.unwrap();
    assert!(matches!(rig.room().plan_fault(&ANYBODY, new()).await, Err(Error::NoPlan(_))));
    settings.faults.plans_max = 0;
    let rig = Rig::new(settings).await;
    assert!(matches!(rig.room().plan_fault(&ANYBODY, new()).await, Err(Error::NoPlan(_))));
}

#[tokio::test]
async fn plans_are_for_those_who_may() {
    let access = Rules { mode: Mode::Token, ..Rules::default() };
    let rig = Rig::new(crate::Settings { access, ..crate::Settings::default() }).await;
    let new = || plan(Whom::Everything, When::Always);
    assert!(matches!(rig.room().plan_fault(&ANYBODY, new()).await, Err(Error::Denied(_))));
    assert!(matches!(rig.room().fault_plans(&ANYBODY).await, Err(Error::Denied(_))));
    let made = rig.room().plan_fault(&Caller::Program, new()).await.unwrap();
    assert!(matches!(rig.room().remove_fault(&ANYBODY, &made.id).await, Err(Error::Denied(_))));
}

#[tokio::test]
async fn what_acts_without_refusing_is_told() {
    let rig = Rig::new(crate::Settings::default()).await;
    let mut told = rig.room().watch_refusals(&ANYBODY).unwrap();
    let act = Act { delay: Some(Duration::from_millis(300)), ..Act::default() };
    let made = rig.room().plan_fault(&ANYBODY, NewPlan { act, ..plan(Whom::Everything, When::Always) }).await.unwrap();
    let verdict = rig.rcpt("a@x.test", "b@x.test").await;
    assert_eq!((code(&verdict), verdict.delay), (250, Some(Duration::from_millis(300))));
    let Refused::Acted(acted) = told.next().await else { panic!() };
    assert_eq!(acted.what, "held back for 300 ms");
    assert_eq!(acted.fault, ByFault::Plan { id: made.id, attempt: "attempt 1".into() });
}
