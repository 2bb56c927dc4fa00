//! The file of those who may sign in: read at the start, and again when it changes.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use mailroom::users::FILE_MAX;
use mailroom::{Roll, Users};

/// How often the file is looked at.
const CHECK_EVERY: Duration = Duration::from_secs(10);
/// The file, and how it looked when it was last read.
#[derive(Debug)]
pub(crate) struct Watched {
    path: PathBuf,
    seen: Option<(SystemTime, u64)>,
}

/// Read the file for the first time: what is wrong with it is the program's end.
pub(crate) fn read_first(path: &Path) -> Result<(Arc<Roll>, Watched)> {
    let seen = look(path);
    let roll = Roll::new(read(path)?);
    Ok((roll, Watched { path: path.to_owned(), seen }))
}

/// Look at the file for ever, and go by what it says.
pub(crate) async fn watch(mut watched: Watched, roll: Arc<Roll>) {
    loop {
        tokio::time::sleep(CHECK_EVERY).await;
        let now = look(&watched.path);
        if now == watched.seen {
            continue;
        }
        match read(&watched.path) {
            Ok(users) => {
                roll.replace(users);
                tracing::info!(path = %watched.path.display(), "the list of users has changed");
            }
            Err(error) => tracing::error!("{error:#}; the list that was read before stays in use"),
        }
        watched.seen = now;
    }
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let file = fs::metadata(path).ok()?;
    Some((file.modified().ok()?, file.len()))
}

fn read(path: &Path) -> Result<Users> {
    let told = || format!("smtp.auth_file: cannot read {}", path.display());
    let mut text = String::new();
    fs::File::open(path).with_context(told)?.take(FILE_MAX as u64 + 1).read_to_string(&mut text).with_context(told)?;
    if text.len() > FILE_MAX {
        bail!("smtp.auth_file: {} is larger than 1MiB, so it is hardly a list of users", path.display());
    }
    Users::parse(&text).with_context(|| format!("smtp.auth_file {}", path.display()))
}
