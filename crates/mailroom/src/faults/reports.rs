//! What comes back to the sender of a message that was taken: a bounce, a complaint, a note that somebody is away. Written
//! here to the byte, and delivered by others.
//!
//! They go to the envelope's sender and never to `<>`, and their own sender is `<>`: nothing comes back to what came back.

mod bounce;
mod complaint;
mod vacation;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use mail::{Address, Envelope};

use super::grammar::Back;

/// Of a header so much is returned, where the whole message is too long.
const HEADER_MAX: usize = 64 << 10;
/// A field that is taken over is no longer than this, so that its line stays below 998 octets (RFC 5322 §2.1.1).
const FIELD_MAX: usize = 900;
/// Octets of text in one encoded word, which has at most 75 characters (RFC 2047 §2).
const WORD_MAX: usize = 42;

/// A message that was taken, and whose sender is to hear of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken<'a> {
    /// `faults.domain`: who reports.
    pub(crate) domain: &'a str,
    /// `faults.return_max`: a message up to this size is returned whole, else its header.
    pub(crate) return_max: usize,
    /// What SMTP said.
    pub(crate) envelope: &'a Envelope,
    /// Its bytes.
    pub(crate) raw: &'a [u8],
    /// When it came, which is when the report is written.
    pub(crate) at: Timestamp,
}

/// A report without trace fields, and what it is in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Report {
    pub(crate) what: String,
    pub(crate) raw: Vec<u8>,
}

/// Why nothing comes back.
pub(crate) type NoReport = &'static str;

impl<'a> Taken<'a> {
    /// What comes back from these recipients, in order: the bounces of all of them in one report, as a mail server does it,
    /// each complaint and each note on its own.
    pub(crate) fn reports(&self, asked: &[(&Address, &[Back])]) -> Vec<Result<Report, NoReport>> {
        let Some(sender) = &self.envelope.reverse_path.0 else {
            let is_asked = asked.iter().any(|(_, back)| !back.is_empty());
            return is_asked.then_some(Err("nothing comes back to the null sender")).into_iter().collect();
        };
        let each = || asked.iter().flat_map(|(address, back)| back.iter().map(move |back| (*address, *back)));
        let bounced: Vec<_> = each()
            .filter_map(|(address, back)| match back {
                Back::Bounce(status) => Some((address, status)),
                _ => None,
            })
            .collect();
        let bounce = (!bounced.is_empty()).then(|| Ok(self.bounce(sender, &bounced)));
        let others = each().enumerate().filter_map(|(place, (address, back))| match back {
            Back::Bounce(_) => None,
            Back::Complaint(kind) => Some(Ok(self.complaint(sender, address, kind, place + 1))),
            Back::Vacation => Some(self.vacation(sender, address, place + 1)),
        });
        bounce.into_iter().chain(others).collect()
    }

    /// The fields that every report has. What is in them holds no control character by its type.
    fn head(&self, from: &str, to: &Address, subject: &str, place: usize) -> String {
        let (domain, date, id) = (self.domain, mail::time::rfc5322(self.at), self.envelope.transaction);
        let mut head = format!(
            "From: {from}\r\nTo: <{to}>\r\nSubject: {subject}\r\nDate: {date}\r\nMessage-ID: <{id}.{place}@{domain}>\r\n\
             Auto-Submitted: auto-replied\r\n"
        );
        if let Some(id) = self.message_id() {
            head.push_str(&format!("In-Reply-To: {id}\r\nReferences: {id}\r\n"));
        }
        head.push_str("MIME-Version: 1.0\r\n");
        head
    }

    /// The Message-ID of the message, where it has a sound one.
    fn message_id(&self) -> Option<String> {
        let id = self.field("Message-ID")?;
        let is_sound = id.starts_with('<') && id.ends_with('>') && id.bytes().all(|byte| byte.is_ascii_graphic());
        is_sound.then_some(id)
    }

    /// A field of the message in one line, where it fits one.
    fn field(&self, name: &str) -> Option<String> {
        let field = mail::header::fields(self.raw).find(|field| field.is(name))?;
        let value = field.text();
        (value.len() <= FIELD_MAX && !value.contains(char::is_control)).then_some(value)
    }

