//! What the store's records say of tokens, logins and fault plans, kept at hand: read whole once, and followed from then on, so that
//! whatever any node issues or revokes is known on every node within moments.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, future};
use store::registry::{RegistryChange, RegistryChanges};

use super::{Access, Permit, Vault, session, tokens};
use crate::faults::{Faults, plans};

/// Before records are asked for again that could not be had.
const PAUSE: Duration = Duration::from_millis(250);
const KINDS: [&str; 3] = [tokens::KIND, session::KIND, plans::KIND];

/// Read all there are; what is left to do is to follow them, for ever.
pub(crate) async fn recall(
    vault: Vault,
    access: Arc<Access>,
    faults: Arc<Faults>,
    permit: Permit,
) -> store::Result<impl Future<Output = ()> + Send + 'static> {
    let mut followed = Vec::new();
    for kind in KINDS {
        let (vault, access, faults) = (vault.clone(), Arc::clone(&access), Arc::clone(&faults));
        let follower = Follower { vault, access, faults, permit, kind };
        let changes = follower.begin().await?;
        followed.push(follower.follow(changes));
    }
    Ok(async move { drop(future::join_all(followed).await) })
}

struct Follower {
    vault: Vault,
    access: Arc<Access>,
    faults: Arc<Faults>,
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
            plans::KIND => self.faults.plans.replace(&entries),
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
        match (change, self.kind) {
            (RegistryChange::Put(entry), tokens::KIND) => self.access.tokens.put(&entry),
            (RegistryChange::Put(entry), plans::KIND) => self.faults.plans.put(&entry),
            (RegistryChange::Put(entry), _) => self.access.logins.put(&entry),
            (RegistryChange::Deleted(key), tokens::KIND) => self.access.tokens.remove(&key),
            (RegistryChange::Deleted(key), plans::KIND) => self.faults.plans.remove(&key),
            (RegistryChange::Deleted(key), _) => self.access.logins.remove(&key),
            (RegistryChange::Lost, _) => return false,
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
