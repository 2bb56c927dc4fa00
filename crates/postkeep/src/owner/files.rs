//! What an import reads from: files, directories or stdin, each in its format, one message at a time.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::letter::Found;
use super::tree::{Dir, Kind};
use super::{Format, Misuse, maildir, mbox, name, tar};

/// Bytes read ahead.
const BUFFER: usize = 1 << 20;
/// Directories in each other that a long name makes.
const DEPTH_MAX: usize = 16;
const ENDING: &str = ".mbox";
const NO_MBOX: &str = "it is no mbox file: a plain file whose name ends with .mbox; import it on its own to take it";

/// Messages on their way in.
pub(super) enum Source {
    Mbox(Mboxes),
    Maildir(maildir::Reader, String),
    Tar(tar::Reader<Input>, String),
}

type Input = Box<dyn Read>;

/// The mbox files of a directory, or one.
pub(super) struct Mboxes {
    message_max: usize,
    /// Directories and files still to be read, the next one last.
    waiting: Vec<Waiting>,
    open: Option<(Option<String>, String, mbox::Reader<BufReader<Input>>)>,
}

enum Waiting {
    Dir(Dir, Vec<String>),
    File(Option<String>, String, Input),
    Passed(String),
}

impl Source {
    /// Open what is to be read; `-` is stdin.
    pub(super) fn open(path: &Path, format: Format, message_max: usize) -> Result<Self> {
        let is_stdin = path.as_os_str() == "-";
        let is_dir = !is_stdin && fs::metadata(path)?.is_dir();
        let place = path.display().to_string();
        let input = || -> io::Result<Input> {
            if is_stdin { Ok(Box::new(io::stdin())) } else { Ok(Box::new(File::open(path)?)) }
        };
        Ok(match format {
            Format::Maildir if is_dir => {
                Self::Maildir(maildir::Reader::new(Dir::open(&path.canonicalize()?)?, message_max), place)
            }
            Format::Maildir => {
                bail!(Misuse("it is no directory, as a Maildir is; name one, or another --format".into()))
            }
            Format::Eml if is_dir => {
                bail!(Misuse(
                    "it is a directory; --format eml reads a tar of it: tar -cf - -C DIR . | … import -".into()
                ))
            }
            Format::Eml => {
                let input: Input = Box::new(BufReader::with_capacity(BUFFER, input()?));
                Self::Tar(tar::Reader::new(input, message_max), place)
            }
            Format::Mbox => {
                let first = if is_dir {
                    Waiting::Dir(Dir::open(&path.canonicalize()?)?, Vec::new())
                } else {
                    let file = path.file_name().and_then(|name| name.to_str()).filter(|_| !is_stdin);
                    Waiting::File(file.map(mailbox_of), place, input()?)
                };
                Self::Mbox(Mboxes { message_max, waiting: vec![first], open: None })
            }
        })
    }

    /// The next message; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Found>> {
        match self {
            Self::Mbox(mboxes) => mboxes.next(),
            Self::Maildir(reader, place) => reader.next().with_context(|| place.clone()),
            Self::Tar(reader, place) => reader.next().with_context(|| place.clone()),
        }
    }
}

impl Mboxes {
    fn next(&mut self) -> Result<Option<Found>> {
        loop {
            if let Some((mailbox, place, reader)) = &mut self.open {
                match reader.next().with_context(|| place.clone())? {
                    Some(Found::Letter(_, letter)) => return Ok(Some(Found::Letter(mailbox.clone(), letter))),
                    Some(Found::Passed(which, why)) => {
                        return Ok(Some(Found::Passed(format!("{place}, {which}"), why)));
                    }
                    None => self.open = None,
                }
            }
            match self.waiting.pop() {
                None => return Ok(None),
                Some(Waiting::Passed(place)) => return Ok(Some(Found::Passed(place, NO_MBOX))),
                Some(Waiting::File(mailbox, place, input)) => {
                    let reader = mbox::Reader::new(BufReader::with_capacity(BUFFER, input), self.message_max);
                    self.open = Some((mailbox, place, reader));
                }
                Some(Waiting::Dir(dir, components)) => self.look_into(&dir, &components)?,
            }
        }
    }

    fn look_into(&mut self, dir: &Dir, components: &[String]) -> Result<()> {
        for (entry, kind) in dir.entries()?.into_iter().rev() {
            let place = dir.path().join(&entry).display().to_string();
            let goes_on = kind == Kind::Dir && entry.ends_with('%') && components.len() < DEPTH_MAX;
            let is_mbox = kind == Kind::File && entry.ends_with(ENDING);
            self.waiting.push(if goes_on {
                let inner = dir.dir(&entry)?;
                Waiting::Dir(inner, components.iter().cloned().chain([entry]).collect())
            } else if is_mbox {
                let last = entry.strip_suffix(ENDING).unwrap_or(&entry);
                let parts = components.iter().map(String::as_str).chain([last]);
                let mailbox = name::name(parts).unwrap_or_else(|_| last.to_owned());
                Waiting::File(Some(mailbox), place, Box::new(dir.file(&entry)?))
            } else {
                Waiting::Passed(place)
            });
        }
        Ok(())
    }
}

/// The mailbox that a file names.
fn mailbox_of(file: &str) -> String {
    let stem = file.strip_suffix(ENDING).unwrap_or(file);
    name::name([stem].into_iter()).unwrap_or_else(|_| stem.to_owned())
}
