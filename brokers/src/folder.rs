//! Where a cluster's servers keep what they have: a folder that was named and stays, or a temporary one that goes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

const NAME: &str = "postkeep-brokers-";
static MADE: AtomicUsize = AtomicUsize::new(0);

/// A folder; removed when dropped, if it is temporary.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    temporary: bool,
}

impl Folder {
    /// The one that was named, or a fresh one.
    pub(crate) fn new(named: Option<PathBuf>) -> Result<Self> {
        let temporary = named.is_none();
        let path = named.unwrap_or_else(fresh);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let path = path.canonicalize()?;
        Ok(Self { path, temporary })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // What stays behind goes when the next process makes one.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// A name that nobody else has. What processes left that are gone goes now.
fn fresh() -> PathBuf {
    let parent = env::temp_dir();
    clear(&parent);
    parent.join(format!("{NAME}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)))
}

fn clear(parent: &Path) {
    for file in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = file.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|owner| !Path::new(&format!("/proc/{owner}")).exists()) {
            // Another process may be doing the same.
            let _ = fs::remove_dir_all(file.path());
        }
    }
}
