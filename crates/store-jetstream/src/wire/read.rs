//! Reading. The leader of a stream has what was acknowledged; a replica may lag behind it and is asked only where that is
//! noticed. Deletes and purges go through the leader as well.

use std::str::FromStr;

use async_nats::Message;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::answer::Failure;
use super::link::{ANSWER_WAIT, Link};

/// So many messages a broker sends for one question.
const BATCH: usize = 1000;

/// A stored message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Raw {
    pub(crate) subject: String,
    pub(crate) seq: u64,
    /// When the broker stored it.
    pub(crate) at: Timestamp,
    pub(crate) data: Bytes,
}

/// Which message of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pick<'a> {
    /// The one at this sequence.
    At(u64),
    /// The last one of a subject.
    Last(&'a str),
    /// The first one of a subject (wildcards allowed) at or behind a sequence.
    Next(&'a str, u64),
}

#[derive(Deserialize)]
struct Got {
    message: GotMessage,
}

#[derive(Deserialize)]
struct GotMessage {
    subject: String,
    seq: u64,
    #[serde(default)]
    data: String,
    time: String,
}

#[derive(Deserialize)]
struct Purged {
    #[serde(default)]
    purged: u64,
}

impl Pick<'_> {
    fn question(self) -> Value {
        match self {
            Self::At(seq) => json!({ "seq": seq }),
            Self::Last(subject) => json!({ "last_by_subj": subject }),
            Self::Next(subject, seq) => json!({ "seq": seq, "next_by_subj": subject }),
        }
    }
}

impl Link {
    /// One message, as the leader has it.
    pub(crate) async fn leader_has(&self, stream: &str, pick: Pick<'_>) -> Result<Option<Raw>, Failure> {
        let call = format!("STREAM.MSG.GET.{stream}");
        let got: Got = match self.api(&call, &pick.question()).await {
            Err(Failure::Refused(refusal)) if refusal.is_not_found() => return Ok(None),
            answer => answer?,
        };
        let GotMessage { subject, seq, data, time } = got.message;
        let unreadable = || Failure::Unknown("a broker's answer cannot be read".to_owned());
        let data = STANDARD.decode(data).map_err(|_| unreadable())?.into();
        let at = Timestamp::from_str(&time).map_err(|_| unreadable())?;
        Ok(Some(Raw { subject, seq, at, data }))
    }

    /// One message by its sequence, as any replica has it; none also when that one lags behind.
    pub(crate) async fn replica_has(&self, stream: &str, seq: u64) -> Result<Option<Raw>, Failure> {
        let question = json!({ "seq": seq }).to_string();
        let message = self.ask(format!("$JS.API.DIRECT.GET.{stream}"), None, question.into()).await?;
        match message.status.map(|status| status.as_u16()) {
            None => raw(message).map(Some),
            Some(404) => Ok(None),
            Some(status) => Err(odd(status)),
        }
    }

    /// Every message of a subject (wildcards allowed) at or behind a sequence, as any replica has them.
    pub(crate) async fn replica_tells(&self, stream: &str, subject: &str, from: u64) -> Result<Vec<Raw>, Failure> {
        let mut all = Vec::new();
        let mut from = from.max(1);
        loop {
            let told = all.len();
            self.replica_tells_some(stream, subject, from, &mut all).await?;
            match all.last() {
                Some(last) if all.len() - told == BATCH => from = last.seq + 1,
                _ => return Ok(all),
            }
        }
    }

    pub(crate) async fn replica_tells_some(
        &self,
        stream: &str,
        subject: &str,
        from: u64,
        all: &mut Vec<Raw>,
    ) -> Result<(), Failure> {
        let until = Instant::now() + ANSWER_WAIT;
        let broken = self.whole(until).await?;
        tokio::pin!(broken);
        let mut answers = self.inbox.expect();
        let question = json!({ "seq": from, "batch": BATCH, "next_by_subj": subject }).to_string();
        self.tell(format!("$JS.API.DIRECT.GET.{stream}"), Some(answers.subject.clone()), question.into()).await?;
        loop {
            let answer = tokio::select! {
                answer = timeout_at(until, answers.arriving.recv()) => answer,
                () = &mut broken => return Err(Failure::Unknown("the connection broke while messages came".to_owned())),
            };
            let Ok(Some(message)) = answer else {
                return Err(Failure::Unknown("not all messages came in time".to_owned()));
            };
            match message.status.map(|status| status.as_u16()) {
                None => all.push(raw(message)?),
                // The end of the batch, or nothing there.
                Some(204 | 404) => return Ok(()),
                Some(503) => return Err(Failure::Unsent("no broker has this part of the store now".to_owned())),
                Some(status) => return Err(odd(status)),
            }
        }
    }

    /// Take one message out; false when it is not there.
    pub(crate) async fn remove(&self, stream: &str, seq: u64) -> Result<bool, Failure> {
        let question = json!({ "seq": seq, "no_erase": true });
        match self.api::<Value>(&format!("STREAM.MSG.DELETE.{stream}"), &question).await {
            Ok(_) => Ok(true),
            // Above the last sequence there is nothing either.
            Err(Failure::Refused(refusal)) if refusal.is_not_found() || refusal.number == 10057 => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Take every message of a subject (wildcards allowed) before a sequence out; how many.
    pub(crate) async fn remove_before(&self, stream: &str, subject: &str, seq: u64) -> Result<u64, Failure> {
        let question = json!({ "filter": subject, "seq": seq });
        self.api(&format!("STREAM.PURGE.{stream}"), &question).await.map(|Purged { purged }| purged)
    }
}

fn odd(status: u16) -> Failure {
    Failure::Unknown(format!("a broker answered with status {status}"))
}

/// A message as a replica sends it: what it is stands in the headers.
fn raw(message: Message) -> Result<Raw, Failure> {
    let headers = message.headers.unwrap_or_default();
    let header = |name: &str| headers.get(name).map(|value| value.as_str());
    let missing = || Failure::Unknown("a broker sent a message without saying which".to_owned());
    Ok(Raw {
        subject: header("Nats-Subject").ok_or_else(missing)?.to_owned(),
        seq: header("Nats-Sequence").and_then(|text| text.parse().ok()).ok_or_else(missing)?,
        at: header("Nats-Time-Stamp").and_then(|text| Timestamp::from_str(text).ok()).ok_or_else(missing)?,
        data: message.payload,
    })
}
