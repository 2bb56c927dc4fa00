//! The section `script`. What it is good for is known where scripts are.

use std::path::PathBuf;
use std::time::Duration;

use mail::{Naming, letter};

use super::ready::{Values, naming};

/// What scripts there are, and what they may cost.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "script"), allow(dead_code, reason = "only that there is a path is told without scripts"))]
pub(crate) struct Script {
    /// `script.path`; none: no scripts.
    pub(crate) path: Option<PathBuf>,
    /// `script.on_error`: whether mail is taken when a script fails.
    pub(crate) accept_on_error: bool,
    /// `script.deadline`.
    pub(crate) deadline: Duration,
    /// `script.after_deadline`.
    pub(crate) after_deadline: Duration,
    /// `script.memory_max`.
    pub(crate) memory_max: usize,
    /// `script.workers`.
    pub(crate) workers: usize,
    /// `script.queue_max`.
    pub(crate) queue_max: usize,
    /// `script.source_max`.
    pub(crate) source_max: usize,
    /// `script.notes_max`.
    pub(crate) notes_max: usize,
    /// `mailbox.naming`.
    pub(crate) naming: Naming,
    /// `message.text_max`.
    pub(crate) letter: letter::Limits,
}

pub(super) fn script(values: Values<'_>, letter: letter::Limits) -> Script {
    Script {
        path: values.file("script.path"),
        accept_on_error: values.text("script.on_error") == "accept",
        deadline: values.time("script.deadline"),
        after_deadline: values.time("script.after_deadline"),
        memory_max: values.count("script.memory_max"),
        workers: values.count("script.workers"),
        queue_max: values.count("script.queue_max"),
        source_max: values.count("script.source_max"),
        notes_max: values.count("script.notes_max"),
        naming: naming(values),
        letter,
    }
}
