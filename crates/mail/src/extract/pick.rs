//! Which of several is the answer: one that is likely enough and clearly ahead, or none, or a question back.

use super::score::{AHEAD, TAKEN};
use super::{Code, Extracted, Kind, Link};

/// One answer, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub enum Pick<'a, T> {
    /// Nothing is likely enough.
    None,
    /// This one.
    One(&'a T),
    /// Several are about as likely; the best first.
    Ambiguous(Vec<&'a T>),
}

impl<'a, T> Pick<'a, T> {
    /// The answer, if there is one.
    pub fn one(self) -> Option<&'a T> {
        match self {
            Self::One(one) => Some(one),
            Self::None | Self::Ambiguous(_) => None,
        }
    }

    /// Of candidates that come best first.
    fn of(sorted: Vec<&'a T>, confidence: impl Fn(&T) -> f64) -> Self {
        let Some(best) = sorted.first().copied() else { return Self::None };
        let bar = confidence(best) - AHEAD;
        match sorted.iter().take_while(|one| confidence(one) > bar).count() {
            _ if confidence(best) < TAKEN => Self::None,
            1 => Self::One(best),
            rivals => Self::Ambiguous(sorted[..rivals].to_vec()),
        }
    }
}

impl Extracted {
    /// The code to type.
    pub fn code(&self) -> Pick<'_, Code> {
        Pick::of(self.codes.iter().collect(), |code| code.confidence)
    }

    /// The link to click, of one kind or of any but those that end a subscription. Asked for, the only one of those is
    /// the answer, however unlikely it is what the mail is about.
    pub fn link(&self, kind: Option<Kind>) -> Pick<'_, Link> {
        let is_asked = |link: &&Link| kind.map_or(link.kind != Kind::Unsubscribe, |kind| link.kind == kind);
        let mut links: Vec<_> = self.links.iter().filter(is_asked).collect();
        links.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        match kind {
            Some(Kind::Unsubscribe) => Pick::of(links, |_| 1.0),
            _ => Pick::of(links, |link| link.confidence),
        }
    }
}
