//! One message taken apart for those who want all of it: addresses, bodies, the tree of parts, attachments, and where it
//! is broken. By the same reader of MIME as the view of REST v1, and like it never stored.
//!
//! It knows neither who asks nor how an answer is written. Total: any bytes give a letter, in linear time; what it holds
//! is bounded by [`Limits`] and by the limits of the header and of the parts.

use bytes::Bytes;

use crate::extract::{self, Code, Extracted, Link, Sources};
use crate::mime::walk::{self, Leaf, Node};
use crate::mime::{self, filename, html};
use crate::summary::Author;

mod bodies;
mod defects;
mod fields;
mod preview;
mod remote;
mod sent_at;
#[cfg(test)]
mod tests;
mod tree;
mod unsubscribe;

pub use fields::PEOPLE_MAX;
pub use preview::PREVIEW_MAX;
pub use remote::{HOSTS_MAX, Remote};
pub use sent_at::SentAt;
pub use tree::{Part, TREE_DEPTH_MAX};
pub use unsubscribe::Unsubscribe;

/// How much of a message is kept in a letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Octets of the text, and of the HTML.
    pub text_max: usize,
    /// How far codes and links are looked for.
    pub extract: extract::Limits,
}

impl Limits {
    /// The same, without looking for codes and links.
    pub fn without_finds(self) -> Self {
        Self { extract: extract::Limits { text_max: 0, codes_max: 0, links_max: 0 }, ..self }
    }
}

/// A message as REST v2 shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Letter {
    /// The first address of From.
    pub from: Option<Author>,
    /// The addresses of To, those of groups among them.
    pub to: Vec<Author>,
    /// The addresses of Cc.
    pub cc: Vec<Author>,
    /// The addresses of a Bcc field, which a sender should have taken out.
    pub bcc: Vec<Author>,
    /// The addresses of Reply-To.
    pub reply_to: Vec<Author>,
    /// Subject, decoded; empty when absent.
    pub subject: String,
    /// Message-ID without its brackets.
    pub message_id: Option<String>,
    /// The Date field.
    pub sent_at: Option<SentAt>,
    /// All header fields in order: name as written, value unfolded and RFC 2047-decoded.
    pub headers: Vec<(String, String)>,
    /// The text with LF line ends; rendered from the HTML when there is no text part.
    pub text: String,
    /// Where the text is from.
    pub text_source: TextSource,
    /// The HTML with LF line ends.
    pub html: Option<String>,
    /// Octets of the whole HTML, before it was cut.
    pub html_size: Option<u64>,
    /// What the HTML would load from other hosts.
    pub remote: Option<Remote>,
    /// Which of `text` and `html` were cut.
    pub truncated: Vec<&'static str>,
    /// The tree of parts.
    pub parts: Part,
    /// The attachments in order of appearance.
    pub attachments: Vec<Attached>,
    /// The codes and links in it.
    pub extracted: Extracted,
    /// How to leave the list it came from.
    pub unsubscribe: Option<Unsubscribe>,
    /// Where the message is broken, in plain words.
    pub defects: Vec<String>,
}

/// Where the text of a letter is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextSource {
    /// The text parts, or there is no text at all.
    Plain,
    /// It was rendered from the HTML.
    Html,
}

/// What is told of an attachment; its bytes come from [`Letter::part`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attached {
    /// Its place in the message.
    pub part_id: String,
    /// Decoded, without a path, never empty.
    pub name: String,
    /// Media type in lower case without parameters.
    pub content_type: String,
    /// What its octets are, whatever it is called; none when that is unknown.
    pub real_type: Option<&'static str>,
    /// Octets, transfer encoding undone.
    pub size: u64,
    /// SHA-256 of those octets, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Content-ID without its brackets.
    pub cid: Option<String>,
}

/// The content of one part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartContent {
    /// Decoded, without a path, never empty.
    pub name: String,
    /// Media type in lower case without parameters.
    pub content_type: String,
    /// The charset that a text names, if it is one that can be named in a header field.
    pub charset: Option<String>,
    /// Its octets, transfer encoding undone.
    pub content: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_max: 1 << 20, extract: extract::Limits::default() }
    }
}

impl TextSource {
    /// As the API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Html => "html",
        }
    }
}

/// Pictures that browsers show and in which nothing can act.
const PICTURES: [&str; 7] =
    ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-icon"];

