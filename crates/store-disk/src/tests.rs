//! The disk engine against the suite, and what is its own.

mod ageing;
pub(crate) mod bench;
mod clock;
mod damage;
mod doors;
mod formats;
mod history;
mod limits;
mod purges;
mod quarantine;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use store::Store;
use store::conformance::{Engine, Need, Rig};

use crate::{Disk, Settings};

/// A directory of its own, gone with the test.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("postkeep-disk-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The disk engine, made as the suite asks.
struct OnDisk(Place);

fn settings(path: &Path, rig: &Rig) -> Settings {
    let plain = Settings::new(path);
    Settings {
        bytes_max: rig.bytes_max,
        free_min: 0,
        messages_max: rig.messages_max,
        retention: rig.retention,
        // The suite's clock moves when it is told.
        jump_hold: Duration::ZERO,
        changes_max: rig.changes_max.unwrap_or(plain.changes_max),
        lag_max: rig.changes_max.unwrap_or(plain.lag_max),
        ..plain
    }
}

#[async_trait]
impl Engine for OnDisk {
    async fn open(&self, rig: &Rig) -> Arc<dyn Store> {
        Arc::new(Disk::open(settings(self.0.path(), rig), rig.clock.clone()).expect("the store opens"))
    }

    /// The files as they lie there, without the engine having a chance to put anything in order.
    async fn reopen(&self, store: Arc<dyn Store>, rig: &Rig) -> Arc<dyn Store> {
        let left = Place::new();
        fs::create_dir(left.path()).expect("a directory is made");
        for name in ["postkeep.db", "postkeep.db-wal"] {
            fs::copy(self.0.path().join(name), left.path().join(name)).expect("a file is copied");
        }
        drop(store);
        fs::remove_dir_all(self.0.path()).expect("the old one goes");
        fs::rename(left.path(), self.0.path()).expect("the copy takes its place");
        self.open(rig).await
    }

    /// Until the index has come to where the store stands.
    async fn settle(&self, _store: &dyn Store) {
        let index = Connection::open(self.0.path().join("search.db")).expect("the index is there");
        let mail = Connection::open(self.0.path().join("postkeep.db")).expect("the store is there");
        let number = |connection: &Connection, sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        loop {
            let head = number(&index, "SELECT head FROM state");
            if head.ok() == number(&mail, "SELECT last_position FROM state").ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn lacks(&self) -> &'static [Need] {
        &[Need::Evicts]
    }
}

store::conformance_tests!(OnDisk(Place::new()));
