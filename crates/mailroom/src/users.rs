//! The users that may sign in by a list: a file of lines `name:secret`, where the secret is a hash as
//! `postkeep users hash` makes it, or else the password itself.
//!
//! It reads no file and starts no thread: it gets the file's text, and answers whether a name and a password are right.
//! The answer tells nothing else, in what it costs neither: where the list holds a hash, every question costs one
//! verification, whether its name is known or not. So many at once are the caller's business, see [`Users::is_costly`].

use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, Params, PasswordHasher, PasswordVerifier};
use subtle::{Choice, ConstantTimeEq};

mod line;
#[cfg(test)]
mod tests;

/// Octets of a list of users.
pub const FILE_MAX: usize = 1 << 20;
/// Octets of a name.
pub const NAME_MAX: usize = 255;
/// Octets of a password.
pub const SECRET_MAX: usize = 1024;
/// KiB of memory that verifying one password may take; lists are written by hand, and a slip there must not take it all.
pub const HASH_MEMORY_MAX: u32 = 256 << 10;
/// Passes over that memory.
pub const HASH_PASSES_MAX: u32 = 16;
/// So many mistakes are told at once; the others are counted.
const MISTAKES_MAX: usize = 20;

/// Who may sign in, and with what. `Debug` shows how many, and neither names nor secrets.
#[derive(Clone)]
pub struct Users {
    /// In the order of their digests.
    entries: Vec<Entry>,
    /// What a [`Secret::Hashed`] points to. Parted from the entries, since each is also a decoy for the others.
    hashes: Vec<PasswordHash>,
    /// Made of the whole list: nobody who has not read it knows what a digest is of, or which entry a name comes near.
    key: [u8; 32],
}

#[derive(Clone)]
struct Entry {
    /// The keyed digest of the name.
    name: [u8; 32],
    secret: Secret,
}

/// What a password is held against.
#[derive(Clone, Copy)]
enum Secret {
    /// The keyed digest of a password.
    Plain([u8; 32]),
    /// The place of a hash.
    Hashed(usize),
}

/// A list of users that cannot be taken. It names lines, and never what stands there, for that may be a password.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct BadUsers {
    /// The first mistakes, in the order of their lines.
    pub mistakes: Vec<Mistake>,
    /// How many there are.
    pub count: usize,
}

/// One mistake in a list of users.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Counted from 1; 0 means the list as a whole.
    pub line: usize,
    /// What is wrong and what to do.
    pub what: String,
}

/// The system gave no random numbers, or no memory, to make a hash with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no hash could be made: the system gave no random numbers or not enough memory (19 MiB); try again")]
pub struct NotHashed;

impl Users {
    /// Read a list. All mistakes are told at once.
    pub fn parse(text: &str) -> Result<Self, BadUsers> {
        if text.len() > FILE_MAX {
            return Err(BadUsers::whole(format!(
                "it is larger than {} KiB; leave out who need not be there",
                FILE_MAX >> 10
            )));
        }
        let mut list = Self { entries: Vec::new(), hashes: Vec::new(), key: *blake3::hash(text.as_bytes()).as_bytes() };
        let mut lines_of: HashMap<&str, usize> = HashMap::new();
        let mut bad = BadUsers { mistakes: Vec::new(), count: 0 };
        for (at, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            match line::read(line) {
                Ok(None) => {}
                Ok(Some((name, secret))) => match lines_of.insert(name, at + 1) {
                    Some(first) => {
                        bad.add(at + 1, format!("this name stands in line {first}, too; remove one of them"))
                    }
                    None => list.add(name, secret),
                },
                Err(what) => bad.add(at + 1, what),
            }
        }
        list.entries.sort_unstable_by_key(|entry| entry.name);
        if bad.count == 0 { Ok(list) } else { Err(bad) }
    }

    fn add(&mut self, name: &str, secret: line::Secret<'_>) {
        let secret = match secret {
            line::Secret::Plain(password) => Secret::Plain(self.digest(password)),
            line::Secret::Hashed(hash) => {
                self.hashes.push(*hash);
                Secret::Hashed(self.hashes.len() - 1)
            }
        };
        self.entries.push(Entry { name: self.digest(name), secret });
    }

