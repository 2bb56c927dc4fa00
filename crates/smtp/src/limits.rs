//! What one address may do here, whatever the mailroom thinks of its mail: how many messages and octets it may send in
//! a time, and whether a block list names it.
//!
//! It knows addresses and says verdicts; how often an address may connect was decided before, in `net`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mailroom::Verdict;
use net::dns::Inquiry;
use net::{Dns, Quota, Rates};

use crate::counters::{COUNTERS, Kind};

/// The limits of all addresses; those that are none do not limit.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// How many transactions may begin.
    pub transactions: Option<Arc<Rates>>,
    /// How many KiB may come.
    pub kibibytes: Option<Arc<Rates>>,
    /// Whom to ask for block lists and names.
    pub dns: Option<Arc<Dns>>,
}

/// A quota of octets as one of KiB, in which they are counted: there are quotas of more octets than a count can hold.
pub fn in_kibibytes(octets: Quota) -> Quota {
    Quota { count: octets.count.div_ceil(1024), per: octets.per }
}

/// One session under these limits.
pub(crate) struct Conduct<'a> {
    limits: &'a Limits,
    peer: Option<IpAddr>,
    /// What the DNS has told of the peer by now.
    inquiry: Inquiry,
    /// Octets that are not charged yet.
    octets: usize,
}

impl<'a> Conduct<'a> {
    /// A session begins: so do the questions about its peer.
    pub(crate) fn new(limits: &'a Limits, peer: Option<IpAddr>) -> Self {
        let inquiry = match (&limits.dns, peer) {
            (Some(dns), Some(peer)) => dns.ask(peer),
            _ => Inquiry::default(),
        };
        Self { limits, peer, inquiry, octets: 0 }
    }

    /// Why no transaction may begin now, if none may.
    pub(crate) fn objects_to_mail(&self) -> Option<Verdict> {
        let peer = self.peer?;
        let taken = |rates: &Option<Arc<Rates>>| rates.as_ref().map_or(Ok(()), |rates| rates.take(peer, 1));
        if let Err(wait) = taken(&self.limits.transactions) {
            return Some(too_often("messages", wait));
        }
        taken(&self.limits.kibibytes).err().map(|wait| too_often("octets", wait))
    }

    /// Why the peer's mail goes to nobody, if a list says so. Only what is known by now counts: nobody waits for the DNS.
    pub(crate) fn objects_to_recipient(&self) -> Option<Verdict> {
        let (list, peer) = (self.inquiry.listed()?, self.peer?);
        COUNTERS.refused(Kind::BlockList);
        let text = format!("Mail from {peer} is refused, as the block list {list} names it; ask there to be taken off");
        Some(Verdict::refuse(550, (5, 7, 1), text))
    }

    /// So many octets came. A message under way is never cut short for it: what is too much is owed, and keeps the next
    /// one waiting.
    pub(crate) fn read(&mut self, octets: usize) {
        self.octets += octets;
        self.charge(self.octets / 1024);
        self.octets %= 1024;
    }

    fn charge(&self, kibibytes: usize) {
        if let (1.., Some(rates), Some(peer)) = (kibibytes, &self.limits.kibibytes, self.peer) {
            rates.charge(peer, kibibytes.try_into().unwrap_or(u32::MAX));
        }
    }
}

impl Drop for Conduct<'_> {
    /// The last piece counts as a whole one.
    fn drop(&mut self) {
        self.charge(self.octets.div_ceil(1024));
    }
}

fn too_often(what: &str, wait: Duration) -> Verdict {
    COUNTERS.refused(Kind::Rate);
    let seconds = wait.as_secs() + 1;
    let text = format!("Too many {what} came from your address or its network of late; try again in {seconds} s");
    Verdict::refuse(450, (4, 7, 1), text)
}
