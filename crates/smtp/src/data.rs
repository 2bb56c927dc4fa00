//! The content of DATA: dots unstuffed, the end found, strict about line ends (RFC 5321 §4.5.2, §2.3.8).
//!
//! Only CRLF `.` CRLF ends a message. A CR or LF on its own is reported, never taken for a line end: servers that
//! differ in what ends a message are how one message becomes two (T001).

use memchr::memchr2;

use crate::settings::BareNewlines;

/// Where in the stream of lines the reader stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// Behind a CRLF, or at the very beginning.
    LineStart,
    /// Behind a dot that begins a line.
    Dot,
    /// Behind a dot that begins a line, and a CR.
    DotCr,
    /// Inside a line.
    Line,
    /// Behind a CR inside a line.
    Cr,
}

/// Takes the content of DATA apart, however it is cut into pieces.
#[derive(Clone, Debug)]
pub(crate) struct Unstuffer {
    at: At,
    bare_newlines: BareNewlines,
}

/// What a piece of input came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// All of it belongs to the message; there is more to come.
    More,
    /// The message ended after so many bytes of the piece.
    End(usize),
    /// A CR or LF on its own.
    BareNewline,
}

impl Unstuffer {
    pub(crate) fn new(bare_newlines: BareNewlines) -> Self {
        Self { at: At::LineStart, bare_newlines }
    }

    /// Hand the content of `piece` to `keep`, in runs as long as possible.
    pub(crate) fn read(&mut self, piece: &[u8], mut keep: impl FnMut(&[u8])) -> Progress {
        let mut place = 0;
        while place < piece.len() {
            if self.at == At::Line || self.at == At::LineStart && piece[place] != b'.' {
                match self.lines(&piece[place..], &mut keep) {
                    Some(used) => place += used,
                    None => return Progress::BareNewline,
                }
                continue;
            }
            match self.corner(piece[place], &mut keep) {
                Corner::Used => place += 1,
                Corner::Look => {}
                Corner::End => return Progress::End(place + 1),
                Corner::BareNewline => return Progress::BareNewline,
            }
        }
        Progress::More
    }

    /// Whole lines and what follows them, up to a dot that begins a line, in one run. None: a newline on its own.
    fn lines(&mut self, piece: &[u8], keep: &mut impl FnMut(&[u8])) -> Option<usize> {
        let mut place = 0;
        loop {
            let Some(next) = memchr2(b'\r', b'\n', &piece[place..]).map(|found| place + found) else {
                self.at = At::Line;
                keep(piece);
                return Some(piece.len());
            };
            match piece[next..] {
                [b'\r', b'\n', b'.', ..] | [b'\r', b'\n'] => {
                    self.at = At::LineStart;
                    keep(&piece[..next + 2]);
                    return Some(next + 2);
                }
                [b'\r', b'\n', ..] => place = next + 2,
                [b'\r'] => {
                    self.at = At::Cr;
                    keep(&piece[..next]);
                    return Some(next + 1);
                }
                [b'\n', ..] if self.bare_newlines == BareNewlines::Normalize => {
                    self.at = At::Line;
                    keep(&piece[..next]);
                    keep(b"\r\n");
                    return Some(next + 1);
                }
                [b'\r', ..] if self.bare_newlines == BareNewlines::Normalize => place = next + 1,
                _ => return None,
            }
        }
    }

    /// One byte where a dot or the edge of a piece makes it special.
    fn corner(&mut self, byte: u8, keep: &mut impl FnMut(&[u8])) -> Corner {
        let (at, result) = match (self.at, byte) {
            (At::LineStart, b'.') => (At::Dot, Corner::Used),
            (At::Dot, b'\r') => (At::DotCr, Corner::Used),
            // The first dot was stuffing (RFC 5321 §4.5.2), whatever follows it.
            (At::Dot, _) => (At::Line, Corner::Look),
            (At::DotCr, b'\n') => (At::LineStart, Corner::End),
            (At::Cr, b'\n') => {
                keep(b"\r\n");
                (At::LineStart, Corner::Used)
            }
            (At::Cr | At::DotCr, _) if self.bare_newlines == BareNewlines::Normalize => {
                keep(b"\r");
                (At::Line, Corner::Look)
            }
            (At::Cr | At::DotCr, _) => (self.at, Corner::BareNewline),
            (At::Line | At::LineStart, _) => (At::Line, Corner::Look),
        };
        self.at = at;
        result
    }
}

enum Corner {
    /// The byte is done with.
    Used,
    /// Look at the byte again in the new state.
    Look,
    /// It ended the message.
    End,
    BareNewline,
}

#[cfg(test)]
mod tests;
