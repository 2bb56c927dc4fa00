//! Scripts by what they do: through the hooks, as the mailroom asks them.

mod answers;
mod examples;
mod hostile;
mod inbucket;
mod network;
mod reading;

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{
    Address, Digest, Door, Envelope, MessageId, Naming, Recipient, ReversePath, Summary, TransactionId, Transport,
};
use mailroom::hooks::{After, Arriving, Handling, Hooks, Opinion, Visit};
use mailroom::{Caller, Decision};
use tokio::runtime::Handle;

use crate::{Program, Scripts, Settings};

pub(super) const PEER: &str = "192.0.2.7";

pub(super) fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).unwrap()
}

pub(super) fn sender(text: &str) -> ReversePath {
    ReversePath((!text.is_empty()).then(|| address(text)))
}

fn client() -> outbound::Client {
    outbound::Client::new(outbound::Settings::default())
}

/// One script at work, with the settings that tests want.
pub(super) fn start(text: &str) -> Arc<Scripts> {
    with(text, Settings::default())
}

pub(super) fn with(text: &str, settings: Settings) -> Arc<Scripts> {
    several(&[("test.lua", text)], settings)
}

pub(super) fn several(texts: &[(&str, &str)], settings: Settings) -> Arc<Scripts> {
    let program = Program::of(texts, &settings).unwrap();
    Scripts::start(program, settings, client(), Handle::current())
}

/// An example that is shipped.
pub(super) fn example(name: &str) -> Arc<Scripts> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    let settings = Settings::default();
    let program = Program::read(&path, &settings).unwrap_or_else(|bad| panic!("{name}: {bad}"));
    Scripts::start(program, settings, client(), Handle::current())
}

fn caller() -> Caller {
    Caller::Sender { user: Some("ann".into()), peer: Some(PEER.parse::<IpAddr>().unwrap()) }
}

pub(super) async fn mail_from(scripts: &Scripts, from: &str) -> Opinion {
    let (caller, from) = (caller(), sender(from));
    scripts.mail_from(&Visit { caller: &caller, helo: Some("client.test"), sender: &from, accepted: &[] }).await
}

pub(super) async fn rcpt_to(scripts: &Scripts, from: &str, accepted: &[&str], to: &str) -> Opinion {
    let (caller, from) = (caller(), sender(from));
    let accepted: Vec<Recipient> = accepted.iter().map(|to| recipient(to)).collect();
    let visit = Visit { caller: &caller, helo: Some("client.test"), sender: &from, accepted: &accepted };
    scripts.rcpt_to(&visit, &address(to)).await
}

fn recipient(to: &str) -> Recipient {
    Recipient { address: address(to), mailbox: Naming::Local.mailbox(&address(to)).unwrap() }
}

pub(super) fn arriving(from: &str, to: &[&str], raw: &str) -> Arriving {
    let recipients: Vec<Recipient> = to.iter().map(|to| recipient(to)).collect();
    let mailboxes = recipients.iter().map(|recipient| recipient.mailbox.clone()).collect();
    let transport = Transport {
        door: Door::Esmtp,
        utf8: false,
        helo: "client.test".into(),
        peer: Some(PEER.parse().unwrap()),
        tls: None,
        auth_user: None,
    };
    let raw = raw.replace('\n', "\r\n");
    let reverse_path = sender(from);
    Arriving {
        digest: Digest::of(raw.as_bytes()),
        raw: Bytes::from(raw),
        envelope: Arc::new(Envelope { transaction: TransactionId::new(1), reverse_path, recipients, transport }),
        received_at: Timestamp::UNIX_EPOCH,
        mailboxes,
    }
}

pub(super) const HELLO: &str =
    "From: Jane Doe <jane@shop.test>\nTo: Al <alice@x.test>\nSubject: Hello\n\nHello, world.\n";

pub(super) async fn message(scripts: &Scripts, to: &[&str], raw: &str) -> Handling {
    scripts.message(arriving("bounce@shop.test", to, raw)).await
}

pub(super) fn summary(subject: &str) -> Arc<Summary> {
    Arc::new(Summary {
        id: MessageId::new(7),
        received_at: Timestamp::from_second(1_700_000_000).unwrap(),
        size: 1234,
        from: mail::Author { name: "Jane Doe".into(), email: "jane@shop.test".into() },
        subject: subject.into(),
        mail_from: sender("bounce@shop.test"),
        rcpt_to: vec![address("alice@x.test")],
        transaction: TransactionId::new(1),
        other_recipients: 0,
        expires: None,
        tags: vec!["red".into()],
    })
}

/// `code x.y.z text` of a refusal; `accept`, `discard` otherwise.
pub(super) fn decided(decision: &Decision) -> String {
    match decision {
        Decision::Accept => "accept".into(),
        Decision::Discard => "discard".into(),
        Decision::Refuse(status) => {
            let (class, subject, detail) = status.enhanced;
            format!("{} {class}.{subject}.{detail} {}", status.code, status.text)
        }
    }
}

pub(super) fn thought(opinion: &Opinion) -> String {
    match opinion {
        Opinion::Defer => "defer".into(),
        Opinion::Allow => "allow".into(),
        Opinion::Judge(verdict) => decided(&verdict.decision),
    }
}

pub(super) fn boxes(handling: &Handling) -> Option<Vec<String>> {
    handling.mailboxes.as_ref().map(|mailboxes| mailboxes.iter().map(ToString::to_string).collect())
}

pub(super) const TEMPFAIL: &str = "451 4.3.0 A script of this server failed; try again later";

pub(super) fn short() -> Settings {
    Settings { deadline: Duration::from_millis(200), ..Settings::default() }
}
