//! The links of a message, what each is for, and which one the mail is about. Read as sent, never followed or unwrapped.

use super::blocks::Document;
use super::score::Score;
use super::{Kind, Link};

mod collect;
mod judge;
mod kind;
#[cfg(test)]
mod tests;
pub(super) mod text;
mod token;
mod url;

use collect::Found;
use judge::Judge;

/// Points from which a link can be what the mail is about.
const ACTION: i32 = 4;

/// All links in order of appearance, at most one of them the action.
pub(super) fn find(document: &Document, from: &str, links_max: usize) -> Vec<Link> {
    let found = collect::links(document, links_max);
    let judge = Judge::new(&found, from);
    let scores: Vec<Score> = found.iter().map(|one| judge.score(one)).collect();
    let best = scores.iter().map(Score::points).max().filter(|best| *best >= ACTION);
    let action = best.and_then(|best| scores.iter().position(|score| score.points() == best));
    let subject = subject_kind(document);
    let told = found.into_iter().zip(scores).enumerate();
    told.map(|(at, (one, score))| one.told(document, &score, subject, Some(at) == action)).collect()
}

/// What the subject says that the mail is about.
fn subject_kind(document: &Document) -> Option<Kind> {
    let subject = document.blocks.iter().take_while(|block| block.place == super::Place::Subject);
    subject.flat_map(|block| kind::by_words(&block.hits)).next()
}

impl Found {
    /// The subject speaks only for what is likely enough the link that the mail is about.
    fn told(self, document: &Document, score: &Score, subject: Option<Kind>, action: bool) -> Link {
        let subject = subject.filter(|_| score.points() >= ACTION);
        let kind = self.kind().or(subject).unwrap_or(Kind::Other);
        Link {
            kind,
            action,
            confidence: score.confidence(),
            part_id: document.part_id(self.place),
            place: self.place,
            signals: score.names(),
            href: self.href,
            text: self.shown,
        }
    }
}
