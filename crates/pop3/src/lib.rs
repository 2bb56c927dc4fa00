//! Mail out over POP3: command lines and replies as values, the session as a pure machine, and the server that gives it
//! a socket.
//!
//! It knows no store and no other edge: whoever signs in, lists, reads or deletes does so through the mailroom. It takes
//! no lock on a mailbox, and offers neither APOP nor AUTH.

pub mod command;
pub mod reply;
pub mod server;
pub mod session;
pub mod settings;
pub mod stuffing;

pub use reply::Reply;
pub use server::{Server, serve};
pub use session::Session;
pub use settings::{Settings, TlsUse};
