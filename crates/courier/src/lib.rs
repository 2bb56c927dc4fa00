//! What leaves: webhooks, release, relay. Takes the jobs that the mailroom wrote, retries, reports.

mod carrier;
mod courier;
pub mod relay;
pub mod webhook;

pub use carrier::{Carrier, Outcome};
pub use courier::Courier;
