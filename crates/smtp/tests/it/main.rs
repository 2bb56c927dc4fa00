//! The SMTP server with a real mailroom and the memory engine behind it, over a pipe and over TCP.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod deadlines;
mod dialogues;
mod faults;
mod flood;
mod limits;
mod rig;
mod secured;
mod smuggling;
mod stop;
