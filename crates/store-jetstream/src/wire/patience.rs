//! Asking again. A shard without a leader comes back within seconds, and whoever brings mail can wait that long; what
//! counts is to know, at the end, whether anything may have been stored.

use std::time::Duration;

use store::Error;
use tokio::time::{Instant, sleep, timeout_at};

use super::answer::Failure;

/// Until when to ask again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    until: Instant,
}

/// Nothing came of it, however often it was tried.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    /// What the last attempt met.
    pub(crate) last: Failure,
    /// Whether an attempt may have been done all the same.
    pub(crate) unknown: bool,
}

impl Patience {
    pub(crate) fn new(wait: Duration) -> Self {
        Self { until: Instant::now() + wait }
    }

    /// Try until it is done, or is refused for good, or there is no time left. Each attempt may be cut off by the end.
    pub(crate) async fn of<T, F: Future<Output = Result<T, Failure>>>(
        self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, Failed> {
        let mut unknown = false;
        loop {
            let last = match timeout_at(self.until, attempt()).await {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::Unknown("the brokers did not answer in time".to_owned()),
            };
            unknown |= matches!(last, Failure::Unknown(_));
            match last.pause() {
                Some(pause) if Instant::now() + pause < self.until => sleep(pause).await,
                _ => return Err(Failed { last, unknown }),
            }
        }
    }

    /// Whether there is time left.
    pub(crate) fn is_left(self) -> bool {
        Instant::now() < self.until
    }
}

impl Failed {
    /// As a call that changes something answers.
    pub(crate) fn into_error(self) -> Error {
        match self.last {
            last if self.unknown => Error::UnknownOutcome { why: last.to_string() },
            last => Self { last, unknown: false }.into_harmless(),
        }
    }

    /// As a call answers that changed nothing that anybody could see, whatever became of its attempts.
    pub(crate) fn into_harmless(self) -> Error {
        match &self.last {
            Failure::Refused(refusal) if refusal.is_no_room() => Error::Full { what: refusal.to_string() },
            last => Error::try_later(last.to_string()),
        }
    }
}
