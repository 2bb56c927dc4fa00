//! From what stands on stdin to what is handed on: envelope and content. Line ends become CRLF, Bcc goes, and From, Date
//! and Message-ID come where they are missing, as sendmail does it; nothing else changes.
//!
//! A pure function of its arguments: who sends, when and from where is in [`Origin`].

use std::collections::HashSet;

use jiff::Timestamp;
use mail::Address;
use mail::time::rfc5322;
use memchr::{memchr, memchr_iter};

use super::header::{self, Message, TooLarge};
use super::name;
use super::options::{Breaks, Dots, Options, Source};
use super::recipients::{self, BadRecipient};

/// Who runs the program, where and when.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) user: Address,
    pub(super) host: String,
    pub(super) now: Timestamp,
    /// Letters and digits that nobody else uses, for a Message-ID.
    pub(super) unique: String,
}

/// What is handed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Letter {
    /// None is the empty reverse path.
    pub(super) sender: Option<Address>,
    pub(super) recipients: Vec<Address>,
    pub(super) content: Vec<u8>,
    pub(super) traits: Traits,
}

/// What a server must be able to do for a letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Traits {
    /// Octets beyond ASCII, anywhere.
    pub(super) has_8bit: bool,
    /// UTF-8 in the header.
    pub(super) has_utf8_header: bool,
    /// An address with letters beyond ASCII.
    pub(super) has_utf8_address: bool,
    /// A carriage return or a line feed alone, or a NUL: DATA cannot carry it (RFC 5321 §2.3.8, §4.5.2).
    pub(super) is_binary: bool,
}

/// Why there is nothing to hand on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Unsendable {
    #[error("no recipients: name them behind the options, or use -t and write them into To, Cc or Bcc")]
    NoRecipients,
    #[error("a recipient, {0}")]
    BadArgument(BadRecipient),
    #[error("the sender, {0}")]
    BadSender(BadRecipient),
    #[error("a control character in the name of -F; remove it")]
    BadName,
    #[error("in the field {0}, {1}")]
    BadField(String, BadRecipient),
    #[error(transparent)]
    Header(#[from] TooLarge),
}

/// Make a letter of what was read.
pub(super) fn compose(input: &[u8], options: &Options, origin: &Origin) -> Result<Letter, Unsendable> {
    let text = match options.dots {
        Dots::End => before_lone_dot(input),
        Dots::Text => input,
    };
    let text = without_mbox_line(text);
    let text = match options.breaks {
        Breaks::Lines => &crlf(text),
        Breaks::Octets => text,
    };
    let message = header::read(text)?;
    let sender = envelope_sender(options, origin)?;
    let recipients = all_recipients(options, &message, &origin.host)?;
    let missing = missing_fields(&message, sender.as_ref(), options.name.as_deref(), origin)?;
    let traits = Traits {
        has_8bit: !text.is_ascii() || !missing.is_ascii(),
        has_utf8_header: has_utf8_header(&message) || !missing.is_ascii(),
        has_utf8_address: sender.iter().chain(&recipients).any(|address| !address.to_string().is_ascii()),
        is_binary: is_binary(text),
    };
    Ok(Letter { sender, recipients, content: content(&message, &missing), traits })
}

/// Up to the first line that is a dot alone.
fn before_lone_dot(input: &[u8]) -> &[u8] {
    let is_lone = |at: usize| {
        let begins = at == 0 || input[at - 1] == b'\n';
        begins && matches!(&input[at + 1..], [] | [b'\n', ..] | [b'\r', b'\n', ..] | [b'\r'])
    };
    memchr_iter(b'.', input).find(|at| is_lone(*at)).map_or(input, |at| &input[..at])
}

/// A line as mbox has it before a message is no part of the message; sendmail drops it, too.
fn without_mbox_line(text: &[u8]) -> &[u8] {
    if !text.starts_with(b"From ") {
        return text;
    }
    memchr(b'\n', text).map_or(&[], |end| &text[end + 1..])
}

