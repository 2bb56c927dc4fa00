//! Luau scripts that act on mail: the mailroom's [hooks](mailroom::hooks), in a sandbox with a deadline.
//!
//! A [`Program`] is the scripts as they were read and compiled; [`Scripts`] runs them on threads of its own and answers
//! the mailroom; [`trial`] shows what they would do with one mail. Each event sees the script as if it had just been
//! read: nothing that one event does is there for the next, except what was handed to `postkeep.remember` or `count`.
//!
//! This room watches no file and knows no SMTP: who reads a script again and what a verdict looks like on the wire is
//! others' business. What leaves goes through `outbound`, as a stranger's.

mod api;
mod complaints;
mod counters;
mod desk;
mod event;
mod failure;
mod hooks;
mod leash;
mod modules;
mod notes;
mod pool;
mod probe;
mod program;
mod sandbox;
mod settings;
mod source;
#[cfg(test)]
mod tests;
pub mod trial;
mod vm;

pub use hooks::Scripts;
pub use program::{BadScript, Handler, Module, Program};
pub use settings::{OnError, Settings};
pub use source::Look;
