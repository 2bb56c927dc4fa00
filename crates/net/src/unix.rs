//! Unix sockets: a file that is made when listening begins and goes when it ends, also after a crash.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Dialled;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// A bound socket and its file.
#[derive(Debug)]
pub(crate) struct Bound {
    listener: UnixListener,
    path: PathBuf,
    /// The file's own number: at the end only that very file is removed.
    inode: u64,
}

impl Bound {
    /// Listen at a path. A socket that nobody listens at any more is left from a crash and makes room; any other file
    /// is somebody's and stays.
    pub(crate) fn bind(path: &Path, mode: u32) -> io::Result<Self> {
        make_room(path)?;
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        let inode = fs::symlink_metadata(path)?.ino();
        Ok(Self { listener, path: path.to_owned(), inode })
    }

    pub(crate) fn local(&self) -> String {
        format!("unix:{}", self.path.display())
    }

    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|file| file.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn make_room(path: &Path) -> io::Result<()> {
    let Ok(file) = fs::symlink_metadata(path) else { return Ok(()) };
    if !file.file_type().is_socket() {
        return Err(io::Error::other(
            "there is a file of this name that is no socket; remove it or choose another path",
        ));
    }
    match Dialled::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::other("another program listens there; stop it or choose another path")),
    }
}
