//! A data directory for one measurement, on the disk that the repository is built on, and what it takes there. What is
//! in it is asked with `sqlite3`, as an owner would: this program knows the names of tables, not the engine.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise};

use super::server::{Server, Starting, serve};
use crate::shell::{built, output, run, which};

/// A directory of its own; gone when dropped.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A fresh one, empty until a server makes it.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let parent = built()?.with_file_name("tmp");
        fs::create_dir_all(&parent)?;
        clear(&parent)?;
        let path = parent.join(format!("postkeep-{}-{name}", std::process::id()));
        Ok(Self { path })
    }

    /// Start postkeep with the disk engine over it. What it says goes to the log.
    pub(crate) fn serve(&self, binary: &Path, settings: &[&str]) -> Result<Server> {
        let mut command = Command::new(binary);
        let place = format!("store.disk.path={}", self.path.display());
        serve(&mut command, &[&["store.engine=disk", &place], settings].concat());
        let starting = Starting::new(command, File::create(self.log())?)?;
        starting.ready().with_context(|| format!("it said: {}", self.said().trim()))
    }

    /// What the last server said on stderr.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn log(&self) -> PathBuf {
        self.path.with_extension("log")
    }

    /// The file with the mail.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("postkeep.db")
    }

    /// A neighbour of the directory, for a file that is compared with it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.path.with_extension(name)
    }

    /// Bytes on disk of all files, journals included.
    pub(crate) fn used(&self) -> Result<u64> {
        let files = fs::read_dir(&self.path)?;
        // A journal may go between being listed and being looked at.
        Ok(files.filter_map(|file| file.ok()?.metadata().ok()).map(|file| file.blocks() * 512).sum())
    }

    /// Bytes of the write-ahead log.
    pub(crate) fn journal(&self) -> u64 {
        fs::metadata(self.path.join("postkeep.db-wal")).map_or(0, |file| file.len())
    }

    /// What `sqlite3` answers to a query.
    pub(crate) fn ask(&self, query: &str) -> Result<String> {
        let program = which("sqlite3").context("sqlite3 is missing: install the Debian package sqlite3")?;
        let answer = output(Command::new(program).arg("-readonly").arg(self.database()).arg(query))?;
        Ok(answer.trim().to_owned())
    }

    /// Let the system forget what it holds of the files in memory.
    pub(crate) fn cool(&self) -> Result<()> {
        settle()?;
        for file in fs::read_dir(&self.path)? {
            fadvise(File::open(file?.path())?, 0, None, Advice::DontNeed)?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What was never made cannot be removed, and what stays behind lies among things that are built.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(self.log());
    }
}

/// Remove what measurements left that were interrupted: it may be gigabytes.
fn clear(parent: &Path) -> Result<()> {
    for file in fs::read_dir(parent)? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let owner = name.strip_prefix("postkeep-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new(&format!("/proc/{owner}")).exists()) {
            if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
        }
    }
    Ok(())
}

/// Wait until everything written by anybody is on disk, so that one side's writing does not fall on the next.
pub(crate) fn settle() -> Result<()> {
    run(&mut Command::new("sync"))
}
