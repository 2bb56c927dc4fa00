//! Programs that read mail over POP3. All letters are put into one mailbox, octet by octet; the program fetches them and
//! leaves them there, fetches again, and fetches once more and deletes. What it stored is held against what the server
//! keeps, each message found by the id in the server's own trace field.

mod curl;
mod fetchmail;
mod getmail;
mod mpop;
mod mutt;
mod poplib;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::compare;
use super::corpus::Letter;
use super::program::{Outcome, Program, Transport};
use super::site::Site;
use super::tools::{Ended, apt, finish};

/// No fetch takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn all() -> Vec<Box<dyn Program>> {
    vec![
        Box::new(Reading(mpop::Mpop)),
        Box::new(Reading(fetchmail::Fetchmail)),
        Box::new(Reading(getmail::Getmail)),
        Box::new(Reading(mutt::Mutt)),
        Box::new(Reading(curl::Curl)),
        Box::new(Reading(poplib::Poplib)),
    ]
}

/// What a program is to do with a message that it has fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Keep,
    Delete,
}

/// How lines end in what a program stores.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    CrLf,
    Lf,
}

/// What one fetch may know.
struct Errand<'a> {
    site: &'a Site,
    transport: Transport,
    /// The user, whose name is the mailbox's.
    user: &'a str,
    then: Then,
    /// How many messages wait.
    count: usize,
    /// For what the program remembers from one fetch to the next; it stays.
    memory: PathBuf,
    /// For everything else; it is empty.
    folder: PathBuf,
}

impl Errand<'_> {
    fn port(&self) -> u16 {
        self.site.doors.reading(self.transport).port()
    }

    fn trust(&self) -> &Path {
        &self.site.trust
    }

    /// Run a program to a good end.
    fn run(&self, command: &mut Command) -> Result<Ended> {
        let ended = self.end(command)?;
        ensure!(ended.status.success(), "it ended with {}: {}", ended.status, ended.stderr.trim());
        Ok(ended)
    }

    /// Run a program to any end.
    fn end(&self, command: &mut Command) -> Result<Ended> {
        finish(command.current_dir(&self.folder), None, &self.folder, PATIENCE)
    }

    /// The same for one that somebody sits before, who types these keys.
    fn end_typing(&self, command: &mut Command, keys: &str) -> Result<Ended> {
        let file = self.folder.join("keys");
        fs::write(&file, keys)?;
        finish(command.current_dir(&self.folder), Some(&file), &self.folder, PATIENCE)
    }
}

/// What one program has that the others have not.
trait Reader: Sync {
    const NAME: &'static str;
    const PACKAGES: &'static [&'static str];
    const ENDS: Ends;
    /// Whether it remembers what it has fetched, and so leaves it alone the next time.
    const REMEMBERS: bool;

    fn version(&self) -> Result<String, String>;

    /// Fetch everything; the messages as they were stored, in any order.
    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>>;

    fn refuses(&self, _transport: Transport) -> Option<&'static str> {
        None
    }

    /// What it says that it stores, with CRLF at the end of lines, when the server hands out this source.
    fn claims(&self, _letter: &Letter, source: Vec<u8>) -> Vec<u8> {
        source
    }

    /// Why it stores this letter otherwise, where that is known to be its own doing.
    fn spoils(&self, _letter: &Letter) -> Option<&'static str> {
        None
    }
}

/// Any of them, as a program of the trial.
struct Reading<R>(R);

impl<R: Reader> Program for Reading<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn version(&self) -> Result<String, String> {
        self.0.version()
    }

    fn install(&self) -> Result<()> {
        apt(R::PACKAGES)
    }

    fn refuses(&self, transport: Transport) -> Option<&'static str> {
        self.0.refuses(transport)
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        let user = format!("read-{}-{}", R::NAME, transport.word());
        let one = deposited(site, &user, letters)?;
        let sources = site.sources(&one)?;
        ensure!(sources.len() == letters.len(), "{} letters were put in, {} are listed", letters.len(), sources.len());
        let fetch = |then, memory: &str| self.fetch(site, transport, &user, then, memory, letters.len());
        let outcomes = self.outcomes(letters, &sources, fetch(Then::Keep, "memory")?)?;
        if R::REMEMBERS {
            let again = fetch(Then::Keep, "memory")?;
            ensure!(again.is_empty(), "the second time it fetched {} again", again.len());
        }
        ensure!(site.sources(&one)?.len() == letters.len(), "it deleted what it was to leave");
        fetch(Then::Delete, "another-memory")?;
        ensure!(site.sources(&one)?.is_empty(), "it left what it was to delete");
        Ok(outcomes)
    }
}

