//! The words of the house: who sent what to whom, and what a message says.
//!
//! Everything here is a pure function of its arguments: no clock, no randomness, no I/O, no async. Every reader is
//! total: any bytes give an answer, in time linear to their length.

pub mod address;
mod charset;
#[cfg(test)]
mod clock;
pub mod envelope;
pub mod extract;
pub mod harmless;
pub mod header;
mod html;
pub mod id;
pub mod letter;
pub mod mailbox;
pub mod mbox;
pub mod mime;
pub mod near;
pub mod query;
pub mod summary;
pub mod time;
pub mod trace;

pub use address::{Address, Domain};
pub use envelope::{Door, Envelope, Recipient, ReversePath, Transport};
pub use id::{MessageId, TransactionId};
pub use letter::Letter;
pub use mailbox::{Mailbox, Naming};
pub use mime::{Attachment, View};
pub use query::Query;
pub use summary::{Author, Digest, Summary};
