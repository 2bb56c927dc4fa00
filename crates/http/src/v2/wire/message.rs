//! A message whole.

use mail::letter::{Attached, Part as Node, Remote, Unsubscribe as Offer};
use mail::{Letter, Transport as Came, extract};
use serde::Serialize;
use utoipa::ToSchema;

use super::summary::{Person, Summary};

/// A message whole.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// How it came.
    pub(crate) transport: Option<Transport>,
    /// The addresses of To.
    pub(crate) to: Vec<Person>,
    /// The addresses of Cc.
    pub(crate) cc: Vec<Person>,
    /// The addresses of a Bcc field; blind copies proper are in `envelope`.
    pub(crate) bcc: Vec<Person>,
    /// The addresses of Reply-To.
    pub(crate) reply_to: Vec<Person>,
    /// Message-ID without its brackets.
    pub(crate) message_id: Option<String>,
    /// The Date field, in its own offset.
    #[schema(format = DateTime)]
    pub(crate) sent_at: Option<String>,
    /// The text; rendered from the HTML when there is no text part.
    pub(crate) text: String,
    /// The first 140 characters of the text on one line; empty when there are none.
    pub(crate) preview: String,
    /// `plain`, or `html` when the text was rendered.
    pub(crate) text_source: &'static str,
    /// The HTML as sent.
    pub(crate) html: Option<String>,
    /// Bytes of the whole HTML, decoded; null without HTML.
    pub(crate) html_size: Option<u64>,
    /// What the HTML would load from other hosts; null without HTML.
    pub(crate) remote_content: Option<RemoteContent>,
    /// Which of `text` and `html` were cut.
    pub(crate) truncated: Vec<&'static str>,
    /// All header fields in order, unfolded and decoded.
    pub(crate) headers: Vec<Header>,
    /// The tree of parts.
    pub(crate) parts: Part,
    /// The attachments in order.
    pub(crate) attachments: Vec<Attachment>,
    /// What may be the code to type, the likeliest first.
    pub(crate) codes: Vec<Code>,
    /// The links in order.
    pub(crate) links: Vec<Link>,
    /// How to leave the list it came from.
    pub(crate) unsubscribe: Option<Unsubscribe>,
    /// Where it is broken, in plain words.
    pub(crate) defects: Vec<String>,
    /// Where people see it.
    pub(crate) url: String,
}

/// What the HTML of a message would load from other hosts.
#[derive(Serialize, ToSchema)]
pub(crate) struct RemoteContent {
    /// Pictures, each address once.
    pub(crate) images: usize,
    /// Pictures of up to 2 by 2 pixels, which are not among the others.
    pub(crate) pixels: usize,
    /// Where all that would come from, sorted; up to 20 hosts.
    pub(crate) hosts: Vec<String>,
}

/// How a message came.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Transport {
    /// The same in every mailbox it went to, and in its trace field.
    pub(crate) transaction: String,
    /// Recipients of the transaction that are not shown.
    pub(crate) other_recipients: u32,
    /// As `ESMTPS`.
    pub(crate) protocol: &'static str,
    /// What the client called itself.
    pub(crate) helo: String,
    /// The client's address.
    pub(crate) peer: Option<String>,
}

/// A header field.
#[derive(Serialize, ToSchema)]
pub(crate) struct Header {
    /// As written.
    pub(crate) name: String,
    /// Unfolded and decoded.
    pub(crate) value: String,
}

/// A part of a message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    /// Its place: `0` for the whole of a multipart, else as `1.2`.
    pub(crate) part_id: String,
    /// Its media type.
    #[serde(rename = "type")]
    pub(crate) content_type: String,
    /// What its bytes are, whatever it is called; null when that is unknown.
    pub(crate) real_type: Option<&'static str>,
    /// The charset that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) charset: Option<String>,
    /// The transfer encoding that was undone, as `base64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encoding: Option<String>,
    /// Bytes, transfer encoding undone; not for a multipart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// Its file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Its Content-ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cid: Option<String>,
    /// What a multipart holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub(crate) sub_parts: Vec<Part>,
}

/// An attachment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attachment {
    /// Its place in the message.
    pub(crate) part_id: String,
    /// A safe file name.
    pub(crate) name: String,
    /// Its media type.
    #[serde(rename = "type")]
    pub(crate) content_type: String,
    /// What its bytes are, whatever it is called; null when that is unknown.
    pub(crate) real_type: Option<&'static str>,
    /// Bytes, transfer encoding undone.
    pub(crate) size: u64,
    /// Of those bytes.
    pub(crate) sha256: String,
    /// Its Content-ID.
    pub(crate) cid: Option<String>,
}

/// Something that may be the code to type.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Code {
    /// What to type.
    pub(crate) value: String,
    /// As it is shown.
    pub(crate) raw: String,
    /// From 0 to 1.
    pub(crate) confidence: f64,
    /// `subject`, `text` or `html`.
    #[serde(rename = "where")]
    pub(crate) place: &'static str,
    /// The part it stands in; null for the subject.
    pub(crate) part_id: Option<String>,
    /// The words around it.
    pub(crate) snippet: String,
    /// What spoke for it and against it.
    pub(crate) signals: Vec<&'static str>,
}

