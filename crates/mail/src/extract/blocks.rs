//! The texts of a message as blocks: a line, a paragraph, a cell. Each block knows how it looks and where it stands;
//! nothing here knows what a code or a link to click is.

use super::Sources;
use super::words::Hit;

mod flow;
mod look;
mod page;
mod plain;
mod region;
mod sheet;

pub(super) use look::Look;
pub(super) use page::Anchor;

use super::Place;
use region::mark;

/// Everything that is looked at.
pub(super) struct Document {
    /// The subject, then HTML, then text.
    pub(super) blocks: Vec<Block>,
    /// The links of the HTML that are elements, in order.
    pub(super) anchors: Vec<Anchor>,
    /// How most of the HTML looks.
    pub(super) usual: Look,
    /// How the message names its parts, by place.
    text_id: Option<String>,
    html_id: Option<String>,
}

/// A run of text that stands on its own.
#[derive(Clone, Default, Debug)]
pub(super) struct Block {
    pub(super) place: Place,
    /// Visible characters, blanks collapsed, without marks that have no width.
    pub(super) letters: Vec<char>,
    /// As many, in lower case, digits of all scripts as ASCII.
    pub(super) folded: Vec<char>,
    /// The words in it that tell something.
    pub(super) hits: Vec<Hit>,
    /// Letters and digits among them.
    pub(super) worded: usize,
    /// How its stretches look; the last one reaches to the end.
    pub(super) spans: Vec<Span>,
    pub(super) cell: Option<Cell>,
    pub(super) region: Region,
}

/// From here on it looks like this.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) look: Look,
}

/// Where a cell stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    pub(super) table: usize,
    pub(super) row: usize,
    pub(super) column: usize,
}

/// What part of the message a block belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Region {
    #[default]
    Main,
    /// The small print.
    Footer,
    /// A line of a postal address.
    Address,
    /// A mail that is answered or forwarded.
    Quoted,
}

impl Document {
    pub(super) fn read(sources: &Sources<'_>, text_max: usize) -> Self {
        let mut blocks = plain::read(first(sources.subject, text_max), Place::Subject);
        let (mut anchors, mut usual) = (Vec::new(), Look::default());
        if let Some(html) = &sources.html {
            let page = page::read(first(html.content, text_max));
            anchors = page.anchors;
            usual = look::usual(&page.blocks);
            let start = blocks.len();
            anchors.iter_mut().for_each(|anchor| anchor.block += start);
            blocks.extend(page.blocks);
            mark(&mut blocks[start..]);
        }
        if let Some(text) = &sources.text {
            let start = blocks.len();
            blocks.extend(plain::read(first(text.content, text_max), Place::Text));
            mark(&mut blocks[start..]);
        }
        let id = |part: &Option<super::Body<'_>>| part.map(|body| body.part_id.to_owned());
        Self { blocks, anchors, usual, text_id: id(&sources.text), html_id: id(&sources.html) }
    }

    pub(super) fn part_id(&self, place: Place) -> Option<String> {
        match place {
            Place::Subject => None,
            Place::Text => self.text_id.clone(),
            Place::Html => self.html_id.clone(),
        }
    }
}

impl Block {
    pub(super) fn new(place: Place) -> Self {
        Self { place, ..Self::default() }
    }

    pub(super) fn look(&self, at: usize) -> Look {
        let until = self.spans.partition_point(|span| span.start <= at);
        until.checked_sub(1).map(|last| self.spans[last].look).unwrap_or_default()
    }

    /// Length and look of each stretch.
    fn stretches(&self) -> impl Iterator<Item = (usize, Look)> {
        let ends = self.spans.iter().skip(1).map(|span| span.start).chain([self.letters.len()]);
        self.spans.iter().zip(ends).map(|(span, end)| (end.saturating_sub(span.start), span.look))
    }

    pub(super) fn text(&self) -> String {
        self.letters.iter().collect()
    }
}

/// The first octets of a text, to the end of a character.
fn first(text: &str, octets_max: usize) -> &str {
    &text[..text.floor_char_boundary(octets_max)]
}
