//! Messages that were found damaged: each is named in the log once, with what to do.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use mail::{Mailbox, MessageId};

/// So many are remembered; what is damaged beyond that is named again each time it is met.
const NAMED_MAX: usize = 10_000;

/// What was found damaged since the start.
#[derive(Debug, Default)]
pub(crate) struct Quarantine(Mutex<HashSet<MessageId>>);

impl Quarantine {
    /// Everything that was found so far.
    pub(crate) fn all(&self) -> Vec<MessageId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// This message is not what was written.
    pub(crate) fn found(&self, mailbox: &Mailbox, id: MessageId) {
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < NAMED_MAX && !named.insert(id) {
            return;
        }
        tracing::error!(
            %mailbox, %id,
            "a message is damaged on the disk and is not handed out; `postkeep store check` tells what else is, and a backup \
             may have it whole"
        );
    }
}