/// A link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    /// As it was sent.
    pub(crate) href: String,
    /// What is shown for it.
    pub(crate) text: String,
    /// `verify`, `reset`, `magic-login`, `unsubscribe` or `other`.
    pub(crate) kind: &'static str,
    /// Whether this is the one that the mail is about.
    pub(crate) action: bool,
    /// How likely it is that one, from 0 to 1.
    pub(crate) confidence: f64,
    /// `text` or `html`.
    #[serde(rename = "where")]
    pub(crate) place: &'static str,
    /// The part it stands in.
    pub(crate) part_id: Option<String>,
    /// What spoke for it and against it.
    pub(crate) signals: Vec<&'static str>,
}

/// How to leave a list (RFC 2369, RFC 8058).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Unsubscribe {
    /// Whether one POST is enough.
    pub(crate) one_click: bool,
    /// Web addresses.
    pub(crate) https: Vec<String>,
    /// Mail addresses, as `mailto:`.
    pub(crate) mailto: Vec<String>,
}

impl Message {
    /// A letter with its summary.
    pub(crate) fn of(summary: Summary, transport: Option<Transport>, letter: &Letter, url: String) -> Self {
        let header = |(name, value): &(String, String)| Header { name: name.clone(), value: value.clone() };
        Self {
            summary,
            transport,
            to: Person::all(&letter.to),
            cc: Person::all(&letter.cc),
            bcc: Person::all(&letter.bcc),
            reply_to: Person::all(&letter.reply_to),
            message_id: letter.message_id.clone(),
            sent_at: letter.sent_at.map(|at| at.to_string()),
            text: letter.text.clone(),
            preview: letter.preview(),
            text_source: letter.text_source.as_str(),
            html: letter.html.clone(),
            html_size: letter.html_size,
            remote_content: letter.remote.as_ref().map(RemoteContent::of),
            truncated: letter.truncated.clone(),
            headers: letter.headers.iter().map(header).collect(),
            parts: Part::of(&letter.parts),
            attachments: letter.attachments.iter().map(Attachment::of).collect(),
            codes: letter.extracted.codes.iter().map(Code::of).collect(),
            links: letter.extracted.links.iter().map(Link::of).collect(),
            unsubscribe: letter.unsubscribe.as_ref().map(Unsubscribe::of),
            defects: letter.defects.clone(),
            url,
        }
    }
}

impl Message {
    /// Without its bodies, which would make the answer too large; they are in the message itself.
    pub(crate) fn leave_bodies_out(&mut self) {
        (self.text, self.html) = (String::new(), None);
        self.truncated = vec!["text", "html"];
    }
}

impl Code {
    fn of(code: &extract::Code) -> Self {
        Self {
            value: code.value.clone(),
            raw: code.raw.clone(),
            confidence: rounded(code.confidence),
            place: code.place.as_str(),
            part_id: code.part_id.clone(),
            snippet: code.snippet.clone(),
            signals: code.signals.clone(),
        }
    }
}

impl Link {
    fn of(link: &extract::Link) -> Self {
        Self {
            href: link.href.clone(),
            text: link.text.clone(),
            kind: link.kind.as_str(),
            action: link.action,
            confidence: rounded(link.confidence),
            place: link.place.as_str(),
            part_id: link.part_id.clone(),
            signals: link.signals.clone(),
        }
    }
}

/// Two digits are all that it tells.
fn rounded(confidence: f64) -> f64 {
    (confidence * 100.0).round() / 100.0
}

impl Transport {
    pub(crate) fn of(transaction: mail::TransactionId, other_recipients: u32, came: &Came) -> Self {
        Self {
            transaction: transaction.to_string(),
            other_recipients,
            protocol: came.protocol(),
            helo: came.helo.clone(),
            peer: came.peer.map(|peer| peer.to_string()),
        }
    }
}

impl RemoteContent {
    fn of(remote: &Remote) -> Self {
        Self { images: remote.images, pixels: remote.pixels, hosts: remote.hosts.clone() }
    }
}

impl Part {
    fn of(node: &Node) -> Self {
        Self {
            part_id: node.part_id.clone(),
            content_type: node.content_type.clone(),
            real_type: node.real_type,
            charset: node.charset.clone(),
            encoding: node.encoding.clone(),
            size: node.size,
            name: node.name.clone(),
            cid: node.cid.clone(),
            sub_parts: node.sub_parts.iter().map(Self::of).collect(),
        }
    }
}

impl Attachment {
    fn of(one: &Attached) -> Self {
        Self {
            part_id: one.part_id.clone(),
            name: one.name.clone(),
            content_type: one.content_type.clone(),
            real_type: one.real_type,
            size: one.size,
            sha256: one.sha256.clone(),
            cid: one.cid.clone(),
        }
    }
}

impl Unsubscribe {
    fn of(offer: &Offer) -> Self {
        Self { one_click: offer.one_click, https: offer.https.clone(), mailto: offer.mailto.clone() }
    }
}
