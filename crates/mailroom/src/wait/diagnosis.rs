//! Why the mail did not come, as far as it can be known: what is looked at when a wait has timed out, and how it is put
//! into one sentence. The first cause that holds is named; all that was found is shown.

mod sentence;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mail::{MessageId, Summary};
use store::list::Item;
use store::{Position, Scope};

use super::look::{Look, newest};
use super::matchers::{Fared, Glance};
use super::{Ask, Matchers};
use crate::access::Permit;
use crate::caller::Caller;
use crate::error::Result;
use crate::recent::{Nodes, Similar};
use crate::refusals::Refusal;
use crate::room::Mailroom;

/// A mail that came so shortly before the cursor was probably meant.
const JUST_BEFORE: SignedDuration = SignedDuration::from_secs(60);
/// Of what came, and of what came just before, so many are looked at, the newest.
const LOOKED_AT_MAX: usize = 100;
/// Whose bodies are read for that, at most.
const BODIES_MAX: usize = 20;
/// So many refusals are shown.
const REFUSALS_MAX: usize = 10;

/// What is known about mail that did not come.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// The first cause that holds, and what to do about it.
    pub detail: String,
    /// How many mails came, whether they matched or not.
    pub arrived: usize,
    /// Those that matched, when more were wanted.
    pub matched: Vec<MessageId>,
    /// Those that nearly matched, the nearest first.
    pub near_misses: Vec<NearMiss>,
    /// How many of those that were to be left out would have matched.
    pub excluded: usize,
    /// How many that came shortly before the cursor would have matched.
    pub before_cursor: usize,
    /// Mailboxes of a similar name that hold mail.
    pub similar: Vec<Similar>,
    /// What was refused at SMTP on its way here.
    pub refusals: Vec<Refusal>,
    /// Who connected at all.
    pub smtp: Connections,
    /// Which nodes told of refusals.
    pub nodes: Option<Nodes>,
    /// From when on clients that connected may have brought it.
    pub from: Timestamp,
}

/// A mail that came and is not the one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearMiss {
    /// What came, and where.
    pub item: Item,
    /// What held and what did not.
    pub fared: Fared,
}

/// SMTP clients of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Connections {
    /// How many have connected since the start.
    pub count: u64,
    /// When the last one did.
    pub last_at: Option<Timestamp>,
}

/// Find out why. Each look is bounded; what cannot be found out is left out, for there is an answer to give either way.
pub(super) async fn of(
    room: &Mailroom,
    caller: &Caller,
    permit: Permit,
    ask: &Ask,
    look: &Look<'_>,
    begun_at: Timestamp,
) -> Result<Diagnosis> {
    let mut study = Study { room, permit, ask, bodies: BODIES_MAX };
    let mut found = Diagnosis {
        matched: look.found().iter().map(|item| item.summary.id).collect(),
        smtp: room.connections(),
        from: ask.since.map_or(begun_at, |since| since.issued),
        ..Diagnosis::default()
    };
    study.mail(&mut found).await?;
    found.near_misses.truncate(room.wait_limits().near_misses_max);
    if let Scope::Mailbox(mailbox) = &ask.scope {
        // Who may wait here but not list is told of the mail alone.
        if let Ok((refusals, nodes)) = room.refusals_everywhere(caller, &ask.scope, REFUSALS_MAX).await {
            (found.refusals, found.nodes) = (refusals.items, Some(nodes));
        }
        found.similar = room.similar(caller, mailbox).await.unwrap_or_default();
    }
    found.detail = sentence::of(room, ask, &found);
    Ok(found)
}

/// Mail looked at once more, with the question why it is not the one.
struct Study<'a> {
    room: &'a Mailroom,
    permit: Permit,
    ask: &'a Ask,
    /// So many bodies may still be read.
    bodies: usize,
}

impl Study<'_> {
    /// Go through the newest mail of the mailbox, to a minute before the cursor.
    async fn mail(&mut self, found: &mut Diagnosis) -> Result<()> {
        let since = self.ask.since;
        let floor = since.map_or(Position::START, |since| since.position);
        let just_before = since.map(|since| since.issued.saturating_sub(JUST_BEFORE).unwrap_or(Timestamp::MIN));
        for item in self.newest().await? {
            let is_new = Position::from(item.summary.id) > floor;
            if is_new {
                found.arrived += 1;
            } else if just_before.is_none_or(|limit| item.summary.received_at < limit) {
                break;
            }
            self.count(item, is_new, found).await?;
        }
        found.near_misses.sort_by_key(|miss| miss.fared.failed.len());
        Ok(())
    }

    async fn newest(&self) -> Result<Vec<Item>> {
        let Scope::Mailbox(mailbox) = &self.ask.scope else { return Ok(Vec::new()) };
        let mut page = newest(self.room.open(&self.permit), mailbox, None).await?;
        page.items.truncate(LOOKED_AT_MAX);
        Ok(page.items)
    }

    async fn count(&mut self, item: Item, is_new: bool, found: &mut Diagnosis) -> Result<()> {
        let is_excluded = self.ask.exclude.contains(&item.summary.id);
        let Some(fared) = self.fared(&item).await? else { return Ok(()) };
        match (fared.matches(), is_new) {
            (true, true) if is_excluded => found.excluded += 1,
            (true, false) => found.before_cursor += 1,
            (false, true) => found.near_misses.push(NearMiss { item, fared }),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// How a mail fares; nothing when it has gone, or when the summary alone cannot say and too much was read already.
    async fn fared(&mut self, item: &Item) -> Result<Option<Fared>> {
        if self.bodies == 0 {
            return Ok(by_summary(&self.ask.matchers, &item.summary));
        }
        self.bodies -= 1;
        let read = self.room.read_letter(&self.permit, &item.mailbox, item.summary.id).await?;
        Ok(read.map(|read| self.ask.matchers.judge(&read.mailbox, &read.stored, &read.letter)))
    }
}

/// A mail without matchers that fail matches; of the others no more is told than that.
fn by_summary(matchers: &Matchers, summary: &Summary) -> Option<Fared> {
    (matchers.glance(summary) == Glance::Yes).then(Fared::default)
}

/// As people write it: `20 s`, `1.5 s`.
pub fn seconds(duration: Duration) -> String {
    let tenths = duration.as_millis() / 100;
    if tenths.is_multiple_of(10) { format!("{} s", tenths / 10) } else { format!("{}.{} s", tenths / 10, tenths % 10) }
}
