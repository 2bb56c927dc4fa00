//! Lists of addresses as people and programs write them (RFC 5322 §3.4, §4.4): names, comments, groups, routes. What is
//! wanted is every address, exactly; names are dropped. One pass, no recursion.
//!
//! It knows nothing of fields or options; what an address is, `mail` knows.

use mail::Address;
use mail::address::{BadAddress, Charset, Path, path};

use crate::log::escaped;

/// No address, or something around one that makes no sense. It says which.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {why}", shown(.text))]
pub(super) struct BadRecipient {
    text: String,
    why: &'static str,
}

const NO_ADDRESS: &str = "this is no address of the form user@domain; correct it";
const OPEN: &str = "a quote, a comment or an angle bracket is not closed; close it";
const TWO: &str = "two addresses stand here without a comma between them; add one";
const NOTHING: &str = "there is no address between the angle brackets; write one";
/// Octets of an encoded word that are looked through for its end; RFC 2047 §2 allows 75.
const ENCODED_MAX: usize = 512;
/// Letters of a bad text that are shown.
const SHOWN_MAX: usize = 100;

/// All addresses of a list, in order. One without a domain is at `host`, as with sendmail.
pub(super) fn list(text: &str, host: &str) -> Result<Vec<Address>, BadRecipient> {
    let mut found = Vec::new();
    let mut member = Member::default();
    let mut rest = text;
    while let Some(special) = rest.bytes().next() {
        let length = match special {
            b'(' => member.comment(rest),
            b'"' => member.quoted(rest),
            b'<' => member.angle(rest),
            // A semicolon ends a group; some programs part addresses with it.
            b',' | b';' => {
                found.extend(std::mem::take(&mut member).finish(host).map_err(|why| bad(text, rest, why))?);
                Some(1)
            }
            b':' => {
                std::mem::take(&mut member).group().map_err(|why| bad(text, rest, why))?;
                Some(1)
            }
            b' ' | b'\t' | b'\r' | b'\n' => member.blank(),
            _ => member.atom(rest),
        };
        rest = &rest[length.ok_or_else(|| bad(text, rest, OPEN))?..];
    }
    found.extend(member.finish(host).map_err(|why| bad(text, rest, why))?);
    Ok(found)
}

/// The one address of a text; none for an empty one and for `<>`.
pub(super) fn sender(text: &str, host: &str) -> Result<Option<Address>, BadRecipient> {
    if matches!(text.trim(), "" | "<>") {
        return Ok(None);
    }
    let mut found = list(text, host)?.into_iter();
    match (found.next(), found.next()) {
        (Some(address), None) => Ok(Some(address)),
        _ => Err(BadRecipient { text: text.to_owned(), why: "one address is needed here; give one" }),
    }
}

/// The member of the list that was being read when something was found to be wrong.
fn bad(text: &str, rest: &str, why: &'static str) -> BadRecipient {
    let read = &text[..text.len() - rest.len()];
    let begin = read.rfind(',').map_or(0, |comma| comma + 1);
    let end = rest.find(',').map_or(text.len(), |comma| read.len() + comma);
    BadRecipient { text: text[begin..end].trim().to_owned(), why }
}

fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let begin: String = letters.by_ref().take(SHOWN_MAX).collect();
    format!("\"{}{}\"", escaped(&begin), if letters.next().is_some() { "…" } else { "" })
}

/// One member of a list, as far as it was read.
#[derive(Default)]
struct Member {
    /// Its words without the blanks between them.
    words: String,
    /// What stood in angle brackets.
    inside: Option<String>,
    after_blank: bool,
    /// It can only be a name: words that stand apart, or one that is encoded.
    is_phrase: bool,
    /// Words stood behind the angle brackets, or there were two of them.
    is_crowded: bool,
}

impl Member {
    fn blank(&mut self) -> Option<usize> {
        self.after_blank = true;
        Some(1)
    }

