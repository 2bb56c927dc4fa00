//! The task that takes one of the engine's streams to its audience. It runs as long as that has anybody in it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use store::{Changes, News, Position, Scope};
use tokio::task::AbortHandle;

use super::audience::Audience;
use super::hub::{Hub, LINGER};
use crate::access::{Permit, Vault};

/// First and longest pause before asking an engine again whose stream ended.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// What a pump works with.
struct Pump {
    hub: Arc<Hub>,
    audience: Arc<Audience>,
    vault: Vault,
    permit: Permit,
}

/// Open the engine's stream and serve the audience from it on.
pub(super) async fn start(
    hub: &Arc<Hub>,
    audience: &Arc<Audience>,
    vault: &Vault,
    permit: Permit,
) -> store::Result<AbortHandle> {
    let (hub, audience, vault) = (Arc::clone(hub), Arc::clone(audience), vault.clone());
    let pump = Pump { hub, audience, vault, permit };
    let changes = pump.open(pump.audience.after).await?;
    Ok(tokio::spawn(pump.run(changes)).abort_handle())
}

impl Pump {
    async fn open(&self, after: Position) -> store::Result<Changes> {
        self.vault.open(&self.permit).changes(self.audience.scope.clone(), after).await
    }

    async fn run(self, changes: Changes) {
        tokio::select! {
            () = self.serve(changes) => {}
            () = self.deserted() => {}
        }
    }

    /// An audience that lingers was left, and nobody came back for a while.
    async fn deserted(&self) {
        loop {
            self.audience.left().await;
            tokio::time::sleep(LINGER).await;
            if self.hub.dismiss(&self.audience) {
                return;
            }
        }
    }

    /// When the engine's stream ends, a new one is opened behind what was seen last, and tells itself what is missing.
    /// Where nothing is known to begin with, the new one begins at the end, and everybody is told of the gap.
    async fn serve(&self, mut changes: Changes) {
        let mut last = Some(self.audience.after).filter(|after| *after != Position::END);
        loop {
            while let Some(news) = changes.next().await {
                last = Some(news.position());
                self.hub.tell(&self.audience, &news);
                // A stream that is always ready must not keep a worker of the runtime to itself.
                tokio::task::coop::consume_budget().await;
            }
            let behind = self.resumable(last);
            changes = self.reopen(behind.unwrap_or(Position::END)).await;
            if behind.is_none() {
                self.hub.tell(&self.audience, &News::Lost { position: last.unwrap_or(Position::START) });
            }
        }
    }

    /// A position is one in its mailbox. Over all mailboxes it says how far a stream came only on a single node, and an
    /// engine need not be one.
    fn resumable(&self, last: Option<Position>) -> Option<Position> {
        last.filter(|_| matches!(self.audience.scope, Scope::Mailbox(_)))
    }

    async fn reopen(&self, after: Position) -> Changes {
        let outage = &self.hub.outage;
        let (mut pause, mut silent) = (PAUSE, None);
        loop {
            tokio::time::sleep(pause).await;
            let turn = outage.turn().await;
            match self.open(after).await {
                Ok(changes) => return changes,
                Err(error) => _ = silent.get_or_insert_with(|| outage.begin(&error)),
            }
            drop(turn);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
