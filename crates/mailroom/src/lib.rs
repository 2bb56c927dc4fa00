//! The one door to the mail. Every edge (SMTP, HTTP, later POP3 and scripts) goes through [`Mailroom`]; nobody else
//! knows the store. Each verb takes a [`Caller`] and passes [`access`] before it reaches the engine.
//!
//! It knows no protocol: what a verdict or an error looks like on the wire is each edge's own business.

pub mod access;
pub mod caller;
mod counters;
pub mod cursor;
pub mod error;
pub mod faults;
pub mod feed;
mod glob;
pub mod hooks;
mod import;
mod letters;
pub mod outgoing;
mod pace;
mod parcel;
pub mod policy;
pub mod recent;
pub mod refusals;
mod resume;
mod room;
pub mod route;
pub mod search;
pub mod settings;
mod sign_in;
mod transaction;
pub mod users;
pub mod verdict;
pub mod wait;

pub use access::Access;
pub use caller::{Caller, Credential};
pub use cursor::{BadCursor, Cursor, Since};
pub use error::{Error, Result};
pub use feed::{Event, Watch};
pub use hooks::{Hooks, Visit};
pub use import::Import;
pub use parcel::{Delivered, Parcel};
pub use policy::Policy;
pub use recent::{Mailboxes, Mark, Nodes, Recent, RecentAsk, Similar};
pub use refusals::{Acted, ByFault, Refusal, RefusalWatch, Refusals, Refused, Stage};
pub use resume::{Followed, Gap};
pub use room::inboxes::{Inbox, NewInbox, OpenedInbox};
pub use room::mailboxes::Held;
pub use room::once::{Once, Outcome};
pub use room::sight::Seen;
pub use room::tokens::{IssuedToken, NewToken, Revoked};
pub use room::webhooks::DeadWebhook;
pub use room::{Mailroom, Which};
pub use search::{Search, Searched};
pub use settings::{Say, Settings};
pub use sign_in::{Desk, Roll, Secret, Senders, SignInError};
pub use users::Users;
pub use verdict::{Decision, Status, Verdict};

pub use rate::Quota;

/// The engine's words that the verbs speak, so that an edge needs to know no store.
pub use store::{
    Abilities, Change, Clock, Error as StoreError, Filed, Job, JobId, Lease, Listing, MailboxOrder, MailboxPage,
    MailboxState, ManualClock, Page, Position, RecentPage, Scope, Stored, SystemClock,
    list::{Item, Order},
};

#[cfg(test)]
mod stub;
