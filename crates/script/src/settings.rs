//! The section `script`, ready to use. How it is written in a file is the program's business.

use std::time::Duration;

use mail::{Naming, letter};

/// What scripts may cost, and what happens when one fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `script.on_error`: what becomes of mail when a script fails before it is taken.
    pub on_error: OnError,
    /// `script.deadline`: so long has all that is asked before mail is taken, each time.
    pub deadline: Duration,
    /// `script.after_deadline`: so long has all that is told afterwards, each time.
    pub after_deadline: Duration,
    /// `script.memory_max`: so many bytes has each of the workers.
    pub memory_max: usize,
    /// `script.workers`: so many threads at most.
    pub workers: usize,
    /// `script.queue_max`: so many events wait for a worker, of those before and of those after.
    pub queue_max: usize,
    /// `script.source_max`: so many bytes of a message are handed to a script.
    pub source_max: usize,
    /// `script.notes_max`: so many keys are remembered.
    pub notes_max: usize,
    /// `mailbox.naming`.
    pub naming: Naming,
    /// `message.text_max`: so much of a text is taken apart.
    pub letter: letter::Limits,
}

/// What becomes of mail when a script fails before it is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnError {
    /// The client is told to try again later.
    Tempfail,
    /// It is taken as if there were no script.
    Accept,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            on_error: OnError::Tempfail,
            deadline: Duration::from_secs(2),
            after_deadline: Duration::from_secs(15),
            memory_max: 16 << 20,
            workers: 16,
            queue_max: 10_000,
            source_max: 1 << 20,
            notes_max: 10_000,
            naming: Naming::Local,
            letter: letter::Limits::default(),
        }
    }
}
