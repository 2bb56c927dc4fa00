//! The distributed engine: mail on a cluster of NATS JetStream brokers, for any number of processes at once. A process
//! holds nothing of the store; what it dies with is finished by another.
//!
//! What lies on the brokers, for a store with the prefix `postkeep`:
//!
//! - `postkeep-sum-<p>`, the shards of mailboxes. A mailbox has a subject for its lines (a line is the summary of a
//!   message, its sequence is the message's id) and one for marks (what was taken out). The broker keeps the newest
//!   `mailbox.messages_max` of a subject, and nothing older than `mailbox.retention`.
//! - `postkeep-body-<q>`, logs of bodies, and the intents of what was begun and not finished.
//! - `postkeep-reg` and `postkeep-jobs`, the small records and the jobs.
//!
//! How each thing is done:
//!
//! - `deliver`: a message into all its mailboxes or none, although no transaction spans streams. `reconcile` finishes
//!   what somebody began.
//! - `log`: a mailbox as it stands, read from any replica and believed only if that has what the leader had. `remove`
//!   takes mail out, `janitor` the marks of it, `follow` tells what changes, in one mailbox or in all.
//! - `bodies` packs, cuts and checks bodies. `record` is the format of everything, `names` what it is called.
//! - `streams` makes the streams, `servers` checks the brokers, `pulse` tells whether mail would be taken now.
//! - `registry`, `outbox` and `peers` are what the store keeps beside mail.
//! - `wire` speaks to the brokers and knows no mail.

mod bodies;
mod deliver;
mod engine;
mod error;
mod follow;
mod janitor;
mod log;
mod names;
mod office;
mod outbox;
mod peers;
mod pulse;
mod reconcile;
mod record;
mod registry;
mod remove;
mod servers;
mod settings;
mod streams;
mod wire;

pub use engine::Jetstream;
pub use error::OpenError;
pub use settings::Settings;

#[cfg(test)]
mod tests;
