//! To wait for mail, and what those who wait are told of.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};

use mail::{Letter, Mailbox, MessageId};
use store::{Position, Scope, Store, Stored};

use super::Mailroom;
use crate::access::{Permit, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::feed::Watch;
use crate::wait::diagnosis::Connections;
use crate::wait::{self, Seats};

impl Mailroom {
    /// Wait for mail. Whatever was acknowledged before the time is over is seen.
    pub async fn wait(&self, caller: &Caller, peer: Option<IpAddr>, ask: wait::Ask) -> Result<wait::Outcome> {
        let permit = self.access.permit(caller, Verb::Wait, (&ask.scope).into())?;
        wait::run(self, caller, permit, peer, ask).await
    }

    /// What a message says. It was read by whoever asks, so nobody is asked again.
    pub async fn letter(&self, stored: &Stored) -> Arc<Letter> {
        self.letters.of(stored).await
    }

    /// An SMTP client has connected: told to those who wait in vain.
    pub fn connected(&self) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.count += 1;
        connections.last_at = Some(self.now());
    }

    /// Who has connected to send, since the start.
    pub fn connections(&self) -> Connections {
        *self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What limits waiting.
    pub fn wait_limits(&self) -> &wait::Limits {
        self.waiters.limits()
    }

    /// How many wait now.
    pub fn waiting(&self) -> usize {
        self.waiters.taken()
    }

    pub(crate) fn waiters(&self) -> &Seats {
        &self.waiters
    }

    pub(crate) fn open(&self, permit: &Permit) -> &dyn Store {
        self.vault.open(permit)
    }

    /// Follow what happens, for one who asks of each mail anew whether it may be seen.
    pub(crate) async fn attend(&self, permit: Permit, scope: Scope) -> Result<Watch> {
        self.feed.watch(&self.vault, permit, scope, Position::END).await
    }

    /// One message and what it says; none when it is not there, or its bytes are damaged.
    pub(crate) async fn read_letter(
        &self,
        permit: &Permit,
        mailbox: &Mailbox,
        id: MessageId,
    ) -> Result<Option<wait::Match>> {
        let stored = match self.vault.open(permit).read(mailbox, id).await {
            Ok(Some(stored)) => stored,
            Ok(None) | Err(store::Error::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let letter = self.letters.of(&stored).await;
        Ok(Some(wait::Match { mailbox: mailbox.clone(), stored, letter }))
    }
}
