//! The memory engine: mail until the program ends.
//!
//! One lock over everything. Under it nothing waits, no body is touched or freed, nobody is woken; a step is about a
//! microsecond. It knows nothing of disks and of other nodes.
//!
//! **Bytes.** A message is charged its bytes and envelope once, about 1 KiB for each copy and 768 bytes for each mailbox
//! that holds mail, so that many tiny messages are bounded as well. When `bytes_max` is met, the mailbox that is charged
//! most loses its oldest message, again and again until there is room; among equals the oldest message goes. So a flooded
//! mailbox pays with its own mail: another can lose some to it only while it is itself the larger, or to a single new
//! message that is larger than every mailbox. A flood over many new mailboxes levels the larger ones down, then drops the
//! oldest. A message never falls to its own arrival. A shared body is charged whole to each of its mailboxes, and freed
//! with the last.
//!
//! **Age.** By `received_at` and the clock. What has lapsed is not shown from that moment on, whether it was freed yet or
//! not; each call frees a few, [`Memory::sweep`] more. A clock that jumps forward makes mail lapse by this rule; when it
//! steps back, what was not freed yet is there again.
//!
//! **Ids** grow with the clock, or by one where the clock stands or steps back.

mod debris;
mod engine;
mod folder;
mod jobs;
mod kept;
mod lines;
mod log;
mod records;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod views;

pub use engine::Memory;
pub use settings::Settings;
pub use state::Drops;
