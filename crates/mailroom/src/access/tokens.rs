//! The tokens that are good: those of the configuration, and those issued, as the store's records tell of them.
//!
//! Everything shown is hashed and the hash is looked for: so much work is done whether there is such a token or not, and
//! how long the search takes tells nothing about a hash that nobody can choose.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jiff::Timestamp;
use mail::Naming;
use store::Entry;

use super::Target;
use super::rules::Configured;
use super::scope::Scopes;
use super::token::Digest;
use super::verb::Verb;

/// The kind of their records.
pub(crate) const KIND: &str = "token";
/// The first line of a record.
const FORMAT: &str = "token 1";
/// Octets of a token's name.
pub(crate) const NAME_MAX: usize = 100;

/// What somebody may who showed a token, as long as it is good.
#[derive(Debug)]
pub struct Grant {
    /// What the token goes by; never its secret.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is good for.
    pub scopes: Scopes,
    /// When it was issued, where that is known.
    pub created: Option<Timestamp>,
    /// Until when it is good.
    pub expires: Option<Timestamp>,
    /// Where it comes from.
    pub origin: Origin,
    revoked: AtomicBool,
}

/// Where a token comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It stands in the configuration.
    File,
    /// It was issued at run time.
    Issued,
    /// There is none: a trusted proxy named a user.
    Proxy,
}

/// The same token, whatever became of it.
impl PartialEq for Grant {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.scopes, self.origin) == (&other.id, &other.scopes, other.origin)
    }
}

impl Eq for Grant {}

impl Grant {
    pub(crate) fn new(id: String, name: String, scopes: Scopes, origin: Origin) -> Self {
        Self { id, name, scopes, created: None, expires: None, origin, revoked: AtomicBool::new(false) }
    }

    /// Whether it is good still: whoever carries it learns at once when it was revoked.
    pub fn is_live(&self, now: Timestamp) -> bool {
        !self.revoked.load(Ordering::Acquire) && self.expires.is_none_or(|expires| now < expires)
    }

    /// Whether it is good for this there.
    pub fn grants(&self, verb: Verb, target: Target<'_>) -> bool {
        self.scopes.grant(verb, target)
    }

    fn revoke(&self) {
        self.revoked.store(true, Ordering::Release);
    }

    /// As a record tells it: a line each for format, digest, time and name, and then one for each scope.
    pub(crate) fn write(&self, digest: &Digest, naming: Naming) -> String {
        let created = self.created.map_or(0, |at| at.as_second());
        format!("{FORMAT}\n{digest}\n{created}\n{}\n{}", self.name, self.scopes.spelled(naming).join("\n"))
    }

    /// What a record says; none when this version cannot read it.
    pub(crate) fn read(entry: &Entry, naming: Naming) -> Option<(Digest, Self)> {
        let mut lines = std::str::from_utf8(&entry.value).ok()?.split('\n');
        if lines.next()? != FORMAT {
            return None;
        }
        let (digest, created) = (lines.next()?.parse().ok()?, lines.next()?.parse().ok()?);
        let name = lines.next()?.to_owned();
        let scopes = Scopes::parse(lines, naming).ok()?;
        let grant = Self::new(entry.key.clone(), name, scopes, Origin::Issued);
        Some((digest, Self { created: Timestamp::from_second(created).ok(), expires: entry.expires, ..grant }))
    }
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Tokens {
    configured: HashMap<Digest, Arc<Grant>>,
    issued: RwLock<Issued>,
    naming: Naming,
}

#[derive(Debug, Default)]
struct Issued {
    by_digest: HashMap<Digest, Arc<Grant>>,
    digests: HashMap<String, Digest>,
}

impl Tokens {
    pub(crate) fn new(configured: Vec<Configured>, naming: Naming) -> Self {
        let grant = |token: Configured| {
            let grant = Grant::new(token.name.clone(), token.name, token.scopes, Origin::File);
            (token.digest, Arc::new(Grant { expires: token.expires, ..grant }))
        };
        let configured = configured.into_iter().map(grant).collect();
        Self { configured, issued: RwLock::default(), naming }
    }

    /// The token of which this is the hash.
    pub(crate) fn find(&self, digest: &Digest) -> Option<Arc<Grant>> {
        let issued = self.read().by_digest.get(digest).cloned();
        self.configured.get(digest).cloned().or(issued)
    }

    /// What a record says, as it is now.
    pub(crate) fn understand(&self, entry: &Entry) -> Option<(Digest, Grant)> {
        let read = Grant::read(entry, self.naming);
        if read.is_none() {
            tracing::warn!(id = ?entry.key, "a token cannot be read; it was written by another version, and is good for nothing");
        }
        read
    }

    /// A record was written.
    pub(crate) fn put(&self, entry: &Entry) {
        if let Some((digest, grant)) = self.understand(entry) {
            self.write().put(digest, Arc::new(grant));
        }
    }

    /// A record was deleted. Whoever carries the token may nothing from now on.
    pub(crate) fn remove(&self, id: &str) {
        self.write().remove(id);
    }

    /// These are all there are.
    pub(crate) fn replace(&self, entries: &[Entry]) {
        let mut issued = self.write();
        let known = |id: &String| entries.iter().any(|entry| entry.key == *id);
        let gone: Vec<String> = issued.digests.keys().filter(|id| !known(id)).cloned().collect();
        gone.iter().for_each(|id| issued.remove(id));
        for (digest, grant) in entries.iter().filter_map(|entry| self.understand(entry)) {
            issued.put(digest, Arc::new(grant));
        }
    }

    /// All that are good, those of the configuration first.
    pub(crate) fn list(&self, now: Timestamp) -> Vec<Arc<Grant>> {
        let sorted = |mut grants: Vec<Arc<Grant>>| {
            grants.retain(|grant| grant.is_live(now));
            grants.sort_by(|one, other| one.id.cmp(&other.id));
            grants
        };
        let mut all = sorted(self.configured.values().cloned().collect());
        all.extend(sorted(self.read().by_digest.values().cloned().collect()));
        all
    }

    /// How many were issued.
    pub(crate) fn count(&self) -> usize {
        self.read().by_digest.len()
    }

    /// Whether one of the configuration goes by this.
    pub(crate) fn is_configured(&self, id: &str) -> bool {
        self.configured.values().any(|grant| grant.id == id)
    }

    /// Forget those whose time is over.
    pub(crate) fn forget(&self, now: Timestamp) {
        let mut issued = self.write();
        let over: Vec<String> =
            issued.by_digest.values().filter(|grant| !grant.is_live(now)).map(|grant| grant.id.clone()).collect();
        over.iter().for_each(|id| issued.remove(id));
    }

    fn read(&self) -> RwLockReadGuard<'_, Issued> {
        self.issued.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Issued> {
        self.issued.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Issued {
    /// A token that is known already stays the one that is carried.
    fn put(&mut self, digest: Digest, grant: Arc<Grant>) {
        if self.by_digest.get(&digest).is_some_and(|known| **known == *grant && known.expires == grant.expires) {
            return;
        }
        self.remove(&grant.id);
        self.digests.insert(grant.id.clone(), digest);
        self.by_digest.insert(digest, grant);
    }

    fn remove(&mut self, id: &str) {
        let grant = self.digests.remove(id).and_then(|digest| self.by_digest.remove(&digest));
        if let Some(grant) = grant {
            grant.revoke();
        }
    }
}