    /// Whether this is the password of this user.
    ///
    /// A name that is not there is treated as the one next to it, to the end: every question does the same work, whatever
    /// the answer. That takes milliseconds and memory when [`Users::is_costly`] says so: never on a thread that serves
    /// others.
    pub fn check(&self, name: &str, secret: &str) -> bool {
        let (name, typed) = (self.digest(name), self.digest(secret));
        let Some(entry) = self.nearest(&name) else { return false };
        let verified = black_box(self.hash_for(entry, &name).map(|hash| verified(hash, secret)));
        let right = match (&entry.secret, verified) {
            (Secret::Plain(digest), _) => typed.ct_eq(digest),
            (Secret::Hashed(_), Some(verified)) => verified,
            (Secret::Hashed(_), None) => Choice::from(0),
        };
        (right & entry.name.ct_eq(&name)).into()
    }

    /// The entry of this name, or of one that is not it. The search takes as many steps for the one as for the other.
    fn nearest(&self, name: &[u8; 32]) -> Option<&Entry> {
        let place = self.entries.partition_point(|entry| entry.name < *name);
        self.entries.get(place).or(self.entries.last())
    }

    /// The hash to verify for an entry: its own, or for one that has none some other of the list, always the same for the
    /// same name.
    fn hash_for(&self, entry: &Entry, name: &[u8; 32]) -> Option<&PasswordHash> {
        let place = match entry.secret {
            Secret::Hashed(place) => place,
            Secret::Plain(_) => {
                let number = u32::from_le_bytes([name[0], name[1], name[2], name[3]]) as usize;
                number.checked_rem(self.hashes.len())?
            }
        };
        self.hashes.get(place)
    }

    fn digest(&self, text: &str) -> [u8; 32] {
        *blake3::keyed_hash(&self.key, text.as_bytes()).as_bytes()
    }

    /// Whether a question takes milliseconds of a core and megabytes: it holds a hash.
    pub fn is_costly(&self) -> bool {
        !self.hashes.is_empty()
    }

    /// How many users there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nobody can sign in.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Users")
            .field("count", &self.len())
            .field("hashed", &self.hashes.len())
            .finish_non_exhaustive()
    }
}

fn verified(hash: &PasswordHash, secret: &str) -> Choice {
    // The library compares in constant time; the parameters are those of the hash, checked when the list was read.
    Choice::from(u8::from(Argon2::default().verify_password(secret.as_bytes(), hash).is_ok()))
}

/// The hash of a password as it can stand in a list: `$argon2id$…` with a salt of its own.
pub fn hash(secret: &str) -> Result<String, NotHashed> {
    let hash: PasswordHash = Argon2::default().hash_password(secret.as_bytes()).map_err(|_| NotHashed)?;
    Ok(hash.to_string())
}

/// Why a name cannot stand in a list, or cannot be told from another there.
pub fn bad_name(name: &str) -> Option<&'static str> {
    line::bad_name(name)
}

/// Why a password cannot be one of a list.
pub fn bad_secret(secret: &str) -> Option<&'static str> {
    line::bad_secret(secret)
}

/// The limits that a hash of a list keeps.
fn is_bearable(params: &Params) -> bool {
    params.m_cost() <= HASH_MEMORY_MAX && params.t_cost() <= HASH_PASSES_MAX
}

impl BadUsers {
    fn whole(what: String) -> Self {
        Self { mistakes: vec![Mistake { line: 0, what }], count: 1 }
    }

    fn add(&mut self, line: usize, what: String) {
        self.count += 1;
        if self.mistakes.len() < MISTAKES_MAX {
            self.mistakes.push(Mistake { line, what });
        }
    }
}

impl fmt::Display for BadUsers {
    /// A line for each mistake.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.mistakes.iter().enumerate() {
            write!(out, "{}{mistake}", if at == 0 { "" } else { "\n" })?;
        }
        match self.count - self.mistakes.len() {
            0 => Ok(()),
            more => write!(out, "\nand {more} more"),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}", self.what),
            line => write!(out, "line {line}: {}", self.what),
        }
    }
}
