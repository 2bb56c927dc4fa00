//! The mail of the campaign: made from seed and canary, so that its bytes are known for ever without being kept; and
//! what must be stored of it, to the byte.

use std::hash::{DefaultHasher, Hasher};
use std::net::Ipv4Addr;

use crate::load::chance::Chance;

use super::history::{Canary, Print};

/// The name of the server in the trace fields.
pub(super) const HOSTNAME: &str = "keep.crash.test";
/// How the clients greet.
pub(super) const HELO: &str = "client.crash.test";
/// Who sends.
pub(super) const SENDER: &str = "sender@crash.test";
/// So many mailboxes there are.
pub(super) const MAILBOXES: usize = 8;

/// The name of each.
pub(super) fn mailbox(number: usize) -> String {
    format!("box-{number}")
}

/// Who writes all mail of a campaign: for the same canary always the same letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Author {
    pub(crate) seed: u64,
    pub(crate) lengths: Lengths,
    /// The clients' own address, as the trace fields tell it.
    pub(crate) from: Ipv4Addr,
}

/// How long letters are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lengths {
    /// 200 bytes to 300 KB.
    Usual,
    /// The same, and a few of up to 2 MB, which a store may have to keep in pieces.
    SomeLarge,
}

/// One message to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Letter {
    pub(super) canary: Canary,
    pub(super) size: usize,
    /// Addresses as they are said in RCPT.
    pub(super) recipients: Vec<String>,
    pub(crate) flaw: Option<Flaw>,
}

/// Why the server must refuse a letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    TooLarge,
    BareNewline,
}

impl Author {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, lengths: Lengths::Usual, from: Ipv4Addr::LOCALHOST }
    }

    /// The largest message that the server takes in a campaign.
    pub(super) fn message_max(self) -> usize {
        match self.lengths {
            Lengths::Usual => 400_000,
            Lengths::SomeLarge => 2_200_000,
        }
    }

    /// The letter of this canary: one to four recipients, now and then the same mailbox under two spellings, now and
    /// then something that must be refused.
    pub(crate) fn letter(self, canary: Canary) -> Letter {
        let Canary { round, client, turn } = canary;
        let mut chance = Chance::new(&[self.seed, u64::from(round) << 32, client.into(), turn.into()]);
        let first = chance.below(MAILBOXES);
        let count = 1 + chance.below(4);
        let mut recipients: Vec<_> =
            (0..count).map(|step| format!("{}@crash.test", mailbox((first + step * 3) % MAILBOXES))).collect();
        if count < 4 && chance.percent(15) {
            recipients.push(format!("{}+{turn}@other.test", mailbox(first).to_uppercase()));
        }
        let mut size = chance.spread(200.0, 300_000.0) as usize;
        let flaw = match chance.below(100) {
            0 | 1 => Some(Flaw::TooLarge),
            2 | 3 => Some(Flaw::BareNewline),
            _ => None,
        };
        if self.lengths == Lengths::SomeLarge && chance.percent(3) {
            size = chance.spread(400_000.0, 2_000_000.0) as usize;
        }
        if flaw == Some(Flaw::TooLarge) {
            size = self.message_max() + 1000;
        }
        Letter { canary, size, recipients, flaw }
    }
}

impl Letter {
    /// The mailboxes that it goes to, each once: what stands before `+` or `@`, in lower case.
    pub(super) fn mailboxes(&self) -> Vec<String> {
        let names = self.recipients.iter().map(|address| address.split(['+', '@']).next().unwrap_or(address));
        let mut names: Vec<_> = names.map(str::to_ascii_lowercase).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The bytes that must be kept behind the trace fields. Half of the letters are text that shrinks well, the others
    /// are noise; both have lines that begin with a dot.
    pub(super) fn content(&self, seed: u64) -> Vec<u8> {
        let Canary { round, client, turn } = self.canary;
        let mut chance = Chance::new(&[seed, round.into(), client.into(), turn.into()]);
        let mut text = format!("Subject: {}\r\nFrom: <{SENDER}>\r\n\r\n", self.canary).into_bytes();
        let noise = chance.percent(50);
        while text.len() + 2 < self.size {
            let room = (self.size - text.len() - 2).min(10 + chance.below(150));
            let begin = text.len();
            while text.len() < begin + room {
                let bytes = if noise { chance.number().to_le_bytes() } else { *b"ever so " };
                text.extend(bytes.map(|byte| if matches!(byte, 0 | b'\r' | b'\n') { b'.' } else { byte }));
            }
            text.truncate(begin + room);
            if chance.percent(10) {
                text[begin] = b'.';
            }
            text.extend_from_slice(b"\r\n");
        }
        if self.flaw == Some(Flaw::BareNewline) {
            text.extend_from_slice(b"bare\nnewline\r\n");
        }
        text
    }

    /// What a stored message is, held against this letter: our trace fields, and then exactly the content.
    pub(super) fn print(&self, author: Author, stored: &[u8]) -> Print {
        let fault = match behind_trace(stored, &self.recipients, author.from) {
            Err(fault) => Some(fault),
            Ok(content) => difference(content, &self.content(author.seed)),
        };
        Print { sum: sum(stored), fault }
    }
}

/// As it goes over the wire: a dot more where a line begins with one, and the end.
pub(super) fn wire(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + content.len() / 64 + 8);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            out.push(b'.');
        }
        out.extend_from_slice(line);
    }
    out.extend_from_slice(b".\r\n");
    out
}

/// The canary in a stored message: its subject, the first field behind the trace.
pub(super) fn canary(stored: &[u8]) -> Result<Canary, String> {
    let head = String::from_utf8_lossy(&stored[..stored.len().min(1000)]).into_owned();
    let subject = head.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap_or(&head);
    subject.parse().map_err(|()| subject.to_owned())
}

