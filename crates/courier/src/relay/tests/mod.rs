//! The client before a strict server, over a pipe, TCP and TLS; and releases of a real mailroom.

mod dialogues;
mod encryption;
mod errands;
mod letters;
mod sink;
mod smuggling;

use std::time::Duration;

use mail::address::Charset;
use mail::{Address, Door, Envelope, ReversePath, TransactionId, Transport};
use tokio::time::Instant;

use super::link::Link;
use super::{Fate, Letter, SmartHost, Tls};
use sink::{Heard, Sink};

fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).unwrap()
}

fn envelope(door: Door) -> Envelope {
    let transport = Transport { door, utf8: false, helo: String::new(), peer: None, tls: None, auth_user: None };
    Envelope { transaction: TransactionId::new(1), reverse_path: ReversePath(None), recipients: Vec::new(), transport }
}

/// A letter from a@x.test as it was imported: nothing of it is ours.
fn letter(raw: &[u8], to: &[&str]) -> Letter {
    let recipients = to.iter().map(|text| address(text)).collect();
    Letter::new(raw, &envelope(Door::Import), "r1", ReversePath(Some(address("a@x.test"))), recipients)
}

fn smart_host(tls: Tls) -> SmartHost {
    let mut host = SmartHost::new("localhost", 25, Some(tls), None).unwrap();
    (host.timeout, host.helo) = (Duration::from_secs(5), "client.test".to_owned());
    host
}

/// Tell a letter to a sink, through a pipe.
async fn tell(sink: Sink, host: &SmartHost, letter: &Letter) -> (Vec<Fate>, Heard) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(sink.serve(theirs));
    let link = Link::over(Box::new(ours), host.timeout, Instant::now() + host.attempt_max, true);
    let fates = super::dialogue::converse(host, letter, link).await;
    (fates, serving.await.unwrap())
}
