//! Where to listen: `HOST:PORT`, or `unix:PATH`.

use std::fmt;
use std::path::PathBuf;

/// A place that a listener can have.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// `HOST:PORT`.
    Tcp(String),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Place {
    /// Read one; whether a host or a path is sound shows when it is bound.
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix("unix:") {
            Some(path) => Self::Unix(path.into()),
            None => Self::Tcp(text.to_owned()),
        }
    }

    /// Host and port; none for a Unix socket.
    pub(crate) fn parts(&self) -> Option<(&str, &str)> {
        match self {
            Self::Tcp(addr) => addr.rsplit_once(':'),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addr) => out.write_str(addr),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}
