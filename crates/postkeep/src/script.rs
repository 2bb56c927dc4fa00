//! The scripts: read at the start, and again when one changes. What is wrong with a new one is said, and the old ones stay.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use script::{Look, OnError, Program, Scripts, Settings};

use crate::config::Script;

/// How often the files are looked at.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// The files, and how they looked when they were last read.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    settings: Settings,
    seen: Look,
}

/// The settings of the scripts.
pub(crate) fn settings(keys: &Script) -> Settings {
    Settings {
        on_error: if keys.accept_on_error { OnError::Accept } else { OnError::Tempfail },
        deadline: keys.deadline,
        after_deadline: keys.after_deadline,
        memory_max: keys.memory_max,
        workers: keys.workers,
        queue_max: keys.queue_max,
        source_max: keys.source_max,
        notes_max: keys.notes_max,
        naming: keys.naming,
        letter: keys.letter,
    }
}

/// Read the scripts for the first time, and put them to work: what is wrong with one is the program's end.
pub(crate) fn start(path: &Path, keys: &Script, client: outbound::Client) -> Result<(Arc<Scripts>, Watched)> {
    let (settings, seen) = (settings(keys), Look::at(path));
    let program = Program::read(path, &settings).context("script.path")?;
    tell(&program);
    let scripts = Scripts::start(program, settings.clone(), client, tokio::runtime::Handle::current());
    Ok((scripts, Watched { path: path.to_owned(), settings, seen }))
}

/// Look at the files for ever, and go by what they say.
pub(crate) async fn watch(mut watched: Watched, scripts: Arc<Scripts>) {
    loop {
        tokio::time::sleep(CHECK_EVERY).await;
        let now = Look::at(&watched.path);
        if now == watched.seen {
            continue;
        }
        match Program::read(&watched.path, &watched.settings) {
            Ok(program) => {
                tell(&program);
                scripts.replace(program);
            }
            Err(error) => tracing::error!("{error}; the scripts that were read before stay in use"),
        }
        watched.seen = now;
    }
}

fn tell(program: &Program) {
    for module in &program.modules {
        let events: Vec<_> = module.handlers.iter().map(ToString::to_string).collect();
        tracing::info!(script = %module.name, events = events.join(" "), "script read");
    }
}
