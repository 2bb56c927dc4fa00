//! The keys of the sections `access` and `inbox`, ready to use.

use std::time::Duration;

use jiff::Timestamp;
use mail::Naming;
use rate::Quota;

use super::inbox::Keys;
use super::scope::Scopes;
use super::token::Digest;
use super::verb::Verbs;

/// Which rules hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Everybody may do everything.
    #[default]
    Open,
    /// Whoever shows a token may do what it is good for, and nobody else anything.
    Token,
    /// Whoever knows a mailbox's name may read there; all else is as with tokens.
    Public,
    /// Nobody may do anything: to see that every verb asks.
    #[cfg(test)]
    Shut,
    /// Everybody may do everything on one mailbox: to see that every verb asks for the right one.
    #[cfg(test)]
    Only(&'static str),
}

/// When an inbox opens only to its secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InboxSecret {
    /// In every mode but `open`.
    #[default]
    Auto,
    /// In every mode.
    Always,
}

/// What access is told when the mailroom opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    /// `access.mode`. Default `open`.
    pub mode: Mode,
    /// `access.public_verbs`: what everybody may do in public mode. Default: what changes nothing.
    pub public_verbs: Verbs,
    /// `access.inbox_secret`. Default `auto`.
    pub inbox_secret: InboxSecret,
    /// `[[access.tokens]]`.
    pub tokens: Vec<Configured>,
    /// `access.tokens_max`: so many tokens may be issued. Default 10000.
    pub tokens_max: usize,
    /// `access.logins_max`: so many may be logged in at once. Default 10000.
    pub logins_max: usize,
    /// `access.login_ttl`: how long a login is good. Default 12 hours.
    pub login_ttl: Duration,
    /// `access.user_scopes`: what a user may do whom a trusted proxy names. Default `rw:*`.
    pub user_scopes: Scopes,
    /// `access.failures_per_ip`: how often a wrong credential may come from one address. Default 30 a minute.
    pub failures_per_ip: Option<Quota>,
    /// What inboxes are made with (`access.key_file`); none: there are none.
    pub keys: Option<Keys>,
    /// The section `inbox`.
    pub inbox: Inbox,
}

/// A token that stands in the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Configured {
    /// What it is called; also its id.
    pub name: String,
    /// What is kept of it.
    pub digest: Digest,
    /// What it is good for.
    pub scopes: Scopes,
    /// Until when.
    pub expires: Option<Timestamp>,
}

/// How inboxes are opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inbox {
    /// `inbox.domain`: the domain of their addresses. Default `inbox.example.com`.
    pub domain: String,
    /// `inbox.ttl_default`: how long they live. Default an hour.
    pub ttl_default: Duration,
    /// `inbox.ttl_max`: no longer than this. Default a day.
    pub ttl_max: Duration,
    /// `inbox.rate_per_ip`: how often one address may open one. Default: as often as it likes.
    pub rate_per_ip: Option<Quota>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            mode: Mode::Open,
            public_verbs: Verbs::RO,
            inbox_secret: InboxSecret::Auto,
            tokens: Vec::new(),
            tokens_max: 10_000,
            logins_max: 10_000,
            login_ttl: Duration::from_secs(12 * 60 * 60),
            user_scopes: Scopes::parse(["rw:*"], Naming::Local).expect("these are scopes"),
            failures_per_ip: Some(Quota { count: 30, per: Duration::from_secs(60) }),
            keys: None,
            inbox: Inbox::default(),
        }
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            domain: "inbox.example.com".to_owned(),
            ttl_default: Duration::from_secs(60 * 60),
            ttl_max: Duration::from_secs(24 * 60 * 60),
            rate_per_ip: None,
        }
    }
}

/// A mode, and all else as it is by default.
impl From<Mode> for Rules {
    fn from(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }
}
