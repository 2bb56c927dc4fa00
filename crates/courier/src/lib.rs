//! What leaves: webhooks, release, relay. Takes the jobs that the mailroom wrote, retries, reports.

pub mod relay;
