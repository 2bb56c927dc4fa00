//! Mistakes: where each was made, and one sentence on what to do. All of them are gathered before anything is said.

use std::fmt;
use std::rc::Rc;

use super::keys::{KEYS, Key, sections};
use super::values::quoted;

/// Where a value came from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Origin {
    /// The embedded file.
    Default,
    /// The embedded file of public mode.
    Public,
    /// A line of the user's file.
    File(Rc<str>, usize),
    /// A variable of the environment.
    Variable(String),
    /// `--set`.
    Set,
}

/// Something to be put right.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mistake {
    /// Where it was made; none when it lies in how several values go together.
    pub(crate) origin: Option<Origin>,
    /// A sentence without its full stop.
    pub(crate) text: String,
}

/// All mistakes of a configuration, in the order of the layers; never empty.
#[derive(Debug)]
pub(crate) struct Report(Vec<Mistake>);

impl Report {
    /// A report, when there is something to report.
    pub(crate) fn of(mut mistakes: Vec<Mistake>) -> Option<Self> {
        mistakes.sort();
        (!mistakes.is_empty()).then_some(Self(mistakes))
    }
}

/// A line for each mistake.
impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Mistake { origin, text } in &self.0 {
            match origin {
                Some(origin) => writeln!(out, "{origin}: {text}")?,
                None => writeln!(out, "{text}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::Public => out.write_str("default of public mode"),
            Self::File(path, line) => write!(out, "{path}:{line}"),
            Self::Variable(name) => out.write_str(name),
            Self::Set => out.write_str("--set"),
        }
    }
}

/// Says that a name in a file or behind `--set` is no key or section, and which one may be meant.
pub(crate) fn unknown(name: &str, what: &str) -> String {
    let known: Vec<&str> = KEYS.iter().map(|key| key.name).chain(sections()).collect();
    let same_end = KEYS.iter().map(|key| key.name).find(|key| key.rsplit('.').next() == Some(name));
    match nearest(name, &known).or(same_end) {
        Some(meant) => format!("{} is no {what}; did you mean {meant}?", shown(name)),
        None => format!("{} is no {what}; \"postkeep config default\" lists them all", shown(name)),
    }
}

/// Says that a variable belongs to no key, and which one may be meant.
pub(crate) fn unknown_variable(name: &str) -> String {
    let variables: Vec<String> = KEYS.iter().map(Key::variable).collect();
    let known: Vec<&str> = variables.iter().map(String::as_str).collect();
    match nearest(&name.to_uppercase(), &known) {
        Some(meant) => format!("this variable sets no key; did you mean {meant}?"),
        None => "this variable sets no key; unset it, or see \"postkeep config default\" for the keys".into(),
    }
}

/// A name as it may be printed.
pub(crate) fn shown(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && !name.is_empty() && name.len() <= 80 { name.to_owned() } else { quoted(name) }
}

/// The known name that is most like this one, when one is like it at all.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    const NAME_MAX: usize = 100;
    if name.len() > NAME_MAX {
        return None;
    }
    let near = (name.len() / 4).max(2);
    let steps = known.iter().map(|other| (distance(name, other), *other)).filter(|(steps, _)| *steps <= near);
    let closest = steps.min_by_key(|(steps, _)| *steps).map(|(_, other)| other);
    closest.or_else(|| known.iter().copied().find(|other| words(other) == words(name)))
}

/// The words of a name in any order: who writes `max_message` means `message_max`.
fn words(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> = name.split(['.', '_', '-']).collect();
    words.sort_unstable();
    words
}

/// How many characters must be put in, taken out, changed, or swapped with their neighbour to make one text of the
/// other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for i in 0..one.len() {
        let mut row = vec![i + 1];
        for j in 0..other.len() {
            let changed = above[j] + usize::from(one[i] != other[j]);
            let mut steps = changed.min(row[j] + 1).min(above[j + 1] + 1);
            if i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j] {
                steps = steps.min(before[j - 1] + 1);
            }
            row.push(steps);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[other.len()]
}
