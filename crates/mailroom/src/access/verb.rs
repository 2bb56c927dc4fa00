//! What can be asked for, and sets of it.

use std::fmt;

/// What is asked for. Several verbs of the mailroom may be one here: whoever may list may also ask for a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is a verb of the house")]
pub enum Verb {
    List,
    Read,
    Wait,
    Watch,
    Delete,
    Purge,
    Deliver,
    Release,
    Fault,
    /// Whatever only the one who runs the server does; whoever may this may all the others as well.
    Admin,
    /// To put in mail that was received before. It goes round every policy, so it takes an admin.
    Import,
    /// To open an inbox. Any token will do.
    Open,
}

/// Some verbs.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Verbs(u16);

/// Those that a scope can name, in the order in which they are shown.
const SCOPED: [Verb; 10] = [
    Verb::List,
    Verb::Read,
    Verb::Wait,
    Verb::Watch,
    Verb::Delete,
    Verb::Purge,
    Verb::Deliver,
    Verb::Release,
    Verb::Fault,
    Verb::Admin,
];

impl Verb {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 12] = [
        Self::List,
        Self::Read,
        Self::Wait,
        Self::Watch,
        Self::Delete,
        Self::Purge,
        Self::Deliver,
        Self::Release,
        Self::Fault,
        Self::Admin,
        Self::Import,
        Self::Open,
    ];

    /// As it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Wait => "wait",
            Self::Watch => "watch",
            Self::Delete => "delete",
            Self::Purge => "purge",
            Self::Deliver => "deliver",
            Self::Release => "release",
            Self::Fault => "fault",
            Self::Admin => "admin",
            Self::Import => "import",
            Self::Open => "open",
        }
    }

    /// The verb that a scope must name for this one.
    pub const fn scoped(self) -> Self {
        match self {
            Self::Import => Self::Admin,
            other => other,
        }
    }
}

impl Verbs {
    /// Those that change nothing.
    pub const RO: Self = Self::of(&[Verb::List, Verb::Read, Verb::Wait, Verb::Watch]);
    /// And those that take away.
    pub const RW: Self = Self(Self::RO.0 | Self::of(&[Verb::Delete, Verb::Purge]).0);

    /// These.
    pub const fn of(verbs: &[Verb]) -> Self {
        let (mut bits, mut place) = (0, 0);
        while place < verbs.len() {
            bits |= 1 << verbs[place] as u16;
            place += 1;
        }
        Self(bits)
    }

    /// What a word of a scope stands for: a verb, `ro` or `rw`.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "ro" => Some(Self::RO),
            "rw" => Some(Self::RW),
            _ => SCOPED.iter().find(|verb| verb.name() == word).map(|verb| Self::of(&[*verb])),
        }
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether this verb is among them.
    pub const fn contains(self, verb: Verb) -> bool {
        self.0 & 1 << verb as u16 != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// In the fewest words, as a scope is written.
impl fmt::Display for Verbs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut rest, mut words) = (*self, Vec::new());
        for (word, set) in [("rw", Self::RW), ("ro", Self::RO)] {
            if rest.0 & set.0 == set.0 {
                rest.0 &= !set.0;
                words.push(word);
            }
        }
        words.extend(SCOPED.iter().filter(|verb| rest.contains(**verb)).map(|verb| verb.name()));
        out.write_str(&words.join(","))
    }
}

impl fmt::Debug for Verbs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Verbs({self})")
    }
}
