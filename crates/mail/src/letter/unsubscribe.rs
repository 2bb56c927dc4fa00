//! How to leave a list: List-Unsubscribe (RFC 2369) and its one-click form (RFC 8058). Nothing is followed.

use crate::header::Field;

/// Targets that are read.
const TARGETS_MAX: usize = 20;

/// What a message offers to those who want no more of its kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unsubscribe {
    /// Whether one POST to an `https` target is enough.
    pub one_click: bool,
    /// `https` and `http` targets as sent.
    pub https: Vec<String>,
    /// `mailto` targets as sent.
    pub mailto: Vec<String>,
}

impl Unsubscribe {
    /// From the fields `List-Unsubscribe` and `List-Unsubscribe-Post`; none when nothing is offered.
    pub(super) fn read(targets: Option<Field<'_>>, post: Option<Field<'_>>) -> Option<Self> {
        let text = targets?.text();
        let mut offer = Self::default();
        for target in text.split('<').skip(1).filter_map(|rest| rest.split_once('>')).take(TARGETS_MAX) {
            offer.add(target.0);
        }
        let is_click = |field: Field<'_>| field.value.eq_ignore_ascii_case(b"List-Unsubscribe=One-Click");
        offer.one_click = post.is_some_and(is_click) && offer.https.iter().any(|target| has_scheme(target, "https:"));
        (!offer.https.is_empty() || !offer.mailto.is_empty()).then_some(offer)
    }

    /// RFC 2369 §2: white space inside the brackets is to be left out.
    fn add(&mut self, target: &str) {
        let target: String = target.chars().filter(|letter| !letter.is_whitespace() && !letter.is_control()).collect();
        if has_scheme(&target, "https:") || has_scheme(&target, "http:") {
            self.https.push(target);
        } else if has_scheme(&target, "mailto:") {
            self.mailto.push(target);
        }
    }
}

fn has_scheme(target: &str, scheme: &str) -> bool {
    target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}
