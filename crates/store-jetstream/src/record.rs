//! What lies on the brokers, as bytes: one byte that says which format, then the record. Records of this format are
//! read for ever; what a later one adds comes with another first byte.

use std::net::IpAddr;

use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{
    Address, Author, Door, Envelope, Mailbox, MessageId, Recipient, ReversePath, Summary, TransactionId, Transport,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::{Filed, NewJob};

use crate::names::Deed;

/// The format of every record here but those that say otherwise.
const FORMAT: u8 = 1;
/// The format of what knows of lanes: intents, and jobs that are dead.
pub(crate) const LANES: u8 = 2;
const PACK_LEVEL: i32 = 1;
/// A packed record has no more bytes than this when it is unpacked.
const PLAIN_MAX: usize = 256 << 20;
/// Of a text in a list so many bytes are kept: a line has to fit into one message of the brokers. The body has it all.
const TEXT_MAX: usize = 64 << 10;

/// These bytes are no record of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spoilt;

/// What stands in a mailbox: the summary of a message, but for its id, which is its sequence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    /// What put it there.
    pub(crate) deed: u128,
    pub(crate) mailbox: String,
    pub(crate) received_at: i64,
    pub(crate) expires: Option<i64>,
    pub(crate) size: u64,
    pub(crate) transaction: u128,
    pub(crate) mail_from: Option<String>,
    pub(crate) rcpt_to: Vec<String>,
    pub(crate) other_recipients: u32,
    pub(crate) from_name: String,
    pub(crate) from_email: String,
    pub(crate) subject: String,
    pub(crate) tags: Vec<String>,
    pub(crate) body: BodyRef,
}

/// Where a body lies, and what it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BodyRef {
    pub(crate) shard: u32,
    pub(crate) seq: u64,
    /// In so many messages, one behind the other.
    pub(crate) chunks: u32,
    /// Of the record it lies in: envelope and packed bytes.
    pub(crate) hash: [u8; 32],
}

/// What was taken out of a mailbox.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// What took it out.
    pub(crate) deed: u128,
    pub(crate) mailbox: String,
    pub(crate) gone: Gone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Gone {
    /// This message.
    One(u64),
    /// Everything up to here that stands before the mark.
    UpTo(u64),
}

/// A message's bytes with what SMTP said.
#[derive(Serialize, Deserialize)]
pub(crate) struct Body<'a> {
    pub(crate) size: u64,
    pub(crate) packed: bool,
    pub(crate) door: u8,
    pub(crate) utf8: bool,
    pub(crate) helo: String,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) tls: Option<String>,
    pub(crate) auth_user: Option<String>,
    /// Mailbox and address of each recipient.
    pub(crate) recipients: Vec<(String, String)>,
    #[serde(borrow)]
    pub(crate) bytes: &'a [u8],
}

/// Something begun that anybody can finish. Of format [`LANES`]; see [`write_intent`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) deed: u128,
    /// By the clock of the machine that began it.
    pub(crate) begun_at: i64,
    pub(crate) what: What,
    /// Written when the rest is done.
    pub(crate) jobs: Vec<JobLine>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum What {
    /// One message into mailboxes of several shards.
    Deliver {
        lines: Vec<Line>,
        /// None: the body lies right before this record.
        body: Option<BodyRef>,
        /// The parts that are done, with where their guards stand.
        done: Vec<(u32, u64)>,
    },
    /// Messages out of a mailbox.
    Delete { mailbox: String, seqs: Vec<u64> },
    /// Everything up to a position out of a mailbox.
    Purge { mailbox: String, up_to: u64 },
}

/// A job as it rides with mail.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct JobLine {
    pub(crate) kind: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) not_before: Option<i64>,
    pub(crate) lane: Option<String>,
}

/// The jobs of a message, whose line stands right behind this. Of format [`LANES`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Errand {
    /// What put both there.
    pub(crate) deed: u128,
    pub(crate) mailbox: String,
    pub(crate) jobs: Vec<JobLine>,
}

/// An intent as it was before there were lanes.
#[derive(Serialize, Deserialize)]
struct LanelessIntent {
    deed: u128,
    begun_at: i64,
    what: What,
    jobs: Vec<LanelessJob>,
}

#[derive(Serialize, Deserialize)]
struct LanelessJob {
    kind: String,
    payload: Vec<u8>,
    not_before: Option<i64>,
}

/// A record as bytes.
pub(crate) fn write<T: Serialize>(record: &T) -> Bytes {
    write_as(FORMAT, record)
}

/// A record of another format as bytes.
pub(crate) fn write_as<T: Serialize>(format: u8, record: &T) -> Bytes {
    let bytes = postcard::to_extend(record, vec![format]);
    bytes.expect("every record can be written, and memory grows").into()
}

/// A record from bytes that may be anything.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Spoilt> {
    read_as(FORMAT, bytes)
}

/// A record of another format from bytes that may be anything.
pub(crate) fn read_as<T: DeserializeOwned>(format: u8, bytes: &[u8]) -> Result<T, Spoilt> {
    match bytes.split_first() {
        Some((first, rest)) if *first == format => postcard::from_bytes(rest).map_err(|_| Spoilt),
        _ => Err(Spoilt),
    }
}

/// An intent, which repeats itself, as bytes without the repetitions.
pub(crate) fn write_intent(intent: &Intent) -> Bytes {
    let plain = write_as(LANES, intent);
    zstd::bulk::compress(&plain, PACK_LEVEL).map_or(plain, Bytes::from)
}

