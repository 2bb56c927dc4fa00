//! The few words and flags that the tasks take. Not a general parser: a flag is asked for by name, and what nobody
//! asked for is an error at the end.

use std::collections::VecDeque;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// What stands behind `cargo xtask`.
pub(crate) struct Args(VecDeque<String>);

impl Args {
    /// The arguments of this process.
    pub(crate) fn from_env() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// These arguments.
    #[cfg(test)]
    pub(crate) fn of(words: &[&str]) -> Self {
        Self(words.iter().map(|&word| word.to_owned()).collect())
    }

    /// The next word, when it is no flag.
    pub(crate) fn word(&mut self) -> Option<String> {
        if self.0.front().is_some_and(|first| first.starts_with("--") && first != "--help") {
            return None;
        }
        self.0.pop_front()
    }

    /// Whether a flag stands there; it is taken.
    #[must_use]
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let place = self.0.iter().position(|arg| arg == name);
        place.is_some_and(|place| self.0.remove(place).is_some())
    }

    /// The value behind a flag; both are taken.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(place) = self.0.iter().position(|arg| arg == name) else { return Ok(None) };
        self.0.remove(place);
        let text = self.0.remove(place).with_context(|| format!("{name} needs a value behind it"))?;
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => bail!("{name} cannot be `{text}`"),
        }
    }

    /// The words behind `--`, which belong to another program; they are taken. To be asked for before any flag.
    #[cfg(target_os = "linux")]
    pub(crate) fn behind_dashes(&mut self) -> Vec<String> {
        let place = self.0.iter().position(|arg| arg == "--").unwrap_or(self.0.len());
        self.0.split_off(place).into_iter().skip(1).collect()
    }

    /// Everything was taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.0.front() {
            None => Ok(()),
            Some(rest) => bail!("`{rest}` means nothing here; `cargo xtask help` says what does"),
        }
    }
}
