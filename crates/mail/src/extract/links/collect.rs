//! Links from elements, from declared actions and from running text, each target once, in order of appearance.

use std::collections::HashMap;

use super::text::urls;
use crate::extract::Place;
use crate::extract::blocks::{Anchor, Block, Document, Look, Region};
use crate::extract::words::{self, Hit};

/// A link, and how it is shown wherever it is.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) href: String,
    pub(super) shown: String,
    pub(super) place: Place,
    pub(super) look: Look,
    pub(super) region: Region,
    pub(super) button: bool,
    pub(super) declared: bool,
    /// It is an element of the page.
    pub(super) element: bool,
    /// Its address stands in the text of the same part.
    pub(super) spelled: bool,
    /// It stands on a line of its own.
    pub(super) lonely: bool,
}

impl Found {
    /// The telling words of what is shown.
    pub(super) fn hits(&self) -> Vec<Hit> {
        words::all(&self.shown.chars().flat_map(char::to_lowercase).collect::<Vec<_>>())
    }

    /// The same target once more: what is said for it anywhere counts.
    fn merge(&mut self, other: Self) {
        self.button |= other.button;
        self.declared |= other.declared;
        self.element |= other.element;
        if self.place == other.place {
            self.spelled |= other.spelled;
            self.lonely |= other.lonely;
        }
        if self.shown.is_empty() || (self.shown == self.href && !other.shown.is_empty()) {
            self.shown = other.shown;
        }
        if self.region != Region::Main {
            self.region = other.region;
        }
        self.look.hidden &= other.look.hidden;
    }
}

pub(super) fn links(document: &Document, links_max: usize) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut anchors = document.anchors.iter().peekable();
    let mut take = |one: Found| match known.get(&one.href) {
        Some(&at) => found[at].merge(one),
        None if found.len() < links_max => {
            known.insert(one.href.clone(), found.len());
            found.push(one);
        }
        None => {}
    };
    for (at, block) in document.blocks.iter().enumerate() {
        let mut inside: Vec<&Anchor> = Vec::new();
        while let Some(anchor) = anchors.next_if(|anchor| anchor.block <= at) {
            inside.push(anchor);
            of_anchor(anchor, block).into_iter().for_each(&mut take);
        }
        of_text(block, &inside).into_iter().for_each(&mut take);
    }
    anchors.filter_map(|anchor| of_anchor(anchor, &Block::new(Place::Html))).for_each(take);
    found
}

/// Not one that only moves on the page, or would run something.
fn is_followed(href: &str) -> bool {
    let scheme = href.split(':').next().unwrap_or_default();
    // A browser reads over blanks and control characters in it.
    let scheme: String =
        scheme.chars().filter(char::is_ascii_alphanumeric).map(|one| one.to_ascii_lowercase()).collect();
    !href.starts_with('#') && !matches!(scheme.as_str(), "javascript" | "vbscript" | "data" | "cid" | "about")
}

fn of_anchor(anchor: &Anchor, block: &Block) -> Option<Found> {
    is_followed(&anchor.href).then(|| Found {
        href: anchor.href.clone(),
        shown: anchor.shown.clone(),
        place: Place::Html,
        look: anchor.look,
        region: if anchor.look.footer { Region::Footer } else { block.region },
        button: anchor.button,
        declared: anchor.declared,
        element: true,
        spelled: false,
        lonely: false,
    })
}

/// Addresses in the text of a block. One inside of an element is what that shows, and a link only if it is the same.
fn of_text(block: &Block, anchors: &[&Anchor]) -> Vec<Found> {
    let mut anchors = anchors.iter().peekable();
    let mut found = Vec::new();
    for span in urls(&block.folded) {
        while anchors.next_if(|anchor| anchor.end <= span.start).is_some() {}
        let inside = anchors.peek().filter(|anchor| anchor.start <= span.start && !anchor.declared);
        let href: String = block.letters[span.clone()].iter().collect();
        let is_address = href.contains("://");
        if is_address && inside.is_none_or(|anchor| anchor.href == href) {
            let (look, shown, lonely) = (block.look(span.start), href.clone(), span.len() + 2 >= block.letters.len());
            let region = if look.footer { Region::Footer } else { block.region };
            let (button, declared, element, spelled) = (false, false, false, true);
            let place = block.place;
            found.push(Found { href, shown, place, look, region, button, declared, element, spelled, lonely });
        }
    }
    found
}
