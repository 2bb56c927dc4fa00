//! Waiting: what counts, what is told when it does not come, and that nothing slips between.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mail::{Mailbox, MessageId};
use store::list::Order;
use store::memory::{Memory, Settings as Bounds};
use store::{Clock, ManualClock, Scope};

use super::diagnosis::Diagnosis;
use super::matchers::{AddressMatch, Has, TextMatch};
use super::*;
use crate::access::{Keys, Mode, Rules};
use crate::refusals::{Refusal, Stage};
use crate::stub::{self, ANYBODY};
use crate::verdict::Status;
use crate::{Error, Settings, Which};

struct Rig {
    room: Arc<Mailroom>,
    clock: Arc<ManualClock>,
}

impl Rig {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let clock = Arc::new(ManualClock::at("2026-11-15T09:00:00Z".parse().unwrap()));
        let memory = Memory::new(Bounds::default(), Arc::<ManualClock>::clone(&clock));
        let room = Mailroom::with_clock(Arc::new(memory), settings, Arc::<ManualClock>::clone(&clock));
        Self { room, clock }
    }

    async fn deliver(&self, to: &str, text: &str) -> MessageId {
        let mut parcel = stub::parcel(&self.room, &[to]);
        parcel.raw = Bytes::from(text.to_owned());
        parcel.received_at = self.clock.now();
        self.room.deliver(&ANYBODY, parcel).await.unwrap().filed[0].id
    }

    async fn mail(&self, subject: &str) -> MessageId {
        self.deliver("alice@a.test", &format!("From: Shop <no-reply@shop.test>\r\nSubject: {subject}\r\n\r\nHello\r\n"))
            .await
    }

    async fn since(&self) -> Option<Since> {
        let position = self.room.position(&ANYBODY, &alice()).await.unwrap();
        Some(Since { position, issued: self.clock.now(), restarted: false })
    }

    async fn wait(&self, ask: Ask) -> Outcome {
        let waiting = self.room.wait(&ANYBODY, None, ask);
        tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("the wait ends").unwrap()
    }

    async fn ids(&self, ask: Ask) -> Vec<MessageId> {
        matched(self.wait(ask).await)
    }

    async fn why(&self, ask: Ask) -> Diagnosis {
        match self.wait(ask).await.ending {
            Ending::TimedOut(diagnosis) => *diagnosis,
            other => panic!("{other:?}"),
        }
    }
}

fn alice() -> Mailbox {
    Mailbox::from_canonical("alice")
}

fn ask() -> Ask {
    Ask {
        scope: Scope::Mailbox(alice()),
        matchers: Matchers::default(),
        since: None,
        order: None,
        count: 1,
        exclude: Vec::new(),
        expect: Expect::Mail,
        timeout: Duration::ZERO,
    }
}

fn subject(text: &str) -> Matchers {
    Matchers { subject: Some(TextMatch::contains(text)), ..Matchers::default() }
}

