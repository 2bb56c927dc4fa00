//! Restarts as an operator does them: one after the other, each waited for. No sender may notice more than a "try later".

use std::time::Duration;

use anyhow::{Result, ensure};
use rustix::process::Signal;

use crate::crash::{Aim, Author, Blow, Clock, Fault, Fleet, History, Kind, Moment, Outcome, Send, Victims, Violation};

/// For one to be well again.
const WELL_MAX: Duration = Duration::from_secs(60);

/// What is restarted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    Brokers,
    Nodes,
}

/// The restarts.
pub(super) struct Rolling(Whom);

impl Rolling {
    pub(super) fn brokers() -> Self {
        Self(Whom::Brokers)
    }

    pub(super) fn nodes() -> Self {
        Self(Whom::Nodes)
    }
}

impl Fault for Rolling {
    fn aim(&mut self, _round: u32, _fleet: &mut Fleet) -> Result<Aim> {
        let moment = Moment::after(Duration::from_millis(500));
        Ok(Aim { kind: "a rolling restart".into(), moment, victims: Victims::default() })
    }

    fn strike(&mut self, fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        match self.0 {
            Whom::Brokers => {
                for broker in 0..fleet.brokers.len() {
                    fleet.brokers.stop(broker)?;
                    fleet.brokers.start_again(broker)?;
                    fleet.wait_well(WELL_MAX)?;
                }
            }
            Whom::Nodes => {
                for node in 0..fleet.nodes() {
                    let status = fleet.end_node(node, Signal::TERM)?;
                    let well = status.is_some_and(|status| status.success());
                    ensure!(well, "on SIGTERM node {} ended with {status:?}", node + 1);
                    fleet.start_node(node)?;
                    fleet.wait_well(WELL_MAX)?;
                }
            }
        }
        Ok(Blow::default())
    }

    /// Refused for now is allowed, when a later try of the same sender gets through; a reply that never comes is not.
    fn also(&self, author: Author, history: &History) -> Vec<Violation> {
        let mut found = Vec::new();
        for send in &history.sends {
            let flawed = author.letter(send.canary).flaw.is_some();
            let what = match &send.outcome {
                Outcome::Unknown => "without a reply",
                Outcome::Refused(_) if flawed => continue,
                Outcome::Refused(reply) if !["421", "451"].iter().any(|code| reply.starts_with(code)) => "refused",
                Outcome::Refused(_) if !got_through(history, send) => "refused, and so was every later try",
                _ => continue,
            };
            found.push(Violation::new(Kind::Failed, format!("{what}: {send}")));
        }
        found
    }
}

/// Whether this sender got something through later, or did not try.
fn got_through(history: &History, refused: &Send) -> bool {
    let later = |send: &&Send| send.canary.client == refused.canary.client && send.at > refused.at;
    let mut tries = history.sends.iter().filter(later).peekable();
    tries.peek().is_none() || tries.any(|send| send.outcome == Outcome::Done)
}