fn sum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// What follows the trace fields, which must be exactly the known ones.
fn behind_trace<'a>(stored: &'a [u8], recipients: &[String], from: Ipv4Addr) -> Result<&'a [u8], String> {
    let only = match recipients {
        [only] => format!("\r\n for <{only}>"),
        _ => String::new(),
    };
    let begin = format!("Return-Path: <{SENDER}>\r\nReceived: from {HELO} ([{from}])\r\n by {HOSTNAME} with ESMTP id ");
    let rest = after(stored, begin.as_bytes())?;
    let (id, rest) = rest.split_at_checked(32).ok_or("it ends within the trace fields")?;
    if !id.iter().all(u8::is_ascii_hexdigit) {
        return Err(format!("the transaction in Received is {}", id.escape_ascii()));
    }
    let rest = after(rest, format!("{only};\r\n ").as_bytes())?;
    // `Sun, 15 Nov 2026 07:10:58 +0000`
    let (date, rest) = rest.split_at_checked(31).ok_or("it ends within the trace fields")?;
    if date[3] != b',' || !date.ends_with(b" +0000") {
        return Err(format!("the date in Received is {}", date.escape_ascii()));
    }
    after(rest, b"\r\n")
}

fn after<'a>(stored: &'a [u8], known: &[u8]) -> Result<&'a [u8], String> {
    stored.strip_prefix(known).ok_or_else(|| {
        let found = &stored[..stored.len().min(known.len())];
        format!("the trace fields hold {} instead of {}", found.escape_ascii(), known.escape_ascii())
    })
}

fn difference(stored: &[u8], sent: &[u8]) -> Option<String> {
    if stored == sent {
        return None;
    }
    let place = stored.iter().zip(sent).take_while(|(one, other)| one == other).count();
    let lengths = format!("{} bytes are kept, {} were sent", stored.len(), sent.len());
    Some(format!("{lengths}; the first difference is at {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(size: usize, recipients: &[&str]) -> Letter {
        let canary = Canary { round: 7, client: 2, turn: 3 };
        Letter { canary, size, recipients: recipients.iter().map(ToString::to_string).collect(), flaw: None }
    }

    fn author() -> Author {
        Author::new(1)
    }

    fn stored(of: &Letter, only: &str) -> Vec<u8> {
        let trace = format!(
            "Return-Path: <{SENDER}>\r\nReceived: from {HELO} ([127.0.0.1])\r\n by {HOSTNAME} with ESMTP id \
             0123456789abcdef0123456789abcdef{only};\r\n Sun, 15 Nov 2026 07:10:58 +0000\r\n"
        );
        [trace.into_bytes(), of.content(1)].concat()
    }

    #[test]
    fn content_is_the_same_again_and_as_long_as_asked() {
        for size in [200, 201, 5_000, 300_000] {
            let letter = letter(size, &["box-0@crash.test"]);
            let content = letter.content(1);
            assert_eq!(content, letter.content(1));
            assert_ne!(content, letter.content(2));
            assert!(content.len().abs_diff(size) <= 2, "{size} became {}", content.len());
            assert!(content.ends_with(b"\r\n"));
            assert_eq!(canary(&content), Ok(letter.canary));
        }
    }

    #[test]
    fn the_trace_fields_are_known_and_everything_else_is_a_fault() {
        let one = letter(900, &["box-0@crash.test"]);
        let good = stored(&one, "\r\n for <box-0@crash.test>");
        assert_eq!(one.print(author(), &good).fault, None);
        assert_eq!(canary(&good), Ok(one.canary));
        let two = letter(900, &["box-0@crash.test", "box-1@crash.test"]);
        assert_eq!(two.print(author(), &stored(&two, "")).fault, None);
        assert!(two.print(author(), &good).fault.is_some(), "a blind copy must not be named");
        for place in 0..good.len() {
            // What differs from message to message: the transaction and the date.
            let free = std::str::from_utf8(&good[..place]).is_ok_and(|before| {
                before.contains(" id ") && !before.contains(" for ")
                    || before.contains(";\r\n ") && !before.contains("+0000")
            });
            let mut bad = good.clone();
            bad[place] ^= 1;
            assert!(free || one.print(author(), &bad).fault.is_some(), "a flipped bit at {place} is not seen");
            assert_ne!(one.print(author(), &bad).sum, one.print(author(), &good).sum);
            assert!(one.print(author(), &good[..place]).fault.is_some(), "an end at {place} is not seen");
        }
        assert!(one.print(author(), &[&good[..], b"x"].concat()).fault.is_some());
        for (known, other) in [("0123456789", "012345678g"), ("Sun, 15", "Sun. 15"), ("+0000", "+0100")] {
            let bad = String::from_utf8_lossy(&stored(&two, "")[..300]).replacen(known, other, 1);
            let fault = two.print(author(), bad.as_bytes()).fault.unwrap();
            assert!(fault.contains("in Received is"), "{other}: {fault}");
        }
    }

    #[test]
    fn mailboxes_are_named_once_whatever_the_spelling() {
        let letter = letter(200, &["box-1@crash.test", "box-0@crash.test", "BOX-1+tag@other.test"]);
        assert_eq!(letter.mailboxes(), ["box-0", "box-1"]);
    }

    #[test]
    fn dots_are_doubled_where_a_line_begins() {
        assert_eq!(wire(b".a\r\nb.\r\n..\r\n"), b"..a\r\nb.\r\n...\r\n.\r\n");
    }
}
