//! The one door to the mail. Every edge (SMTP, HTTP, later POP3 and scripts) goes through [`Mailroom`]; nobody else
//! knows the store. Each verb takes a [`Caller`] and passes [`access`] before it reaches the engine.
//!
//! It knows no protocol: what a verdict or an error looks like on the wire is each edge's own business.

pub mod access;
pub mod caller;
pub mod error;
pub mod feed;
mod import;
mod parcel;
pub mod policy;
pub mod refusals;
mod room;
pub mod settings;
mod transaction;
pub mod verdict;

pub use access::Access;
pub use caller::Caller;
pub use error::{Error, Result};
pub use feed::{Event, Watch};
pub use import::Import;
pub use parcel::{Delivered, Parcel};
pub use policy::Policy;
pub use refusals::{Refusal, Refusals, Stage};
pub use room::{Mailroom, Which};
pub use settings::Settings;
pub use verdict::{Decision, Status, Verdict};

/// The engine's words that the verbs speak, so that an edge needs to know no store.
pub use store::{
    Abilities, Change, Clock, Error as StoreError, Filed, Listing, MailboxOrder, MailboxPage, MailboxState,
    ManualClock, Page, Position, RecentPage, Scope, Stored, SystemClock,
    list::{Item, Order},
};

#[cfg(test)]
mod stub;