/// An intent from bytes that may be anything.
pub(crate) fn read_intent(bytes: &[u8]) -> Result<Intent, Spoilt> {
    let size = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().unwrap_or(0);
    let size = usize::try_from(size).ok().filter(|size| *size <= PLAIN_MAX).ok_or(Spoilt)?;
    let plain = zstd::bulk::decompress(bytes, size).map_err(|_| Spoilt)?;
    read_as(LANES, &plain).or_else(|_| read::<LanelessIntent>(&plain).map(Intent::from))
}

/// A body from bytes that may be anything; its bytes stay where they are.
pub(crate) fn read_body(bytes: &[u8]) -> Result<Body<'_>, Spoilt> {
    match bytes.split_first() {
        Some((&FORMAT, rest)) => postcard::from_bytes(rest).map_err(|_| Spoilt),
        _ => Err(Spoilt),
    }
}

impl Line {
    pub(crate) fn new(deed: Deed, mailbox: &Mailbox, summary: Summary, body: BodyRef) -> Self {
        let Summary { received_at, size, from, subject, mail_from, rcpt_to, .. } = summary;
        Self {
            deed: deed.0,
            mailbox: mailbox.as_str().to_owned(),
            received_at: received_at.as_microsecond(),
            expires: summary.expires.map(Timestamp::as_microsecond),
            size,
            transaction: summary.transaction.number(),
            mail_from: mail_from.0.map(|address| address.to_string()),
            rcpt_to: rcpt_to.iter().map(ToString::to_string).collect(),
            other_recipients: summary.other_recipients,
            from_name: cut(from.name),
            from_email: cut(from.email),
            subject: cut(subject),
            tags: summary.tags,
            body,
        }
    }

    /// The summary of the message that stands at this sequence.
    pub(crate) fn summary(self, seq: u64) -> Result<Summary, Spoilt> {
        Ok(Summary {
            id: MessageId::new(seq),
            received_at: time(self.received_at)?,
            size: self.size,
            from: Author { name: self.from_name, email: self.from_email },
            subject: self.subject,
            mail_from: ReversePath(self.mail_from.as_deref().map(address).transpose()?),
            rcpt_to: self.rcpt_to.iter().map(|text| address(text)).collect::<Result<_, _>>()?,
            transaction: TransactionId::new(self.transaction),
            other_recipients: self.other_recipients,
            expires: self.expires.map(time).transpose()?,
            tags: self.tags,
        })
    }
}

impl<'a> Body<'a> {
    pub(crate) fn new(envelope: &Envelope, size: usize, packed: bool, bytes: &'a [u8]) -> Self {
        let transport = &envelope.transport;
        let recipient = |to: &Recipient| (to.mailbox.as_str().to_owned(), to.address.to_string());
        Self {
            size: size as u64,
            packed,
            door: DOORS.iter().position(|door| *door == transport.door).unwrap_or_default() as u8,
            utf8: transport.utf8,
            helo: transport.helo.clone(),
            peer: transport.peer,
            tls: transport.tls.clone(),
            auth_user: transport.auth_user.clone(),
            recipients: envelope.recipients.iter().map(recipient).collect(),
            bytes,
        }
    }

    /// What SMTP said of a message whose summary is this.
    pub(crate) fn envelope(self, summary: &Summary) -> Result<Envelope, Spoilt> {
        let recipient = |(mailbox, text): (String, String)| {
            Ok(Recipient { mailbox: Mailbox::from_canonical(&mailbox), address: address(&text)? })
        };
        Ok(Envelope {
            transaction: summary.transaction,
            reverse_path: summary.mail_from.clone(),
            recipients: self.recipients.into_iter().map(recipient).collect::<Result<_, _>>()?,
            transport: Transport {
                door: *DOORS.get(usize::from(self.door)).ok_or(Spoilt)?,
                utf8: self.utf8,
                helo: self.helo,
                peer: self.peer,
                tls: self.tls,
                auth_user: self.auth_user,
            },
        })
    }
}

impl JobLine {
    pub(crate) fn new(job: NewJob) -> Self {
        let NewJob { kind, lane, payload, not_before, .. } = job;
        Self { kind, payload: payload.into(), not_before: not_before.map(Timestamp::as_microsecond), lane }
    }
}

impl From<LanelessIntent> for Intent {
    fn from(LanelessIntent { deed, begun_at, what, jobs }: LanelessIntent) -> Self {
        let job = |LanelessJob { kind, payload, not_before }| JobLine { kind, payload, not_before, lane: None };
        Self { deed, begun_at, what, jobs: jobs.into_iter().map(job).collect() }
    }
}

/// A message's name as records have it.
pub(crate) fn filed((mailbox, seq): (String, u64)) -> Filed {
    Filed { mailbox: Mailbox::from_canonical(&mailbox), id: MessageId::new(seq) }
}

/// A time from a record.
pub(crate) fn time(micros: i64) -> Result<Timestamp, Spoilt> {
    Timestamp::from_microsecond(micros).map_err(|_| Spoilt)
}

/// The numbers of the doors are kept for ever: a new one is added at the end.
const DOORS: [Door; 5] = [Door::Smtp, Door::Esmtp, Door::Lmtp, Door::Http, Door::Import];

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_MAX));
    text
}

fn address(text: &str) -> Result<Address, Spoilt> {
    Address::parse(text, Charset::Utf8).map_err(|_| Spoilt)
}

#[cfg(test)]
mod tests;
