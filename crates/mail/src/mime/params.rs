//! `value; name=value; …` of Content-Type and Content-Disposition: RFC 2045 §5.1, continuations and charsets of RFC 2231,
//! and the RFC 2047 words that many put there instead.

use std::borrow::Cow;

use crate::charset;
use crate::header::{decode_words, hex, unfold};

/// Parameters of one field that are read, continuations counted.
const PARAMS_MAX: usize = 100;

/// A field value taken apart.
pub(super) struct Params {
    /// What stands before the first `;`, without blanks and comments around it.
    pub(super) head: Vec<u8>,
    params: Vec<Param>,
}

struct Param {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Params {
    pub(super) fn read(value: &[u8]) -> Self {
        let value = unfold(value);
        let (head, mut rest) = cut(&value);
        let head = head.split(|byte| *byte == b'(').next().unwrap_or_default().trim_ascii().to_vec();
        let mut params = Vec::new();
        while params.len() < PARAMS_MAX && !rest.is_empty() {
            let param;
            (param, rest) = cut(rest);
            params.extend(Param::read(param));
        }
        Self { head, params }
    }

    /// The octets of a parameter, extended and continued ones in their charset.
    pub(super) fn value(&self, name: &str) -> Option<Vec<u8>> {
        self.extended(name).map(|found| found.bytes).or_else(|| self.plain(name).map(<[u8]>::to_vec))
    }

    /// A parameter as text; the extended form counts before the plain one. An empty one is none.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = match self.extended(name) {
            Some(Extended { is_coded: true, label, bytes }) => {
                charset::decode(charset::named(&label), &bytes).into_owned()
            }
            Some(Extended { bytes, .. }) => decode_words(&bytes),
            None => decode_words(self.plain(name)?),
        };
        (!text.is_empty()).then_some(text)
    }

    fn plain(&self, name: &str) -> Option<&[u8]> {
        let found = self.params.iter().find(|param| param.name.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(&found.value)
    }

    /// `name*=charset'language'text`, or the pieces `name*0`, `name*1*`, … in their order up to the first gap.
    fn extended(&self, name: &str) -> Option<Extended> {
        let mut pieces: Vec<Piece<'_>> = self.params.iter().filter_map(|param| param.piece(name)).collect();
        pieces.sort_by_key(|piece| piece.number);
        let first = pieces.first().filter(|piece| piece.number == 0)?;
        let (label, text) = if first.is_coded { split_charset(first.text) } else { (&b""[..], first.text) };
        let mut found = Extended {
            is_coded: pieces.iter().any(|piece| piece.is_coded),
            label: label.to_vec(),
            bytes: first.decode(text),
        };
        for (expected, piece) in pieces.iter().enumerate().skip(1) {
            if piece.number != expected {
                break;
            }
            found.bytes.extend(piece.decode(piece.text));
        }
        Some(found)
    }
}

/// A parameter by RFC 2231.
struct Extended {
    is_coded: bool,
    label: Vec<u8>,
    bytes: Vec<u8>,
}

struct Piece<'a> {
    number: usize,
    is_coded: bool,
    text: &'a [u8],
}

impl Param {
    /// `name=value` or `name="value"`. A value with blanks but without quotes is taken as it was meant.
    fn read(text: &[u8]) -> Option<Self> {
        let equals = memchr::memchr(b'=', text)?;
        let value = text[equals + 1..].trim_ascii();
        let value = value.strip_prefix(b"\"").map_or(Cow::Borrowed(value), |inside| Cow::Owned(unquote(inside)));
        Some(Self { name: text[..equals].trim_ascii().to_vec(), value: value.into_owned() })
    }

    /// What of the parameter `name` this one carries, when its own name is `name*`, `name*3` or `name*3*`.
    fn piece(&self, name: &str) -> Option<Piece<'_>> {
        let (start, rest) = self.name.split_at_checked(name.len())?;
        let rest = rest.strip_prefix(b"*").filter(|_| start.eq_ignore_ascii_case(name.as_bytes()))?;
        let (digits, is_coded) = rest.strip_suffix(b"*").map_or((rest, false), |digits| (digits, true));
        if digits.is_empty() {
            return (!is_coded).then_some(Piece { number: 0, is_coded: true, text: &self.value });
        }
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(Piece { number, is_coded, text: &self.value })
    }
}

impl Piece<'_> {
    fn decode(&self, text: &[u8]) -> Vec<u8> {
        if self.is_coded { decode_percent(text) } else { text.to_vec() }
    }
}

/// Up to the next `;` outside quotes, and what follows it.
fn cut(text: &[u8]) -> (&[u8], &[u8]) {
    let mut quoted = false;
    let mut bytes = text.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => drop(bytes.next()),
            b';' if !quoted => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, b"")
}

/// The inside of a quoted string up to its end, quoted pairs resolved.
fn unquote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => out.extend(bytes.next()),
            _ => out.push(byte),
        }
    }
    out
}

/// `charset'language'text`; without both marks it is all text.
fn split_charset(text: &[u8]) -> (&[u8], &[u8]) {
    let mut marks = memchr::memchr_iter(b'\'', text);
    match (marks.next(), marks.next()) {
        (Some(first), Some(second)) => (&text[..first], &text[second + 1..]),
        _ => (b"", text),
    }
}

fn decode_percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escaped = if byte == b'%' { hex(&text[at + 1..]) } else { None };
        out.push(escaped.unwrap_or(byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}
