//! The configuration: layers of `key = value`, checked as a whole before anything starts. All mistakes are told at
//! once, and every value knows where it came from. What the rooms do with it is not known here.

pub(crate) mod doors;
mod engines;
mod host;
mod keys;
mod layers;
mod ready;
mod report;
mod show;
mod tls;
mod values;
mod wait;

#[cfg(test)]
mod tests;

pub(crate) use doors::Guards;
pub(crate) use engines::{Disk, Engine, Jetstream, Memory, Store};
pub(crate) use layers::Sources;
pub(crate) use ready::Config;
pub(crate) use report::Report;
pub(crate) use tls::{Acme, Source, Tls};
pub(crate) use values::{Size, Time, time};

use layers::Layers;
use report::Origin;
use values::Value;

/// The first layer, and the documentation of every key.
pub(crate) const DEFAULTS: &str = include_str!("../../config.default.toml");

/// A configuration without mistakes.
#[derive(Debug)]
pub(crate) struct Checked {
    values: Vec<(Value, Origin)>,
}

impl Checked {
    /// Lay the layers and check them, one by one and together.
    pub(crate) fn of(sources: &Sources) -> Result<Self, Report> {
        let (values, mut mistakes) = Layers::lay(sources);
        if mistakes.is_empty() {
            mistakes = ready::contradictions(&values);
        }
        match Report::of(mistakes) {
            Some(report) => Err(report),
            None => Ok(Self { values }),
        }
    }

    /// As the rooms take it.
    pub(crate) fn config(&self) -> Config {
        Config::of(&self.values)
    }

    /// What works, but perhaps not as it was meant: a sentence each.
    pub(crate) fn doubts(&self) -> Vec<String> {
        ready::doubts(&self.values)
    }

    /// As TOML, with origins.
    pub(crate) fn show(&self) -> String {
        show::show(&self.values)
    }
}