fn matched(outcome: Outcome) -> Vec<MessageId> {
    match outcome.ending {
        Ending::Matched(mail) => mail.into_iter().map(|found| found.stored.summary.id).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_lies_there_counts_and_the_newest_is_meant() {
    let rig = Rig::new();
    rig.mail("one").await;
    let two = rig.mail("two").await;
    assert_eq!(rig.ids(ask()).await, [two]);
}

#[tokio::test]
async fn behind_a_cursor_the_first_is_meant_and_the_next_is_met_from_there() {
    let rig = Rig::new();
    rig.mail("zero").await;
    let since = rig.since().await;
    let (one, two) = (rig.mail("one").await, rig.mail("two").await);
    let outcome = rig.wait(Ask { since, ..ask() }).await;
    let since = Some(Since { position: outcome.position, ..since.unwrap() });
    assert_eq!(matched(outcome), [one]);
    assert_eq!(rig.ids(Ask { since, ..ask() }).await, [two]);
    assert_eq!(
        rig.ids(Ask {
            since: rig.since().await.map(|now| Since { position: one.into(), ..now }),
            order: Some(Order::Newest),
            ..ask()
        })
        .await,
        [two]
    );
}

#[tokio::test]
async fn a_mail_that_comes_later_ends_the_wait() {
    let rig = Rig::new();
    let (room, begun) = (Arc::clone(&rig.room), Instant::now());
    let waiting = tokio::spawn(async move {
        let ask = Ask { matchers: subject("reset"), timeout: Duration::from_secs(20), ..ask() };
        room.wait(&ANYBODY, None, ask).await.unwrap()
    });
    while rig.room.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    rig.mail("Welcome").await;
    let reset = rig.mail("Your RESET link").await;
    assert_eq!(matched(waiting.await.unwrap()), [reset]);
    assert!(begun.elapsed() < Duration::from_secs(10), "it did not wait for its timeout");
    assert_eq!(rig.room.waiting(), 0);
}

/// Mail that comes at any moment of a wait is seen: between entering and looking, while looking, at the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_mail_slips_between() {
    let rig = Arc::new(Rig::new());
    for round in 0..500 {
        let since = rig.since().await;
        let waiting = {
            let rig = Arc::clone(&rig);
            tokio::spawn(async move { rig.ids(Ask { since, timeout: Duration::from_secs(15), ..ask() }).await })
        };
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        let id = rig.mail("x").await;
        assert_eq!(waiting.await.unwrap(), [id], "round {round}");
    }
}

#[tokio::test]
async fn several_are_waited_for_and_those_already_seen_left_out() {
    let rig = Rig::new();
    let (one, two, three) = (rig.mail("a").await, rig.mail("b").await, rig.mail("a").await);
    assert_eq!(rig.ids(Ask { count: 2, ..ask() }).await, [two, three]);
    assert_eq!(rig.ids(Ask { count: 2, matchers: subject("a"), ..ask() }).await, [one, three]);
    assert_eq!(rig.ids(Ask { exclude: vec![three], ..ask() }).await, [two]);
}

#[tokio::test]
async fn what_was_found_and_went_is_not_handed_out() {
    let rig = Rig::new();
    let since = rig.since().await;
    let room = Arc::clone(&rig.room);
    let waiting = tokio::spawn(async move {
        let ask = Ask { since, count: 2, timeout: Duration::from_secs(20), ..ask() };
        matched(room.wait(&ANYBODY, None, ask).await.unwrap())
    });
    while rig.room.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    let gone = rig.mail("gone").await;
    rig.room.delete(&ANYBODY, &alice(), Which::Id(gone)).await.unwrap();
    let (one, two) = (rig.mail("one").await, rig.mail("two").await);
    assert_eq!(waiting.await.unwrap(), [one, two]);
}

#[tokio::test]
async fn silence_can_be_what_is_waited_for() {
    let rig = Rig::new();
    let none = || Ask { expect: Expect::Nothing, matchers: subject("reset"), ..ask() };
    rig.mail("Welcome").await;
    assert!(matches!(rig.wait(none()).await.ending, Ending::Quiet));
    let id = rig.mail("Reset").await;
    let Ending::Unexpected(mail) = rig.wait(none()).await.ending else { panic!("it came") };
    assert_eq!(mail[0].stored.summary.id, id);
}

#[tokio::test]
async fn over_all_mailboxes() {
    let rig = Rig::new();
    let everywhere = || Ask { scope: Scope::All, ..ask() };
    let id = rig.deliver("bob@a.test", "Subject: x\r\n\r\nx\r\n").await;
    let Ending::Matched(mail) = rig.wait(everywhere()).await.ending else { panic!("it is there") };
    assert_eq!((mail[0].mailbox.as_str(), mail[0].stored.summary.id), ("bob", id));
    let since = Some(Since { position: id.into(), issued: Timestamp::UNIX_EPOCH, restarted: false });
    let (one, _two) = (rig.mail("one").await, rig.mail("two").await);
    assert_eq!(rig.ids(Ask { since, ..everywhere() }).await, [one]);
}

#[tokio::test]
async fn each_matcher_decides() {
    let rig = Rig::new();
    let text =
        "From: Shop <no-reply@shop.test>\r\nSubject: Reset\r\nX-Test-Run: 42\r\n\r\nYour code is 884201, Ada\r\n";
    let id = rig.deliver("alice+7@example.com", text).await;
    let address = |text| Some(AddressMatch::parse(text));
    let regex = |text| Some(TextMatch::regex(text, 256).unwrap());
    let none = Matchers::default;
    let good = [
        Matchers { from: address("No-Reply@Shop.test"), ..none() },
        Matchers { from: address("@shop.test"), ..none() },
        Matchers { to: address("alice+7@example.com"), ..none() },
        Matchers { to: address("@EXAMPLE.com"), ..none() },
        Matchers { subject: Some(TextMatch::is("RESET")), ..none() },
        Matchers { subject: regex("^Re.et$"), ..none() },
        Matchers { body: Some(TextMatch::contains("is 8842")), ..none() },
        Matchers { body: regex(r"\b\d{6}\b"), ..none() },
        Matchers { header: vec![("x-test-run".into(), "42".into())], ..none() },
        Matchers { has: vec![Has::Code], ..none() },
    ];
    for matchers in good {
        assert_eq!(rig.ids(Ask { matchers: matchers.clone(), ..ask() }).await, [id], "{matchers:?}");
    }
    let bad = [
        Matchers { from: address("reply@shop.test"), ..none() },
        Matchers { from: address("@hop.test"), ..none() },
        Matchers { to: address("alice@example.com"), ..none() },
        Matchers { subject: Some(TextMatch::is("Rese")), ..none() },
        Matchers { subject: regex("^e"), ..none() },
        Matchers { body: Some(TextMatch::contains("Bob")), ..none() },
        Matchers { header: vec![("X-Test-Run".into(), "4".into())], ..none() },
        Matchers { has: vec![Has::Attachment], ..none() },
        Matchers { has: vec![Has::Link(None)], ..none() },
    ];
    for matchers in bad {
        let why = rig.why(Ask { matchers: matchers.clone(), ..ask() }).await;
        assert_eq!(why.near_misses[0].fared.failed.len(), 1, "{matchers:?}");
    }
}

#[tokio::test]
async fn who_waits_is_counted_and_bounded() {
    let limits = Limits { waiters_max: 3, per_mailbox_max: 2, per_ip_max: Some(2), ..Limits::default() };
    let rig = Rig::with(Settings { wait: limits, ..Settings::default() });
    let here = "192.0.2.1".parse().ok();
    let enter = |name: &str, peer| rig.room.waiters().enter(&Scope::Mailbox(Mailbox::from_canonical(name)), peer);
    let what = |entered: Result<seats::Seat>| match entered {
        Err(Error::TooMany { what }) => what,
        _ => "",
    };
    let first = (enter("a", here).unwrap(), enter("a", None).unwrap());
    assert_eq!(what(enter("a", None)), "waits in this mailbox (wait.per_mailbox_max)");
    drop(first);
    let second = (enter("a", here).unwrap(), enter("b", here).unwrap());
    assert_eq!(what(enter("c", here)), "waits from this address (wait.per_ip_max)");
    let third = enter("c", None).unwrap();
    assert_eq!(what(enter("d", None)), "waits (wait.waiters_max)");
    drop((second, third));
    assert_eq!(rig.room.waiting(), 0);
}

// --- why it did not come ---

#[tokio::test]
async fn some_matched_but_fewer_than_wanted() {
    let rig = Rig::new();
    let id = rig.mail("a").await;
    let why = rig.why(Ask { count: 3, ..ask() }).await;
    assert_eq!((why.matched, why.arrived), (vec![id], 1));
    assert!(why.detail.starts_with("1 mail of 3 matched"), "{}", why.detail);
}

#[tokio::test]
async fn it_was_handed_out_before() {
    let rig = Rig::new();
    let id = rig.mail("a").await;
    let why = rig.why(Ask { exclude: vec![id], ..ask() }).await;
    assert_eq!(why.excluded, 1);
    assert!(why.detail.starts_with("1 mail matched, but exclude names it"), "{}", why.detail);
}

#[tokio::test]
async fn it_came_before_the_cursor_was_taken() {
    let rig = Rig::new();
    rig.mail("long ago").await;
    rig.clock.advance(SignedDuration::from_secs(61));
    rig.mail("just now").await;
    rig.clock.advance(SignedDuration::from_secs(20));
    let why = rig.why(Ask { since: rig.since().await, ..ask() }).await;
    assert_eq!((why.before_cursor, why.arrived), (1, 0));
    assert!(why.detail.contains("take the cursor before the act"), "{}", why.detail);
}

#[tokio::test]
async fn it_came_and_a_matcher_failed() {
    let rig = Rig::new();
    rig.mail("Goodbye").await;
    rig.deliver("alice@a.test", "From: other@x.test\r\nSubject: Welcome\r\n\r\nCode: 884201\r\n").await;
    let matchers = Matchers { has: vec![Has::Code], ..subject("Reset") };
    let why = rig.why(Ask { matchers, ..ask() }).await;
    let nearest = &why.near_misses[0];
    assert_eq!(nearest.item.summary.subject, "Welcome");
    assert_eq!(nearest.fared.passed, ["has.code"]);
    let failed = &nearest.fared.failed[0];
    assert_eq!((&*failed.matcher, &*failed.wanted, &*failed.got), ("subject.contains", "Reset", "Welcome"));
    let expected = "2 mails arrived in alice, but of the nearest one, its subject does not contain \"Reset\": compare \
                    nearMisses[0].";
    assert_eq!(why.detail, expected);
}

#[tokio::test]
async fn it_was_refused_at_smtp() {
    let rig = Rig::new();
    let reply = Status { code: 552, enhanced: (5, 3, 4), text: "Message too large".into() };
    let (at, mailboxes) = (rig.clock.now(), vec![alice()]);
    let (stage, mail_from, rcpt_to) = (Stage::Data, None, vec![]);
    rig.room.refused(
        &ANYBODY,
        Refusal { at, stage, mail_from, rcpt_to, mailboxes, helo: None, peer: None, reply, fault: None },
    );
    let why = rig.why(ask()).await;
    assert_eq!(why.refusals.len(), 1);
    assert!(why.detail.contains("552 Message too large"), "{}", why.detail);
}

#[tokio::test]
async fn it_went_to_a_similar_name() {
    let rig = Rig::new();
    rig.deliver("alcie@a.test", "Subject: x\r\n\r\nx\r\n").await;
    let why = rig.why(ask()).await;
    assert_eq!((why.similar[0].mailbox.as_str(), why.similar[0].messages), ("alcie", 1));
    assert_eq!(why.detail, "Nothing came to alice, but alcie has 1 mail: is one of the two names mistyped?");
}

#[tokio::test]
async fn the_name_is_a_mistyped_inbox() {
    let access = Rules { keys: Keys::make().ok(), ..Mode::Open.into() };
    let rig = Rig::with(Settings { access, ..Settings::default() });
    let inbox = rig.room.open_inbox(&ANYBODY, &crate::NewInbox::default(), None).unwrap();
    let mut name = inbox.inbox.mailbox.as_str().to_owned();
    let last = if name.pop() == Some('0') { '1' } else { '0' };
    name.push(last);
    let why = rig.why(Ask { scope: Scope::Mailbox(Mailbox::from_canonical(&name)), ..ask() }).await;
    assert!(why.detail.starts_with("The name looks like an inbox of this server but is none"), "{}", why.detail);
}

#[tokio::test]
async fn nobody_connected() {
    let rig = Rig::new();
    let why = rig.why(ask()).await;
    assert_eq!(why.smtp.count, 0);
    assert!(why.detail.starts_with("No SMTP client has connected since this server started."), "{}", why.detail);
    rig.room.connected();
    rig.clock.advance(SignedDuration::from_secs(5));
    let why = rig.why(ask()).await;
    assert!(why.detail.contains("the last one did at 2026-11-15T09:00:00"), "{}", why.detail);
}

#[tokio::test]
async fn clients_connected_but_nothing_came_here() {
    let rig = Rig::new();
    let since = rig.since().await;
    rig.clock.advance(SignedDuration::from_secs(5));
    rig.room.connected();
    let why = rig.why(Ask { since, ..ask() }).await;
    assert!(why.detail.starts_with("Nothing came to alice in 0 s, though clients connected"), "{}", why.detail);
}
