//! The verbs about who somebody is: to be known, to log in and out, and what is kept at hand for it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use store::{Expect, Put};

use super::Mailroom;
use crate::access::inbox::{self, Shape};
use crate::access::{
    Denial, Digest, Grant, Login, Mode, Origin, Permit, Target, Verb, records, session, token, tokens,
};
use crate::caller::{Caller, Credential};
use crate::counters::COUNTERS;
use crate::error::{Error, Result};
use crate::sign_in::{Desk, SignInError};

impl Mailroom {
    /// Who shows this. A login that is over is nobody; what was mistyped is an error, but in open mode, where it makes no
    /// difference.
    pub async fn identify(&self, credential: Credential<'_>, peer: Option<IpAddr>) -> Result<Caller, SignInError> {
        let anonymous = Caller::Anonymous { peer };
        match credential {
            Credential::Nothing => Ok(anonymous),
            Credential::User(name) => Ok(self.vouched(name)),
            Credential::Cookie(cookie) => match self.logged_in(cookie, peer).await {
                Err(SignInError::Wrong) => Ok(anonymous),
                known => known,
            },
            Credential::Secret(secret) => match self.known(secret, peer).await {
                Err(SignInError::Wrong) if self.access.rules.mode == Mode::Open => Ok(anonymous),
                known => known,
            },
        }
    }

    /// Who shows this name and this password: the caller from then on.
    pub async fn sign_in(
        &self,
        desk: Desk,
        peer: Option<IpAddr>,
        user: &str,
        secret: &str,
    ) -> Result<Caller, SignInError> {
        match desk {
            Desk::Smtp if self.sign_in.takes_tokens() => match self.known(secret, peer).await? {
                caller @ Caller::Token { .. } => Ok(caller),
                _ => Err(SignInError::Wrong),
            },
            Desk::Smtp => self.sign_in.check(peer, user, secret).await,
            Desk::Pop3 => self.reader(peer, user, secret).await,
        }
    }

    /// At POP3 a password is a token or an inbox's secret. Where everybody may read any other will do as well.
    async fn reader(&self, peer: Option<IpAddr>, user: &str, secret: &str) -> Result<Caller, SignInError> {
        let is_ours = secret.starts_with(token::PREFIX) || secret.starts_with(inbox::PREFIX);
        let anybody = || Ok(Caller::User { name: user.to_owned(), peer });
        match self.access.rules.mode {
            Mode::Open if is_ours => self.known(secret, peer).await.or_else(|_| anybody()),
            Mode::Public if is_ours => self.known(secret, peer).await,
            Mode::Open | Mode::Public => {
                COUNTERS.sign_ins.increment(1);
                anybody()
            }
            _ => self.known(secret, peer).await,
        }
    }

    /// Whose token or secret this is. Much the same is done whatever is shown; who is known here is never too often.
    async fn known(&self, secret: &str, peer: Option<IpAddr>) -> Result<Caller, SignInError> {
        let digest = Digest::of(secret);
        let inbox = self.access.inboxes.unlock(secret);
        let grant = self.access.tokens.find(&digest).filter(|grant| grant.is_live(self.now()));
        let known = match (grant, inbox) {
            (Some(grant), _) => Some(Caller::Token { grant }),
            (None, Some(mailbox)) => Some(Caller::Inbox { mailbox }),
            (None, None) => {
                self.pause_guesses(peer)?;
                self.fetched_token(secret, &digest).await?.map(|grant| Caller::Token { grant })
            }
        };
        self.counted(known, peer)
    }

    /// The one who logged in.
    async fn logged_in(&self, cookie: &str, peer: Option<IpAddr>) -> Result<Caller, SignInError> {
        if !session::is_cookie(cookie) {
            return Err(SignInError::Wrong);
        }
        let key = Digest::of(cookie).to_string();
        let behind = match self.access.logins.find(&key, self.now()) {
            Some(behind) => Some(behind),
            None => {
                self.pause_guesses(peer)?;
                self.fetched(session::KIND, &key).await?.and_then(|entry| session::Behind::read(&entry))
            }
        };
        let known = match behind {
            Some(session::Behind::Token(digest)) => {
                let grant = self.access.tokens.find(&digest).filter(|grant| grant.is_live(self.now()));
                grant.map(|grant| Caller::Token { grant })
            }
            Some(session::Behind::Inbox(mailbox)) => {
                let is_one = matches!(self.access.inboxes.shape(&mailbox), Shape::Inbox(_));
                is_one.then_some(Caller::Inbox { mailbox })
            }
            None => None,
        };
        self.counted(known, peer)
    }

    /// Another node may have issued a token a moment ago, and its word may not have come here yet.
    async fn fetched_token(&self, secret: &str, digest: &Digest) -> Result<Option<Arc<Grant>>, SignInError> {
        let Some(id) = token::id_of(secret) else { return Ok(None) };
        let Some(entry) = self.fetched(tokens::KIND, id).await? else { return Ok(None) };
        let read = self.access.tokens.understand(&entry);
        let right = read.filter(|(kept, grant)| kept == digest && grant.is_live(self.now()));
        Ok(right.map(|(_, grant)| Arc::new(grant)))
    }

