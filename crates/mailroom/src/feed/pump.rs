//! The one task that takes the engine's changes to the watchers. It runs while anybody watches.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use store::{Changes, News, Position, Scope};

use super::hub::{Hub, Turn};
use crate::access::{Permit, Vault};

/// First and longest pause before asking an engine again whose stream ended.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Everything that changes from now on.
pub(super) async fn open(vault: &Vault, permit: Permit) -> store::Result<Changes> {
    vault.open(&permit).changes(Scope::All, Position::END).await
}

/// Serve the watchers from this stream on.
pub(super) fn start(hub: &Arc<Hub>, vault: Vault, permit: Permit, changes: Changes) {
    hub.serve(|turn| tokio::spawn(run(Arc::clone(hub), turn, vault, permit, changes)).abort_handle());
}

/// Ends with its turn. When the engine's stream ends before that, a new one is opened and everybody is told of the gap.
async fn run(hub: Arc<Hub>, turn: Turn, vault: Vault, permit: Permit, mut changes: Changes) {
    let mut last = Position::START;
    loop {
        while let Some(news) = changes.next().await {
            last = news.position();
            if !hub.tell(turn, news) {
                return;
            }
            // A stream that is always ready must not keep a worker of the runtime to itself.
            tokio::task::coop::consume_budget().await;
        }
        changes = reopen(&vault, permit).await;
        if !hub.tell(turn, News::Lost { position: last }) {
            return;
        }
    }
}

async fn reopen(vault: &Vault, permit: Permit) -> Changes {
    let mut pause = PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        match open(vault, permit).await {
            Ok(changes) => return changes,
            Err(error) => tracing::warn!(%error, "the engine gives no changes; watchers see nothing until it does"),
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
