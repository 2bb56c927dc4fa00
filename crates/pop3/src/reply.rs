//! A reply is a value: its status, its code and its text are settled before a byte is written.

use std::borrow::Cow;

/// One reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Whether it was done.
    pub status: Status,
    /// Why not, for programs.
    pub code: Option<Code>,
    /// One clean line.
    pub text: Cow<'static, str>,
    /// Further lines, none of which begins with a dot; with any the reply ends in a line of one dot (RFC 1939 §3).
    pub lines: Vec<&'static str>,
}

/// How a reply begins (RFC 1939 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// `+OK`
    Ok,
    /// `-ERR`
    Err,
}

/// Response codes (RFC 2449 §8, RFC 3206).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The name or the password is wrong.
    Auth,
    /// It may work later.
    SysTemp,
    /// It will not work until somebody sees to it.
    SysPerm,
}

impl Reply {
    /// It was done.
    pub const fn ok(text: &'static str) -> Self {
        Self { status: Status::Ok, code: None, text: Cow::Borrowed(text), lines: Vec::new() }
    }

    /// It was not done.
    pub const fn err(text: &'static str) -> Self {
        Self { status: Status::Err, code: None, text: Cow::Borrowed(text), lines: Vec::new() }
    }

    /// It was not done, and programs are told why.
    pub const fn coded(code: Code, text: &'static str) -> Self {
        Self { status: Status::Err, code: Some(code), text: Cow::Borrowed(text), lines: Vec::new() }
    }

    /// The same with a text made for the moment.
    pub fn saying(self, text: String) -> Self {
        Self { text: Cow::Owned(text), ..self }
    }

    /// Append the wire form.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.status.word());
        out.extend_from_slice(self.code.map_or(b"", Code::word));
        if !self.text.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.text.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        for line in &self.lines {
            out.extend_from_slice(line.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        if !self.lines.is_empty() {
            out.extend_from_slice(b".\r\n");
        }
    }
}

impl Status {
    const fn word(self) -> &'static [u8] {
        match self {
            Self::Ok => b"+OK",
            Self::Err => b"-ERR",
        }
    }
}

impl Code {
    const fn word(self) -> &'static [u8] {
        match self {
            Self::Auth => b" [AUTH]",
            Self::SysTemp => b" [SYS/TEMP]",
            Self::SysPerm => b" [SYS/PERM]",
        }
    }
}

/// Append a number in digits.
pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    if value >= 10 {
        number(out, value / 10);
    }
    out.push(b'0' + (value % 10) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &Reply, expected: &str) {
        let mut out = Vec::new();
        reply.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_reply_has_its_wire_form() {
        check(&Reply::ok("Bye"), "+OK Bye\r\n");
        check(&Reply::ok(""), "+OK\r\n");
        check(&Reply::err("No"), "-ERR No\r\n");
        check(&Reply::coded(Code::Auth, "No"), "-ERR [AUTH] No\r\n");
        check(&Reply::coded(Code::SysTemp, "Later").saying("Soon".into()), "-ERR [SYS/TEMP] Soon\r\n");
        check(&Reply::coded(Code::SysPerm, ""), "-ERR [SYS/PERM]\r\n");
        check(
            &Reply { lines: vec!["TOP", "UIDL"], ..Reply::ok("This is it") },
            "+OK This is it\r\nTOP\r\nUIDL\r\n.\r\n",
        );
    }

    #[test]
    fn numbers_have_all_their_digits() {
        for value in [0, 9, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            number(&mut out, value);
            assert_eq!(out, value.to_string().into_bytes());
        }
    }
}
