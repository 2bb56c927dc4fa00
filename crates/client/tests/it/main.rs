//! The client against a server that does as it is told: what is asked, and what is made of the answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asking;
mod stub;
mod waiting;
mod watching;
