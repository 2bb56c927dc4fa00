//! From a delivery to a receiver and back: retries, order, death and return.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use mail::address::Charset;
use mail::{Address, Door, Envelope, Mailbox, MessageId, Naming, Recipient, ReversePath, Summary, Transport};
use mailroom::access::Pattern;
use mailroom::outgoing::webhook as outgoing;
use mailroom::{Caller, Mailroom, Parcel, Settings, Which};
use outbound::Client;
use serde_json::{Value, json};
use store::{Memory, SystemClock};
use tokio::sync::oneshot;

use super::receiver::{Came, OK, Receiver};
use crate::Courier;
use crate::webhook::backoff::Pace;
use crate::webhook::breaker::Rest;
use crate::webhook::{Detail, Limits, Target, Webhook, Words};

const BAD: &str = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
const NAME: &str = "shop";

/// A mailroom that tells, and whoever carries for it.
struct House {
    room: Arc<Mailroom>,
    stop: Option<oneshot::Sender<()>>,
    carrying: tokio::task::JoinHandle<()>,
}

/// The API's words, as far as tests look at them.
struct Plain(Arc<Mailroom>);

#[async_trait]
impl Words for Plain {
    fn mailbox(&self, mailbox: &Mailbox) -> String {
        mailbox.to_string()
    }

    fn summary(&self, _mailbox: &Mailbox, summary: &Summary) -> Value {
        json!({ "id": summary.id.to_string(), "subject": summary.subject })
    }

    async fn message(&self, mailbox: &Mailbox, id: MessageId) -> mailroom::Result<Option<Value>> {
        let stored = self.0.read(&Caller::Program, mailbox, Which::Id(id)).await?;
        Ok(stored.map(|stored| json!({ "subject": stored.summary.subject, "size": stored.raw.len() })))
    }
}

fn limits() -> Limits {
    let ms = Duration::from_millis;
    Limits {
        concurrent_max: 4,
        timeout: Duration::from_secs(5),
        pace: Pace { attempts_max: 5, give_up_after: Duration::from_secs(600), retry_max: ms(50) },
        rest: Rest { failures_max: 1000, time: ms(100) },
    }
}

