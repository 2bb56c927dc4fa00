//! To follow what happens, from now on or from where somebody was.

use std::sync::Arc;
use std::time::Duration;

use store::{Position, Scope};

use super::{Mailroom, is_ahead};
use crate::access::{Permit, Target, Verb};
use crate::caller::Caller;
use crate::error::Result;
use crate::feed::Watch;
use crate::resume::{self, Followed, Gap, Life, Start};

impl Mailroom {
    /// Follow what happens. Every change that begins after this returned is seen, or said to be missed.
    pub async fn watch(&self, caller: &Caller, scope: Scope) -> Result<Watch> {
        self.watch_after(caller, scope, Position::END).await
    }

    /// Follow what happens, for one who has seen everything up to a position: what changed since is told first, as far
    /// as it is still so, or said to be missed. It holds a stream of the engine to itself, where others share one.
    pub async fn watch_after(&self, caller: &Caller, scope: Scope, position: Position) -> Result<Watch> {
        let permit = self.access.permit(caller, Verb::Watch, (&scope).into())?;
        self.follow(caller, permit, scope, position).await
    }

    /// A watch that tells what the caller may know, and asks for each event anew.
    async fn follow(&self, caller: &Caller, permit: Permit, scope: Scope, after: Position) -> Result<Watch> {
        let watch = self.feed.watch(&self.vault, permit, scope, after).await?;
        if self.access.sees_all(caller) {
            return Ok(watch);
        }
        let (access, caller) = (Arc::clone(&self.access), caller.clone());
        Ok(watch.sifted(move |mailbox| access.permit(&caller, Verb::Watch, Target::Mailbox(mailbox)).is_ok()))
    }

    /// Follow what happens behind the place that a cursor tells of, if it is younger than the window and can be gone on
    /// from; else from now on, and why. Whoever follows first and lists then misses nothing.
    pub async fn resume(
        &self,
        caller: &Caller,
        scope: Scope,
        since: Option<&str>,
        window: Duration,
    ) -> Result<Followed> {
        let permit = self.access.permit(caller, Verb::Watch, (&scope).into())?;
        let store = self.vault.open(&permit);
        let mut start = Start::of(since, &scope, self.life(&scope), self.now(), window)?;
        if let Start::After(position) = start
            && self.abilities.whole_view
            && is_ahead(store, &scope, position).await?
        {
            start = Start::Now(Some(Gap::Restarted));
        }
        let (after, gap) = match start {
            Start::After(position) => (position, None),
            Start::Now(gap) => (Position::END, gap),
        };
        let watch = self.follow(caller, permit, scope.clone(), after).await?;
        let position = match watch.begins() {
            Some(begins) => begins,
            None if after == Position::END => resume::stands(store, &scope).await?,
            None => after,
        };
        Ok(Followed { watch, position, gap })
    }

    /// A cursor of all mailboxes is of one node where each has its own order of them.
    pub(super) fn life(&self, scope: &Scope) -> Life {
        match self.feed.life() {
            Some(epoch) if *scope == Scope::All => Life { epoch, other: Gap::Node },
            _ => Life { epoch: self.abilities.epoch, other: Gap::Restarted },
        }
    }
}
