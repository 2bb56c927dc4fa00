//! What every part of the engine has in hand: the link to the brokers, the names there, the settings and the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::Clock;

use crate::names::Names;
use crate::settings::Settings;
use crate::wire::{Link, Patience};

/// Shared by all parts.
pub(crate) struct Office {
    pub(crate) link: Link,
    pub(crate) names: Names,
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
    /// This process, among the others over the same store.
    pub(crate) node: String,
    pub(crate) floors: Floors,
    /// How many mailboxes are followed.
    pub(crate) followed: AtomicU64,
}

/// Where the bodies of each shard begin: what lay before went because there was no room. Looked up now and then, as
/// nobody tells when it moves.
pub(crate) struct Floors(Vec<AtomicU64>);

impl Office {
    pub(crate) fn new(link: Link, names: Names, settings: Settings, clock: Arc<dyn Clock>) -> Arc<Self> {
        let node = uuid::Uuid::new_v4().simple().to_string();
        let floors = Floors((0..settings.body_shards).map(|_| AtomicU64::new(0)).collect());
        Arc::new(Self { link, names, settings, clock, node, floors, followed: AtomicU64::new(0) })
    }

    /// How long a call waits for the brokers, from now on.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(self.settings.wait_max)
    }
}

impl Floors {
    pub(crate) fn of(&self, shard: usize) -> u64 {
        self.0.get(shard).map_or(0, |floor| floor.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, shard: usize, seq: u64) {
        if let Some(floor) = self.0.get(shard) {
            floor.store(seq, Ordering::Relaxed);
        }
    }
}
