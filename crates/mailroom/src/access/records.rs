//! What the store's records say of tokens and logins, kept at hand: read whole once, and followed from then on, so that
//! whatever any node issues or revokes is known on every node within moments.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, future};
use store::registry::{RegistryChange, RegistryChanges};

use super::{Access, Permit, Vault, session, tokens};

/// Before records are asked for again that could not be had.
const PAUSE: Duration = Duration::from_millis(250);
const KINDS: [&str; 2] = [tokens::KIND, session::KIND];

/// Read all there are; what is left to do is to follow them, for ever.
pub(crate) async fn recall(
    vault: Vault,
    access: Arc<Access>,
    permit: Permit,
) -> store::Result<impl Future<Output = ()> + Send + 'static> {
    let mut followed = Vec::new();
    for kind in KINDS {
        let follower = Follower { vault: vault.clone(), access: Arc::clone(&access), permit, kind };
        let changes = follower.begin().await?;
        followed.push(follower.follow(changes));
    }
    Ok(async move { drop(future::join_all(followed).await) })
}

struct Follower {
    vault: Vault,
    access: Arc<Access>,
    permit: Permit,
    kind: &'static str,
}

impl Follower {
    /// First the stream, then the list: what is written between the two comes in both, and is missed by neither.
    async fn begin(&self) -> store::Result<RegistryChanges> {
        let changes = self.vault.open(&self.permit).registry().watch(self.kind).await?;
        self.list().await?;
        Ok(changes)
    }

    async fn list(&self) -> store::Result<()> {
        let entries = self.vault.open(&self.permit).registry().list(self.kind).await?;
        match self.kind {
            tokens::KIND => self.access.tokens.replace(&entries),
            _ => self.access.logins.replace(&entries),
        }
        Ok(())
    }

    async fn follow(self, mut changes: RegistryChanges) {
        loop {
            while let Some(change) = changes.next().await {
                if !self.take(change) {
                    break;
                }
            }
            changes = self.begin_anew().await;
        }
    }

    /// Whether it could be told what changed.
    fn take(&self, change: RegistryChange) -> bool {
        let is_token = self.kind == tokens::KIND;
        match change {
            RegistryChange::Put(entry) if is_token => self.access.tokens.put(&entry),
            RegistryChange::Put(entry) => self.access.logins.put(&entry),
            RegistryChange::Deleted(key) if is_token => self.access.tokens.remove(&key),
            RegistryChange::Deleted(key) => self.access.logins.remove(&key),
            RegistryChange::Lost => return false,
        }
        true
    }

    async fn begin_anew(&self) -> RegistryChanges {
        loop {
            match self.begin().await {
                Ok(changes) => return changes,
                Err(error) => tracing::debug!(kind = self.kind, %error, "records cannot be followed; trying again"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
