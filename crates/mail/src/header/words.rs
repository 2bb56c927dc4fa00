//! RFC 2047: encoded words in header text. Read leniently, as mail is written: anywhere in the text, blanks inside.

use std::borrow::Cow;

use encoding_rs::Encoding;
use mail_parser::Encoding as Transfer;
use memchr::memmem;

use crate::charset;

/// Octets of a charset's name, language tag included.
const LABEL_MAX: usize = 60;

/// Octets of a word where one is looked for as a whole: more than the 75 of RFC 2047 §2, which few keep to.
const WORD_MAX: usize = 500;

/// Decode an unfolded header text to UTF-8. White space between two words goes; octets of neighbours in one charset are
/// joined before they are decoded, for a character may be split between them.
pub fn decode(text: &[u8]) -> String {
    let mut reader = Reader { text, close: 0 };
    let mut out = Output { text: String::with_capacity(text.len()), held: None };
    let (mut plain, mut at) = (0, 0);
    while let Some(found) = memmem::find(&text[at..], b"=?") {
        let start = at + found;
        let Some(word) = reader.word(start) else {
            at = start + 2;
            continue;
        };
        out.plain(&text[plain..start]);
        (plain, at) = (word.end, word.end);
        out.word(word);
    }
    if plain < text.len() {
        out.plain(&text[plain..]);
    }
    out.finish()
}

/// The length of the encoded word that a text begins with, when it is not far too long for one.
pub(crate) fn length(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"=?") {
        return None;
    }
    let text = &text[..text.len().min(WORD_MAX)];
    Reader { text, close: 0 }.word(0).map(|word| word.end)
}

struct Word<'a> {
    charset: Option<&'static Encoding>,
    bytes: Cow<'a, [u8]>,
    end: usize,
}

/// Finds words. It remembers the next `?=`, so that many openings without an end stay linear.
struct Reader<'a> {
    text: &'a [u8],
    close: usize,
}

impl<'a> Reader<'a> {
    /// The word `=?charset?B|Q?text?=` that begins at `start`.
    fn word(&mut self, start: usize) -> Option<Word<'a>> {
        let label = start + 2;
        let mark = self.text[label..].iter().take(LABEL_MAX).position(|byte| *byte == b'?')?;
        let &[scheme, b'?'] = self.text.get(label + mark + 1..label + mark + 3)? else { return None };
        let inside = label + mark + 3;
        let close = self.next_close(inside)?;
        let bytes = match scheme {
            b'B' | b'b' => Transfer::Base64.decode(&self.text[inside..close]),
            b'Q' | b'q' => Cow::Owned(decode_q(&self.text[inside..close])),
            _ => return None,
        };
        // RFC 2231 §5: a language may follow the charset.
        let name = self.text[label..label + mark].split(|byte| *byte == b'*').next()?;
        Some(Word { charset: charset::named(name), bytes, end: close + 2 })
    }

    fn next_close(&mut self, from: usize) -> Option<usize> {
        if self.close < from {
            self.close = memmem::find(&self.text[from..], b"?=").map_or(usize::MAX, |found| from + found);
        }
        (self.close != usize::MAX).then_some(self.close)
    }
}

/// RFC 2047 §4.2. A broken escape stays as it is.
fn decode_q(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escaped = if byte == b'=' { hex(&text[at + 1..]) } else { None };
        out.push(escaped.unwrap_or(if byte == b'_' { b' ' } else { byte }));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    out
}

/// The octet of two hexadecimal digits that a text begins with.
pub(crate) fn hex(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let &[high, low, ..] = text else { return None };
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// The text so far, and the octets of words that may go on in the next one.
struct Output {
    text: String,
    held: Option<(Option<&'static Encoding>, Vec<u8>)>,
}

impl Output {
    fn plain(&mut self, text: &[u8]) {
        if self.held.is_some() && text.trim_ascii().is_empty() {
            return;
        }
        self.flush();
        self.text.push_str(&String::from_utf8_lossy(text));
    }

    fn word(&mut self, word: Word<'_>) {
        match &mut self.held {
            Some((charset, bytes)) if *charset == word.charset => bytes.extend_from_slice(&word.bytes),
            _ => {
                self.flush();
                self.held = Some((word.charset, word.bytes.into_owned()));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((charset, bytes)) = self.held.take() {
            self.text.push_str(&charset::decode(charset, &bytes));
        }
    }

    fn finish(mut self) -> String {
        self.flush();
        self.text
    }
}
