//! The mailroom's own keys, ready to use. How they are written in a file, and what a mistake in one looks like, is
//! the program's business; how many messages a mailbox keeps and for how long is the engine's.

use mail::Naming;

use crate::access::Mode;
use crate::policy::Policy;

/// What the mailroom is told when it opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `mailbox.naming`: what of an address names its mailbox. Default `local`.
    pub naming: Naming,
    /// `access.mode`: who may do what. Default `open`.
    pub access: Mode,
    /// `policy.accept`, `policy.reject`, `policy.discard`, `policy.reject_senders`. Default: all mail is taken.
    pub policy: Policy,
    /// `refusals.ring_max`: so many refusals are remembered, the newest. Default 1000; 0 remembers none.
    pub refusals_max: usize,
    /// `feed.queue_max`: so many events wait for one watcher that does not read; then the oldest go and it is told.
    /// Default 256; at least 1.
    pub queue_max: usize,
    /// `feed.watchers_max`: so many may watch at once. Default 20000.
    pub watchers_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            naming: Naming::Local,
            access: Mode::Open,
            policy: Policy::default(),
            refusals_max: 1000,
            queue_max: 256,
            watchers_max: 20_000,
        }
    }
}
