//! Senders that are compiled: their sources are copied into the cache and built there. One is as it should be when the
//! copies are still equal to the sources.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::interop::tools::{cache, scripts};

pub(super) struct Built {
    /// Below the scripts, and below the cache.
    pub(super) folder: &'static str,
    pub(super) sources: &'static [&'static str],
    /// What comes out, below the folder of the cache.
    pub(super) program: &'static str,
}

impl Built {
    pub(super) fn path(&self) -> PathBuf {
        cache().join(self.folder).join(self.program)
    }

    /// Whether it was built from the sources as they are.
    pub(super) fn there(&self) -> Result<(), String> {
        let (from, to) = (scripts().join(self.folder), cache().join(self.folder));
        let same = |name: &&str| fs::read(from.join(name)).ok() == fs::read(to.join(name)).ok();
        let built = self.path().is_file() && self.sources.iter().all(same);
        if built { Ok(()) } else { Err("its sender is not built".into()) }
    }

    /// Copy the sources; those that are equal keep their times. What was built before is no longer there.
    pub(super) fn copied(&self) -> Result<PathBuf> {
        let (from, to) = (scripts().join(self.folder), cache().join(self.folder));
        for name in self.sources {
            let source = fs::read(from.join(name)).with_context(|| format!("cannot read {name}"))?;
            let copy = to.join(name);
            if fs::read(&copy).ok().as_ref() != Some(&source) {
                fs::create_dir_all(copy.parent().expect("a file lies in a folder"))?;
                fs::write(&copy, source)?;
            }
        }
        // A build that fails must not leave the program of other sources behind.
        if self.path().exists() {
            fs::remove_file(self.path())?;
        }
        Ok(to)
    }
}
