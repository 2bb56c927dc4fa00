//! A message on its way out: lines end in CRLF, dots at their beginning are doubled, and a line of one dot is the end
//! (RFC 1939 §3).
//!
//! The stored bytes are sent as they are, but for a CR or LF on its own: that becomes a CRLF, on the wire only. Were
//! it left alone, a client that takes it for a line end would see the end of the message where a dot follows it
//! (T002, T089). It knows bytes alone, neither sessions nor sockets.

use bytes::Bytes;
use memchr::memchr2;

/// How much of a message is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// The header, the empty line behind it, and so many lines of the body.
    Top(u64),
}

/// Whether there is more to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// There is.
    More,
    /// The line of one dot is written.
    Done,
}

/// A message that is being sent.
#[derive(Clone, Debug)]
pub struct Stuffer {
    raw: Bytes,
    /// How far it is written.
    place: usize,
    /// Whether what follows begins a line.
    at_line_start: bool,
    left: Left,
}

/// What is still to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Left {
    Everything,
    /// The rest of the header, and so many lines of the body.
    Header(u64),
    /// So many lines of the body.
    Body(u64),
}

impl Left {
    /// A line ended: is this the last one that was asked for?
    fn ends_with(&mut self, is_empty: bool) -> bool {
        match self {
            Self::Everything => false,
            Self::Header(lines) if is_empty => {
                *self = Self::Body(*lines);
                *self == Self::Body(0)
            }
            Self::Header(_) => false,
            Self::Body(lines) => {
                *lines -= 1;
                *lines == 0
            }
        }
    }
}

/// A stretch that leaves as it is, and what follows it.
struct Run {
    /// So many bytes are copied,
    keep: usize,
    /// and so many are used up: one more when a CR or LF on its own is replaced by CRLF.
    used: usize,
    /// Whether a line begins behind it.
    at_line_start: bool,
    /// Whether nothing behind it was asked for.
    is_last: bool,
}

impl Stuffer {
    /// Send a part of these bytes.
    pub fn new(raw: Bytes, part: Part) -> Self {
        let left = match part {
            Part::Whole => Left::Everything,
            Part::Top(lines) => Left::Header(lines),
        };
        Self { raw, place: 0, at_line_start: true, left }
    }

    /// Append the next piece, made of about `room` bytes of the message.
    pub fn write(&mut self, out: &mut Vec<u8>, room: usize) -> Progress {
        let mut end = piece_end(&self.raw, self.place, room);
        // With room for some dots and the end: a message of ordinary size is copied once, into memory asked for once.
        out.reserve(end - self.place + 64);
        while self.place < end {
            let piece = &self.raw[self.place..end];
            if self.at_line_start && piece[0] == b'.' {
                out.push(b'.');
            }
            let run = run(piece, self.at_line_start, &mut self.left);
            out.extend_from_slice(&piece[..run.keep]);
            if run.used > run.keep {
                out.extend_from_slice(b"\r\n");
            }
            self.place += run.used;
            self.at_line_start = run.at_line_start;
            if run.is_last {
                self.raw.truncate(self.place);
                end = self.place;
            }
        }
        if self.place < self.raw.len() { Progress::More } else { self.finish(out) }
    }

    fn finish(&self, out: &mut Vec<u8>) -> Progress {
        out.extend_from_slice(if self.at_line_start { b".\r\n" } else { b"\r\n.\r\n" });
        Progress::Done
    }
}

/// Where a piece that begins at `place` ends: never between a CR and its LF, and never where it began.
fn piece_end(raw: &[u8], place: usize, room: usize) -> usize {
    let end = place.saturating_add(room.max(1)).min(raw.len());
    if end > place && raw[end - 1] == b'\r' && raw.get(end) == Some(&b'\n') { end + 1 } else { end }
}

/// The longest stretch at the front of `piece` that leaves as it is.
fn run(piece: &[u8], at_line_start: bool, left: &mut Left) -> Run {
    let (mut place, mut line) = (0, at_line_start.then_some(0));
    while let Some(found) = memchr2(b'\r', b'\n', &piece[place..]) {
        let at = place + found;
        let is_crlf = piece[at] == b'\r' && piece.get(at + 1) == Some(&b'\n');
        let next = if is_crlf { at + 2 } else { at + 1 };
        let is_last = left.ends_with(line == Some(at));
        if is_last || !is_crlf || piece.get(next) == Some(&b'.') {
            return Run { keep: if is_crlf { next } else { at }, used: next, at_line_start: true, is_last };
        }
        (place, line) = (next, Some(next));
    }
    let length = piece.len();
    Run { keep: length, used: length, at_line_start: line == Some(length), is_last: false }
}

#[cfg(test)]
mod tests;
