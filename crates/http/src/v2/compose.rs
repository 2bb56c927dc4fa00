//! A message from its pieces, and whom a message names: what an envelope is made from that was not told. It asks nobody
//! and delivers nothing.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Author, Letter, ReversePath, TransactionId};
use mail_builder::MessageBuilder;
use mail_builder::headers::date::Date;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::text::Text;
use mail_builder::mime::{BodyPart, MimePart};
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

use super::body::refuse;
use crate::problem::Problem;

/// Fields that members make.
const MADE: [&str; 9] = ["from", "to", "cc", "bcc", "reply-to", "subject", "mime-version", "received", "return-path"];

/// The pieces of a message.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeliverRequest {
    /// Who sent it.
    from: Option<Party>,
    /// To whom.
    #[serde(default)]
    to: Parties,
    /// Who else gets it.
    #[serde(default)]
    cc: Parties,
    /// Who gets it without being named in it.
    #[serde(default)]
    bcc: Parties,
    /// Where answers go.
    #[serde(default)]
    reply_to: Parties,
    /// Its subject.
    subject: Option<String>,
    /// Its text.
    text: Option<String>,
    /// Its HTML.
    html: Option<String>,
    /// Further header fields.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Files that go with it.
    #[serde(default)]
    attachments: Vec<DeliverAttachment>,
}

/// `Jane <jane@example.com>`, or name and address apart.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(untagged)]
enum Party {
    Text(String),
    Pair {
        #[serde(default)]
        name: Option<String>,
        email: String,
    },
}

/// One or several.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(untagged)]
enum Parties {
    Many(Vec<Party>),
    One(Party),
}

/// A file that goes with a message.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DeliverAttachment {
    /// Its file name.
    name: String,
    /// Its media type; `application/octet-stream` unless said.
    #[serde(rename = "type")]
    content_type: Option<String>,
    /// Its bytes in base64.
    content: String,
    /// Its Content-ID, for an image that the HTML shows as `cid:…`.
    cid: Option<String>,
}

/// A message ready to be delivered.
pub(super) struct Draft {
    pub(super) content: Bytes,
    /// The sender that it names.
    pub(super) mail_from: ReversePath,
    /// The recipients that it names.
    pub(super) rcpt_to: Vec<Address>,
}

impl Default for Parties {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

/// A message as it is.
pub(super) fn read(content: Bytes) -> Draft {
    let letter = Letter::of(&content, &mail::letter::Limits { text_max: 0, ..Default::default() });
    let rcpt_to = [&letter.to, &letter.cc, &letter.bcc].into_iter().flatten().filter_map(address).collect();
    Draft { mail_from: ReversePath(letter.from.as_ref().and_then(address)), rcpt_to, content }
}

/// A message from its pieces.
pub(super) fn write(
    request: DeliverRequest,
    now: Timestamp,
    transaction: TransactionId,
    host: &str,
) -> Result<Draft, Problem> {
    let from = request.from.map(|party| people("from", &Parties::One(party))).transpose()?.unwrap_or_default();
    let named = [("to", &request.to), ("cc", &request.cc), ("bcc", &request.bcc)];
    let [to, cc, bcc] = named.map(|(name, parties)| people(name, parties));
    let (to, cc, bcc, reply_to) = (to?, cc?, bcc?, people("replyTo", &request.reply_to)?);
    let mut builder = MessageBuilder::new();
    for (name, people) in [("From", &from), ("To", &to), ("Cc", &cc), ("Reply-To", &reply_to)] {
        if !people.is_empty() {
            builder = builder.header(name, listed(people));
        }
    }
    if let Some(subject) = &request.subject {
        builder = builder.subject(line("subject", subject)?);
    }
    builder = fields(builder, &request.headers)?;
    if !has(&request.headers, "date") {
        builder = builder.date(Date::new(now.as_second()));
    }
    if !has(&request.headers, "message-id") {
        builder = builder.header("Message-ID", MessageId::new(format!("{transaction}@{host}")));
    }
    if request.text.is_some() || request.html.is_none() {
        builder = builder.text_body(request.text.as_deref().unwrap_or_default());
    }
    if let Some(html) = &request.html {
        builder = builder.html_body(html.as_str());
    }
    let files = request.attachments.into_iter().map(attachment).collect::<Result<Vec<_>, _>>()?;
    if !files.is_empty() {
        builder.attachments = Some(files);
    }
    let content = builder.write_to_vec().map_err(|_| Problem::internal())?.into();
    let rcpt_to = to.iter().chain(&cc).chain(&bcc).filter_map(address).collect();
    Ok(Draft { content, mail_from: ReversePath(from.first().and_then(address)), rcpt_to })
}

fn address(person: &Author) -> Option<Address> {
    Address::parse(&person.email, Charset::Utf8).ok()
}

/// Every one of them has an address, or it is a mistake.
fn people(member: &str, parties: &Parties) -> Result<Vec<Author>, Problem> {
    let parties = match parties {
        Parties::Many(many) => many.as_slice(),
        Parties::One(one) => std::slice::from_ref(one),
    };
    let mut found = Vec::with_capacity(parties.len());
    for party in parties {
        let before = found.len();
        match party {
            Party::Text(text) => found.extend(mail::header::authors(line(member, text)?)),
            Party::Pair { name, email } => found.push(Author {
                name: line(member, name.as_deref().unwrap_or_default())?.to_owned(),
                email: email.clone(),
            }),
        }
        if found.len() == before || found[before..].iter().any(|person| address(person).is_none()) {
            return Err(refuse(
                member,
                "There is no address in it. Write it as alice@example.com or Alice <alice@example.com>.",
            ));
        }
    }
    Ok(found)
}

fn listed(people: &[Author]) -> mail_builder::headers::address::Address<'static> {
    let one = |person: &Author| {
        let name = (!person.name.is_empty()).then(|| person.name.clone());
        mail_builder::headers::address::Address::new_address(name, person.email.clone())
    };
    mail_builder::headers::address::Address::new_list(people.iter().map(one).collect())
}

