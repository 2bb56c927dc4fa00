//! `postkeep store backup`: a copy of one moment, and what can be done with it.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

use super::Ended;
use super::progress::{Progress, Steps};
use super::words::{bytes, count};
use crate::assembly;

/// Back up a store into a directory.
pub(crate) fn backup(path: &Path, to: &Path) -> Result<Ended> {
    let mut progress = None;
    let backed = assembly::backup(path, to, &mut |done, all| {
        progress.get_or_insert_with(|| Progress::begin("backup", Steps::Bytes, Some(all))).set(done);
    })?;
    drop(progress);
    let told = format!(
        "Backed up {} to {to} ({}).\nTo be sure of it:  postkeep store check --path {to}\nTo restore:        postkeep serve \
         --set store.engine=disk --set store.disk.path={to}\n",
        count(backed.messages, "message"),
        bytes(backed.bytes),
        to = to.display(),
    );
    let _ = io::stdout().lock().write_all(told.as_bytes());
    Ok(Ended::Well)
}
