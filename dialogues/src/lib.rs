//! Dialogues with a server that speaks in lines: a client for tests, a certificate that it trusts, and scripts in text
//! files that are replayed line by line or byte by byte. It is a tool of the house's tests and no part of the program; it
//! knows no protocol, no mailroom and no settings. What a script says beyond sending and expecting, the caller obeys.
//!
//! A script is made of these lines:
//!
//! | Line | Meaning |
//! |---|---|
//! | `# TEXT` | a comment |
//! | `set KEY VALUE` | how the server is set before the dialogue begins; see [`Script::settings`] |
//! | `C: TEXT` | send this line |
//! | `c: TEXT` | send these bytes, written as for [`unescaped`] |
//! | `S: TEXT` | expect this line; a `*` at its end stands for any rest |
//! | `handshake` | go on under TLS |
//! | `closed` | expect the end |
//!
//! Something that is wrong panics, with the file and the line: whoever uses this is a test.

pub mod certificate;
mod client;
mod script;

pub use client::{Client, Ends, PATIENCE, dial, dial_secured};
pub use script::{Pace, Script, unescaped};
