//! Releases of a real mailroom: whom they are still for, what is kept of an attempt, and when another one is made.

use std::sync::Arc;

use bytes::Bytes;
use jiff::SignedDuration;
use mail::{Mailbox, Recipient};
use mailroom::outgoing::relay::{Allowed, Rule, Rules};
use mailroom::outgoing::release::{KIND, Release, ReleaseAsk, State};
use mailroom::{Caller, Job, Mailroom, ManualClock, Parcel, Which};
use tokio::net::TcpListener;

use super::super::{Relay, Settings};
use super::*;
use crate::carrier::{Carrier, Outcome};

const HERE: Caller = Caller::Anonymous { peer: None };
const LEASE: Duration = Duration::from_secs(60);

struct House {
    room: Arc<Mailroom>,
    store: Arc<store::Memory>,
    clock: Arc<ManualClock>,
    relay: Relay,
}

impl House {
    /// A mailroom whose smart host is a sink that serves for ever, or one where nobody answers.
    async fn new(allow: &str, rules: Vec<Rule>, sink: Option<Sink>) -> Self {
        let clock = Arc::new(ManualClock::at("2026-11-14T09:30:00Z".parse().unwrap()));
        let store = Arc::new(store::Memory::new(store::memory::Settings::default(), Arc::clone(&clock) as _));
        Self::over(store, clock, allow, rules, sink).await
    }

    async fn over(
        store: Arc<store::Memory>,
        clock: Arc<ManualClock>,
        allow: &str,
        rules: Vec<Rule>,
        sink: Option<Sink>,
    ) -> Self {
        let allow = allow.split(' ').map(|text| Allowed::parse(text).unwrap()).collect();
        let relay = Rules { enabled: true, allow, rules, ..Rules::default() };
        let settings = mailroom::Settings { relay, ..mailroom::Settings::default() };
        let room = Mailroom::with_clock(Arc::clone(&store) as _, settings, Arc::clone(&clock) as _);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = SmartHost { port: listener.local_addr().unwrap().port(), ..smart_host(Tls::Off) };
        let host = SmartHost { host: "127.0.0.1".to_owned(), ..host };
        if let Some(sink) = sink {
            tokio::spawn(async move {
                while let Ok((socket, _)) = listener.accept().await {
                    tokio::spawn(sink.clone().serve(socket));
                }
            });
        }
        let relay = Relay::new(Arc::clone(&room), host, Settings::default());
        Self { room, store, clock, relay }
    }

    async fn deliver(&self, raw: &'static [u8]) {
        let to = Recipient { address: address("alice@x.test"), mailbox: Mailbox::from_canonical("alice") };
        let envelope = Envelope { recipients: vec![to], ..envelope(Door::Esmtp) };
        let received_at = self.room.now();
        let parcel =
            Parcel { raw: Bytes::from_static(raw), envelope: envelope.into(), discarded: Vec::new(), received_at };
        self.room.deliver(&Caller::Program, parcel).await.unwrap();
    }

    async fn release(&self, to: &[&str]) -> Release {
        let ask = ReleaseAsk { to: to.iter().map(|text| address(text)).collect(), from: None };
        let alice = Mailbox::from_canonical("alice");
        self.room.release(&HERE, &alice, Which::Latest, ask).await.unwrap().unwrap()
    }

    async fn job(&self) -> Job {
        self.room.take_jobs(&Caller::Program, KIND, 1, LEASE).await.unwrap().remove(0)
    }

    fn seconds_from_now(&self, seconds: i64) -> jiff::Timestamp {
        self.room.now() + SignedDuration::from_secs(seconds)
    }

    async fn told(&self) -> Release {
        self.room.releases(&HERE, None, 1).await.unwrap().remove(0)
    }
}

fn states(release: &Release) -> Vec<State> {
    release.recipients.iter().map(|one| one.state).collect()
}

const LETTER: &[u8] = b"Subject: a\r\n\r\nb\r\n";

