//! Released mail on its way out: an SMTP client for one smart host, which sends the bytes as they are or not at all.

mod counters;
mod dialogue;
mod errand;
mod letter;
mod link;
mod offers;
pub mod reply;
mod smart_host;
pub mod stuff;
#[cfg(test)]
mod tests;

pub use dialogue::{Fate, send};
pub use errand::{Relay, Settings};
pub use letter::{GUARD, Letter, passages};
pub use smart_host::{BadSmartHost, Login, SmartHost, Tls, is_loopback};
