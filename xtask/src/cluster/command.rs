//! The command that a cluster is started for: told where everything is, waited for, ended with the cluster.

use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use super::Event;
use super::site::Site;

/// A command under way.
pub(super) struct Running {
    pid: Pid,
}

impl Running {
    /// Start it. In its words `{urls}`, `{folder}`, `{xtask}` and for each node `{smtp1}` and `{http1}` are filled in; in
    /// its environment are the URLs as well. Its end comes as an event.
    pub(super) fn start(words: &[String], site: &Site, events: Sender<Event>) -> Result<Self> {
        let facts = facts(site)?;
        let mut words = words.iter().map(|word| filled(word, &facts));
        let program = words.next().context("a command has at least one word")?;
        let mut command = Command::new(&program);
        command.args(words).env("POSTKEEP_TEST_URLS", site.brokers.urls().join(","));
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let pid = Pid::from_child(&child);
        // Nobody waits for it any more when the cluster has ended.
        thread::spawn(move || events.send(Event::Ended(child.wait())));
        Ok(Self { pid })
    }

    /// End it politely; it may have ended by itself, as a Ctrl-C reaches it as well.
    pub(super) fn end(&self, events: &Receiver<Event>) -> Result<ExitStatus> {
        let _ = kill_process(self.pid, Signal::TERM);
        loop {
            if let Event::Ended(status) = events.recv().context("nobody waits for the command")? {
                return Ok(status?);
            }
        }
    }
}

/// A word with everything filled in.
pub(super) fn filled(word: &str, facts: &[(String, String)]) -> String {
    facts.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value))
}

/// What can be filled in.
fn facts(site: &Site) -> Result<Vec<(String, String)>> {
    let xtask = std::env::current_exe().context("this program does not know where it lies")?;
    let mut facts = vec![
        ("{urls}".to_owned(), site.brokers.urls().join(",")),
        ("{folder}".to_owned(), site.folder().display().to_string()),
        ("{xtask}".to_owned(), xtask.display().to_string()),
    ];
    for (number, (smtp, http)) in (1..).zip(site.nodes()?) {
        facts.push((format!("{{smtp{number}}}"), smtp.to_string()));
        facts.push((format!("{{http{number}}}"), http.to_string()));
    }
    Ok(facts)
}
