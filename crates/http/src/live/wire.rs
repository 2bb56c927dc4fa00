//! The data of each event as JSON. Nothing is looked up here: what goes in comes out.

use std::time::Duration;

use mail::{Mailbox, MessageId};
use mailroom::{Acted, Caller, Change, Mailroom, Position, Refusal};
use serde::Serialize;

use super::story::{Line, Reason};
use crate::json::Json;
use crate::v2::wire::summary::Summary;
use crate::v2::wire::time;

/// What a client needs to know about messages that go by themselves, which no event tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// How long a message is kept; none: until something else takes it.
    pub retention: Option<Duration>,
    /// Messages in one mailbox; 0 is no limit.
    pub messages_max: usize,
}

/// The first event.
pub(super) fn hello(cursor: &str, kept: Kept) -> Json {
    let mut json = Json::with_capacity(96 + cursor.len());
    json.raw(r#"{"cursor":"#).string(cursor).raw(r#","retention":"#);
    match kept.retention {
        Some(time) => json.string(&duration(time)),
        None => json.raw("null"),
    };
    json.raw(r#","messagesMax":"#);
    match kept.messages_max {
        0 => json.raw("null"),
        messages => json.number(messages as u64),
    };
    json.raw("}");
    json
}

/// The name and the data of a line.
pub(super) fn line(mailroom: &Mailroom, caller: &Caller, line: &Line, cursor: &str) -> (&'static str, Json) {
    match line {
        Line::Change(Change::Delivered { mailbox, summary }) => {
            ("deliver", delivered(mailroom, caller, mailbox, summary))
        }
        Line::Change(Change::Deleted { mailbox, id, .. }) => {
            let mut json = start(mailroom, mailbox, 64);
            json.raw(r#","id":""#).plain(&id.digits()).raw("\"}");
            ("delete", json)
        }
        Line::Change(Change::Purged { mailbox, up_to, .. }) => ("purge", purged(mailroom, mailbox, *up_to)),
        Line::Resync(reason) => ("resync", resync(*reason, cursor)),
        Line::Skipped(count) => {
            let mut json = Json::with_capacity(32);
            json.raw(r#"{"count":"#).number(*count).raw("}");
            ("skipped", json)
        }
        Line::Refused(refusal) => ("refuse", refused(refusal)),
        Line::Acted(acted) => ("fault", self::acted(acted)),
    }
}

/// What was refused, as it was told to the client.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    at: String,
    stage: &'static str,
    mail_from: Option<String>,
    rcpt_to: Vec<String>,
    helo: Option<String>,
    peer: Option<String>,
    reply: String,
    fault: Option<String>,
}

fn refused(refusal: &Refusal) -> Json {
    let (class, subject, detail) = refusal.reply.enhanced;
    let told = Told {
        at: time(refusal.at),
        stage: refusal.stage.command(),
        mail_from: refusal.mail_from.as_ref().and_then(|path| path.0.as_ref()).map(ToString::to_string),
        rcpt_to: refusal.rcpt_to.iter().map(ToString::to_string).collect(),
        helo: refusal.helo.clone(),
        peer: refusal.peer.map(|peer| peer.to_string()),
        reply: format!("{} {class}.{subject}.{detail} {}", refusal.reply.code, refusal.reply.text),
        fault: refusal.fault.as_ref().map(|fault| fault.name().to_owned()),
    };
    let mut json = Json::with_capacity(0);
    json.plain(&serde_json::to_vec(&told).unwrap_or_else(|_| b"null".to_vec()));
    json
}

/// What a fault on demand did without refusing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToldOfFault {
    at: String,
    stage: &'static str,
    mail_from: Option<String>,
    rcpt_to: Vec<String>,
    fault: String,
    what: String,
}

fn acted(acted: &Acted) -> Json {
    let told = ToldOfFault {
        at: time(acted.at),
        stage: acted.stage.command(),
        mail_from: acted.mail_from.0.as_ref().map(ToString::to_string),
        rcpt_to: acted.rcpt_to.iter().map(ToString::to_string).collect(),
        fault: acted.fault.name().to_owned(),
        what: acted.what.clone(),
    };
    let mut json = Json::with_capacity(0);
    json.plain(&serde_json::to_vec(&told).unwrap_or_else(|_| b"null".to_vec()));
    json
}

fn start(mailroom: &Mailroom, mailbox: &Mailbox, more: usize) -> Json {
    let mut json = Json::with_capacity(mailbox.as_str().len() + more);
    json.raw(r#"{"mailbox":"#).string(&mailroom.spelling(mailbox));
    json
}

fn delivered(mailroom: &Mailroom, caller: &Caller, mailbox: &Mailbox, summary: &mail::Summary) -> Json {
    let mut json = start(mailroom, mailbox, 512);
    json.raw(r#","id":""#).plain(&summary.id.digits()).raw(r#"","message":"#);
    let message = Summary::told(mailroom, caller, mailbox, summary);
    json.plain(&serde_json::to_vec(&message).unwrap_or_else(|_| b"null".to_vec())).raw("}");
    json
}

/// Up to which message: what came behind it stayed.
fn purged(mailroom: &Mailroom, mailbox: &Mailbox, up_to: Position) -> Json {
    let mut json = start(mailroom, mailbox, 64);
    json.raw(r#","upTo":""#).plain(&MessageId::new(up_to.0).digits()).raw("\"}");
    json
}

fn resync(reason: Reason, cursor: &str) -> Json {
    let mut json = Json::with_capacity(64 + cursor.len());
    json.raw(r#"{"reason":"#).string(reason.as_str()).raw(r#","cursor":"#).string(cursor).raw("}");
    json
}

/// In the largest unit that it is a whole number of, as in the configuration.
pub(crate) fn duration(time: Duration) -> String {
    const UNITS: [(u128, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")];
    let millis = time.as_millis();
    match UNITS.iter().find(|(unit, _)| millis != 0 && millis.is_multiple_of(*unit)) {
        Some((unit, letter)) => format!("{}{letter}", millis / unit),
        None => format!("{millis}ms"),
    }
}
