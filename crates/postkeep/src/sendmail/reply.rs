//! One reply of an SMTP server (RFC 5321 §4.2): read line by line, within limits. It knows no socket.

use crate::log::escaped;

/// Octets of a line; RFC 5321 §4.5.3.1.5 allows 512.
pub(super) const LINE_MAX: usize = 4096;
/// Lines of a reply.
const LINES_MAX: usize = 200;

/// What a server said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Reply {
    pub(super) code: u16,
    /// Its lines without the code.
    pub(super) lines: Vec<String>,
}

/// This is no reply of an SMTP server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NoReply;

impl Reply {
    /// Take a line without its line end; whether the reply is whole now.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<bool, NoReply> {
        let (digits, rest) = line.split_at_checked(3).ok_or(NoReply)?;
        let code = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(NoReply)?;
        let (is_last, text) = match rest {
            [] => (true, rest),
            [b' ', text @ ..] => (true, text),
            [b'-', text @ ..] => (false, text),
            _ => return Err(NoReply),
        };
        let is_other = !self.lines.is_empty() && code != self.code;
        if !(200..600).contains(&code) || is_other || self.lines.len() == LINES_MAX {
            return Err(NoReply);
        }
        self.code = code;
        self.lines.push(String::from_utf8_lossy(text).into_owned());
        Ok(is_last)
    }

    /// `2`, `3`, `4` or `5`.
    pub(super) fn class(&self) -> u16 {
        self.code / 100
    }

    /// In one line that harms no terminal.
    pub(super) fn shown(&self) -> String {
        let text: Vec<_> = self.lines.iter().map(|line| escaped(line.trim())).collect();
        format!("{} {}", self.code, text.join(" ")).trim_end().to_owned()
    }
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
            (&["250-one", "250 two"], 250, "250 one two", true),
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
}
