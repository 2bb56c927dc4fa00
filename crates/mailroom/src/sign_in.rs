//! Signing in with a name and a password, at SMTP to send and at POP3 to read: who the caller is from then on.
//!
//! What such a caller may do is said by [`access`](crate::access) and not here.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use tokio::sync::Semaphore;

use crate::caller::Caller;
use crate::counters::COUNTERS;
use crate::pace::Pace;
use crate::users::Users;

/// Where somebody signs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Desk {
    /// To send.
    Smtp,
    /// To read.
    Pop3,
}

/// A password on its way: shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// As it came.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As text; what is no text becomes one that no password is equal to.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<Vec<u8>> for Secret {
    fn from(octets: Vec<u8>) -> Self {
        Self(octets)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(***)")
    }
}

/// Why somebody is not signed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SignInError {
    /// The name and the password do not belong together, or there is no such name: which of the two is not told.
    #[error("the name or the password is wrong")]
    Wrong,
    /// Too many tries from there have failed.
    #[error("too many sign-ins have failed from this address: wait a minute and try again")]
    TooMany,
    /// Nobody signs in here.
    #[error("nobody signs in here")]
    Off,
    /// It cannot be said now.
    #[error("the store cannot say who this is now: try again shortly")]
    Unavailable,
}

/// Who may sign in to send (`smtp.auth`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Senders {
    /// Whoever shows whatever: what an application is configured with is taken.
    #[default]
    Any,
    /// Those of a list (`smtp.auth_file`).
    List(Arc<Roll>),
    /// Those whose password is a token. What it is not good for they may not send.
    Tokens,
    /// Nobody.
    Off,
}

/// A list of users that can be replaced while the program runs.
#[derive(Debug)]
pub struct Roll(RwLock<Arc<Users>>);

/// A list is the same as itself only: it may be replaced at any time.
impl PartialEq for Roll {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Roll {}

impl Roll {
    /// The list as it is now.
    pub fn new(users: Users) -> Arc<Self> {
        Arc::new(Self(RwLock::new(Arc::new(users))))
    }

    /// Sign-ins from now on go by this list.
    pub fn replace(&self, users: Users) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(users);
    }

    fn users(&self) -> Arc<Users> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The desk where all sign in.
#[derive(Debug)]
pub(crate) struct SignIn {
    senders: Senders,
    failures: Pace<IpAddr>,
    /// To check a password may take a core for a moment: so many cores at once, and no more (T102).
    checks: Semaphore,
}

impl SignIn {
    pub(crate) fn new(senders: Senders, failures: Pace<IpAddr>) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { senders, failures, checks: Semaphore::new((cores / 2).max(1)) }
    }

    /// Whether a password is a token here, which is nothing to be checked by a list.
    pub(crate) fn takes_tokens(&self) -> bool {
        self.senders == Senders::Tokens
    }

    /// Who wants to send, if the password is right.
    pub(crate) async fn check(&self, peer: Option<IpAddr>, user: &str, secret: &str) -> Result<Caller, SignInError> {
        if self.has_failed_too_often(peer) {
            return Err(SignInError::TooMany);
        }
        let right = match &self.senders {
            Senders::Any => true,
            Senders::List(roll) => self.is_listed(roll.users(), peer, user, secret).await?,
            Senders::Tokens | Senders::Off => return Err(SignInError::Off),
        };
        if right {
            COUNTERS.sign_ins.increment(1);
            return Ok(Caller::Sender { user: Some(user.to_owned()), peer });
        }
        tracing::info!(?peer, user, "a sign-in failed");
        COUNTERS.sign_ins_failed.increment(1);
        if let Some(peer) = peer {
            // When there is no room left for it, it has been one too many already.
            let _ = self.failures.take(&rate::host(peer));
        }
        Err(SignInError::Wrong)
    }

    fn has_failed_too_often(&self, peer: Option<IpAddr>) -> bool {
        peer.is_some_and(|peer| !self.failures.has_room(&rate::host(peer)))
    }

    /// Forget the addresses from which nobody failed of late.
    pub(crate) fn forget_idle(&self) {
        self.failures.forget_idle();
    }

    async fn is_listed(
        &self,
        users: Arc<Users>,
        peer: Option<IpAddr>,
        user: &str,
        secret: &str,
    ) -> Result<bool, SignInError> {
        if !users.is_costly() {
            return Ok(users.check(user, secret));
        }
        let (user, secret) = (user.to_owned(), secret.to_owned());
        let _turn = self.checks.acquire().await.expect("the semaphore is never closed");
        // Those who came at once have waited here for their turn, and others of theirs may have failed meanwhile.
        if self.has_failed_too_often(peer) {
            return Err(SignInError::TooMany);
        }
        let checked = tokio::task::spawn_blocking(move || users.check(&user, &secret)).await;
        Ok(checked.unwrap_or(false))
    }
}

#[cfg(test)]
mod tests;
