//! What `postkeep send` needs of sendmail: a message made ready for its envelope, and handed on. How it ends is told in other
//! words than sendmail's exit codes.

use std::time::Duration;

use net::Place;

use super::ending::{Ending, Failure};
use super::letter::{self, Letter};
use super::link::Link;
use super::options::{Dots, Options, Source};
use super::{TIMEOUT, converse, header, login, name, place, recipients, unsendable};

/// A message and its envelope.
pub(crate) struct Ready {
    letter: Letter,
    host: String,
}

/// A message to be written.
pub(crate) struct Draft<'a> {
    pub(crate) to: &'a [String],
    pub(crate) subject: &'a str,
    pub(crate) text: Option<String>,
    pub(crate) html: Option<String>,
}

/// Why nothing was handed on; each with what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unsent {
    /// The message or its addresses make no sense.
    Misused(String),
    /// There is no server.
    Unreachable(String),
    /// The server does not want it.
    Refused(String),
    /// The server cannot take it now.
    Later(String),
}

impl Ready {
    /// Lines become CRLF, Bcc goes, and fields that must be there are added. Without a sender it is the one in From; without
    /// recipients they are those in To, Cc and Bcc.
    pub(crate) fn compose(input: &[u8], sender: Option<&str>, recipients: &[String]) -> Result<Self, Unsent> {
        let origin = login::origin();
        let sender = sender.map(str::to_owned).or_else(|| author(input, &origin.host));
        let source = if recipients.is_empty() { Source::Header } else { Source::Arguments };
        let options =
            Options { recipients: recipients.to_vec(), source, dots: Dots::Text, sender, ..Options::default() };
        let letter = letter::compose(input, &options, &origin).map_err(|why| Unsent::Misused(unsendable(why).what))?;
        Ok(Self { letter, host: origin.host })
    }

    /// Empty for the empty reverse path.
    pub(crate) fn sender(&self) -> String {
        self.letter.sender.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    pub(crate) fn recipients(&self) -> Vec<String> {
        self.letter.recipients.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn content(&self) -> &[u8] {
        &self.letter.content
    }

    /// Hand it to the SMTP server at this place.
    pub(crate) fn send(&self, server: &str) -> Result<(), Unsent> {
        let options = Options { server: Some(server.to_owned()), ..Options::default() };
        let place: Place = place(&options).map_err(|failure| Unsent::Misused(failure.what))?;
        let link = Link::connect(&place, Duration::from_secs(TIMEOUT), false).map_err(|error| {
            Unsent::Unreachable(format!(
                "cannot reach {place}: {error}; is the server running there? --smtp names another"
            ))
        })?;
        let told = |Failure { ending, what }| match ending {
            Ending::Temporary => Unsent::Later(format!("{place}: {what}")),
            _ => Unsent::Refused(format!("{place}: {what}")),
        };
        converse(link, &self.letter, &self.host).map_err(told)
    }
}

/// The first address in From.
fn author(input: &[u8], host: &str) -> Option<String> {
    let message = header::read(input).ok()?;
    let field = message.fields.iter().find(|field| field.is("From"))?;
    let list = recipients::list(&String::from_utf8_lossy(field.value), host).ok()?;
    list.first().map(ToString::to_string)
}

impl Draft<'_> {
    /// The message as bytes; From, Date and Message-ID come with the envelope.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Unsent> {
        if self.subject.contains(char::is_control) || self.to.iter().any(|to| to.contains(char::is_control)) {
            return Err(Unsent::Misused("a control character in the subject or in a recipient; remove it".to_owned()));
        }
        let subject = if self.subject.is_ascii() { self.subject.to_owned() } else { name::encoded(self.subject) };
        let mut message = format!("To: {}\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n", self.to.join(", "));
        let part = |kind: &str, text: &str| {
            format!("Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}\r\n")
        };
        match (&self.text, &self.html) {
            (Some(text), Some(html)) => {
                let mark = "=_postkeep_send";
                message.push_str(&format!("Content-Type: multipart/alternative; boundary=\"{mark}\"\r\n\r\n"));
                for part in [part("plain", text), part("html", html)] {
                    message.push_str(&format!("--{mark}\r\n{part}"));
                }
                message.push_str(&format!("--{mark}--\r\n"));
            }
            (None, Some(html)) => message.push_str(&part("html", html)),
            (text, None) => message.push_str(&part("plain", text.as_deref().unwrap_or_default())),
        }
        Ok(message.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_its_own_envelope() {
        let input = b"From: Ann <ann@x.test>\nTo: bob@x.test\nBcc: cleo@x.test\n\nHi\n";
        let ready = Ready::compose(input, None, &[]).unwrap();
        assert_eq!(
            (ready.sender().as_str(), ready.recipients()),
            ("ann@x.test", vec!["bob@x.test".into(), "cleo@x.test".into()])
        );
        assert!(!String::from_utf8_lossy(ready.content()).contains("cleo"));
        let ready = Ready::compose(input, Some("<>"), &["dora@x.test".into()]).unwrap();
        assert_eq!((ready.sender().as_str(), ready.recipients()), ("", vec!["dora@x.test".to_owned()]));
    }

    #[test]
    fn a_message_is_written_of_what_is_given() {
        let to = ["bob@x.test".to_owned()];
        let draft = Draft { to: &to, subject: "Grüße", text: Some("one".into()), html: Some("<p>one".into()) };
        let text = String::from_utf8(draft.write().unwrap()).unwrap();
        assert!(text.starts_with("To: bob@x.test\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n"), "{text}");
        assert_eq!(text.matches("--=_postkeep_send\r\n").count(), 2, "{text}");
        let bad = Draft { to: &to, subject: "a\r\nBcc: x@y", text: None, html: None };
        assert!(matches!(bad.write(), Err(Unsent::Misused(_))));
    }
}
