//! The command line of a load generator: flags and values by name, and what nobody asked for is an error at the end.

use std::collections::VecDeque;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// What stands behind the program's name.
#[derive(Debug)]
pub struct Asked {
    words: VecDeque<String>,
    usage: &'static str,
}

impl Asked {
    /// The arguments of this process.
    #[must_use]
    pub fn from_env(usage: &'static str) -> Self {
        Self { words: std::env::args().skip(1).collect(), usage }
    }

    /// Whether a flag stands there; it is taken.
    #[must_use]
    pub fn flag(&mut self, name: &str) -> bool {
        let place = self.words.iter().position(|word| word == name);
        place.is_some_and(|place| self.words.remove(place).is_some())
    }

    /// The value behind a name; both are taken.
    pub fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(place) = self.words.iter().position(|word| word == name) else { return Ok(None) };
        self.words.remove(place);
        let text =
            self.words.remove(place).with_context(|| format!("{name} needs a value behind it: {}", self.usage))?;
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => bail!("{name} cannot be `{text}`: {}", self.usage),
        }
    }

    /// The value behind a name that must be there.
    pub fn must<T: FromStr>(&mut self, name: &str) -> Result<T> {
        self.value(name)?.with_context(|| format!("{name} is missing: {}", self.usage))
    }

    /// Everything was taken.
    pub fn finish(self) -> Result<()> {
        match self.words.front() {
            None => Ok(()),
            Some(rest) => bail!("`{rest}` means nothing here: {}", self.usage),
        }
    }
}
