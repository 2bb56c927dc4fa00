//! Mail in over SMTP: command lines and replies as values, the session as a pure machine, and the server that gives it
//! a socket. LMTP is the same session in another dialect.
//!
//! It knows no store and no other edge: everything it asks or delivers goes through the mailroom.

pub mod command;
mod counters;
mod data;
pub mod limits;
pub mod reply;
pub mod server;
pub mod session;
pub mod settings;

pub use limits::Limits;
pub use reply::Reply;
pub use server::{Server, serve};
pub use session::{Dialect, Link, Session};
pub use settings::{BareNewlines, Settings};
