//! The verbs about releases: to ask for one, and to see what became of it; and those of the courier, who keeps the record.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mail::{Address, Mailbox, ReversePath, Summary};
use store::{Expect, Job, NewJob, Put};

use super::{Mailroom, Which};
use crate::access::{Denial, Mode, Permit, Target, Verb};
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::outgoing::relay::Rules;
use crate::outgoing::release::{Errand, KIND, Overall, Release, ReleaseAsk};

/// So often a record is written anew that somebody else wrote meanwhile.
const KEEP_TRIES_MAX: usize = 8;

impl Mailroom {
    /// Send a message on to real people: not now, but surely as the engine promises once this returned. None when the
    /// mailbox does not hold the message.
    pub async fn release(
        &self,
        caller: &Caller,
        mailbox: &Mailbox,
        which: Which,
        ask: ReleaseAsk,
    ) -> Result<Option<Release>> {
        let permit = self.permit_release(caller, Target::Mailbox(mailbox))?;
        self.near(caller, mailbox)?;
        self.judge_release(&ask)?;
        let Some(stored) = self.read(&Caller::Program, mailbox, which).await? else { return Ok(None) };
        let many = u32::try_from(ask.to.len()).unwrap_or(u32::MAX);
        self.releases_pace.take_many(&(), many).map_err(too_often)?;
        let errand = self.errand(caller, mailbox, &stored.summary, ask);
        let store = self.vault.open(&permit);
        store.outbox().submit(vec![NewJob::new(KIND, errand.write())]).await?;
        let release = errand.begin(stored.summary.id);
        // Should this not come about, whoever takes the job does it.
        let record = store.registry().put(KIND, &release.id, release.write(), self.kept_until(), Expect::Absent);
        if let Err(error) = record.await {
            tracing::debug!(%error, "a release is kept no record of yet");
        }
        self.outgoing.written();
        Ok(Some(release))
    }

    /// What became of releases, of one mailbox or of all that the caller may release from, newest first.
    pub async fn releases(&self, caller: &Caller, mailbox: Option<&Mailbox>, limit: usize) -> Result<Vec<Release>> {
        let permit = self.permit_release(caller, mailbox.map_or(Target::Any, Target::Mailbox))?;
        let mut entries = self.vault.open(&permit).registry().list(KIND).await?;
        entries.sort_unstable_by(|one, other| other.key.cmp(&one.key));
        let read = entries.iter().filter_map(|entry| Release::read(&entry.value));
        let asked = read.filter(|release| mailbox.is_none_or(|mailbox| release.mailbox == *mailbox));
        let seen = asked.filter(|release| self.permit_release(caller, Target::Mailbox(&release.mailbox)).is_ok());
        Ok(seen.take(limit).collect())
    }

    /// What became of one. None when it is not known, or not for this caller.
    pub async fn read_release(&self, caller: &Caller, id: &str) -> Result<Option<Release>> {
        let permit = self.permit_release(caller, Target::Any)?;
        let entry = self.vault.open(&permit).registry().get(KIND, id).await?;
        let release = entry.and_then(|entry| Release::read(&entry.value));
        Ok(release.filter(|release| self.permit_release(caller, Target::Mailbox(&release.mailbox)).is_ok()))
    }

    /// To whom mail may be sent on, for whoever may ask for it somewhere; none when it is sent nowhere.
    pub fn releases_to(&self, caller: &Caller) -> Option<Vec<String>> {
        let rules = &self.outgoing.relay;
        let may = rules.enabled && self.permit_release(caller, Target::Any).is_ok();
        may.then(|| rules.allow.iter().map(ToString::to_string).collect())
    }

    /// Leave to release. In public mode it is for those alone who run the server.
    fn permit_release(&self, caller: &Caller, target: Target<'_>) -> Result<Permit> {
        let verb = if self.access.rules.mode == Mode::Public { Verb::Admin } else { Verb::Release };
        self.access.permit(caller, verb, target)
    }

    /// Where everybody may do everything, only this machine and the bearer of a token that is good for it may send mail to
    /// real people.
    fn near(&self, caller: &Caller, mailbox: &Mailbox) -> Result<()> {
        let is_near = match caller {
            Caller::Program => true,
            Caller::Anonymous { peer } | Caller::User { peer, .. } => {
                peer.is_none_or(|ip| ip.to_canonical().is_loopback())
            }
            Caller::Token { grant } => {
                grant.is_live(self.now()) && grant.grants(Verb::Release, Target::Mailbox(mailbox))
            }
            Caller::Sender { .. } | Caller::Inbox { .. } => false,
        };
        match self.access.rules.mode {
            Mode::Open if !is_near => Err(Denial::ReleaseNeedsToken.into()),
            _ => Ok(()),
        }
    }