    /// A report of three parts (RFC 6522): for a person, for a program, and what it is about.
    fn multipart(&self, mut head: String, kind: &str, text: &str, machine: (&str, &str)) -> Vec<u8> {
        let encoding = |text: &str| if text.is_ascii() { "7bit" } else { "8bit" };
        let (returned_type, returned) = self.returned();
        let boundary = self.boundary(returned);
        // The whole is as bad as the worst of its parts (RFC 2045 §6.4).
        let parts = [encoding(text), encoding(machine.1), encoding_of(returned)];
        let worst = ["binary", "8bit"].into_iter().find(|one| parts.contains(one)).unwrap_or("7bit");
        head.push_str(&format!(
            "Content-Type: multipart/report; report-type={kind};\r\n boundary=\"{boundary}\"\r\n\
             Content-Transfer-Encoding: {worst}\r\n\r\n\
             --{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: {}\r\n\r\n{text}\r\n\
             --{boundary}\r\nContent-Type: {}\r\nContent-Transfer-Encoding: {}\r\n\r\n{}\r\n\
             --{boundary}\r\nContent-Type: {returned_type}\r\nContent-Transfer-Encoding: {}\r\n\r\n",
            encoding(text),
            machine.0,
            encoding(machine.1),
            machine.1,
            encoding_of(returned),
        ));
        let mut raw = head.into_bytes();
        raw.extend_from_slice(returned);
        raw.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        raw
    }

    /// The message itself, or its header where it is long. It is put in as it came, so its encoding is what it holds.
    fn returned(&self) -> (&'static str, &'a [u8]) {
        let body = mail::header::fields(self.raw).body().min(self.raw.len());
        let is_whole = self.raw.len() <= self.return_max;
        let part = if is_whole { self.raw } else { &self.raw[..lines_within(&self.raw[..body], HEADER_MAX)] };
        let content_type = match (is_whole, self.raw[..body].is_ascii()) {
            (true, true) => "message/rfc822",
            (true, false) => "message/global",
            (false, true) => "text/rfc822-headers",
            (false, false) => "message/global-headers",
        };
        (content_type, part)
    }

    /// One that does not stand in what is returned.
    fn boundary(&self, returned: &[u8]) -> String {
        let id = self.envelope.transaction;
        let boundary = |number: usize| format!("=_report_{id}_{number}");
        let is_there = |text: &str| returned.windows(text.len()).any(|window| window == text.as_bytes());
        let mut number = 0;
        while is_there(&boundary(number)) {
            number += 1;
        }
        boundary(number)
    }
}

/// Up to the last whole line within so many octets.
fn lines_within(octets: &[u8], max: usize) -> usize {
    let cut = octets.len().min(max);
    if cut == octets.len() {
        return cut;
    }
    octets[..cut].windows(2).rposition(|pair| pair == b"\r\n").map_or(0, |place| place + 2)
}

/// RFC 2045 §2.7 to §2.9.
fn encoding_of(part: &[u8]) -> &'static str {
    let mut before = 0;
    let is_line = |line: &[u8]| line.len() <= 998 && !line.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'));
    while let Some(end) = part[before..].windows(2).position(|pair| pair == b"\r\n") {
        if !is_line(&part[before..before + end]) {
            return "binary";
        }
        before += end + 2;
    }
    match is_line(&part[before..]) {
        false => "binary",
        true if part.is_ascii() => "7bit",
        true => "8bit",
    }
}

/// An address as a report names it to programs: what is not ASCII has a type of its own (RFC 6533 §3).
fn typed(address: &Address) -> String {
    let text = address.to_string();
    if text.is_ascii() { format!("rfc822; {text}") } else { format!("utf-8; {text}") }
}

/// A text as a field takes it: as it is, or in encoded words (RFC 2047).
fn words(text: &str) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.len() <= FIELD_MAX {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for letter in text.chars().filter(|letter| !letter.is_control()).take(FIELD_MAX / 4) {
        let is_full = words.last().is_some_and(|word| word.len() + letter.len_utf8() > WORD_MAX);
        if is_full {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|word| word.push(letter));
    }
    let word = |text: &String| format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(text));
    words.iter().map(word).collect::<Vec<_>>().join("\r\n ")
}

#[cfg(test)]
mod tests;
