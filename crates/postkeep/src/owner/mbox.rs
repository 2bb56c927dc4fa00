//! Reading mbox as `mail::mbox` writes it, exact to the byte, and as others do. It knows lines and dates, and no
//! mailboxes.

use std::io::{self, BufRead, Read, Write};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use mail::address::Charset;
use mail::mbox::{DAYS, FROM, MARK, MONTHS, OPEN, without_quotes};
use mail::{Address, ReversePath};
use memchr::memchr;

use super::letter::{Found, Letter, TOO_LARGE};
use super::name;

#[cfg(test)]
mod tests;

/// Write one message.
pub(super) fn write(out: &mut impl Write, letter: &Letter) -> io::Result<()> {
    let nobody = ReversePath(None);
    let mail_from = letter.mail_from.as_ref().unwrap_or(&nobody);
    mail::mbox::write(out, mail_from, letter.received_at.unwrap_or_default(), &letter.raw)
}

/// Reads messages one by one, each whole, of at most so many bytes.
pub(super) struct Reader<R> {
    from: R,
    message_max: usize,
    /// The line before the message that comes next.
    ahead: Option<Separator>,
    line: Vec<u8>,
    count: u64,
    begun: bool,
}

/// What the line before a message says.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Separator {
    mail_from: ReversePath,
    received_at: Timestamp,
    is_open: bool,
    /// How the lines of this file end.
    line_end: &'static [u8],
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(from: R, message_max: usize) -> Self {
        Self { from, message_max, ahead: None, line: Vec::new(), count: 0, begun: false }
    }

    /// The next message; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Found>> {
        if !self.begun {
            self.begin()?;
        }
        let Some(separator) = self.ahead.take() else { return Ok(None) };
        self.count += 1;
        let raw = self.content()?.map(|raw| stripped(raw, &separator));
        let Some(raw) = raw.filter(|raw| raw.len() <= self.message_max) else {
            return Ok(Some(Found::Passed(format!("message {}", self.count), TOO_LARGE)));
        };
        let mail_from = Some(separator.mail_from);
        let letter = Letter { received_at: Some(separator.received_at), mail_from, rcpt_to: Vec::new(), raw };
        Ok(Some(Found::Letter(None, letter)))
    }

    /// Find the first line; empty ones before it are forgiven.
    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        while self.read_line()? {
            if let Some(separator) = Separator::read(&self.line) {
                self.ahead = Some(separator);
                return Ok(());
            }
            if !matches!(&self.line[..], b"\n" | b"\r\n") {
                let why = "it does not begin with a From line, so it is no mbox file";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
        Ok(())
    }

    /// Everything up to the next separator, unquoted; none when that is too much.
    fn content(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut raw = Some(Vec::new());
        let mut line_begins = true;
        while self.read_line()? {
            if line_begins && let Some(separator) = Separator::read(&self.line) {
                self.ahead = Some(separator);
                break;
            }
            let is_quoted = line_begins && self.line[0] == b'>' && without_quotes(&self.line).starts_with(FROM);
            line_begins = self.line.ends_with(b"\n");
            let line = &self.line[usize::from(is_quoted)..];
            // Two line ends may follow that are no part of the message.
            let fits = |raw: &Vec<u8>| raw.len() + line.len() <= self.message_max + 4;
            match &mut raw {
                Some(kept) if fits(kept) => kept.extend_from_slice(line),
                _ => raw = None,
            }
        }
        Ok(raw)
    }

    /// A line, or as much of one as a message may have.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let most = self.message_max as u64 + 8;
        Ok(self.from.by_ref().take(most).read_until(b'\n', &mut self.line)? > 0)
    }
}

