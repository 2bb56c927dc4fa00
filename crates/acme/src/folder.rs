//! The folder of one CA: account, certificate and key, their owner's alone, and never reached through a symbolic link.
//! It knows names and bytes, and not what they mean.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// No file of ours is as large; one that is was not written by us.
const FILE_MAX: u64 = 1 << 20;

/// The folder cannot be used.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum FolderError {
    /// The system refused.
    #[error("cannot {doing} {}: {source}; see that this user may, or name another folder in tls.folder", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Somebody put another thing where our folder or file should be.
    #[error("{} is not the {expected} it should be, and is not followed; remove it, or name another folder in tls.folder", path.display())]
    Planted {
        /// Where.
        path: PathBuf,
        /// A folder or a file.
        expected: &'static str,
    },
    /// The folder is another user's, who could read the key.
    #[error("{} belongs to another user; change its owner, or name another folder in tls.folder", path.display())]
    Owner {
        /// The folder.
        path: PathBuf,
    },
    /// A file that cannot be ours.
    #[error("{} is larger than any file of ours; remove it", path.display())]
    Large {
        /// The file.
        path: PathBuf,
    },
}

impl FolderError {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

/// A folder that is ours.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of this CA within the operator's one; both are made when they are not there. The outer one is left as
    /// open as it is, as more than ours may lie there; the inner one is closed to others.
    pub(crate) fn open(outer: &Path, directory: &str) -> Result<Self, FolderError> {
        make(outer)?;
        let path = outer.join(name_of(directory));
        make(&path)?;
        keep_private(&path)?;
        Ok(Self { path })
    }

    /// Where a file is, for people.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file's bytes; none when there is no such file.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, FolderError> {
        let path = self.at(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(FolderError::Planted { path, expected: "file" }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FolderError::io("look at", &path)(error)),
        }
        let file = unfollowing().read(true).open(&path).map_err(FolderError::io("open", &path))?;
        let mut bytes = Vec::new();
        file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(FolderError::io("read", &path))?;
        if bytes.len() as u64 > FILE_MAX { Err(FolderError::Large { path }) } else { Ok(Some(bytes)) }
    }

    /// Put a file in the place of the one of before: through a crash or a power cut there is the one or the other, whole.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let (path, fresh) = (self.at(name), self.at(&format!(".{name}.new")));
        // What is left from a crash, or what somebody put there: the name goes, whatever it leads to stays.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FolderError::io("remove", &fresh)(error));
            }
            _ => {}
        }
        let mut file =
            unfollowing().write(true).create_new(true).open(&fresh).map_err(FolderError::io("make", &fresh))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(FolderError::io("write", &fresh))?;
        fs::rename(&fresh, &path).map_err(FolderError::io("put in place", &path))?;
        sync(&self.path).map_err(FolderError::io("sync", &self.path))
    }
}

/// `https://ca.example:14000/dir` as the name of a folder.
fn name_of(directory: &str) -> String {
    let place = directory.split_once("://").map_or(directory, |(_, place)| place);
    let plain = |char: char| if char.is_ascii_alphanumeric() || matches!(char, '.' | '-') { char } else { '_' };
    let name: String = place.trim_end_matches('/').chars().take(200).map(plain).collect();
    format!("acme-{name}")
}

/// A directory for its owner alone, unless it is there.
fn make(path: &Path) -> Result<(), FolderError> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => path.parent().filter(|parent| *parent != Path::new("")).map_or(Ok(()), sync),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(FolderError::io("make the folder", path))?;
    let found = fs::symlink_metadata(path).map_err(FolderError::io("look at", path))?;
    let planted = || FolderError::Planted { path: path.to_owned(), expected: "folder" };
    if found.is_dir() { Ok(()) } else { Err(planted()) }
}

#[cfg(unix)]
fn keep_private(path: &Path) -> Result<(), FolderError> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let found = fs::symlink_metadata(path).map_err(FolderError::io("look at", path))?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(FolderError::Owner { path: path.to_owned() });
    }
    if found.mode() & 0o777 != 0o700 {
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(path, private).map_err(FolderError::io("close to others", path))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) -> Result<(), FolderError> {
    Ok(())
}

#[cfg(unix)]
fn unfollowing() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options
}

#[cfg(not(unix))]
fn unfollowing() -> OpenOptions {
    OpenOptions::new()
}

/// A power cut must not take away a name. Elsewhere than on Unix a directory cannot be synced, nor need it be.
fn sync(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests;
