//! What a VM and the functions in it share: the time, the notes, the way out and the log.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::leash::Leash;
use crate::notes::Notes;
use crate::settings::Settings;
use crate::trial::Line;

/// One VM's desk.
pub(crate) struct Desk {
    pub(crate) leash: Leash,
    pub(crate) notes: Arc<Notes>,
    pub(crate) web: Web,
    pub(crate) settings: Arc<Settings>,
    sink: Sink,
    /// While a script is read anew for an event it says nothing: it did when it was read first.
    muted: AtomicBool,
    file: Mutex<Arc<str>>,
}

/// How scripts ask the network.
#[derive(Clone)]
pub(crate) enum Web {
    /// By the one client, on this runtime.
    Asked { client: outbound::Client, runtime: tokio::runtime::Handle },
    /// Not at all: what would be asked is shown.
    Shown,
}

/// Where scripts' log lines go.
#[derive(Clone)]
pub(crate) enum Sink {
    /// To the log of the program.
    Log,
    /// To a list, to be shown.
    List(Arc<Mutex<Vec<Line>>>),
}

/// How much a log line matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the usual words")]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl Desk {
    pub(crate) fn new(leash: Leash, notes: Arc<Notes>, web: Web, sink: Sink, settings: Arc<Settings>) -> Arc<Self> {
        let file = Mutex::new(Arc::from(""));
        Arc::new(Self { leash, notes, web, settings, sink, muted: AtomicBool::new(false), file })
    }

    /// Which script is at work, and whether it may speak.
    pub(crate) fn turn(&self, file: &Arc<str>, muted: bool) {
        let mut current = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&current, file) {
            *current = Arc::clone(file);
        }
        self.muted.store(muted, Relaxed);
    }

    /// A line for the log.
    pub(crate) fn say(&self, level: Level, text: String) {
        if self.muted.load(Relaxed) {
            return;
        }
        let file = Arc::clone(&self.file.lock().unwrap_or_else(PoisonError::into_inner));
        match (&self.sink, level) {
            (Sink::List(lines), _) => {
                let line = Line { file: file.to_string(), level, text };
                lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
            (Sink::Log, Level::Debug) => tracing::debug!(script = %file, "{text}"),
            (Sink::Log, Level::Info) => tracing::info!(script = %file, "{text}"),
            (Sink::Log, Level::Warn) => tracing::warn!(script = %file, "{text}"),
            (Sink::Log, Level::Error) => tracing::error!(script = %file, "{text}"),
        }
    }
}
