//! The one line reader: a line ends in CRLF and nowhere else, and is never longer than it may be.
//!
//! A CR or LF on its own is no line end and no content: taking it for either is how commands are smuggled (T001).

use memchr::memchr2;

/// What the front of the input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line<'a> {
    /// A line without its CRLF.
    Whole(&'a [u8]),
    /// No end yet: read more.
    Partial,
    /// Longer than it may be, ended or not.
    TooLong,
    /// A CR or LF on its own.
    BareNewline,
}

/// The line at the front of `input`, its CRLF not counted in `max`.
pub fn line(input: &[u8], max: usize) -> Line<'_> {
    let Some(end) = memchr2(b'\r', b'\n', input) else {
        return if input.len() > max { Line::TooLong } else { Line::Partial };
    };
    match input[end..] {
        [b'\r', b'\n', ..] if end <= max => Line::Whole(&input[..end]),
        [b'\r', b'\n', ..] => Line::TooLong,
        [b'\r'] if end <= max => Line::Partial,
        [b'\r'] => Line::TooLong,
        _ => Line::BareNewline,
    }
}

/// What is left of a line that was too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// It ends after so many bytes, CRLF included.
    Ends(usize),
    /// All of the input belongs to it, but for a CR at the end that may be the beginning of its CRLF.
    GoesOn(usize),
    /// A CR or LF on its own.
    BareNewline,
}

/// How much of `input` still belongs to a line that was too long.
pub fn rest(input: &[u8]) -> Rest {
    let Some(end) = memchr2(b'\r', b'\n', input) else { return Rest::GoesOn(input.len()) };
    match input[end..] {
        [b'\r', b'\n', ..] => Rest::Ends(end + 2),
        [b'\r'] => Rest::GoesOn(end),
        _ => Rest::BareNewline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_crlf_only() {
        for (input, expected) in [
            ("", Line::Partial),
            ("NOOP", Line::Partial),
            ("NOOP\r", Line::Partial),
            ("NOOP\r\n", Line::Whole(b"NOOP")),
            ("NOOP\r\nQUIT\r\n", Line::Whole(b"NOOP")),
            ("\r\n", Line::Whole(b"")),
            ("NOOP\n", Line::BareNewline),
            ("NO\rOP\r\n", Line::BareNewline),
            ("NOOP\r\r\n", Line::BareNewline),
            ("12345678", Line::Partial),
            ("12345678\r", Line::Partial),
            ("12345678\r\n", Line::Whole(b"12345678")),
            ("123456789", Line::TooLong),
            ("123456789\r", Line::TooLong),
            ("123456789\r\n", Line::TooLong),
        ] {
            assert_eq!(line(input.as_bytes(), 8), expected, "{input:?}");
        }
    }

    #[test]
    fn the_rest_of_a_long_line_is_swallowed_to_its_end() {
        for (input, expected) in [
            ("", Rest::GoesOn(0)),
            ("abc", Rest::GoesOn(3)),
            ("abc\r", Rest::GoesOn(3)),
            ("abc\r\nNOOP", Rest::Ends(5)),
            ("abc\nNOOP", Rest::BareNewline),
            ("abc\rNOOP", Rest::BareNewline),
        ] {
            assert_eq!(rest(input.as_bytes()), expected, "{input:?}");
        }
    }
}
