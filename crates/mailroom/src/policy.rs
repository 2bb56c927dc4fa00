//! Which senders and recipients are accepted, refused or discarded, by patterns of their domains.
//!
//! It never asks whether a mailbox exists or holds mail, so its answers tell nothing about that.

use std::fmt;
use std::str::FromStr;

use mail::{Address, Naming, ReversePath};

use crate::glob;
use crate::verdict::Verdict;

const WILDCARDS: [char; 2] = ['*', '?'];

/// A domain pattern: `example.com`, `*.example.com`, `mail-?.test`. `*` stands for any characters, none and dots
/// included, `?` for exactly one; so `*.example.com` is every name below `example.com`, not that name itself.
///
/// Case and the two spellings of international names do not matter, except within a label that holds a wildcard:
/// such a label is compared with the Unicode spelling.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern(Box<str>);

/// This text is no domain pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadPattern {
    /// It names an address.
    #[error("a pattern names a domain, not an address: leave out everything up to the @")]
    Address,
    /// A label is empty or holds what no domain can.
    #[error("a pattern is a domain as example.com, in which * stands for any characters and ? for one")]
    Syntax,
}

/// The rules. Of those that match a recipient's domain the first in the order of the fields decides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// `policy.reject`: mail to these domains is refused.
    pub reject: Vec<Pattern>,
    /// `policy.discard`: mail to these domains is taken to all appearances and thrown away.
    pub discard: Vec<Pattern>,
    /// `policy.accept`: mail to these domains is taken and all other is refused; empty: all is taken.
    pub accept: Vec<Pattern>,
    /// `policy.reject_senders`: mail from these domains is refused. The null sender has no domain and is none of them.
    pub reject_senders: Vec<Pattern>,
}

impl Policy {
    /// May this sender send?
    pub fn sender(&self, sender: &ReversePath) -> Verdict {
        let Some(address) = sender.0.as_ref().filter(|_| !self.reject_senders.is_empty()) else {
            return Verdict::ACCEPT;
        };
        if !any(&self.reject_senders, &domain(address)) {
            return Verdict::ACCEPT;
        }
        let text = "Mail from this domain is refused here: take it out of policy.reject_senders to let it in";
        Verdict::refuse(550, (5, 7, 1), text)
    }

    /// May mail go to this recipient? The postmaster's need not be accepted by name (RFC 5321 §4.5.1).
    pub fn recipient(&self, recipient: &Address) -> Verdict {
        if self.reject.is_empty() && self.discard.is_empty() && self.accept.is_empty() {
            return Verdict::ACCEPT;
        }
        let domain = domain(recipient);
        if any(&self.reject, &domain) {
            let text = "Mail to this domain is refused here: take it out of policy.reject to let it in";
            return Verdict::refuse(550, (5, 7, 1), text);
        }
        if any(&self.discard, &domain) {
            return Verdict::DISCARD;
        }
        let is_postmaster = recipient.local().eq_ignore_ascii_case("postmaster");
        if self.accept.is_empty() || is_postmaster || any(&self.accept, &domain) {
            return Verdict::ACCEPT;
        }
        let text = "No mail is taken for this domain: add it to policy.accept to let it in";
        Verdict::refuse(550, (5, 1, 2), text)
    }
}

fn any(patterns: &[Pattern], domain: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(domain))
}

/// The domain in its canonical spelling; in lower case as sent, when it has none that a mailbox could be named by.
fn domain(address: &Address) -> String {
    let sent = address.domain();
    Naming::Domain.named(sent).map_or_else(|_| sent.to_lowercase(), |name| name.as_str().to_owned())
}

impl Pattern {
    /// Whether a domain, in its canonical spelling, is one of these.
    pub fn matches(&self, domain: &str) -> bool {
        glob::matches(&self.0, domain)
    }
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let text = text.trim();
        if text.contains('@') {
            return Err(BadPattern::Address);
        }
        if text.starts_with('[') {
            return Ok(Self(canonical(text)?.into()));
        }
        let labels: Result<Vec<String>, _> = text.split('.').map(canonical).collect();
        Ok(Self(labels?.join(".").into()))
    }
}

/// A label or an address literal in its canonical spelling.
fn canonical(text: &str) -> Result<String, BadPattern> {
    let canonical = |text: &str| Naming::Domain.named(text).map_err(|_| BadPattern::Syntax);
    if !text.contains(WILDCARDS) {
        return Ok(canonical(text)?.as_str().to_owned());
    }
    if !text.starts_with('[') {
        canonical(&text.replace(WILDCARDS, "a"))?;
    }
    Ok(text.to_lowercase())
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