    async fn fetched(&self, kind: &str, key: &str) -> Result<Option<store::Entry>, SignInError> {
        let unavailable = |error: Error| {
            tracing::warn!(%error, "it cannot be said who somebody is");
            SignInError::Unavailable
        };
        let permit = self.program().map_err(unavailable)?;
        self.vault.open(&permit).registry().get(kind, key).await.map_err(|error| unavailable(error.into()))
    }

    /// Whoever was wrong too often is not looked at for a while (T102).
    fn pause_guesses(&self, peer: Option<IpAddr>) -> Result<(), SignInError> {
        let has_room = peer.is_none_or(|peer| self.wrong.has_room(&rate::host(peer)));
        if has_room { Ok(()) } else { Err(SignInError::TooMany) }
    }

    fn counted(&self, known: Option<Caller>, peer: Option<IpAddr>) -> Result<Caller, SignInError> {
        if let Some(caller) = known {
            COUNTERS.sign_ins.increment(1);
            return Ok(caller);
        }
        COUNTERS.sign_ins_failed.increment(1);
        if let Some(peer) = peer {
            // When there is no room left for it, it has been one too many already.
            let _ = self.wrong.take(&rate::host(peer));
        }
        Err(SignInError::Wrong)
    }

    /// A user whom a trusted proxy named.
    fn vouched(&self, name: &str) -> Caller {
        let (id, scopes) = (name.to_owned(), self.access.rules.user_scopes.clone());
        Caller::Token { grant: Arc::new(Grant::new(id.clone(), id, scopes, Origin::Proxy)) }
    }

    /// Whether this caller may ask for anything at all: where tokens are asked for, not whoever has shown nothing.
    pub fn admit(&self, caller: &Caller) -> Result<()> {
        match (self.access.rules.mode, caller) {
            (Mode::Token, Caller::Anonymous { .. }) => Err(Denial::Nobody.into()),
            _ => Ok(()),
        }
    }

    /// `access.mode`.
    pub fn mode(&self) -> &'static str {
        match self.access.rules.mode {
            Mode::Token => "token",
            Mode::Public => "public",
            _ => "open",
        }
    }

    /// Exchange a token or an inbox's secret for a login. One that was there before is over (T101).
    pub async fn login(&self, secret: &str, before: Option<&str>, peer: Option<IpAddr>) -> Result<(Caller, Login)> {
        let caller = self.known(secret, peer).await?;
        let behind = match &caller {
            Caller::Inbox { mailbox } => session::Behind::Inbox(mailbox.clone()),
            _ => session::Behind::Token(Digest::of(secret)),
        };
        if self.access.logins.count() >= self.access.rules.logins_max {
            return Err(Error::TooMany { what: "logins (access.logins_max)" });
        }
        if let Some(before) = before {
            self.logout(before).await?;
        }
        let (cookie, expires) = (session::cookie()?, self.after(self.access.rules.login_ttl));
        let key = Digest::of(&cookie).to_string();
        let entry = self.put(session::KIND, key, behind.write(), Some(expires)).await?;
        self.access.logins.put(&entry);
        Ok((caller, Login { cookie, expires }))
    }

    /// End a login, on every node.
    pub async fn logout(&self, cookie: &str) -> Result<()> {
        let key = Digest::of(cookie).to_string();
        self.vault.open(&self.program()?).registry().delete(session::KIND, &key, Expect::Any).await?;
        self.access.logins.remove(&key);
        Ok(())
    }

    /// Read the records that tell of tokens, logins and fault plans. What it returns must be run for as long as the mailroom: it keeps
    /// to what other nodes write.
    pub async fn recall(&self) -> Result<impl Future<Output = ()> + Send + 'static + use<>> {
        let (access, faults) = (Arc::clone(&self.access), Arc::clone(&self.faults));
        Ok(records::recall(self.vault.clone(), access, faults, self.program()?).await?)
    }

    pub(super) async fn put(
        &self,
        kind: &str,
        key: String,
        value: String,
        expires: Option<Timestamp>,
    ) -> Result<store::Entry> {
        let value = Bytes::from(value);
        let registry = self.vault.open(&self.program()?).registry();
        match registry.put(kind, &key, value.clone(), expires, Expect::Absent).await? {
            Put::Written(version) => Ok(store::Entry { key, value, version, expires }),
            // The same random number twice: it is not going to happen a third time.
            Put::Conflict(_) => Err(store::Error::try_later("a random number came twice").into()),
        }
    }

    /// Leave to look after the records.
    pub(super) fn program(&self) -> Result<Permit> {
        self.access.permit(&Caller::Program, Verb::Admin, Target::All)
    }

    fn after(&self, time: Duration) -> Timestamp {
        let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        self.now().saturating_add(time).unwrap_or(Timestamp::MAX)
    }
}
