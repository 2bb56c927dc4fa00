//! Orders from a real CA for tests, Pebble; and from servers that are none. Tests that need Pebble pass over, and say so,
//! where it is not found.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod authority;
mod folder;
mod hostile;
mod orders;
mod pebble;
mod renewals;
mod rig;