#[tokio::test]
async fn those_who_have_it_are_not_tried_again() {
    let answers = vec![("RCPT TO:<later", "451 later"), ("RCPT TO:<never", "550 never")];
    let house = House::new("*@y.test", Vec::new(), Some(Sink { answers, ..Sink::default() })).await;
    house.deliver(LETTER).await;
    house.release(&["now@y.test", "later@y.test", "never@y.test"]).await;
    let job = house.job().await;
    let again = house.seconds_from_now(30);
    assert_eq!(house.relay.carry(&job).await, Outcome::Again(again));
    let told = house.told().await;
    assert_eq!(states(&told), [State::Sent, State::Queued, State::Failed]);
    assert_eq!(told.recipients[1].next_at, Some(again));
    assert!(matches!(house.relay.carry(&job).await, Outcome::Again(at) if at == house.seconds_from_now(60)));
    let attempts: Vec<_> = house.told().await.recipients.iter().map(|one| one.attempts).collect();
    assert_eq!(attempts, [1, 2, 1]);
}

#[tokio::test]
async fn a_release_is_given_up_in_the_end() {
    let house = House::new("*@y.test", Vec::new(), None).await;
    house.deliver(LETTER).await;
    house.release(&["b@y.test"]).await;
    let job = house.job().await;
    assert!(matches!(house.relay.carry(&job).await, Outcome::Again(_)));
    house.clock.advance(SignedDuration::from_hours(25));
    assert!(matches!(house.relay.carry(&job).await, Outcome::Dead(why) if why.contains("relay.give_up_after")));
    assert_eq!(states(&house.told().await), [State::Failed]);
}

/// What was allowed when it was asked for is not any more: the job carries a recipient whom the list does not name.
#[tokio::test]
async fn t075_the_list_is_looked_at_again_when_it_is_sent() {
    let before = House::new("*@y.test *@z.test", Vec::new(), None).await;
    before.deliver(LETTER).await;
    before.release(&["b@y.test", "c@z.test"]).await;
    let job = before.job().await;
    let (store, clock) = (Arc::clone(&before.store), Arc::clone(&before.clock));
    let after = House::over(store, clock, "*@y.test", Vec::new(), Some(Sink::default())).await;
    assert!(matches!(after.relay.carry(&job).await, Outcome::Dead(why) if why.contains("relay.allow")));
    assert_eq!(states(&after.told().await), [State::Sent, State::Failed]);
}

#[tokio::test]
async fn what_is_gone_is_not_sent() {
    let house = House::new("*@y.test", Vec::new(), Some(Sink::default())).await;
    house.deliver(LETTER).await;
    house.release(&["b@y.test"]).await;
    let job = house.job().await;
    house.room.purge(&HERE, &Mailbox::from_canonical("alice")).await.unwrap();
    assert!(matches!(house.relay.carry(&job).await, Outcome::Dead(why) if why.contains("does not hold")));
}

/// A rule sends on what was never sent on; what was, it refuses once; a person may send it on all the same.
#[tokio::test]
async fn t022_a_rule_sends_nothing_on_twice() {
    let rule = Rule { name: "all".to_owned(), mailbox: None, recipient: None, to: vec![address("b@y.test")] };
    let house = House::new("*@y.test", vec![rule], Some(Sink::default())).await;
    house.deliver(LETTER).await;
    let job = house.job().await;
    assert_eq!(house.relay.carry(&job).await, Outcome::Done);
    assert_eq!(house.told().await.rule.as_deref(), Some("all"));
    house.room.job_done(&Caller::Program, job.lease).await.unwrap();
    house.clock.advance(SignedDuration::from_secs(1));
    house.deliver(b"X-Postkeep-Relayed: 1\r\nSubject: a\r\n\r\nb\r\n").await;
    let job = house.job().await;
    assert!(matches!(house.relay.carry(&job).await, Outcome::Dead(why) if why.contains("circles")));
    house.room.job_done(&Caller::Program, job.lease).await.unwrap();
    house.release(&["b@y.test"]).await;
    assert_eq!(house.relay.carry(&house.job().await).await, Outcome::Done);
}

#[tokio::test]
async fn a_job_that_means_nothing_dies() {
    let house = House::new("*@y.test", Vec::new(), None).await;
    house.deliver(LETTER).await;
    house.release(&["b@y.test"]).await;
    let job = Job { payload: Bytes::from_static(b"{"), ..house.job().await };
    assert!(matches!(house.relay.carry(&job).await, Outcome::Dead(_)));
}
