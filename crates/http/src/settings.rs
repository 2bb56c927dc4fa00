//! The keys of the section `http`, ready to use.

use std::time::Duration;

use mail::trace::Peer;
use net::{Network, Quota};

use crate::live;

/// How mail is delivered over HTTP: as over SMTP, so most of it is what SMTP is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliver {
    /// `smtp.hostname`: the name in the trace field.
    pub hostname: String,
    /// `smtp.trace_peer`: what of the client the trace field tells.
    pub trace_peer: Peer,
    /// `smtp.recipients_max`.
    pub recipients_max: usize,
    /// `smtp.received_max`: more Received fields are a loop.
    pub received_max: usize,
    /// `deliver.idempotency_window`: how long the key of a delivery is remembered.
    pub idempotency_window: Duration,
}

impl Default for Deliver {
    fn default() -> Self {
        Self {
            hostname: "localhost".to_owned(),
            trace_peer: Peer::Shown,
            recipients_max: 1000,
            received_max: 50,
            idempotency_window: Duration::from_secs(120),
        }
    }
}

/// What this server is called and how mail gets to it, for people who ask.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// `http.label`: the name of this server; none: it has none.
    pub label: Option<String>,
    /// Where mail is taken over SMTP.
    pub smtp: Vec<SmtpDoor>,
    /// A domain for which mail is taken; none: for any.
    pub domain: Option<String>,
}

/// A listener of SMTP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SmtpDoor {
    /// The address; `*` when it listens on all of them.
    pub host: String,
    /// The port.
    pub port: u16,
    /// `none`, `starttls` or `implicit`.
    pub tls: &'static str,
    /// `none`, `any` when one may sign in, `required` when one must.
    pub auth: &'static str,
}

/// How the HTTP server behaves. Each field is the key of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Where people reach this server, as `https://mail.example.com/prefix`; none: what the request says.
    pub public_url: Option<String>,
    /// Further names the Host field may carry; `*.example.com` covers subdomains.
    pub allowed_hosts: Vec<String>,
    /// Networks whose `X-Forwarded-*` fields are believed.
    pub trusted_proxies: Vec<Network>,
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once from one address; 0 is no limit.
    pub connections_per_ip_max: usize,
    /// Octets of a request body.
    pub body_max: u64,
    /// Levels of JSON in a body.
    pub json_depth_max: usize,
    /// Messages that one request may delete by their ids.
    pub bulk_max: usize,
    /// Messages of a page when nobody says how many.
    pub page_default: usize,
    /// Messages of a page.
    pub page_max: usize,
    /// Messages of a page with more than summaries.
    pub page_full_max: usize,
    /// What is told of this server and how mail gets to it.
    pub told: Told,
    /// The section `deliver`.
    pub deliver: Deliver,
    /// Octets of a message that is delivered: `smtp.message_max`.
    pub message_max: u64,
    /// Octets of a message that is imported: `smtp.message_max` and the trace fields above it.
    pub import_max: u64,
    /// Octets of a request's head; at least 8 KiB.
    pub header_max: usize,
    /// Octets of large answers that may be under way at once, over all connections.
    pub answers_max: u64,
    /// Time for a request's head to arrive.
    pub header_timeout: Duration,
    /// Time for one request, from its head to the beginning of its answer; and the time in which a client that reads
    /// its answer slowly must take a fair share of it.
    pub request_timeout: Duration,
    /// Time a kept connection may stay silent.
    pub idle_timeout: Duration,
    /// The section `events`.
    pub events: live::Events,
    /// The section `monitor`.
    pub monitor: live::Monitor,
    /// `mailbox.retention` and `mailbox.messages_max`, to be told.
    pub kept: live::Kept,
    /// Origins whose pages may call from a browser, each as a browser writes it.
    pub cors_origins: Vec<String>,
    /// How often one address may ask; none: as often as it likes.
    pub rate_per_ip: Option<Quota>,
    /// So many addresses are remembered for that.
    pub rate_entries_max: usize,
    /// The field in which a trusted proxy names the user (`access.user_header`).
    pub user_header: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            public_url: None,
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            connections_max: 4000,
            connections_per_ip_max: 0,
            body_max: 1 << 20,
            json_depth_max: 32,
            bulk_max: 1000,
            page_default: 50,
            page_max: 500,
            page_full_max: 20,
            told: Told::default(),
            deliver: Deliver::default(),
            message_max: 25 << 20,
            import_max: (25 << 20) + (64 << 10),
            header_max: 32 << 10,
            answers_max: 256 << 20,
            header_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(75),
            events: live::Events::default(),
            monitor: live::Monitor::default(),
            kept: live::Kept::default(),
            cors_origins: Vec::new(),
            rate_per_ip: None,
            rate_entries_max: 100_000,
            user_header: None,
        }
    }
}
