//! The memory engine against the suite, and what is its own: what it charges, what it forgets, how it yields.

mod charges;
mod model;
mod speed;

use std::sync::Arc;

use async_trait::async_trait;

use crate::conformance::{Engine, Need, Rig};
use crate::{Memory, Store};

use super::Settings;

/// The memory engine, made as the suite asks.
struct InMemory;

#[async_trait]
impl Engine for InMemory {
    async fn open(&self, rig: &Rig) -> Arc<dyn Store> {
        let plain = Settings::default();
        let settings = Settings {
            bytes_max: rig.bytes_max.unwrap_or(plain.bytes_max),
            messages_max: rig.messages_max,
            retention: rig.retention,
            changes_max: rig.changes_max.unwrap_or(plain.changes_max),
            lag_max: rig.changes_max.unwrap_or(plain.lag_max),
            ..plain
        };
        Arc::new(Memory::new(settings, rig.clock.clone()))
    }

    fn lacks(&self) -> &'static [Need] {
        &[Need::Refuses, Need::Reopen]
    }
}

crate::conformance_tests!(InMemory);
