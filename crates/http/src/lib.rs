//! Mail out over HTTP: REST v1 and v2, live feeds, attachments, health, the page; and the way in for mail of before.
//!
//! Every request passes one `guard` (Host, Origin, framing, limits) before it is routed, and every answer leaves with
//! the same protective fields, whatever its route. What the mailroom does is its own business: here its verbs are put
//! into paths, and its answers and errors into bytes. It knows no engine, and no other edge.

mod asked;
mod attachment;
pub mod base_url;
mod connection;
mod cors;
mod counters;
mod door;
mod guard;
mod health;
mod host;
mod import;
mod json;
pub mod live;
mod page;
mod problem;
mod router;
mod server;
pub mod settings;
mod shared;
mod sign;
mod v1;
mod v2;
pub mod words;

pub use base_url::PublicUrl;
pub use counters::Render;
pub use page::{BadPage, Page};
pub use server::{Server, serve};
pub use settings::{Deliver, Settings, SmtpDoor, Told};

#[cfg(test)]
mod tests;
