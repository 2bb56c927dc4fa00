//! Writes messages as files of a tar, to any stream.

use std::io::{self, Write};

use mail::{MessageId, ReversePath};

use super::header::{Header, Kind, exact, record};
use super::{BLOCK, MAIL_FROM, RCPT_TO};
use crate::owner::letter::Letter;
use crate::owner::name;

/// Bytes of a path that a header holds.
const PATH_MAX: usize = 100;

/// A tar that grows.
pub(in crate::owner) struct Writer<W>(W);

impl<W: Write> Writer<W> {
    pub(in crate::owner) fn new(out: W) -> Self {
        Self(out)
    }

    /// Write one message.
    pub(in crate::owner) fn write(&mut self, mailbox: &str, id: MessageId, letter: &Letter) -> io::Result<()> {
        let folder = name::components(mailbox).map_err(io::Error::other)?.join("/");
        let path = format!("{folder}/{id}.eml");
        let modified = letter.received_at.unwrap_or_default().as_second();
        let extended = extended(&path, letter);
        // Cut anywhere, a long path could look like that of a directory; the extended header has it whole.
        let short = if path.len() > PATH_MAX { format!("{id}.eml") } else { path };
        let head = |path: String, kind, size: usize| Header { path, kind, size: size as u64, modified };
        self.file(&head(format!("PaxHeaders/{id}"), Kind::Extended, extended.len()), &extended)?;
        self.file(&head(short, Kind::File, letter.raw.len()), &letter.raw)
    }

    /// Write what ends a tar; the stream, which is yet to be flushed.
    pub(in crate::owner) fn finish(mut self) -> io::Result<W> {
        self.0.write_all(&[0; 2 * BLOCK])?;
        Ok(self.0)
    }

    fn file(&mut self, header: &Header, content: &[u8]) -> io::Result<()> {
        self.0.write_all(&header.block())?;
        self.0.write_all(content)?;
        self.0.write_all(&[0; BLOCK][..content.len().next_multiple_of(BLOCK) - content.len()])
    }
}

/// What the header has no place for.
fn extended(path: &str, letter: &Letter) -> Vec<u8> {
    let mut out = Vec::new();
    if path.len() > PATH_MAX {
        record("path", path, &mut out);
    }
    record("mtime", &exact(letter.received_at.unwrap_or_default()), &mut out);
    if let Some(ReversePath(sender)) = &letter.mail_from {
        let sender = sender.as_ref().map(ToString::to_string).unwrap_or_default();
        record(MAIL_FROM, &format!("<{sender}>"), &mut out);
    }
    if !letter.rcpt_to.is_empty() {
        let recipients: Vec<String> = letter.rcpt_to.iter().map(ToString::to_string).collect();
        record(RCPT_TO, &recipients.join("\n"), &mut out);
    }
    out
}
