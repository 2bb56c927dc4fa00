//! A password from stdin: a line, or typed on a terminal that does not show it.

use std::io::{self, IsTerminal, Read};

use anyhow::{Context, Error, Result, bail};
use mailroom::users::SECRET_MAX;

/// Read the password.
pub(super) fn read() -> Result<String> {
    let stdin = io::stdin();
    let octets = if stdin.is_terminal() { typed_twice()? } else { piped(stdin.lock())? };
    String::from_utf8(octets).map_err(|_| Error::msg("the password is no UTF-8; give it in UTF-8"))
}

/// One line, with or without its end.
fn piped(from: impl Read) -> Result<Vec<u8>> {
    let mut octets = Vec::new();
    let max = SECRET_MAX + "\r\n".len();
    from.take(max as u64 + 1).read_to_end(&mut octets).context("cannot read the password from stdin")?;
    if octets.len() > max {
        bail!("the password on stdin is longer than {SECRET_MAX} octets; give a shorter one");
    }
    let line = octets.strip_suffix(b"\n").map_or(&octets[..], |line| line.strip_suffix(b"\r").unwrap_or(line));
    if line.is_empty() {
        bail!("there is no password on stdin; pipe one in, or start it on a terminal to be asked for it");
    }
    if memchr::memchr2(b'\n', b'\r', line).is_some() {
        bail!("there is more than one line on stdin; give the password alone");
    }
    Ok(line.to_vec())
}

/// So that a slip of the finger is noticed now.
#[cfg(unix)]
fn typed_twice() -> Result<Vec<u8>> {
    let first = terminal::typed("Password: ")?;
    if first.is_empty() {
        bail!("no password was given; start it again and type one");
    }
    if first != terminal::typed("The same again: ")? {
        bail!("these were two different passwords; start it again");
    }
    Ok(first)
}

#[cfg(not(unix))]
fn typed_twice() -> Result<Vec<u8>> {
    bail!("passwords are not asked for on this system; give it on stdin: postkeep users hash < password.txt")
}

#[cfg(unix)]
mod terminal {
    //! The terminal is told to show nothing and to hand over every key, Ctrl-C included: whichever way it ends, it is told
    //! to be as before.

    use std::io::{self, Read, Write};

    use anyhow::{Context, Result, bail};
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    use super::SECRET_MAX;
    use super::keys::{Line, State};

    /// Shows nothing for as long as it lives.
    struct Silence(Termios);

    impl Silence {
        fn new() -> Result<Self> {
            let usual = tcgetattr(io::stdin()).context("cannot ask the terminal how it is set")?;
            let mut silent = usual.clone();
            silent.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
            silent.special_codes[SpecialCodeIndex::VMIN] = 1;
            tcsetattr(io::stdin(), OptionalActions::Flush, &silent)
                .context("cannot tell the terminal to show nothing")?;
            Ok(Self(usual))
        }
    }

    impl Drop for Silence {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
        }
    }

    /// Ask, and read a line that is not shown.
    pub(super) fn typed(question: &str) -> Result<Vec<u8>> {
        let silence = Silence::new()?;
        // Not on stdout: that is where the hash goes.
        io::stderr().write_all(question.as_bytes())?;
        let typed = line();
        drop(silence);
        let _ = io::stderr().write_all(b"\n");
        typed
    }

    fn line() -> Result<Vec<u8>> {
        let mut line = Line::new(SECRET_MAX);
        let mut key = [0];
        loop {
            if io::stdin().lock().read(&mut key).context("cannot read from the terminal")? == 0 {
                bail!("the terminal is gone");
            }
            match line.press(key[0]) {
                State::Open => {}
                State::Whole => return Ok(line.octets()),
                State::GivenUp => bail!("given up; nothing was printed"),
            }
        }
    }
}

mod keys {
    //! A line as it is typed, key by key.
    #![cfg_attr(not(unix), allow(dead_code, reason = "nothing is typed there"))]

    /// How far a line is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum State {
        Open,
        Whole,
        /// Ctrl-C, Ctrl-\, or Ctrl-D on an empty line.
        GivenUp,
    }

    /// What has been typed.
    pub(super) struct Line {
        octets: Vec<u8>,
        max: usize,
    }

    impl Line {
        pub(super) fn new(max: usize) -> Self {
            Self { octets: Vec::new(), max }
        }

        /// A key. What is typed beyond one octet too many is dropped: then it is too long, and that is told.
        pub(super) fn press(&mut self, key: u8) -> State {
            match key {
                b'\r' | b'\n' => return State::Whole,
                0x03 | 0x1c => return State::GivenUp,
                0x04 if self.octets.is_empty() => return State::GivenUp,
                0x04 => return State::Whole,
                0x08 | 0x7f => self.rub_out(),
                0x15 => self.octets.clear(),
                _ if self.octets.len() <= self.max => self.octets.push(key),
                _ => {}
            }
            State::Open
        }

        /// The last letter, all octets of it.
        fn rub_out(&mut self) {
            while self.octets.pop().is_some_and(|octet| octet & 0b1100_0000 == 0b1000_0000) {}
        }

        pub(super) fn octets(self) -> Vec<u8> {
            self.octets
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[track_caller]
        fn check(keys: &str, state: State, expected: &str) {
            let mut line = Line::new(5);
            let last = keys.bytes().map(|key| line.press(key)).last();
            assert_eq!(
                (last, String::from_utf8(line.octets()).unwrap()),
                (Some(state), expected.to_owned()),
                "{keys:?}"
            );
        }

        #[test]
        fn keys_by_example() {
            check("ab\r", State::Whole, "ab");
            check("ab\n", State::Whole, "ab");
            check("ab\x04", State::Whole, "ab");
            check("\x04", State::GivenUp, "");
            check("ab\x03", State::GivenUp, "ab");
            check("aü\x7fb\x08c\r", State::Whole, "ac");
            check("\x7fab\x15c\r", State::Whole, "c");
            check("abcdefgh", State::Open, "abcdef");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_a_password() {
        for (input, expected) in [("x", "x"), ("x\n", "x"), ("x\r\n", "x"), (" a b \n", " a b ")] {
            assert_eq!(piped(input.as_bytes()).unwrap(), expected.as_bytes(), "{input:?}");
        }
        let largest = "x".repeat(SECRET_MAX);
        assert_eq!(piped(format!("{largest}\r\n").as_bytes()).unwrap().len(), SECRET_MAX);
        let longer = "x".repeat(SECRET_MAX + 3);
        for (input, words) in
            [("", "no password"), ("\n", "no password"), ("a\nb\n", "more than one line"), (&longer, "longer than")]
        {
            let error = piped(input.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{input:?}: {error}");
        }
    }
}
