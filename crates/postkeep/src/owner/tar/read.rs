//! Reads messages from the files of a tar, ours or another's. Names of files become names of mailboxes and nothing else.

use std::io::{self, Read};

use jiff::Timestamp;
use mail::address::{Charset, Path, path};
use mail::{Address, ReversePath};

use super::header::{Header, Kind, moment, records};
use super::{BLOCK, EXTENDED_MAX, MAIL_FROM, RCPT_TO};
use crate::owner::letter::{Found, Letter, TOO_LARGE};
use crate::owner::name;

const NO_MESSAGE: &str = "it is no message: a message is a plain file whose name ends with .eml";
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads messages one by one, each whole, of at most so many bytes.
pub(in crate::owner) struct Reader<R> {
    from: R,
    message_max: usize,
    /// Bytes read so far.
    at: u64,
}

/// What was said about the file that comes next.
#[derive(Default)]
struct Ahead {
    path: Option<String>,
    size: Option<u64>,
    received_at: Option<Timestamp>,
    mail_from: Option<ReversePath>,
    rcpt_to: Vec<Address>,
}

impl<R: Read> Reader<R> {
    pub(in crate::owner) fn new(from: R, message_max: usize) -> Self {
        Self { from, message_max, at: 0 }
    }

    /// The next message; none at the end.
    pub(in crate::owner) fn next(&mut self) -> io::Result<Option<Found>> {
        let mut ahead = Ahead::default();
        loop {
            let Some(header) = self.header()? else { return Ok(None) };
            let size = ahead.size.unwrap_or(header.size);
            // Before there was a sign for directories, a slash at the end was one.
            let is_dir = header.kind == Kind::File && ahead.path.as_ref().unwrap_or(&header.path).ends_with('/');
            match header.kind {
                Kind::File if is_dir => {
                    self.pass(size)?;
                    ahead = Ahead::default();
                }
                Kind::Extended => ahead.read(&self.small(header.size)?),
                Kind::LongName => {
                    let name = self.small(header.size)?;
                    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
                    ahead.path = Some(String::from_utf8_lossy(&name[..end]).into_owned());
                }
                Kind::Directory => {
                    self.pass(size)?;
                    ahead = Ahead::default();
                }
                Kind::File => return self.file(&header, size, ahead).map(Some),
                Kind::Other => {
                    self.pass(size)?;
                    let path = ahead.path.unwrap_or(header.path);
                    return Ok(Some(Found::Passed(path, NO_MESSAGE)));
                }
            }
        }
    }

    fn file(&mut self, header: &Header, size: u64, ahead: Ahead) -> io::Result<Found> {
        let path = ahead.path.unwrap_or_else(|| header.path.clone());
        let too_large = size > self.message_max as u64;
        if too_large || !path.ends_with(".eml") {
            self.pass(size)?;
            return Ok(Found::Passed(path, if too_large { TOO_LARGE } else { NO_MESSAGE }));
        }
        let raw = self.content(size)?;
        let by_header = Timestamp::from_second(header.modified).ok().filter(|_| header.modified != 0);
        let letter = Letter {
            received_at: ahead.received_at.or(by_header),
            mail_from: ahead.mail_from,
            rcpt_to: ahead.rcpt_to,
            raw,
        };
        Ok(Found::Letter(mailbox(&path), letter))
    }

    /// The next header; none at the end.
    fn header(&mut self) -> io::Result<Option<Header>> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.from.read(&mut block[filled..])? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(self.bad("ends in the middle; copy it again")),
                count => filled += count,
            }
        }
        if block == [0; BLOCK] {
            return Ok(None);
        }
        if self.at == 0 && block.starts_with(&GZIP) {
            return Err(self.bad("is compressed; give it unpacked, as by gzip -dc"));
        }
        let header = Header::read(&block).ok_or_else(|| self.bad("is no tar file, or damaged from there on"))?;
        self.at += BLOCK as u64;
        Ok(Some(header))
    }

    /// The content of a header, which is small.
    fn small(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > EXTENDED_MAX { Err(self.bad("has a header that is too large")) } else { self.content(size) }
    }

    /// So many bytes, and what fills their last block.
    fn content(&mut self, size: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.from.by_ref().take(size).read_to_end(&mut content)?;
        if content.len() as u64 != size {
            return Err(self.bad("ends in the middle; copy it again"));
        }
        self.at += size;
        self.skip(padding(size))?;
        Ok(content)
    }

    /// Read so many bytes, and what fills their last block, and forget them.
    fn pass(&mut self, size: u64) -> io::Result<()> {
        let whole = size.checked_add(padding(size)).ok_or_else(|| self.bad("is damaged"))?;
        self.skip(whole)
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.from.by_ref().take(bytes), &mut io::sink())?;
        self.at += skipped;
        if skipped == bytes { Ok(()) } else { Err(self.bad("ends in the middle; copy it again")) }
    }

    fn bad(&self, what: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("it {what} (at byte {})", self.at))
    }
}

impl Ahead {
    fn read(&mut self, bytes: &[u8]) {
        for (key, value) in records(bytes) {
            let text = || std::str::from_utf8(value).unwrap_or_default();
            match key {
                "path" => self.path = Some(String::from_utf8_lossy(value).into_owned()),
                "size" => self.size = text().parse().ok(),
                "mtime" => self.received_at = moment(text()),
                MAIL_FROM => self.mail_from = sender(value),
                RCPT_TO => self.rcpt_to = text().lines().filter_map(address).collect(),
                _ => {}
            }
        }
    }
}

fn sender(value: &[u8]) -> Option<ReversePath> {
    match path(value, Charset::Utf8).ok()?.0 {
        Path::Null => Some(ReversePath(None)),
        Path::Address(address) => Some(ReversePath(Some(address))),
        Path::Postmaster => None,
    }
}

fn address(line: &str) -> Option<Address> {
    Address::parse(line, Charset::Utf8).ok()
}

/// The mailbox that the directory of a file names, when it lies in one.
fn mailbox(path: &str) -> Option<String> {
    let (folders, _) = path.rsplit_once('/')?;
    let folders: Vec<&str> = folders.split('/').filter(|folder| !folder.is_empty() && *folder != ".").collect();
    let last = folders.last()?.to_string();
    // What cannot be read is told as it stands: it names no mailbox.
    Some(name::name(folders.into_iter()).unwrap_or(last))
}

fn padding(size: u64) -> u64 {
    size.wrapping_neg() % BLOCK as u64
}
