//! The forty letters that every program sends or reads: mail as applications write it, and mail that tears at the seams of
//! SMTP and POP3. Each is made anew for its program and transport, always with the same octets for the same names.

mod bodies;
mod headers;
mod shapes;
#[cfg(test)]
mod tests;

use std::fmt;

use super::program::Transport;

/// The server takes messages up to this; the largest letter is smaller.
pub(super) const MESSAGE_MAX: usize = 40 * 1024 * 1024;
/// RFC 5321 §4.5.3.1.6: a line of text has at most 998 octets before its end.
const LINE_MAX: usize = 998;

/// One message to be sent or read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Letter {
    pub(crate) name: &'static str,
    /// All of it, header and body; lines end with CRLF but where the letter is about something else.
    pub(crate) raw: Vec<u8>,
    pub(crate) from: String,
    /// The one recipient. Its mailbox belongs to this letter, program and transport alone.
    pub(crate) to: String,
    pub(crate) has: Traits,
}

impl Letter {
    /// The mailbox that it lands in.
    pub(crate) fn mailbox(&self) -> &str {
        self.to.split_once('@').map_or(self.to.as_str(), |(local, _)| local)
    }

    /// What DATA can carry of it. There, the end of the content is the end of a line: what lacks one gets it, and most
    /// clients give one even to a message of no octets.
    pub(crate) fn terminated(&self) -> Vec<u8> {
        let mut raw = self.raw.clone();
        if !raw.ends_with(b"\r\n") {
            raw.extend(b"\r\n");
        }
        raw
    }

    /// The same with every LF made an end of line: what programs send that read text as Unix has it.
    pub(crate) fn crlf(&self) -> Vec<u8> {
        let mut crlf = Vec::with_capacity(self.raw.len() + 2);
        for line in self.terminated().split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            crlf.extend(text.strip_suffix(b"\r").unwrap_or(text));
            crlf.extend(b"\r\n");
        }
        crlf
    }
}

/// What makes a letter hard for some program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Traits {
    /// Octets above 127 somewhere.
    pub(crate) eight_bit: bool,
    /// UTF-8 in an address or in the header: RFC 6531 is needed.
    pub(crate) utf8: bool,
    pub(crate) nul: bool,
    /// A CR or LF that stands alone.
    pub(crate) bare: bool,
    /// A line of more than 998 octets.
    pub(crate) long_line: bool,
    /// The last line has no end.
    pub(crate) unterminated: bool,
    /// More than a megabyte.
    pub(crate) large: bool,
    /// No octet at all.
    pub(crate) empty: bool,
}

impl Traits {
    fn of(raw: &[u8], from: &str, to: &str) -> Self {
        let header = raw.windows(4).position(|end| end == b"\r\n\r\n").map_or(raw, |end| &raw[..end]);
        Self {
            eight_bit: !raw.is_ascii(),
            utf8: !from.is_ascii() || !to.is_ascii() || !header.is_ascii(),
            nul: raw.contains(&0),
            bare: bare(raw),
            long_line: raw.split(|byte| *byte == b'\n').any(|line| line.len() > LINE_MAX + 1),
            unterminated: !raw.is_empty() && !raw.ends_with(b"\r\n"),
            large: raw.len() > 1024 * 1024,
            empty: raw.is_empty(),
        }
    }
}

/// What makes it hard, in words.
impl fmt::Display for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.eight_bit, "8-bit"),
            (self.utf8, "SMTPUTF8"),
            (self.nul, "NUL"),
            (self.bare, "bare LF"),
            (self.long_line, "lines over 998 octets"),
            (self.unterminated, "no end of the last line"),
            (self.large, "large"),
            (self.empty, "no octet at all"),
        ];
        let words: Vec<_> = words.iter().filter(|(has, _)| *has).map(|(_, word)| *word).collect();
        if words.is_empty() { f.write_str("–") } else { f.write_str(&words.join(", ")) }
    }
}

fn bare(raw: &[u8]) -> bool {
    let alone = |(at, byte): (usize, &u8)| match byte {
        b'\r' => raw.get(at + 1) != Some(&b'\n'),
        b'\n' => at == 0 || raw[at - 1] != b'\r',
        _ => false,
    };
    raw.iter().enumerate().any(alone)
}

/// What a letter is made from: who writes to whom.
struct Draft<'a> {
    name: &'static str,
    from: &'a str,
    to: &'a str,
}

impl Draft<'_> {
    /// The fields that applications write, without the empty line behind them.
    fn head(&self) -> String {
        let Self { name, from, to } = self;
        let local = to.split('@').next().unwrap_or_default();
        let id: String = local.chars().filter(char::is_ascii).collect();
        format!(
            "From: Sender <{from}>\r\nTo: <{to}>\r\nSubject: {name}\r\nDate: Mon, 02 Nov 2026 10:00:00 +0000\r\n\
             Message-ID: <{id}@interop.test>\r\nMIME-Version: 1.0\r\n"
        )
    }

    /// A text of this charset in 8 bit.
    fn text(&self, charset: &str, body: &[u8]) -> Vec<u8> {
        let kind = format!("Content-Type: text/plain; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n");
        [self.head().as_bytes(), kind.as_bytes(), body].concat()
    }

    /// A body of plain ASCII behind the usual fields.
    fn ascii(&self, body: &str) -> Vec<u8> {
        format!("{}\r\n{body}", self.head()).into_bytes()
    }
}

/// A letter's name, whether its addresses are beyond ASCII, and how its octets are made.
type Recipe = (&'static str, bool, fn(&Draft<'_>) -> Vec<u8>);

/// The letters for one program over one transport.
pub(crate) fn letters(program: &str, transport: Transport) -> Vec<Letter> {
    let recipes = headers::RECIPES.iter().chain(bodies::RECIPES).chain(shapes::RECIPES);
    recipes.enumerate().map(|(at, recipe)| letter(at + 1, recipe, program, transport)).collect()
}

fn letter(number: usize, (name, beyond, make): &Recipe, program: &str, transport: Transport) -> Letter {
    let (sender, word) = if *beyond { ("grüße", "-пошта") } else { ("sender", "") };
    let from = format!("{sender}@interop.test");
    let to = format!("{number:02}{word}-{program}-{}@interop.test", transport.word());
    let raw = make(&Draft { name, from: &from, to: &to });
    let has = Traits::of(&raw, &from, &to);
    Letter { name, raw, from, to, has }
}
