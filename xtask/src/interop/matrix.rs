//! What came of it: programs by transports, and for every letter that did not go its way the reason.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Result, bail};

use super::program::{Outcome, Transport};

/// In place of a letter's name, when it is not about one of them.
const EVERYTHING: &str = "everything";

/// One program over one transport.
pub(super) enum Cell {
    /// Letters by name, and how each went.
    Tried(Vec<(&'static str, Outcome)>),
    /// It cannot be, and why.
    Never(String),
    /// The trial itself went wrong.
    Failed(String),
}

impl Cell {
    /// Letters that the program cannot send or read, with the reason.
    pub(super) fn unable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.outcomes().iter().filter_map(|(letter, outcome)| match outcome {
            Outcome::Unable(why) => Some((*letter, why.as_str())),
            _ => None,
        })
    }

    fn wrong(&self) -> Vec<(&str, &str)> {
        if let Self::Failed(why) = self {
            return vec![(EVERYTHING, why)];
        }
        let wrong = self.outcomes().iter().filter_map(|(letter, outcome)| match outcome {
            Outcome::Wrong(why) => Some((*letter, why.as_str())),
            _ => None,
        });
        wrong.collect()
    }

    /// Everything that is not equal, by letter.
    fn reasons(&self) -> Vec<(&str, &str)> {
        if let Self::Never(why) = self {
            return vec![(EVERYTHING, why)];
        }
        self.unable().chain(self.wrong()).collect()
    }

    fn outcomes(&self) -> &[(&'static str, Outcome)] {
        if let Self::Tried(outcomes) = self { outcomes } else { &[] }
    }

    /// As it stands in the table.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Tried(outcomes) => self.counted(outcomes),
            Self::Never(_) => "–".into(),
            Self::Failed(_) => "FAILED".into(),
        }
    }

    fn counted(&self, outcomes: &[(&'static str, Outcome)]) -> String {
        let equal = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Equal).count();
        let mut text = format!("{equal} equal");
        for (count, word) in [(self.unable().count(), "unable"), (self.wrong().len(), "WRONG")] {
            if count > 0 {
                let _ = write!(text, ", {count} {word}");
            }
        }
        text
    }
}

/// One program.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) version: Result<String, String>,
    pub(super) cells: [Cell; 3],
}

impl Row {
    /// For whoever watches the run.
    pub(super) fn line(&self) -> String {
        let cells: Vec<_> = self.ways().map(|(way, cell)| format!("{way} {}", cell.text())).collect();
        format!("{:<18} {}", self.name, cells.join("; "))
    }

    fn ways(&self) -> impl Iterator<Item = (Transport, &Cell)> {
        Transport::ALL.into_iter().zip(&self.cells)
    }

    /// Reasons, each with the letters and the transports that it is the reason for.
    pub(super) fn reasons(&self) -> Vec<String> {
        let mut ways: BTreeMap<(&str, &str), Vec<Transport>> = BTreeMap::new();
        for (way, cell) in self.ways() {
            for (letter, why) in cell.reasons() {
                ways.entry((letter, why)).or_default().push(way);
            }
        }
        let mut letters: BTreeMap<(Vec<Transport>, &str), Vec<&str>> = BTreeMap::new();
        for ((letter, why), ways) in ways {
            letters.entry((ways, why)).or_default().push(letter);
        }
        letters.iter().map(|((ways, why), letters)| reason(letters, ways, why)).collect()
    }
}

fn reason(letters: &[&str], ways: &[Transport], why: &str) -> String {
    let all = ways.len() == Transport::ALL.len();
    let ways: Vec<_> = ways.iter().map(ToString::to_string).collect();
    let over = if all { String::new() } else { format!(" over {}", ways.join(" and ")) };
    let name = |letter: &&str| if *letter == EVERYTHING { EVERYTHING.into() } else { format!("`{letter}`") };
    let letters: Vec<String> = letters.iter().map(name).collect();
    format!("{}{over}: {why}", letters.join(", "))
}

/// The rows of every kind of program, under its title.
pub(super) struct Matrix(pub(super) Vec<(&'static str, Vec<Row>)>);

impl Matrix {
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.iter().flat_map(|(_, rows)| rows)
    }

    /// What a run prints at its end.
    pub(super) fn summary(&self) -> String {
        let of_row = |row: &Row| -> Vec<String> {
            row.reasons().into_iter().map(|reason| format!("{}: {reason}\n", row.name)).collect()
        };
        self.rows().flat_map(of_row).collect()
    }

    /// An error when anything was wrong.
    pub(super) fn verdict(&self) -> Result<()> {
        let wrong = |row: &&Row| row.cells.iter().any(|cell| !cell.wrong().is_empty());
        let names: Vec<_> = self.rows().filter(wrong).map(|row| row.name).collect();
        if !names.is_empty() {
            bail!("not what was sent, by {}: the lines above say where it parts", names.join(", "));
        }
        Ok(())
    }
}
