//! Mail in over SMTP: command lines and replies as values, the session as a pure machine, and the server that gives it
//! a socket. LMTP, STARTTLS and AUTH get their place beside and inside the session; they are not offered yet.
//!
//! It knows no store and no other edge: everything it asks or delivers goes through the mailroom.

pub mod command;
mod data;
pub mod reply;
pub mod server;
pub mod session;
pub mod settings;

pub use reply::Reply;
pub use server::{Server, serve};
pub use session::Session;
pub use settings::{BareNewlines, Settings};
