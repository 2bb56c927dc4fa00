//! What can be asked for with `has:`: the same words as in a wait.

use crate::Letter;
use crate::extract::{Kind, Pick};
use crate::near;

use super::parse::BadQuery;

/// Something in a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Thing {
    Attachment,
    Code,
    Link(Option<Kind>),
}

/// The words.
pub const THINGS: &[&str] =
    &["attachment", "code", "link", "link:verify", "link:reset", "link:magic-login", "link:unsubscribe", "link:other"];

impl Thing {
    pub(super) fn named(word: &str) -> Result<Self, BadQuery> {
        match word {
            "attachment" => Ok(Self::Attachment),
            "code" => Ok(Self::Code),
            "link" => Ok(Self::Link(None)),
            _ => match word.strip_prefix("link:").and_then(Kind::named) {
                Some(kind) => Ok(Self::Link(Some(kind))),
                None => Err(BadQuery::UnknownThing {
                    thing: word.chars().take(40).collect(),
                    nearest: near::nearest(word, THINGS),
                }),
            },
        }
    }

    /// As a wait has it: a code or a link counts when it is the one that stands out.
    pub(super) fn is_in(self, letter: &Letter) -> bool {
        match self {
            Self::Attachment => !letter.attachments.is_empty(),
            Self::Code => matches!(letter.extracted.code(), Pick::One(_)),
            Self::Link(kind) => matches!(letter.extracted.link(kind), Pick::One(_)),
        }
    }
}
