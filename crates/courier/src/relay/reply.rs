//! One reply of an SMTP server (RFC 5321 §4.2): read line by line, within limits. It knows no socket.

/// Octets of a line; RFC 5321 §4.5.3.1.5 allows 512.
pub const LINE_MAX: usize = 4096;
/// Lines of a reply.
const LINES_MAX: usize = 200;
/// Characters of a reply that are kept for people to read.
const SHOWN_MAX: usize = 500;

/// What a server said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reply {
    /// `2xx` to `5xx`.
    pub code: u16,
    /// Its lines without the code.
    pub lines: Vec<String>,
}

/// This is no reply of an SMTP server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoReply;

impl Reply {
    /// Take a line without its line end; whether the reply is whole now.
    ///
    /// # Errors
    /// No server of SMTP would say this.
    pub fn take(&mut self, line: &[u8]) -> Result<bool, NoReply> {
        let (digits, rest) = line.split_at_checked(3).ok_or(NoReply)?;
        let code = number(digits).ok_or(NoReply)?;
        let (is_last, text) = match rest {
            [] => (true, rest),
            [b' ', text @ ..] => (true, text),
            [b'-', text @ ..] => (false, text),
            _ => return Err(NoReply),
        };
        let is_other = !self.lines.is_empty() && code != self.code;
        if is_other || self.lines.len() == LINES_MAX {
            return Err(NoReply);
        }
        self.code = code;
        self.lines.push(String::from_utf8_lossy(text).into_owned());
        Ok(is_last)
    }

    /// `2`, `3`, `4` or `5`.
    pub fn class(&self) -> u16 {
        self.code / 100
    }

    /// In one line of printable characters, however long and strange it was.
    pub fn shown(&self) -> String {
        let mut shown = self.code.to_string();
        for word in self.lines.iter().flat_map(|line| line.split_whitespace()) {
            shown.push(' ');
            for letter in word.chars() {
                if is_tame(letter) { shown.push(letter) } else { shown.extend(letter.escape_unicode()) }
            }
            if shown.len() > SHOWN_MAX {
                break;
            }
        }
        shown.chars().take(SHOWN_MAX).collect()
    }
}

/// Three digits, the first of them 2 to 5.
fn number(digits: &[u8]) -> Option<u16> {
    let sound = digits.iter().all(u8::is_ascii_digit) && (b'2'..=b'5').contains(digits.first()?);
    std::str::from_utf8(digits).ok().filter(|_| sound)?.parse().ok()
}

/// Whether it can stand in a log or on a page: neither a control character nor one that turns the text round.
fn is_tame(letter: char) -> bool {
    let turns =
        matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    !letter.is_control() && !turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Option<(Reply, bool)> {
        let mut reply = Reply::default();
        let mut whole = false;
        for line in lines {
            whole = reply.take(line.as_bytes()).ok()?;
        }
        Some((reply, whole))
    }

    #[test]
    fn replies_by_example() {
        for (lines, code, shown, whole) in [
            (&["250 Ok"][..], 250, "250 Ok", true),
            (&["250"], 250, "250", true),
            (&["250 "], 250, "250", true),
            (&["250-one", "250 two  three"], 250, "250 one two three", true),
            (&["250-one"], 250, "250 one", false),
            (&["550 5.1.1 \x1b[31mno\u{202e}"], 550, "550 5.1.1 \\u{1b}[31mno\\u{202e}", true),
        ] {
            let (reply, is_whole) = read(lines).unwrap();
            assert_eq!((reply.code, reply.shown().as_str(), is_whole), (code, shown, whole), "{lines:?}");
        }
    }

    #[test]
    fn what_is_no_reply_is_told() {
        for lines in [
            &[""][..],
            &["25"],
            &["250x"],
            &["HTTP/1.1 400 Bad Request"],
            &["+OK POP3"],
            &["199 x"],
            &["600 x"],
            &["250-a", "251 b"],
            &["+50 x"],
        ] {
            assert_eq!(read(lines), None, "{lines:?}");
        }
        assert!(read(&["250-x"; LINES_MAX]).is_some() && read(&["250-x"; LINES_MAX + 1]).is_none());
    }

    #[test]
    fn a_long_reply_is_shown_in_part() {
        let (reply, _) = read(&[&format!("550 {}", "é".repeat(LINE_MAX))]).unwrap();
        assert_eq!(reply.shown().chars().count(), SHOWN_MAX);
    }
}