/// Take off the empty line that the format puts behind a message, and the line end that was not the message's own.
fn stripped(mut raw: Vec<u8>, separator: &Separator) -> Vec<u8> {
    let end = separator.line_end;
    if let Some(rest) = raw.strip_suffix(end)
        && (rest.is_empty() || rest.ends_with(b"\n"))
    {
        raw.truncate(rest.len());
    }
    if separator.is_open && raw.ends_with(b"\n") {
        raw.pop();
    }
    raw
}

impl Separator {
    /// Read `From sender Sun Nov 15 10:13:45 2026 moreinfo`. A zone before or behind the year is taken into account when
    /// it is a number. A line without a date is a line of a message.
    fn read(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(FROM)?;
        let end = memchr(b'\n', rest)?;
        let line_end: &[u8] = if rest[..end].ends_with(b"\r") { b"\r\n" } else { b"\n" };
        let text = std::str::from_utf8(&rest[..end]).ok()?;
        let words: Vec<&str> = text.split_ascii_whitespace().take(16).collect();
        let day = words.iter().position(|word| DAYS.contains(word))?;
        let (at, used) = date(&words[day + 1..])?;
        let (micros, is_open, is_ours) = more(&words[day + 1 + used..]);
        let sender = if day > 0 { sender(words[day - 1], is_ours) } else { ReversePath(None) };
        let received_at = Timestamp::from_microsecond(at.as_second().checked_mul(1_000_000)? + micros).ok()?;
        Some(Self { mail_from: sender, received_at, is_open, line_end })
    }
}

/// Month, day, time, year and perhaps a zone: the time, and how many words that were.
fn date(words: &[&str]) -> Option<(Timestamp, usize)> {
    let [month, day, clock, rest @ ..] = words else { return None };
    let month = MONTHS.iter().position(|name| name == month)? as i8 + 1;
    let time = time(clock)?;
    let is_year = |word: &&&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let place = rest.iter().take(2).position(|word| is_year(&word))?;
    let date = Date::new(rest[place].parse().ok()?, month, day.parse().ok()?).ok()?;
    let behind = if place == 0 { rest.get(1).copied().and_then(zone) } else { None };
    let offset = if place == 1 { zone(rest[0]).unwrap_or(Offset::UTC) } else { behind.unwrap_or(Offset::UTC) };
    let at = offset.to_timestamp(DateTime::from_parts(date, time)).ok()?;
    Some((at, 4 + place + usize::from(behind.is_some())))
}

fn time(clock: &str) -> Option<Time> {
    let mut numbers = clock.splitn(3, ':').map(|number| number.parse::<i8>().ok());
    let (hour, minute, second) = (numbers.next()??, numbers.next()??, numbers.next().unwrap_or(Some(0))?);
    Time::new(hour, minute, second.min(59), 0).ok()
}

/// `+0100`
fn zone(word: &str) -> Option<Offset> {
    let sign = match word.as_bytes() {
        [b'+', rest @ ..] | [b'-', rest @ ..] if rest.len() == 4 && rest.iter().all(u8::is_ascii_digit) => {
            if word.starts_with('-') { -1 } else { 1 }
        }
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (word[1..3].parse().ok()?, word[3..5].parse().ok()?);
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

/// What we wrote behind the date: the microseconds, whether the message is open, whether it was us at all.
fn more(words: &[&str]) -> (i64, bool, bool) {
    let [MARK, ours @ ..] = words else { return (0, false, false) };
    let micros = ours.iter().find_map(|word| word.strip_prefix("us=")?.parse::<u32>().ok());
    (i64::from(micros.unwrap_or(0).min(999_999)), ours.contains(&OPEN), true)
}

/// The sender that a word names; what is no address names nobody.
fn sender(word: &str, is_ours: bool) -> ReversePath {
    let mut bytes = Vec::new();
    let decoded = if is_ours { name::decode(word, &mut bytes).ok() } else { None };
    let text = match decoded {
        Some(()) => String::from_utf8(bytes).unwrap_or_default(),
        None => word.to_owned(),
    };
    ReversePath(Address::parse(&text, Charset::Utf8).ok())
}
