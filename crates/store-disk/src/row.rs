//! Messages as rows: the words of the house to plain columns and back, each row under its seal.
//!
//! What comes back from a file may be anything. It is taken only when its seal is right, and then it is what was put in.

use std::net::IpAddr;

use jiff::Timestamp;
use mail::address::Charset;
use mail::{
    Address, Author, Door, Envelope, Mailbox, MessageId, Recipient, ReversePath, Summary, TransactionId, Transport,
};
use rusqlite::Row;
use rusqlite::types::{FromSql, ValueRef};
use store::Position;

use crate::seal::{Molten, Wax};

/// The columns of a message in the order in which [`message`] reads them.
pub(crate) const MESSAGE: &str = "m.place, m.id, m.body, m.shared, m.received_at, m.expires, m.size, m.transaction_id, \
    m.mail_from, m.rcpt_to, m.other_recipients, m.from_name, m.from_email, m.subject, m.tags, m.seal";
/// How many these are.
pub(crate) const MESSAGE_WIDTH: usize = 16;
/// The columns of a body in the order in which [`body`] reads them.
pub(crate) const BODY: &str =
    "b.id, b.size, b.packing, b.hash, b.door, b.utf8, b.helo, b.peer, b.tls, b.auth_user, b.recipients, b.seal, b.data";

/// How many these are.
pub(crate) const BODY_WIDTH: usize = 13;

/// This row is not what was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spoilt;

/// The texts of a message row that are not in the summary as they are written.
pub(crate) struct Texts {
    pub(crate) mail_from: Option<String>,
    pub(crate) rcpt_to: String,
    pub(crate) tags: String,
}

impl Texts {
    pub(crate) fn of(summary: &Summary) -> Self {
        Self {
            mail_from: summary.mail_from.0.as_ref().map(ToString::to_string),
            rcpt_to: lines(summary.rcpt_to.iter().map(ToString::to_string)),
            // A tag is a word; with a line end in it, it would come back as two.
            tags: lines(summary.tags.iter().map(|tag| tag.replace(char::is_control, " "))),
        }
    }
}

/// A message as its row holds it.
pub(crate) struct Kept {
    pub(crate) body: i64,
    pub(crate) summary: Summary,
}

/// The seal of a message row, but for its id, its body and whether that is shared.
pub(crate) fn seal_message(mailbox: &str, summary: &Summary, texts: &Texts) -> Molten {
    let mut wax = Wax::new();
    wax.text(mailbox)
        .number(micros(summary.received_at))
        .maybe(summary.expires.map(micros))
        .number(summary.size as i64)
        .bytes(&summary.transaction.number().to_be_bytes())
        .maybe_text(texts.mail_from.as_deref())
        .text(&texts.rcpt_to)
        .number(i64::from(summary.other_recipients))
        .text(&summary.from.name)
        .text(&summary.from.email)
        .text(&summary.subject)
        .text(&texts.tags);
    wax.melt()
}

/// Read a message row of this mailbox.
pub(crate) fn message(row: &Row<'_>, mailbox: &str) -> Result<Kept, Spoilt> {
    let texts = Texts { mail_from: get(row, 8)?, rcpt_to: get(row, 9)?, tags: get(row, 14)? };
    let (id, body, shared): (i64, i64, i64) = (get(row, 1)?, get(row, 2)?, get(row, 3)?);
    let expires: Option<i64> = get(row, 5)?;
    let summary = Summary {
        id: MessageId::new(u64::try_from(id).map_err(|_| Spoilt)?),
        received_at: timestamp(get(row, 4)?)?,
        size: get::<i64>(row, 6)?.try_into().map_err(|_| Spoilt)?,
        from: Author { name: get(row, 11)?, email: get(row, 12)? },
        subject: get(row, 13)?,
        mail_from: ReversePath(texts.mail_from.as_deref().map(address).transpose()?),
        rcpt_to: texts.rcpt_to.lines().map(address).collect::<Result<_, _>>()?,
        transaction: TransactionId::new(u128::from_be_bytes(get(row, 7)?)),
        other_recipients: get::<i64>(row, 10)?.try_into().map_err(|_| Spoilt)?,
        expires: expires.map(timestamp).transpose()?,
        tags: texts.tags.lines().map(str::to_owned).collect(),
    };
    if seal_message(mailbox, &summary, &texts).press([id, body, shared]) != get::<i64>(row, 15)? {
        return Err(Spoilt);
    }
    Ok(Kept { body, summary })
}

/// What stands beside the bytes of a body.
pub(crate) struct Cover {
    pub(crate) size: i64,
    pub(crate) packing: i64,
    pub(crate) hash: [u8; 32],
    pub(crate) door: i64,
    pub(crate) utf8: i64,
    pub(crate) helo: String,
    pub(crate) peer: Option<String>,
    pub(crate) tls: Option<String>,
    pub(crate) auth_user: Option<String>,
    pub(crate) recipients: String,
}

