//! The directory of a store: made for its owner alone, taken by one process, and never reached through a symbolic link.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::index;

/// The database within the directory.
pub(crate) const DATABASE: &str = "postkeep.db";
/// Held by the process that has the directory; its text is that process's number.
const LOCK: &str = "lock";
/// Every file that SQLite and we keep there for the mail.
const FILES: [&str; 4] = [DATABASE, "postkeep.db-wal", "postkeep.db-shm", LOCK];
/// Every file that may stand there.
fn files() -> impl Iterator<Item = &'static str> {
    FILES.into_iter().chain(index::FILES)
}

/// A directory that this process has for itself, as long as it holds this.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Make the directory when it is not there, and take it.
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        make(path)?;
        let path = real(path)?;
        if !path.join(DATABASE).exists() && !is_ours(&path)? {
            return Err(OpenError::Foreign { path });
        }
        keep_private(&path)?;
        refuse_links(&path)?;
        let lock = lock(&path)?;
        if !path.join(DATABASE).exists() {
            create_private(&path.join(DATABASE))?;
            // A power cut must not take away the names of what is kept.
            path.parent().map_or(Ok(()), sync)?;
            sync(&path)?;
        }
        Ok(Self { path, _lock: lock })
    }

    /// The database file.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The database of a store that somebody else may have: nothing is made, nothing is taken.
pub(crate) fn visit(path: &Path) -> Result<PathBuf, OpenError> {
    if fs::symlink_metadata(path).is_err() {
        return Err(OpenError::Missing { path: path.to_owned() });
    }
    let path = real(path)?;
    refuse_links(&path)?;
    let database = path.join(DATABASE);
    if database.exists() { Ok(database) } else { Err(OpenError::Missing { path }) }
}

/// Whether another process has this directory now.
pub fn is_in_use(path: &Path) -> bool {
    let Ok(file) = File::open(path.join(LOCK)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Make a directory for its owner alone.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn make(path: &Path) -> Result<(), OpenError> {
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|source| OpenError::io("make the directory", path, source)),
    }
}

/// The directory's own path, without links on the way to it. The directory itself must be none: whoever may write
/// where it stands could have put one there.
fn real(path: &Path) -> Result<PathBuf, OpenError> {
    let look = |path: &Path| fs::symlink_metadata(path).map_err(|source| OpenError::io("look at", path, source));
    let kind = look(path)?.file_type();
    if kind.is_symlink() {
        return Err(OpenError::Link { path: path.to_owned() });
    }
    if !kind.is_dir() {
        return Err(OpenError::NotADirectory { path: path.to_owned() });
    }
    path.canonicalize().map_err(|source| OpenError::io("find", path, source))
}

/// Whether a directory without a database holds nothing but what we put there ourselves before we were stopped.
fn is_ours(path: &Path) -> Result<bool, OpenError> {
    let read = |source| OpenError::io("look into", path, source);
    for entry in fs::read_dir(path).map_err(read)? {
        let name = entry.map_err(read)?.file_name();
        // A file system of its own has this from the start.
        if !files().any(|file| name == file) && name != "lost+found" {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn keep_private(path: &Path) -> Result<(), OpenError> {
    use std::os::unix::fs::PermissionsExt;
    let look = |source| OpenError::io("look at", path, source);
    let mode = fs::metadata(path).map_err(look)?.permissions().mode() & 0o777;
    if mode != 0o700 {
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(path, private).map_err(|source| OpenError::io("close to others", path, source))?;
        tracing::warn!(path = %path.display(), "the directory was open to others (mode {mode:03o}); it is closed to them now");
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) -> Result<(), OpenError> {
    Ok(())
}

/// T083: a link planted under one of our names leads nowhere.
fn refuse_links(path: &Path) -> Result<(), OpenError> {
    for name in files() {
        let file = path.join(name);
        if fs::symlink_metadata(&file).is_ok_and(|found| !found.file_type().is_file()) {
            return Err(OpenError::Link { path: file });
        }
    }
    Ok(())
}

fn lock(path: &Path) -> Result<File, OpenError> {
    let name = path.join(LOCK);
    let mut file = private().open(&name).map_err(|source| OpenError::io("open", &name, source))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Only to be helpful: without the number the message is the same.
            let _ = file.read_to_string(&mut holder);
            return Err(OpenError::InUse { path: path.to_owned(), holder: holder.trim().to_owned() });
        }
        Err(TryLockError::Error(source)) => return Err(OpenError::io("lock", &name, source)),
    }
    let number = format!("{}\n", std::process::id());
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(number.as_bytes()));
    written.map_err(|source| OpenError::io("write", &name, source))?;
    Ok(file)
}

/// SQLite gives its other files the mode of this one.
fn create_private(path: &Path) -> Result<(), OpenError> {
    private().open(path).map(drop).map_err(|source| OpenError::io("make", path, source))
}

#[cfg(unix)]
pub(crate) fn sync(path: &Path) -> Result<(), OpenError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|source| OpenError::io("sync", path, source))
}

/// Elsewhere a directory cannot be synced, nor need it be.
#[cfg(not(unix))]
pub(crate) fn sync(_path: &Path) -> Result<(), OpenError> {
    Ok(())
}

pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    }
    options
}
