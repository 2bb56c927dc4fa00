//! How it can end: exit codes as `sysexits.h` has them, and the sentence for a person.

use std::process::ExitCode;

/// Why nothing was handed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// `EX_USAGE`: the command line makes no sense.
    Usage = 64,
    /// `EX_DATAERR`: the message cannot be sent as it is.
    Data = 65,
    /// `EX_NOUSER`: a recipient is not there.
    NoUser = 67,
    /// `EX_UNAVAILABLE`: the server does not want it.
    Unavailable = 69,
    /// `EX_SOFTWARE`: a fault of this program or around it.
    Internal = 70,
    /// `EX_TEMPFAIL`: it may work later.
    Temporary = 75,
}

/// How it failed, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    pub(super) ending: Ending,
    pub(super) what: String,
}

impl Failure {
    pub(super) fn new(ending: Ending, what: impl Into<String>) -> Self {
        Self { ending, what: what.into() }
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(ending as u8)
    }
}