fn fields<'x>(
    mut builder: MessageBuilder<'x>,
    headers: &'x BTreeMap<String, String>,
) -> Result<MessageBuilder<'x>, Problem> {
    for (name, value) in headers {
        let lower = name.to_ascii_lowercase();
        let is_name =
            !name.is_empty() && name.len() <= 76 && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
        if !is_name {
            return Err(refuse(
                "headers",
                format!("{name:?} is no name of a field. Take printable ASCII without a colon."),
            ));
        }
        if MADE.contains(&&*lower) || lower.starts_with("content-") {
            return Err(refuse(
                "headers",
                format!("{name} is made from other members. Use those, or send message/rfc822."),
            ));
        }
        // Those that are told once, in the spelling that is looked for when they are missing.
        let name = match &*lower {
            "date" => "Date",
            "message-id" => "Message-ID",
            _ => name,
        };
        builder = builder.header(name, Text::new(line("headers", value)?));
    }
    Ok(builder)
}

fn has(headers: &BTreeMap<String, String>, name: &str) -> bool {
    headers.keys().any(|given| given.eq_ignore_ascii_case(name))
}

fn attachment(file: DeliverAttachment) -> Result<MimePart<'static>, Problem> {
    let refuse = |detail: &str| refuse("attachments", detail);
    let content: String = file.content.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let bytes =
        BASE64_STANDARD.decode(content).map_err(|_| refuse("content is no base64. Encode the bytes of the file."))?;
    let content_type = file.content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let is_type = content_type.split_once('/').is_some_and(|(one, other)| is_token(one) && is_token(other));
    if !is_type || content_type.starts_with("multipart/") {
        return Err(refuse("type is no media type. Write it as application/pdf."));
    }
    let name = line("attachments", &file.name)?.to_owned();
    let part = MimePart::new(content_type, BodyPart::Binary(bytes.into()));
    match file.cid {
        None => Ok(part.attachment(name)),
        Some(cid) if cid.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte)) && !cid.is_empty() => {
            Ok(part.inline().cid(cid))
        }
        Some(_) => Err(refuse("cid takes printable ASCII without blanks and angle brackets.")),
    }
}

/// A text that is one line: what is put into a header must not begin another field.
fn line<'a>(member: &str, text: &'a str) -> Result<&'a str, Problem> {
    if text.contains(char::is_control) {
        return Err(refuse(member, "There are control characters in it. Write it in one line."));
    }
    Ok(text)
}
