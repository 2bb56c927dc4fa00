//! The command line of sendmail, as PHP, cron and mail programs write it. It knows options and none of what they do.
//!
//! Short options may stand together (`-ti`), and a value may stand with its option or behind it (`-fann@x`, `-f ann@x`).
//! The first word that is no option ends them, as in sendmail; one that comes later is refused, since it is no recipient
//! either. So nothing that a form hands over as a recipient becomes an option.

use std::ffi::OsString;

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// Hand on the message that stands on stdin.
    Send(Options),
    Help,
    Version,
    /// `-q`: there is no queue, so it has been done already.
    RunQueue,
}

/// How the message is to be handed on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Options {
    /// As given: each may be a list of addresses with names.
    pub(super) recipients: Vec<String>,
    pub(super) source: Source,
    pub(super) dots: Dots,
    pub(super) breaks: Breaks,
    /// `-f` or `-r`: the envelope's sender.
    pub(super) sender: Option<String>,
    /// `-F`: the name beside the sender, where a From field has to be made.
    pub(super) name: Option<String>,
    pub(super) verbose: bool,
    /// `-S`: where the server is.
    pub(super) server: Option<String>,
    pub(super) timeout: Option<String>,
}

/// Where recipients are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Source {
    #[default]
    Arguments,
    /// `-t`: in To, Cc and Bcc as well.
    Header,
}

/// What a line with a single dot is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Dots {
    /// The end of the message.
    #[default]
    End,
    /// `-i`: a line like any other.
    Text,
}

/// What line feeds are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Breaks {
    /// The ends of lines, which become CRLF.
    #[default]
    Lines,
    /// `-B BINARYMIME`: octets like any other.
    Octets,
}

/// What is wrong on the command line, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Misuse(pub(super) String);

/// Without a value. `-G -U -c -m -n -s -x` change nothing here.
const FLAGS: &str = "GUcimnstvx";
/// With a value, in the same word or in the next. `-A -C -L -M -N -R -V -X -e -h -p` change nothing here.
const VALUES: &str = "ABCFLMNORSVXbefhopr";
/// With a value in the same word or none. `-d` changes nothing here.
const MAYBE: &str = "dq";

/// Read the words behind the program's name.
pub(super) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Wish, Misuse> {
    let words: Result<Vec<String>, _> = words.into_iter().map(OsString::into_string).collect();
    let words = words.map_err(|word| Misuse(format!("{} is no UTF-8; write it in UTF-8", word.display())))?;
    if matches!(&words[..], [word] if word == "-h" || word == "--help") {
        return Ok(Wish::Help);
    }
    let mut reader = Reader { words: words.into_iter(), options: Options::default(), instead: None };
    let first = reader.options()?;
    if first.is_some()
        && let Some(late) = reader.words.as_slice().iter().find(|word| word.starts_with('-'))
    {
        let late = late.escape_debug();
        return Err(Misuse(format!(
            "{late} stands behind a recipient; options stand before, and behind -- all are recipients"
        )));
    }
    reader.options.recipients.extend(first.into_iter().chain(reader.words));
    Ok(reader.instead.unwrap_or(Wish::Send(reader.options)))
}

struct Reader {
    words: std::vec::IntoIter<String>,
    options: Options,
    /// What was asked for instead of sending.
    instead: Option<Wish>,
}

impl Reader {
    /// Up to the first word that is no option, which is returned.
    fn options(&mut self) -> Result<Option<String>, Misuse> {
        while let Some(word) = self.words.next() {
            match word.strip_prefix('-') {
                Some("-") => return Ok(None),
                Some("") | None => return Ok(Some(word)),
                Some(letters) => match letters.strip_prefix('-') {
                    Some(name) => self.long(name)?,
                    None => self.short(letters)?,
                },
            }
        }
        Ok(None)
    }

    fn long(&mut self, word: &str) -> Result<(), Misuse> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
        match (name, &value) {
            ("server", _) => self.options.server = Some(self.value_of("--server", value)?),
            ("timeout", _) => self.options.timeout = Some(self.value_of("--timeout", value)?),
            ("help", None) => self.instead = Some(Wish::Help),
            ("version", None) => self.instead = Some(Wish::Version),
            _ => return Err(unknown(&format!("--{name}"))),
        }
        Ok(())
    }

    /// Options of one letter, as many as stand in one word.
    fn short(&mut self, letters: &str) -> Result<(), Misuse> {
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            if FLAGS.contains(letter) {
                self.flag(letter);
            } else if VALUES.contains(letter) {
                let value = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
                let value = self.value_of(&format!("-{letter}"), value)?;
                return self.value(letter, value);
            } else if MAYBE.contains(letter) {
                if letter == 'q' {
                    self.instead = Some(Wish::RunQueue);
                }
                return Ok(());
            } else {
                return Err(unknown(&format!("-{letter}")));
            }
        }
        Ok(())
    }

    /// The value that stood with an option, or else the next word.
    fn value_of(&mut self, option: &str, value: Option<String>) -> Result<String, Misuse> {
        value
            .or_else(|| self.words.next())
            .ok_or_else(|| Misuse(format!("{option} needs a value behind it; see --help")))
    }

    fn flag(&mut self, letter: char) {
        match letter {
            'i' => self.options.dots = Dots::Text,
            't' => self.options.source = Source::Header,
            'v' => self.options.verbose = true,
            _ => {}
        }
    }

    fn value(&mut self, letter: char, value: String) -> Result<(), Misuse> {
        match letter {
            'f' | 'r' => self.options.sender = Some(value),
            'F' => self.options.name = Some(value),
            'S' => self.options.server = Some(value),
            'B' if value.eq_ignore_ascii_case("BINARYMIME") => self.options.breaks = Breaks::Octets,
            'o' if value.starts_with('i') => self.options.dots = Dots::Text,
            'O' if is_ignore_dots(&value) => self.options.dots = Dots::Text,
            'b' => return mode(&value),
            _ => {}
        }
        Ok(())
    }
}

/// `-O IgnoreDots`, or with a value that means yes.
fn is_ignore_dots(option: &str) -> bool {
    let (name, value) = option.split_once('=').unwrap_or((option, "true"));
    name.trim().eq_ignore_ascii_case("IgnoreDots") && !value.trim().to_ascii_lowercase().starts_with(['f', 'n', '0'])
}

/// `-bm` is what this program does.
fn mode(letter: &str) -> Result<(), Misuse> {
    let instead = match letter {
        "m" => return Ok(()),
        "s" | "a" => "speak SMTP to the server itself, by default at 127.0.0.1:1025",
        "d" | "D" => "start the server with `postkeep serve`",
        "p" | "H" | "h" => "there is no queue; every message is handed on at once",
        "i" => "there are no aliases; every address has a mailbox",
        _ => "only -bm is done here",
    };
    Err(Misuse(format!("-b{letter} is not done here: {instead}")))
}

fn unknown(option: &str) -> Misuse {
    Misuse(format!(
        "{option} is no option of sendmail that is known here; see --help. Behind -- everything is a recipient"
    ))
}

#[cfg(test)]
mod tests;
