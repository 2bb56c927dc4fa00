//! The POP3 server with a real mailroom and the memory engine behind it, over a pipe, over TCP and under TLS.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod deadlines;
mod dialogues;
mod faults;
mod limits;
mod messages;
mod rig;
mod secured;
mod stop;
mod update;