    /// A comment may nest (RFC 5322 §3.2.2).
    fn comment(&mut self, rest: &str) -> Option<usize> {
        self.after_blank = true;
        let mut depth = 0_usize;
        let mut bytes = rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'(' => depth += 1,
                b')' if depth == 1 => return Some(at + 1),
                b')' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn quoted(&mut self, rest: &str) -> Option<usize> {
        let length = quoted_length(rest)?;
        self.word(&rest[..length]);
        Some(length)
    }

    /// Up to the closing bracket outside quotes.
    fn angle(&mut self, rest: &str) -> Option<usize> {
        let mut at = 1;
        while let Some(byte) = rest.as_bytes().get(at) {
            match byte {
                b'"' => at += quoted_length(&rest[at..])?,
                b'>' => {
                    self.is_crowded |= self.inside.replace(rest[1..at].trim().to_owned()).is_some();
                    return Some(at + 1);
                }
                _ => at += 1,
            }
        }
        None
    }

    /// Everything up to the next special. An encoded word stays whole, whatever it holds, and so does a literal in
    /// brackets with its colons.
    fn atom(&mut self, rest: &str) -> Option<usize> {
        let special = |byte: &u8| b"(\"<,;:[ \t\r\n".contains(byte);
        let encoded = encoded_length(rest);
        self.is_phrase |= encoded.is_some();
        let length = match (encoded, rest.as_bytes()) {
            (Some(length), _) => length,
            (None, [b'[', ..]) => rest.find(']')? + 1,
            (None, bytes) => bytes.iter().position(special).unwrap_or(bytes.len()),
        };
        self.word(&rest[..length]);
        Some(length)
    }

    fn word(&mut self, word: &str) {
        let joins = |byte: Option<u8>| matches!(byte, Some(b'@' | b'.'));
        if self.after_blank && !self.words.is_empty() {
            self.is_phrase |= !joins(self.words.bytes().last()) && !joins(word.bytes().next());
        }
        self.is_crowded |= self.inside.is_some();
        self.after_blank = false;
        self.words.push_str(word);
    }

    /// What came before a colon is the name of a group. What looks like an address there is not dropped in silence.
    fn group(self) -> Result<(), &'static str> {
        if self.inside.is_some() || self.words.contains('@') { Err(NO_ADDRESS) } else { Ok(()) }
    }

    /// Its address; none when nothing stood here, as between two commas.
    fn finish(self, host: &str) -> Result<Option<Address>, &'static str> {
        match self.inside {
            _ if self.is_crowded => Err(TWO),
            Some(inside) if inside.is_empty() => Err(NOTHING),
            Some(inside) => address(&inside, host).map(Some),
            None if self.words.is_empty() => Ok(None),
            None if self.is_phrase => Err(NO_ADDRESS),
            None => address(&self.words, host).map(Some),
        }
    }
}

/// The length of the quoted string that a text begins with.
fn quoted_length(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of the encoded word that a text begins with: `=?charset?letter?text?=` (RFC 2047 §2).
fn encoded_length(text: &str) -> Option<usize> {
    // Longer than any that is allowed; all that follows is not looked through for each.
    let inside = text[..text.floor_char_boundary(ENCODED_MAX)].strip_prefix("=?")?;
    let mut parts = inside.splitn(3, '?');
    let (charset, letter, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let end = rest.find("?=")?;
    let is_sound = letter.len() == 1 && !rest[..end].contains([' ', '\t', '\r', '\n']);
    is_sound.then(|| "=?".len() + charset.len() + "?q?".len() + end + "?=".len())
}

/// One address by SMTP's own grammar, so that nothing else can ever stand in a command.
fn address(text: &str, host: &str) -> Result<Address, &'static str> {
    // What was no UTF-8 in a field: it would lead elsewhere.
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err(NO_ADDRESS);
    }
    let read = |text: &str| match path(format!("<{text}>").as_bytes(), Charset::Utf8) {
        Ok((Path::Address(address), b"")) => Ok(address),
        Ok((Path::Postmaster, b"")) => Ok(Address::postmaster(host)),
        Ok(_) => Err(BadAddress::Syntax),
        Err(bad) => Err(bad),
    };
    let found = match read(text) {
        Err(BadAddress::NoDomain) => read(&format!("{text}@{host}")),
        other => other,
    };
    found.map_err(|bad| match bad {
        BadAddress::TooLong => "a part of the address is too long; shorten it",
        _ => NO_ADDRESS,
    })
}

#[cfg(test)]
mod tests;
