//! The disk engine: mail on one node that is there again after a power cut.
//!
//! One SQLite database in one directory that one process has. One thread writes, in groups: everything that waits goes
//! into one transaction, and nobody is answered before its commit returned, which is when the disk has it. Other threads
//! read, each from a moment of its own; nobody waits for them.
//!
//! **A mail's way.** The caller's thread makes a `draft` of it: texts, hash, packed body. The `writer` runs the step
//! on its `desk`, commits, tells the `feeds`, and answers. The `checkpoint` thread brings SQLite's log into the
//! database beside it. The `pool` of readers answers with `views`.
//!
//! **Ids** are drawn as in the memory engine; the last one is kept, so that none is ever given twice.
//!
//! **Bytes.** A body is kept once for all its mailboxes and goes with the last. When `bytes_max` or `free_min` is met, new
//! mail is refused; everything else goes on. What is let go makes room for what comes; much free room is given back.
//!
//! **Age.** By `received_at` and the `sundial`. What has lapsed is not shown from that moment on, whether it was let go
//! yet or not; the writer does that in slices between deliveries.
//!
//! **When the disk fails.** A sync that fails ends all writing until the next start, and the outcome of what was under way
//! is unknown (`health`). A row that is not what was written is known by its `seal` or its hash, is not handed out, and
//! is named in the log (`quarantine`); all others are.
//!
//! **Search.** An `index` beside the database, filled behind the commits by a thread of its own, says where to look; the
//! mail says what is there.
//!
//! It knows nothing of callers, protocols and configuration files.

pub mod backup;
pub mod check;
mod checkpoint;
mod desk;
mod directory;
mod draft;
mod engine;
mod error;
mod feeds;
mod health;
mod inbox;
mod index;
mod pack;
mod pool;
mod quarantine;
mod row;
mod schema;
mod seal;
mod settings;
mod slot;
mod step;
mod sundial;
#[cfg(test)]
mod tests;
mod views;
mod writer;

pub use directory::is_in_use;
pub use engine::Disk;
pub use error::OpenError;
pub use settings::{Search, Settings};
