//! Being asked to stop, as each operating system does it.

use std::io;
use std::process::ExitCode;

/// How the program was asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Ctrl-C.
    Interrupt,
    /// By a supervisor.
    Terminate,
}

impl Asked {
    /// How a program ends that did not finish: 128 and the signal's number, as shells tell it.
    pub(crate) fn unfinished(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        })
    }
}

/// Hears the signals from the moment it exists, so that none ends the program unasked.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Begin to hear.
    pub(crate) fn hear() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The next time we are asked.
    pub(crate) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Interrupt,
            _ = self.terminate.recv() => Asked::Terminate,
        }
    }
}

/// Hears Ctrl-C and the closing of the console.
#[cfg(windows)]
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    close: tokio::signal::windows::CtrlClose,
}

#[cfg(windows)]
impl Signals {
    /// Begin to hear.
    pub(crate) fn hear() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_c, ctrl_close};
        Ok(Self { interrupt: ctrl_c()?, close: ctrl_close()? })
    }

    /// The next time we are asked.
    pub(crate) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Interrupt,
            _ = self.close.recv() => Asked::Terminate,
        }
    }
}
