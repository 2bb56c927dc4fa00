//! A reply is a value: its code, its enhanced code and its text are settled before a byte is written.

use std::borrow::Cow;

use mailroom::Status;

/// One reply. The text holds no control character and fits a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Three digits (RFC 5321 §4.2).
    pub code: u16,
    /// Class, subject, detail (RFC 3463); none for the greeting, EHLO's own reply and 354.
    pub enhanced: Option<(u8, u16, u16)>,
    /// The lines; one but for EHLO's.
    pub text: Cow<'static, str>,
}

/// A text from elsewhere is cut here: with code and enhanced code the line stays below 512 octets (RFC 5321 §4.5.3.1.5).
const TEXT_MAX: usize = 480;

impl Reply {
    /// A reply with an enhanced code.
    pub const fn new(code: u16, enhanced: (u8, u16, u16), text: &'static str) -> Self {
        Self { code, enhanced: Some(enhanced), text: Cow::Borrowed(text) }
    }

    /// A reply that never carries an enhanced code.
    pub const fn plain(code: u16, text: &'static str) -> Self {
        Self { code, enhanced: None, text: Cow::Borrowed(text) }
    }

    /// What the mailroom decided, as a reply. Its text may come from a script: it is kept to one clean line.
    pub fn of(status: &Status) -> Self {
        Self { code: status.code, enhanced: Some(status.enhanced), text: Cow::Owned(clean(&status.text)) }
    }

    /// The same for the mailroom's ring of refusals.
    pub fn status(&self) -> Status {
        Status { code: self.code, enhanced: self.enhanced.unwrap_or((5, 0, 0)), text: self.text.clone().into_owned() }
    }

    /// Whether the client is told that something went wrong.
    pub fn is_negative(&self) -> bool {
        self.code >= 400
    }

    /// Append the wire form. Lines of the text are separated by `\n`.
    pub fn write(&self, out: &mut Vec<u8>, enhanced: Enhanced) {
        let mut lines = self.text.split('\n').peekable();
        while let Some(line) = lines.next() {
            number(out, self.code);
            out.push(if lines.peek().is_some() { b'-' } else { b' ' });
            if let (Some((class, subject, detail)), Enhanced::Shown) = (self.enhanced, enhanced) {
                number(out, class.into());
                out.push(b'.');
                number(out, subject);
                out.push(b'.');
                number(out, detail);
                out.push(b' ');
            }
            out.extend_from_slice(line.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Whether enhanced codes are written: after EHLO they are (RFC 2034 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Enhanced {
    /// After EHLO.
    Shown,
    /// Before EHLO and after HELO.
    Hidden,
}

fn number(out: &mut Vec<u8>, value: u16) {
    if value >= 10 {
        number(out, value / 10);
    }
    out.push(b'0' + (value % 10) as u8);
}

/// One line of ASCII, as every client takes it.
fn clean(text: &str) -> String {
    let shown = |letter: char| match letter {
        ' '..='~' => letter,
        _ if letter.is_control() => ' ',
        _ => '?',
    };
    text.chars().map(shown).take(TEXT_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &Reply, enhanced: Enhanced, expected: &str) {
        let mut out = Vec::new();
        reply.write(&mut out, enhanced);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_reply_has_its_wire_form() {
        check(&Reply::new(250, (2, 1, 0), "Ok"), Enhanced::Shown, "250 2.1.0 Ok\r\n");
        check(&Reply::new(250, (2, 1, 0), "Ok"), Enhanced::Hidden, "250 Ok\r\n");
        check(&Reply::plain(354, "Go on"), Enhanced::Shown, "354 Go on\r\n");
        check(&Reply::plain(250, "host\nSIZE 5\nHELP"), Enhanced::Shown, "250-host\r\n250-SIZE 5\r\n250 HELP\r\n");
        check(&Reply::new(452, (4, 5, 3), "a"), Enhanced::Shown, "452 4.5.3 a\r\n");
        check(&Reply::new(550, (5, 7, 509), "a"), Enhanced::Shown, "550 5.7.509 a\r\n");
    }

    #[test]
    fn a_text_from_elsewhere_stays_on_one_line() {
        let status =
            Status { code: 550, enhanced: (5, 7, 1), text: format!("no\r\n250 yes\x1b[31m{}", "é".repeat(900)) };
        let mut out = Vec::new();
        Reply::of(&status).write(&mut out, Enhanced::Shown);
        assert!(out.len() > 480 && out.len() <= 512, "{}", out.len());
        assert!(out.is_ascii());
        assert!(out.starts_with(b"550 5.7.1 no  250 yes [31m"));
        assert_eq!(out.iter().filter(|byte| byte.is_ascii_control()).count(), 2, "only the CRLF");
    }
}
