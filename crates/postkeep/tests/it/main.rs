//! Black box: the real binary, started on free ports, spoken to over its sockets and signals only.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod api_v2;
mod archive;
mod bombs;
mod cli_verbs;
mod configuration;
mod events;
mod fault_plans;
mod faults;
mod faults_on_demand;
mod golden;
mod hostile;
mod http;
mod jetstream;
mod kit;
mod limits;
mod mail_in_and_out;
mod naming_and_policy;
mod page;
mod program;
mod public;
mod release;
mod script;
mod sendmail;
mod smtp;
mod start;
mod stop;
mod store_verbs;
mod tls;
mod users;
mod weather;
mod webhooks;
