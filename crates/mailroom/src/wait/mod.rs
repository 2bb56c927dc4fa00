//! To wait for mail: one call that returns when the mail is there, or says why it is not.
//!
//! The order of effects leaves no gap: first the feed is entered, then what lies there is looked at, then one sleeps until
//! the feed tells of something, and at the deadline one looks once more. Nothing polls. A delivery wakes those who wait in
//! its mailbox and nobody else; what its summary rules out costs them a comparison.

pub mod diagnosis;
mod look;
pub mod matchers;
mod seats;
mod settings;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mail::{Letter, Mailbox, MessageId};
use store::list::Order;
use store::{Position, Scope, Stored};
use tokio::time::{Instant, sleep_until};

use crate::access::Permit;
use crate::caller::Caller;
use crate::cursor::Since;
use crate::error::Result;
use crate::feed::{Event, Watch};
use crate::room::Mailroom;
pub use diagnosis::Diagnosis;
use look::Look;
pub use matchers::Matchers;
pub(crate) use seats::Seats;
pub use settings::Limits;

/// Between brokers it may take this long until a new watcher is known everywhere: what came before is looked up once.
const KNOWN_EVERYWHERE: Duration = Duration::from_millis(500);

/// What somebody waits for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Where.
    pub scope: Scope,
    /// What it must be like.
    pub matchers: Matchers,
    /// Only what came behind this; none: what lies there counts too.
    pub since: Option<Since>,
    /// Which of several; none: with `since` the first behind it, without it the newest there.
    pub order: Option<Order>,
    /// How many, at least one.
    pub count: usize,
    /// Those that the asker has already.
    pub exclude: Vec<MessageId>,
    /// Whether mail is hoped for.
    pub expect: Expect,
    /// At most this long.
    pub timeout: Duration,
}

/// Whether mail is hoped for or feared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expect {
    /// It is to come.
    #[default]
    Mail,
    /// None is to come.
    Nothing,
}

/// One mail that matched.
#[derive(Clone, Debug)]
pub struct Match {
    /// Where it lies.
    pub mailbox: Mailbox,
    /// What came.
    pub stored: Stored,
    /// What it says.
    pub letter: Arc<Letter>,
}

/// How a wait ended.
#[derive(Debug)]
pub struct Outcome {
    /// What became of it.
    pub ending: Ending,
    /// Everything up to here was looked at.
    pub position: Position,
    /// How long it took.
    pub waited: Duration,
}

/// What became of a wait.
#[derive(Debug)]
pub enum Ending {
    /// The mail is there, in order of arrival.
    Matched(Vec<Match>),
    /// None was to come, and none came.
    Quiet,
    /// None was to come, and this did.
    Unexpected(Vec<Match>),
    /// It did not come, and this is known about it.
    TimedOut(Box<Diagnosis>),
}

/// Wait for mail, for a caller who was permitted to.
pub(crate) async fn run(
    room: &Mailroom,
    caller: &Caller,
    permit: Permit,
    peer: Option<IpAddr>,
    ask: Ask,
) -> Result<Outcome> {
    let _seat = room.waiters().enter(&ask.scope, peer)?;
    let (begun, begun_at) = (Instant::now(), room.now());
    let watch = room.attend(permit, ask.scope.clone()).await?;
    let mut wait = Wait { look: Look::new(room, caller, permit, &ask), watch, deadline: begun + ask.timeout };
    let found = wait.run().await?;
    let look = wait.look;
    let (position, waited) = (look.position(), begun.elapsed());
    let ending = match (found, ask.expect) {
        (Some(mail), Expect::Mail) => Ending::Matched(mail),
        (Some(mail), Expect::Nothing) => Ending::Unexpected(mail),
        (None, Expect::Nothing) => Ending::Quiet,
        (None, Expect::Mail) => {
            let why = diagnosis::of(room, caller, permit, &ask, &look, begun_at).await?;
            Ending::TimedOut(Box::new(why))
        }
    };
    Ok(Outcome { ending, position, waited })
}

/// A wait under way.
struct Wait<'a> {
    look: Look<'a>,
    watch: Watch,
    deadline: Instant,
}

impl Wait<'_> {
    /// The mail, if it comes in time.
    async fn run(&mut self) -> Result<Option<Vec<Match>>> {
        self.look.at_all().await?;
        let mut check = self.look.is_shared().then(|| Instant::now() + KNOWN_EVERYWHERE);
        loop {
            if let Some(mail) = self.look.take().await? {
                return Ok(Some(mail));
            }
            let next = check.filter(|check| *check < self.deadline).unwrap_or(self.deadline);
            tokio::select! {
                // What has been told counts, also when time is over in the same moment.
                biased;
                event = self.watch.next() => self.hear(event).await?,
                () = sleep_until(next) => {
                    self.look.behind().await?;
                    if next == self.deadline {
                        return self.look.take().await;
                    }
                    check = None;
                }
            }
        }
    }

    /// Something happened.
    async fn hear(&mut self, event: Option<Event>) -> Result<()> {
        match event {
            Some(Event::Change(change, _)) => self.look.at(change).await,
            Some(Event::Lagged { .. }) => self.look.behind().await,
            // The mailroom is going: what is there is what there is.
            None => {
                self.deadline = Instant::now();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