impl<R: Reader> Reading<R> {
    fn fetch(
        &self,
        site: &Site,
        transport: Transport,
        user: &str,
        then: Then,
        memory: &str,
        count: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let (memory, folder) = (site.folder.join(memory), site.folder.join("fetch"));
        fs::create_dir_all(&memory)?;
        fs::create_dir_all(&folder)?;
        let errand = Errand { site, transport, user, then, count, memory, folder };
        let stored = self.0.fetch(&errand)?;
        fs::remove_dir_all(&errand.folder)?;
        Ok(stored)
    }

    fn outcomes(&self, letters: &[Letter], sources: &[Vec<u8>], stored: Vec<Vec<u8>>) -> Result<Vec<Outcome>> {
        let mut stored: HashMap<_, _> = stored.into_iter().filter_map(|octets| Some((id(&octets)?, octets))).collect();
        let outcomes = letters.iter().zip(sources).map(|(letter, source)| {
            let id = id(source).context("a source has no id in its trace")?;
            let outcome = match stored.remove(&id) {
                Some(octets) => compare::octets(&self.expected(letter, source), &octets),
                None => Outcome::Wrong("it was not fetched".into()),
            };
            Ok(match (outcome, self.0.spoils(letter)) {
                (Outcome::Wrong(_), Some(why)) => Outcome::Unable(why.into()),
                (outcome, _) => outcome,
            })
        });
        let outcomes: Result<Vec<_>> = outcomes.collect();
        ensure!(stored.is_empty(), "it stored {} messages that nobody sent", stored.len());
        outcomes
    }

    fn expected(&self, letter: &Letter, source: &[u8]) -> Vec<u8> {
        let claim = self.0.claims(letter, handed_out(source));
        if R::ENDS == Ends::CrLf { claim } else { unix(&claim) }
    }
}

/// Put all letters into the mailbox of one user; handed back is one of them, to ask for the mailbox with.
fn deposited(site: &Site, user: &str, letters: &[Letter]) -> Result<Letter> {
    let to = format!("{user}@interop.test");
    let mut one = letters.first().context("there are no letters")?.clone();
    for letter in letters {
        one = Letter { to: to.clone(), ..letter.clone() };
        site.deliver(&one)?;
    }
    Ok(one)
}

/// The id that the server's own trace field gives a message.
fn id(source: &[u8]) -> Option<Vec<u8>> {
    let before = source.windows(4).position(|word| word == b" id ")? + 4;
    Some(source[before..].iter().take_while(|byte| byte.is_ascii_hexdigit()).copied().collect())
}

/// A source as POP3 hands it out: lines, each of which ends with CRLF (RFC 1939 §3), also where CR or LF stands alone.
fn handed_out(source: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(source.len() + 2);
    let mut rest = source;
    while let Some(end) = rest.iter().position(|byte| b"\r\n".contains(byte)) {
        lines.extend(&rest[..end]);
        lines.extend(b"\r\n");
        rest = &rest[end + if rest[end..].starts_with(b"\r\n") { 2 } else { 1 }..];
    }
    if !rest.is_empty() {
        lines.extend(rest);
        lines.extend(b"\r\n");
    }
    lines
}

/// Lines that end with LF.
fn unix(source: &[u8]) -> Vec<u8> {
    let kept = |(at, byte): (usize, &u8)| (*byte != b'\r' || source.get(at + 1) != Some(&b'\n')).then_some(*byte);
    source.iter().enumerate().filter_map(kept).collect()
}

/// The empty line that ends a header, for programs that write it in any case.
fn with_ended_header(mut source: Vec<u8>) -> Vec<u8> {
    if !source.windows(4).any(|end| end == b"\r\n\r\n") {
        source.extend(b"\r\n");
    }
    source
}

/// All files of a folder.
fn files(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let entries = fs::read_dir(folder).with_context(|| format!("there is no {}", folder.display()))?;
    entries.map(|entry| Ok(fs::read(entry?.path())?)).collect()
}

/// A word of the first line that a program prints about itself.
fn version_word(command: &mut Command, place: usize) -> Result<String, String> {
    let line = super::tools::told(command)?;
    line.split_whitespace().nth(place).map(str::to_owned).ok_or(line)
}

/// A folder, and a program that stores its input there as a file of its own.
fn pigeonhole(errand: &Errand<'_>) -> Result<(PathBuf, PathBuf)> {
    let (folder, program) = (errand.folder.join("stored"), errand.folder.join("store"));
    fs::create_dir(&folder)?;
    // Whoever starts it may need a moment until it waits for its end.
    fs::write(&program, format!("#!/bin/sh\ncat > \"$(mktemp {}/XXXXXXXX)\"\nsleep 0.02\n", folder.display()))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    Ok((folder, program))
}

/// Write a configuration that holds a secret: programs want that nobody else can read it.
fn private(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o600))?)
}