impl House {
    fn new(url: &str, limits: Limits, detail: Detail, jobs_bytes_max: u64) -> Self {
        let patterns = vec![Pattern::parse("*", Naming::Local).unwrap()];
        let told = outgoing::Target { name: NAME.into(), mailboxes: patterns, events: outgoing::Event::ALL.to_vec() };
        let settings = store::memory::Settings { jobs_bytes_max, ..Default::default() };
        let engine = Arc::new(Memory::new(settings, Arc::new(SystemClock)));
        let room = Mailroom::new(engine, Settings { webhooks: vec![told], ..Settings::default() });
        let secrets = vec!["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap()];
        let target = Target { name: NAME.into(), url: url.into(), secrets, detail };
        let client = Client::new(outbound::Settings::default());
        let webhook = Webhook::new(target, limits, client, Arc::new(Plain(Arc::clone(&room))));
        let courier = Courier::new(Arc::clone(&room)).with(Arc::new(webhook));
        let (stop, stopped) = oneshot::channel();
        let carrying = tokio::spawn(courier.run(async move { drop(stopped.await) }));
        Self { room, stop: Some(stop), carrying }
    }

    async fn deliver(&self, mailboxes: &[&str], subject: &str) -> Vec<MessageId> {
        let recipient = |name: &&str| Recipient {
            address: Address::parse(&format!("{name}@x.test"), Charset::Utf8).unwrap(),
            mailbox: Naming::Local.named(name).unwrap(),
        };
        let (utf8, helo) = (false, "client".to_owned());
        let transport = Transport { door: Door::Smtp, utf8, helo, peer: None, tls: None, auth_user: None };
        let envelope = Envelope {
            reverse_path: ReversePath(None),
            recipients: mailboxes.iter().map(recipient).collect(),
            transaction: self.room.begin(),
            transport,
        };
        let raw = Bytes::from(format!("Subject: {subject}\r\n\r\nwords\r\n"));
        let parcel = Parcel { raw, envelope: Arc::new(envelope), discarded: Vec::new(), received_at: self.room.now() };
        let delivered = self.room.deliver(&Caller::Program, parcel).await.unwrap();
        delivered.filed.into_iter().map(|filed| filed.id).collect()
    }

    async fn dead(&self, count: usize) -> Vec<mailroom::DeadWebhook> {
        let waiting = async {
            loop {
                let dead = self.room.dead_webhooks(&Caller::Program).await.unwrap();
                if dead.len() == count {
                    return dead;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("so many are given up")
    }

    async fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        (&mut self.carrying).await.unwrap();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.carrying.abort();
    }
}

fn house(receiver: &Receiver) -> House {
    House::new(&receiver.url(), limits(), Detail::Summary, 64 << 20)
}

fn ids(came: &[Came]) -> Vec<String> {
    came.iter().map(|came| came.field("webhook-id").to_owned()).collect()
}

#[tokio::test]
async fn every_event_is_told_once_and_as_documented() {
    let receiver = Receiver::start(|_, _| OK).await;
    let house = house(&receiver);
    let filed = house.deliver(&["alice", "bob"], "Hello").await;
    let alice = Naming::Local.named("alice").unwrap();
    receiver.taken(2).await;
    assert!(house.room.delete(&Caller::Program, &alice, Which::Latest).await.unwrap());
    receiver.taken(3).await;
    house.room.purge(&Caller::Program, &Naming::Local.named("bob").unwrap()).await.unwrap();
    let came = receiver.taken(4).await;
    for came in &came {
        assert!(came.head.starts_with("POST /hook HTTP/1.1\r\n"), "{}", came.head);
        assert_eq!(came.field("content-type"), "application/json");
        assert!(came.field("webhook-id").starts_with("msg_"));
        let second: i64 = came.field("webhook-timestamp").parse().unwrap();
        assert!((jiff::Timestamp::now().as_second() - second).abs() < 60);
        assert!(came.field("webhook-signature").starts_with("v1,"));
        assert!(came.json()["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    }
    assert_eq!(ids(&came).iter().collect::<HashSet<_>>().len(), 4, "each event has an id of its own");
    let of = |mailbox: &str| came[..2].iter().find(|came| came.mailbox() == mailbox).unwrap().json();
    let id = filed[0].to_string();
    assert_eq!(of("alice")["type"], "message.delivered");
    assert_eq!(
        of("alice")["data"],
        json!({ "mailbox": "alice", "id": id, "message": { "id": id, "subject": "Hello" } })
    );
    assert_eq!(of("bob")["data"]["id"], filed[1].to_string());
    let (deleted, purged) = (came[2].json(), came[3].json());
    assert_eq!(
        (&deleted["type"], &deleted["data"]),
        (&json!("message.deleted"), &json!({ "mailbox": "alice", "ids": [id] }))
    );
    assert_eq!((&purged["type"], &purged["data"]), (&json!("mailbox.purged"), &json!({ "mailbox": "bob" })));
}

#[tokio::test]
async fn the_message_whole_where_it_is_asked_for_and_its_summary_when_it_has_gone() {
    let receiver = Receiver::start(|number, _| if number == 1 { (Duration::ZERO, BAD) } else { OK }).await;
    let house = House::new(&receiver.url(), limits(), Detail::Message, 64 << 20);
    house.deliver(&["alice"], "Kept").await;
    assert!(receiver.taken(1).await[0].json()["data"]["message"]["size"].is_u64());
    house.deliver(&["alice"], "Gone").await;
    while receiver.came().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.room.purge(&Caller::Program, &Naming::Local.named("alice").unwrap()).await.unwrap();
    let came = receiver.taken(2).await;
    assert_eq!((came[1].subject(), ids(&came)[1].clone()), ("Gone".to_owned(), ids(&receiver.came())[1].clone()));
}

/// Every way to fail, and each event arrives all the same, under one id and in order.
#[tokio::test]
async fn t078_events_arrive_in_order_and_under_one_id_whatever_the_target_does() {
    let receiver = Receiver::start(|number, _| match number % 7 {
        0 => (Duration::ZERO, BAD),
        1 => (Duration::from_secs(5), BAD),
        2 => (Duration::ZERO, "HTTP/1.1 200 OK close"),
        3 => (Duration::ZERO, "nonsense close\r\n\r\n"),
        4 => (Duration::ZERO, "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
        _ => OK,
    });
    let receiver = receiver.await;
    let pace = Pace { attempts_max: 1000, ..limits().pace };
    let limits = Limits { pace, timeout: Duration::from_millis(250), ..limits() };
    let house = House::new(&receiver.url(), limits, Detail::Summary, 64 << 20);
    for number in 0..5 {
        house.deliver(&["a", "b", "c"], &number.to_string()).await;
    }
    let done = async {
        while house.room.jobs_waiting(&Caller::Program, &outgoing::kind(NAME)).await.unwrap() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), done).await.expect("all of it is told");
    let mut subjects: HashMap<String, Vec<String>> = HashMap::new();
    let mut named: HashMap<(String, String), HashSet<String>> = HashMap::new();
    for came in receiver.came() {
        named.entry((came.mailbox(), came.subject())).or_default().insert(came.field("webhook-id").to_owned());
        // Whoever hung up after the status line may have taken it, and is told again.
        if came.taken {
            subjects.entry(came.mailbox()).or_default().push(came.subject());
        }
    }
    assert_eq!(named.len(), 15);
    assert!(named.values().all(|ids| ids.len() == 1), "{named:?}");
    for (mailbox, mut subjects) in subjects {
        subjects.dedup();
        assert_eq!(subjects, (0..5).map(|number| number.to_string()).collect::<Vec<_>>(), "{mailbox}");
    }
}

#[tokio::test]
async fn t078_what_is_given_up_is_listed_and_can_be_sent_again_under_its_id() {
    let receiver = Receiver::start(|number, _| if number < 5 { (Duration::ZERO, BAD) } else { OK }).await;
    let house = house(&receiver);
    let filed = house.deliver(&["alice"], "Lost").await;
    let dead = house.dead(1).await.remove(0);
    assert_eq!((dead.target.as_str(), dead.event, dead.message), (NAME, outgoing::Event::Deliver, Some(filed[0])));
    assert!(dead.attempts >= 4 && dead.reason.contains("it answered 500"), "{dead:?}");
    assert_eq!(receiver.came().len(), 5, "as often as attempts_max says");
    assert!(house.room.replay_webhook(&Caller::Program, dead.id).await.unwrap());
    let came = receiver.taken(1).await;
    assert_eq!(came[0].field("webhook-id"), receiver.came()[0].field("webhook-id"));
    assert!(!house.room.replay_webhook(&Caller::Program, dead.id).await.unwrap());
    house.dead(0).await;
}

#[tokio::test]
async fn a_target_that_has_gone_for_good_is_not_asked_again() {
    let receiver = Receiver::start(|_, _| (Duration::ZERO, "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")).await;
    let house = house(&receiver);
    house.deliver(&["alice"], "x").await;
    assert!(house.dead(1).await[0].reason.contains("410"));
    assert_eq!(receiver.came().len(), 1);
}

/// F24, in short: nobody listens, then somebody does.
#[tokio::test]
async fn f24_a_target_that_was_down_gets_all_of_it() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let rest = Rest { failures_max: 3, time: Duration::from_millis(200) };
    let pace = Pace { attempts_max: 1000, ..limits().pace };
    let limits = Limits { rest, pace, ..limits() };
    let house = House::new(&format!("http://{address}/hook"), limits, Detail::Summary, 64 << 20);
    for number in 0..20 {
        house.deliver(&["a", "b"], &number.to_string()).await;
    }
    tokio::time::sleep(Duration::from_millis(700)).await;
    let receiver = Receiver::on(tokio::net::TcpListener::bind(address).await.unwrap(), |_, _| OK);
    let taken = receiver.taken(40).await;
    assert_eq!(ids(&taken).into_iter().collect::<HashSet<_>>().len(), 40);
}

#[tokio::test]
async fn t078_a_full_queue_costs_events_and_never_mail() {
    let receiver = Receiver::start(|_, _| (Duration::from_secs(60), BAD)).await;
    let house = House::new(&receiver.url(), limits(), Detail::Summary, 4 << 10);
    let started = Instant::now();
    for number in 0..200 {
        assert_eq!(house.deliver(&["alice"], &number.to_string()).await.len(), 1);
    }
    let waiting = house.room.jobs_waiting(&Caller::Program, &outgoing::kind(NAME)).await.unwrap();
    assert!((1..100).contains(&waiting), "{waiting}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn what_is_in_hand_is_finished_before_the_courier_stops() {
    let receiver = Receiver::start(|_, _| (Duration::from_millis(100), OK.1)).await;
    let house = house(&receiver);
    let room = Arc::clone(&house.room);
    house.deliver(&["alice"], "x").await;
    while receiver.came().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.stop().await;
    assert_eq!(room.jobs_waiting(&Caller::Program, &outgoing::kind(NAME)).await.unwrap(), 0);
}