impl Letter {
    /// Take a message apart.
    pub fn of(raw: &[u8], limits: &Limits) -> Self {
        let head = fields::read(raw);
        let body = bodies::read(raw, limits);
        let from = head.from.as_ref().map_or("", |from| &from.email);
        let sources = Sources { subject: &head.subject, from, text: body.plain(), html: body.rich() };
        let extracted = extract::extract(&sources, &limits.extract);
        let mut defects = head.defects;
        defects.extend(body.defects);
        defects.truncate(defects::DEFECTS_MAX);
        Self {
            from: head.from,
            to: head.to,
            cc: head.cc,
            bcc: head.bcc,
            reply_to: head.reply_to,
            subject: head.subject,
            message_id: head.message_id,
            sent_at: head.sent_at,
            headers: head.headers,
            text: body.text,
            text_source: body.text_source,
            html: body.html,
            html_size: body.html_size,
            remote: body.remote,
            truncated: body.truncated,
            parts: body.parts,
            attachments: body.attachments,
            extracted,
            unsubscribe: head.unsubscribe,
            defects,
        }
    }

    /// The content of the part of that name; none when there is no such part, or it is a multipart.
    pub fn part(raw: &[u8], part_id: &str) -> Option<PartContent> {
        walk::nodes(raw).find_map(|node| match node {
            Node::Leaf(leaf) if leaf.part_id == part_id => Some(PartContent::of(leaf)),
            _ => None,
        })
    }

    /// The HTML whole, however long it is.
    pub fn whole_html(raw: &[u8]) -> Option<String> {
        bodies::read(raw, &Limits { text_max: usize::MAX, ..Limits::default() }).html
    }

    /// The pictures among the parts that a page can name: each by its Content-ID, its real type and its octets.
    pub fn pictures(raw: &[u8]) -> Vec<(String, &'static str, Bytes)> {
        let leaves = walk::nodes(raw).filter_map(|node| match node {
            Node::Leaf(leaf) if leaf.entity.cid.is_some() => Some(leaf),
            _ => None,
        });
        let picture = |leaf: Leaf<'_>| {
            let content = leaf.entity.encoding.decode(leaf.content);
            let kind = mime::sniff(&content).filter(|kind| PICTURES.contains(kind))?;
            Some((leaf.entity.cid?, kind, Bytes::from(content.into_owned())))
        };
        leaves.filter_map(picture).collect()
    }

    /// The first words of the text, on one line; empty when there are none.
    pub fn preview(&self) -> String {
        preview::of(&self.text)
    }

    /// What a reader of the HTML sees, where the text is another one.
    pub fn visible_html(&self) -> Option<String> {
        let html = self.html.as_deref().filter(|_| self.text_source == TextSource::Plain)?;
        Some(html::render(html))
    }

    /// The values of a header field, decoded.
    pub fn header(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = move |(field, _): &&(String, String)| field.eq_ignore_ascii_case(name);
        self.headers.iter().filter(named).map(|(_, value)| value.as_str())
    }

    /// About how many octets of memory it takes.
    pub fn bytes(&self) -> usize {
        let people = [&self.to, &self.cc, &self.bcc, &self.reply_to];
        let people: usize = people.into_iter().flatten().chain(&self.from).map(person_bytes).sum();
        let headers: usize = self.headers.iter().map(|(name, value)| 48 + name.len() + value.len()).sum();
        let attachments: usize = self.attachments.iter().map(attached_bytes).sum();
        let defects: usize = self.defects.iter().map(|defect| 24 + defect.len()).sum();
        let html = self.html.as_ref().map_or(0, String::len);
        let texts = self.text.len() + html + self.subject.len() + self.message_id.as_ref().map_or(0, String::len);
        let found = extracted_bytes(&self.extracted);
        let remote = self.remote.as_ref().map_or(0, Remote::bytes);
        size_of::<Self>() + remote + people + headers + attachments + defects + texts + found + self.parts.bytes()
    }
}

impl PartContent {
    fn of(leaf: Leaf<'_>) -> Self {
        let entity = leaf.entity;
        Self {
            name: filename::safe(entity.name.as_deref().unwrap_or_default(), &entity.content_type),
            charset: entity.charset_label(),
            content_type: entity.content_type,
            content: Bytes::from(entity.encoding.decode(leaf.content).into_owned()),
        }
    }
}

fn person_bytes(person: &Author) -> usize {
    size_of::<Author>() + person.name.len() + person.email.len()
}

fn extracted_bytes(found: &Extracted) -> usize {
    let code = |code: &Code| size_of::<Code>() + code.value.len() + code.raw.len() + code.snippet.len() + 64;
    let link = |link: &Link| size_of::<Link>() + link.href.len() + link.text.len() + 64;
    found.codes.iter().map(code).sum::<usize>() + found.links.iter().map(link).sum::<usize>()
}

fn attached_bytes(one: &Attached) -> usize {
    let texts = one.part_id.len() + one.name.len() + one.content_type.len() + one.sha256.len();
    size_of::<Attached>() + texts + one.cid.as_ref().map_or(0, String::len)
}