impl Cover {
    pub(crate) fn of(envelope: &Envelope, size: usize, packing: i64, hash: [u8; 32]) -> Self {
        let transport = &envelope.transport;
        let recipient = |to: &Recipient| format!("{}\t{}", to.mailbox, to.address);
        Self {
            size: size as i64,
            packing,
            hash,
            door: DOORS.iter().position(|door| *door == transport.door).unwrap_or_default() as i64,
            utf8: i64::from(transport.utf8),
            helo: transport.helo.clone(),
            peer: transport.peer.map(|peer| peer.to_string()),
            tls: transport.tls.clone(),
            auth_user: transport.auth_user.clone(),
            recipients: lines(envelope.recipients.iter().map(recipient)),
        }
    }

    /// The seal, but for the id.
    pub(crate) fn seal(&self) -> Molten {
        let mut wax = Wax::new();
        wax.number(self.size)
            .number(self.packing)
            .bytes(&self.hash)
            .number(self.door)
            .number(self.utf8)
            .text(&self.helo)
            .maybe_text(self.peer.as_deref())
            .maybe_text(self.tls.as_deref())
            .maybe_text(self.auth_user.as_deref())
            .text(&self.recipients);
        wax.melt()
    }

    /// The envelope of one of its copies.
    pub(crate) fn envelope(self, summary: &Summary) -> Result<Envelope, Spoilt> {
        let door = usize::try_from(self.door).ok().and_then(|door| DOORS.get(door)).ok_or(Spoilt)?;
        let peer: Option<IpAddr> = self.peer.map(|peer| peer.parse()).transpose().map_err(|_| Spoilt)?;
        Ok(Envelope {
            transaction: summary.transaction,
            reverse_path: summary.mail_from.clone(),
            recipients: self.recipients.lines().map(recipient).collect::<Result<_, _>>()?,
            transport: Transport {
                door: *door,
                utf8: self.utf8 == 1,
                helo: self.helo,
                peer,
                tls: self.tls,
                auth_user: self.auth_user,
            },
        })
    }
}

/// Read a body row whose columns begin at `first`: what stands beside the bytes, and the bytes as they are packed.
pub(crate) fn body<'a>(row: &'a Row<'_>, first: usize) -> Result<(Cover, &'a [u8]), Spoilt> {
    let cover = Cover {
        size: get(row, first + 1)?,
        packing: get(row, first + 2)?,
        hash: get(row, first + 3)?,
        door: get(row, first + 4)?,
        utf8: get(row, first + 5)?,
        helo: get(row, first + 6)?,
        peer: get(row, first + 7)?,
        tls: get(row, first + 8)?,
        auth_user: get(row, first + 9)?,
        recipients: get(row, first + 10)?,
    };
    if cover.seal().press([get(row, first)?, 0, 0]) != get::<i64>(row, first + 11)? {
        return Err(Spoilt);
    }
    match row.get_ref(first + 12) {
        Ok(ValueRef::Blob(data)) => Ok((cover, data)),
        _ => Err(Spoilt),
    }
}

/// The numbers of the doors are kept for ever: a new one is added at the end.
const DOORS: [Door; 5] = [Door::Smtp, Door::Esmtp, Door::Lmtp, Door::Http, Door::Import];

/// A time as it stands in a column.
pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

/// A time from a column.
pub(crate) fn timestamp(micros: i64) -> Result<Timestamp, Spoilt> {
    Timestamp::from_microsecond(micros).map_err(|_| Spoilt)
}

/// A position as it stands in a column. Positions beyond what a column holds are those of nobody.
pub(crate) fn column(position: Position) -> i64 {
    i64::try_from(position.0).unwrap_or(i64::MAX)
}

/// A position from a column.
pub(crate) fn position(column: i64) -> Position {
    Position(u64::try_from(column).unwrap_or(0))
}

/// An id as it stands in a column.
pub(crate) fn number(id: MessageId) -> i64 {
    i64::try_from(id.number()).unwrap_or(i64::MAX)
}

/// A column of a row that may be anything.
pub(crate) fn get<T: FromSql>(row: &Row<'_>, index: usize) -> Result<T, Spoilt> {
    row.get(index).map_err(|_| Spoilt)
}

fn lines(texts: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for text in texts {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text);
    }
    all
}

fn address(text: &str) -> Result<Address, Spoilt> {
    Address::parse(text, Charset::Utf8).map_err(|_| Spoilt)
}

fn recipient(line: &str) -> Result<Recipient, Spoilt> {
    let (mailbox, text) = line.split_once('\t').ok_or(Spoilt)?;
    Ok(Recipient { mailbox: Mailbox::from_canonical(mailbox), address: address(text)? })
}
