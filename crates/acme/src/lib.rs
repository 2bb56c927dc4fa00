//! Certificates by ACME (RFC 8555): ordered from a CA, kept in a folder, and renewed before they end.
//!
//! The CA is shown that the domains are ours by http-01: it asks each of them for a path on port 80, and whoever serves
//! HTTP here answers from [`Challenges`], or [`door`] does. What is done with a new certificate is the caller's business; this room knows
//! no listener, no configuration file, and nothing of mail.

mod account;
mod challenges;
mod client;
pub mod door;
mod failure;
mod folder;
mod leaf;
mod notary;
mod order;
mod pace;
mod pair;
mod renewal;
mod settings;

pub use challenges::{Challenges, PATH};
pub use client::{Fetch, Fetcher, Fetching, Unfetched};
pub use failure::Failure;
pub use folder::FolderError;
pub use notary::Notary;
pub use pace::Pace;
pub use pair::Pair;
pub use settings::{Mistake, Settings};
