//! What is under trial, as a campaign sees it: something with doors for clients, to which something happens in each round,
//! and which is whole again afterwards. Whether that is one server on a disk or a cluster is the rig's own business.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::checker::Violation;
use super::doors::Doors;
use super::fuse::{Moment, Victims};
use super::history::{Clock, Cut, History};
use super::letter::Author;

/// What happens in a round.
pub(crate) struct Aim {
    /// In words, for the report.
    pub(crate) kind: String,
    pub(crate) moment: Moment,
    /// Processes that the fuse kills by itself, in the very moment.
    pub(crate) victims: Victims,
}

/// What came of it.
#[derive(Default)]
pub(crate) struct Struck {
    /// When the power went, if it did.
    pub(crate) cut: Option<Cut>,
    pub(crate) found: Vec<Violation>,
}

/// How it came back.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) found: Vec<Violation>,
    /// From the start to the ready line, of each start that was waited for.
    pub(crate) starts: Vec<Duration>,
    /// Starts that were killed on their way.
    pub(crate) starts_killed: usize,
}

/// Something under trial.
pub(crate) trait Rig {
    /// Start on an empty store, for this round to come; whatever ran before ends.
    fn begin(&mut self, round: u32) -> Result<()>;

    /// Where clients go.
    fn doors(&self) -> Arc<Doors>;

    /// Who writes the mail.
    fn author(&self) -> Author;

    /// What this round brings.
    fn aim(&mut self, round: u32) -> Result<Aim>;

    /// The moment has come, told by a client of this door if by any. Clients are at work until this returns.
    fn strike(&mut self, clock: &Clock, door: Option<usize>) -> Result<Struck>;

    /// The clients are gone: be whole again, with nothing under way.
    fn recover(&mut self) -> Result<Recovered>;

    /// On which terms the round that is over is judged.
    fn terms(&self, history: &mut History) -> Result<()>;

    /// Whether mail may be gone by definition, so that nothing that the clients were told up to now counts.
    fn voids(&self) -> bool {
        false
    }

    /// What is broken besides the promises that hold in every trial.
    fn also(&self, _history: &History) -> Vec<Violation> {
        Vec::new()
    }

    /// Put into this folder what shows how it came to a broken promise.
    fn keep(&self, folder: &Path) -> Result<()>;
}