    fn judge_release(&self, ask: &ReleaseAsk) -> Result<()> {
        let rules = &self.outgoing.relay;
        if !rules.enabled {
            return Err(Error::NoRelay);
        }
        if ask.to.is_empty() || ask.to.len() > rules.recipients_max {
            return Err(Error::BadRelease(format!(
                "it goes to 1 to {} recipients (relay.recipients_max); ask again for the others",
                rules.recipients_max
            )));
        }
        let strangers = ask.to.iter().filter(|address| !rules.allows(address));
        let strangers: Vec<String> = strangers.map(ToString::to_string).collect();
        if strangers.is_empty() { Ok(()) } else { Err(Error::NotAllowed { recipients: strangers }) }
    }

    fn errand(&self, caller: &Caller, mailbox: &Mailbox, summary: &Arc<Summary>, mut ask: ReleaseAsk) -> Errand {
        let mut known = Vec::new();
        ask.to.retain(|address| {
            !known.contains(address) && {
                known.push(address.clone());
                true
            }
        });
        Errand {
            id: self.begin().to_string(),
            mailbox: mailbox.clone(),
            message: Some(summary.id),
            subject: summary.subject.clone(),
            sender: ask.from.or_else(|| sender(&self.outgoing.relay, &summary.mail_from)),
            to: ask.to,
            created_at: self.now(),
            by: match caller {
                Caller::Token { grant } => Some(grant.name.clone()),
                Caller::User { name, .. } => Some(name.clone()),
                _ => None,
            },
            rule: None,
        }
    }

    fn kept_until(&self) -> Option<Timestamp> {
        let kept = SignedDuration::try_from(self.outgoing.relay.kept).unwrap_or(SignedDuration::MAX);
        Some(self.now().saturating_add(kept).unwrap_or(Timestamp::MAX))
    }

    // --- for the courier ---

    /// What a job asks for, with all that is known of earlier attempts; none for a job that can mean nothing.
    pub async fn begin_release(&self, caller: &Caller, job: &Job) -> Result<Option<Release>> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        let Some(release) = Errand::of(job) else { return Ok(None) };
        let registry = self.vault.open(&permit).registry();
        match registry.put(KIND, &release.id, release.write(), self.kept_until(), Expect::Absent).await? {
            Put::Written(_) | Put::Conflict(None) => Ok(Some(release)),
            Put::Conflict(Some(entry)) => Ok(Some(Release::read(&entry.value).unwrap_or(release))),
        }
    }

    /// Keep what became of it. Whoever took the job when a lease ran out may have done the same: who has it has it.
    pub async fn keep_release(&self, caller: &Caller, release: &Release) -> Result<()> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        let (registry, mut release) = (self.vault.open(&permit).registry(), release.clone());
        for _ in 0..KEEP_TRIES_MAX {
            let entry = registry.get(KIND, &release.id).await?;
            if let Some(known) = entry.as_ref().and_then(|entry| Release::read(&entry.value)) {
                release.merge(&known);
            }
            let expect = entry.map_or(Expect::Absent, |entry| Expect::Version(entry.version));
            if let Put::Written(_) = registry.put(KIND, &release.id, release.write(), self.kept_until(), expect).await?
            {
                return Ok(());
            }
        }
        Err(store::Error::try_later("somebody else writes the same record all the time").into())
    }

    /// Whether mail may be sent to this address now: what was asked for under another configuration is asked for again.
    pub fn allows_release(&self, address: &Address) -> bool {
        self.outgoing.relay.enabled && self.outgoing.relay.allows(address)
    }

    /// A rule's mail counts against `relay.rate` when it is first tried, as what people ask for does when they ask; if
    /// that is too often, the time after which it would not be.
    pub fn pace_release(&self, release: &Release) -> Result<(), Duration> {
        if release.rule.is_none() || release.overall() != Overall::Queued {
            return Ok(());
        }
        self.releases_pace.take_many(&(), u32::try_from(release.recipients.len()).unwrap_or(u32::MAX))
    }

    /// Forget the oldest releases beyond `relay.kept_max`: to be called now and then. How many went.
    pub async fn forget_releases(&self, caller: &Caller) -> Result<usize> {
        let permit = self.access.permit(caller, Verb::Admin, Target::All)?;
        let registry = self.vault.open(&permit).registry();
        let mut entries = registry.list(KIND).await?;
        entries.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        let many = entries.len().saturating_sub(self.outgoing.relay.kept_max);
        for entry in &entries[..many] {
            registry.delete(KIND, &entry.key, Expect::Version(entry.version)).await?;
        }
        Ok(many)
    }
}

/// Whom the envelope names. What came without a sender goes on without one, so that nobody answers it (RFC 5321 §4.5.5).
pub(crate) fn sender(rules: &Rules, came_from: &ReversePath) -> Option<Address> {
    let original = came_from.0.as_ref()?;
    Some(rules.from.as_ref().unwrap_or(original).clone())
}

fn too_often(wait: Duration) -> Error {
    Error::TooOften { what: "releases (relay.rate)", wait }
}

#[cfg(test)]
mod tests;
