//! The mailroom's own keys, ready to use. How they are written in a file, and what a mistake in one looks like, is
//! the program's business; how many messages a mailbox keeps and for how long is the engine's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mail::{Naming, letter};
use rate::Quota;

use crate::access::Rules;
use crate::faults;
use crate::hooks::Hooks;
use crate::outgoing::{relay, webhook};
use crate::policy::Policy;
use crate::recent;
use crate::route::Route;
use crate::search;
use crate::sign_in::Senders;
use crate::wait;

/// What the mailroom is told when it opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `mailbox.naming`: what of an address names its mailbox. Default `local`.
    pub naming: Naming,
    /// `[[mailbox.route]]`: rules that name the mailbox instead, of which the first that fits decides. Default: none.
    pub routes: Vec<Route>,
    /// The sections `access` and `inbox`: who may do what. Default: everybody everything.
    pub access: Rules,
    /// `policy.accept`, `policy.reject`, `policy.discard`, `policy.reject_senders`. Default: all mail is taken.
    pub policy: Policy,
    /// `[[webhook]]`: who is told of what. Default: nobody.
    pub webhooks: Vec<webhook::Target>,
    /// Who has a say: a script. Default: nobody.
    pub hooks: Say,
    /// The section `relay`: to whom mail may be sent on, and which goes on by itself. Default: none leaves.
    pub relay: relay::Rules,
    /// The section `faults`: what misbehaves on demand. Default: addresses at `fault.example.com`, and up to 100 plans.
    pub faults: faults::Settings,
    /// `refusals.ring_max`: so many refusals are remembered, the newest. Default 1000; 0 remembers none.
    pub refusals_max: usize,
    /// `search.…`: what searches may cost.
    pub search: search::Limits,
    /// `recent.…`: what is remembered of mail in all mailboxes, where the engine sees one at a time.
    pub recent: recent::Limits,
    /// `events.queue_max`: so many events wait for one watcher that does not read; then the oldest go and it is told.
    /// Default 256; at least 1.
    pub queue_max: usize,
    /// `feed.watchers_max`: so many may watch at once. Default 200000.
    pub watchers_max: usize,
    /// `smtp.auth`: who may sign in to send. Default: whoever shows whatever.
    pub senders: Senders,
    /// `wait.*`: how long and how many may wait.
    pub wait: wait::Limits,
    /// `parse.cache_max`: so many bytes of messages taken apart are kept. Default 64 MiB.
    pub letters_bytes_max: usize,
    /// `message.text_max` and `extract.*`: how much of a message is taken apart.
    pub letter: letter::Limits,
    /// `rate.mailbox_max`: how often mail may come for one mailbox. Default: as often as it likes.
    pub mailbox_max: Option<Quota>,
    /// `rate.failed_logins_per_ip_max`: how often a sign-in from one address may fail. Default 30 a minute.
    pub failed_logins_max: Option<Quota>,
    /// `rate.entries_max`: so many mailboxes, and so many addresses, are remembered with their rates. Default 100000.
    pub entries_max: usize,
}

/// Somebody who has a say, or nobody.
#[derive(Clone, Default)]
pub struct Say(pub Option<Arc<dyn Hooks>>);

impl fmt::Debug for Say {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_some() { "Say(somebody)" } else { "Say(nobody)" })
    }
}

/// The same one, not one that would say the same.
impl PartialEq for Say {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Say {}

impl Default for Settings {
    fn default() -> Self {
        Self {
            naming: Naming::Local,
            routes: Vec::new(),
            access: Rules::default(),
            policy: Policy::default(),
            webhooks: Vec::new(),
            hooks: Say::default(),
            relay: relay::Rules::default(),
            faults: faults::Settings::default(),
            refusals_max: 1000,
            search: search::Limits::default(),
            recent: recent::Limits::default(),
            queue_max: 256,
            watchers_max: 200_000,
            senders: Senders::Any,
            wait: wait::Limits::default(),
            letters_bytes_max: 64 << 20,
            letter: letter::Limits::default(),
            mailbox_max: None,
            failed_logins_max: Some(Quota { count: 30, per: Duration::from_secs(60) }),
            entries_max: 100_000,
        }
    }
}
