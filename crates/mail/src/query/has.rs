//! What can be asked for with `has:`: the same words as in a wait.

use crate::Letter;
use crate::near;

use super::parse::BadQuery;

/// Something in a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Thing {
    Attachment,
}

/// The words.
pub(super) const THINGS: &[&str] = &["attachment"];

impl Thing {
    pub(super) fn named(word: &str) -> Result<Self, BadQuery> {
        match word {
            "attachment" => Ok(Self::Attachment),
            _ => Err(BadQuery::UnknownThing {
                thing: word.chars().take(40).collect(),
                nearest: near::nearest(word, THINGS),
            }),
        }
    }

    pub(super) fn is_in(self, letter: &Letter) -> bool {
        match self {
            Self::Attachment => !letter.attachments.is_empty(),
        }
    }
}