/// Every LF and every CRLF as CRLF, and one at the end; a CR alone stays.
fn crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 32 + 2);
    let mut begin = 0;
    for end in memchr_iter(b'\n', text) {
        let line = &text[begin..end];
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.extend_from_slice(b"\r\n");
        begin = end + 1;
    }
    if begin < text.len() {
        let line = &text[begin..];
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.extend_from_slice(b"\r\n");
    }
    out
}

fn envelope_sender(options: &Options, origin: &Origin) -> Result<Option<Address>, Unsendable> {
    match &options.sender {
        Some(text) => recipients::sender(text, &origin.host).map_err(Unsendable::BadSender),
        None => Ok(Some(origin.user.clone())),
    }
}

/// The arguments, and with `-t` the header; each address once, as with Postfix and msmtp.
fn all_recipients(options: &Options, message: &Message<'_>, host: &str) -> Result<Vec<Address>, Unsendable> {
    let mut all = Vec::new();
    for argument in &options.recipients {
        all.extend(recipients::list(argument, host).map_err(Unsendable::BadArgument)?);
    }
    if options.source == Source::Header {
        for field in recipient_fields(message) {
            let text = String::from_utf8_lossy(field.value);
            let found = recipients::list(&text, host);
            all.extend(found.map_err(|bad| Unsendable::BadField(field.name.to_owned(), bad))?);
        }
    }
    let mut seen = HashSet::new();
    all.retain(|address| seen.insert(address.clone()));
    if all.is_empty() { Err(Unsendable::NoRecipients) } else { Ok(all) }
}

/// The fields that name recipients. A message that was sent before goes to the new ones alone (RFC 5322 §3.6.6).
fn recipient_fields<'a>(message: &'a Message<'a>) -> impl Iterator<Item = &'a header::Field<'a>> {
    const AGAIN: [&str; 3] = ["Resent-To", "Resent-Cc", "Resent-Bcc"];
    let is_again = AGAIN.iter().any(|name| message.has(name));
    let names = if is_again { AGAIN } else { ["To", "Cc", "Bcc"] };
    message.fields.iter().filter(move |field| names.iter().any(|name| field.is(name)))
}

/// From, Date and Message-ID, those that the message lacks.
fn missing_fields(
    message: &Message<'_>,
    sender: Option<&Address>,
    name: Option<&str>,
    origin: &Origin,
) -> Result<String, Unsendable> {
    let mut fields = String::new();
    if name.is_some_and(|name| name.contains(char::is_control)) {
        return Err(Unsendable::BadName);
    }
    if !message.has("From") {
        let address = sender.unwrap_or(&origin.user);
        fields.push_str(&match name.map(name::phrase).filter(|name| !name.is_empty()) {
            Some(name) => format!("From: {name} <{address}>\r\n"),
            None => format!("From: {address}\r\n"),
        });
    }
    if !message.has("Date") {
        fields.push_str(&format!("Date: {}\r\n", rfc5322(origin.now)));
    }
    if !message.has("Message-ID") {
        fields.push_str(&format!("Message-ID: <{}@{}>\r\n", origin.unique, origin.host));
    }
    Ok(fields)
}

/// The new fields on top, then what there was, without Bcc. Where the empty line before the body was forgotten it is put
/// in: the new fields would otherwise run into a body without a header.
fn content(message: &Message<'_>, missing: &str) -> Vec<u8> {
    let mut out = missing.as_bytes().to_vec();
    for field in &message.fields {
        if !field.is("Bcc") && !field.is("Resent-Bcc") {
            out.extend_from_slice(field.whole);
        }
    }
    if !message.is_parted() {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(message.rest);
    out
}

fn has_utf8_header(message: &Message<'_>) -> bool {
    message.fields.iter().any(|field| !field.whole.is_ascii() && std::str::from_utf8(field.whole).is_ok())
}

fn is_binary(text: &[u8]) -> bool {
    let lone_cr = memchr_iter(b'\r', text).any(|at| text.get(at + 1) != Some(&b'\n'));
    let lone_lf = memchr_iter(b'\n', text).any(|at| at == 0 || text[at - 1] != b'\r');
    // Without a line end at its end, DATA would add one.
    lone_cr || lone_lf || memchr(0, text).is_some() || !(text.is_empty() || text.ends_with(b"\r\n"))
}

#[cfg(test)]
mod tests;
