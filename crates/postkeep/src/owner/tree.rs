//! Directories that are written into and read from without following a link: every step is taken from a directory that
//! is open already, so nothing planted or swapped on the way leads elsewhere (T083). On systems without such steps it
//! goes by paths, and looks before each.
//!
//! It knows nothing of mail; who calls it gives single components as names, never paths.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// An open directory.
#[derive(Debug)]
pub(super) struct Dir {
    path: PathBuf,
    #[cfg(unix)]
    open: rustix::fd::OwnedFd,
}

/// What lies in a directory under a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// A directory.
    Dir,
    /// A plain file.
    File,
    /// A link, a pipe, a device: never opened.
    Other,
}

impl Dir {
    /// The directory for what is written: made now, or there already and empty. Only its owner may look into it.
    pub(super) fn fresh(path: &Path) -> io::Result<Self> {
        match make(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::symlink_metadata(path)?.is_symlink() {
                    return Err(io::Error::other("it is a symbolic link; name the directory itself"));
                }
                if fs::read_dir(path)?.next().is_some() {
                    return Err(io::Error::other("it is not empty; name a directory that does not exist yet"));
                }
            }
            made => made?,
        }
        Self::open(path)
    }

    /// The names in it, in order, each with its kind.
    pub(super) fn entries(&self) -> io::Result<Vec<(String, Kind)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_dir() => Kind::Dir,
                kind if kind.is_file() => Kind::File,
                _ => Kind::Other,
            };
            // What is not UTF-8 is not ours, and is passed over like a link.
            match entry.file_name().into_string() {
                Ok(name) => entries.push((name, kind)),
                Err(name) => entries.push((name.to_string_lossy().into_owned(), Kind::Other)),
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Where it is, for a person.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Make a directory for its owner alone.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
impl Dir {
    /// A directory that is there. A link in the last place is not followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let open = rustix::fs::open(path, directory(), rustix::fs::Mode::empty())?;
        Ok(Self { path: path.to_owned(), open })
    }

    /// A directory in it, made when it is not there.
    pub(super) fn enter(&self, name: &str) -> io::Result<Self> {
        match rustix::fs::mkdirat(&self.open, name, rustix::fs::Mode::RWXU) {
            Err(rustix::io::Errno::EXIST) => {}
            made => made?,
        }
        self.dir(name)
    }

    /// A directory in it.
    pub(super) fn dir(&self, name: &str) -> io::Result<Self> {
        let open = rustix::fs::openat(&self.open, name, directory(), rustix::fs::Mode::empty())?;
        Ok(Self { path: self.path.join(name), open })
    }

    /// A new file in it, for its owner alone.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.open, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// A plain file in it.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags};
        // A pipe that took the file's place is not waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        plain(rustix::fs::openat(&self.open, name, flags, Mode::empty())?.into())
    }

    /// Move a file to another directory, under the same name; nothing there is replaced that was there before.
    pub(super) fn hand_over(&self, name: &str, to: &Self) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.open, name, &to.open, name)?)
    }
}

#[cfg(unix)]
fn directory() -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

#[cfg(not(unix))]
impl Dir {
    /// A directory that is there, and is no link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no directory"));
        }
        Ok(Self { path: path.to_owned() })
    }

    /// A directory in it, made when it is not there.
    pub(super) fn enter(&self, name: &str) -> io::Result<Self> {
        match make(&self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        self.dir(name)
    }

    /// A directory in it.
    pub(super) fn dir(&self, name: &str) -> io::Result<Self> {
        Self::open(&self.path.join(name))
    }

    /// A new file in it.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    /// A plain file in it.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(io::Error::other("it is no plain file"));
        }
        plain(File::open(path)?)
    }

    /// Move a file to another directory, under the same name.
    pub(super) fn hand_over(&self, name: &str, to: &Self) -> io::Result<()> {
        fs::rename(self.path.join(name), to.path.join(name))
    }
}

fn plain(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no plain file")) }
}
