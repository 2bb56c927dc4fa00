//! The configuration: layers of `key = value`, checked as a whole before anything starts. All mistakes are told at
//! once, and every value knows where it came from. What the rooms do with it is not known here.

mod access;
pub(crate) mod doors;
mod engines;
mod faults;
mod host;
mod keys;
mod layers;
mod ready;
mod relay;
mod report;
mod routes;
mod script;
mod show;
mod tables;
mod tls;
mod tokens;
mod values;
mod wait;
pub(crate) mod webhooks;

#[cfg(test)]
mod tests;

pub(crate) use doors::Guards;
pub(crate) use engines::{Disk, Engine, Jetstream, Memory, Store};
pub(crate) use layers::Sources;
pub(crate) use ready::Config;
pub(crate) use relay::Relay;
pub(crate) use report::Report;
#[cfg(feature = "script")]
pub(crate) use script::Script;
pub(crate) use tls::{Acme, Source, Tls};
pub(crate) use values::{Size, Time, time};

use layers::{Laid, Layers, Tables};
use report::Origin;
use values::Value;

/// The first layer, and the documentation of every key.
pub(crate) const DEFAULTS: &str = include_str!("../../config.default.toml");
/// Laid over it in public mode.
const PUBLIC: &str = include_str!("../../config.public.toml");

/// A duration as a file and the command line have it.
pub(crate) fn duration(text: &str) -> Option<std::time::Duration> {
    values::time(text)
}

/// A configuration without mistakes.
#[derive(Debug)]
pub(crate) struct Checked {
    values: Vec<(Value, Origin)>,
    tables: Tables,
}

impl Checked {
    /// Lay the layers and check them, one by one and together.
    pub(crate) fn of(sources: &Sources) -> Result<Self, Report> {
        let Laid { values, tables, mut mistakes } = Layers::lay(sources);
        if mistakes.is_empty() {
            mistakes = ready::contradictions(&values, &tables);
        }
        match Report::of(mistakes) {
            Some(report) => Err(report),
            None => Ok(Self { values, tables }),
        }
    }

    /// As the rooms take it.
    pub(crate) fn config(&self) -> Config {
        Config::of(&self.values, &self.tables)
    }

    /// What works, but perhaps not as it was meant: a sentence each.
    pub(crate) fn doubts(&self) -> Vec<String> {
        ready::doubts(&self.values, &self.tables)
    }

    /// As TOML, with origins.
    pub(crate) fn show(&self) -> String {
        show::show(&self.values)
            + &routes::show(&self.tables.routes)
            + &relay::show(&self.tables.relay_rules)
            + &tokens::show(&self.tables.tokens)
            + &webhooks::show(&self.tables.webhooks)
    }
}
