//! What a token is good for: `verbs:pattern`, as `ro:ci-*` or `list,deliver:alice`.

use mail::Naming;

use super::Target;
use super::pattern::{BadPattern, Pattern};
use super::verb::{Verb, Verbs};

/// Scopes of one token.
pub const SCOPES_MAX: usize = 32;

/// Some verbs on some mailboxes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// What may be done.
    pub verbs: Verbs,
    /// Where.
    pub pattern: Pattern,
}

/// All that a token is good for: whatever one of its scopes is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scopes(Vec<Scope>);

/// These are no scopes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadScope {
    /// There is no colon.
    #[error("a scope is verbs, a colon and a pattern, as \"ro:ci-*\", not {0:?}")]
    Shape(String),
    /// An unknown verb.
    #[error(
        "{0:?} is no verb of a scope; there are ro, rw, list, read, wait, watch, delete, purge, deliver, release, fault and \
         admin"
    )]
    Verb(String),
    /// A pattern that is none.
    #[error("the scope {0:?} has no sound pattern: {1}")]
    Pattern(String, BadPattern),
    /// None, or too many.
    #[error("a token has 1 to {SCOPES_MAX} scopes")]
    Count,
}

impl Scope {
    /// Read one, where mailboxes are named so.
    pub fn parse(text: &str, naming: Naming) -> Result<Self, BadScope> {
        let shape = || BadScope::Shape(shown(text));
        let (words, pattern) = text.trim().split_once(':').ok_or_else(shape)?;
        let mut verbs = Verbs::default();
        for word in words.split(',').map(str::trim) {
            verbs = verbs.and(Verbs::named(word).ok_or_else(|| BadScope::Verb(shown(word)))?);
        }
        let pattern = Pattern::parse(pattern.trim(), naming).map_err(|bad| BadScope::Pattern(shown(text), bad))?;
        Ok(Self { verbs, pattern })
    }

    /// Whether it is good for this there. What an admin may is not asked verb by verb.
    fn grants(&self, verb: Verb, target: Target<'_>) -> bool {
        let verb = verb.scoped();
        let is_named = self.verbs.contains(verb) || self.verbs.contains(Verb::Admin);
        is_named
            && match target {
                Target::Transaction | Target::Any => true,
                Target::Mailbox(mailbox) => self.pattern.covers(mailbox),
                Target::All => self.pattern == Pattern::All,
            }
    }
}

impl Scopes {
    /// Read them, where mailboxes are named so.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>, naming: Naming) -> Result<Self, BadScope> {
        let mut scopes = Vec::new();
        for text in texts {
            if scopes.len() == SCOPES_MAX {
                return Err(BadScope::Count);
            }
            scopes.push(Scope::parse(text, naming)?);
        }
        if scopes.is_empty() { Err(BadScope::Count) } else { Ok(Self(scopes)) }
    }

    /// Whether one of them is good for this there.
    pub fn grant(&self, verb: Verb, target: Target<'_>) -> bool {
        self.0.iter().any(|scope| scope.grants(verb, target))
    }

    /// Each as [`Scope::parse`] takes it back.
    pub fn spelled(&self, naming: Naming) -> Vec<String> {
        self.0.iter().map(|scope| format!("{}:{}", scope.verbs, scope.pattern.spelled(naming))).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Enough of what somebody wrote to find it again.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
