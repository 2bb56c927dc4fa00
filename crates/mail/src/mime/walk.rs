//! From the root of a message to its parts in order of appearance (RFC 2046 §5.1): one pass over the bytes with a stack
//! of open multiparts. An enclosed message is a leaf.
//!
//! A part is named by its place, as in IMAP (RFC 3501 §6.4.5): `2.1` is the first part of the second. The whole of a
//! message is `0` when it is a multipart and `1` when it is not.

use std::fmt::Write;

use memchr::memchr;
use memchr::memmem::Finder;

use super::entity::{Entity, Kind};

/// Open multiparts. One nested deeper is a leaf.
pub const DEPTH_MAX: usize = 100;
/// Parts of one message, multiparts included. What comes after them is left to those who read the raw message.
pub const PARTS_MAX: usize = 10_000;

/// Broken places that are remembered of one message.
const FAULTS_MAX: usize = 20;

/// One part, in order of appearance: a multipart comes before what it holds.
pub(crate) enum Node<'a> {
    /// A multipart that was entered.
    Multipart {
        /// Its name.
        part_id: String,
        /// Type and subtype in lower case.
        content_type: String,
        /// How many multiparts stand around it.
        depth: usize,
    },
    /// A part that holds content.
    Leaf(Leaf<'a>),
}

/// A part that holds content.
pub(crate) struct Leaf<'a> {
    /// Its name.
    pub(crate) part_id: String,
    /// How many multiparts stand around it.
    pub(crate) depth: usize,
    /// What its header says.
    pub(crate) entity: Entity,
    /// As it stands in the message.
    pub(crate) content: &'a [u8],
    /// Whether it is listed as an attachment.
    pub(crate) is_attachment: bool,
    /// Whether its text counts; not so when a `multipart/alternative` gave its text already.
    pub(crate) is_shown: bool,
}

/// Where the structure of a message broke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A multipart names no usable boundary.
    NoBoundary(String),
    /// The boundary that a multipart names never comes.
    NoParts(String),
    /// A multipart does not end.
    NotClosed(String),
    /// A multipart stands in too many others.
    TooDeep(String),
    /// There are more parts than are read.
    TooMany,
}

/// The leaves of a message.
pub(super) fn leaves(raw: &[u8]) -> impl Iterator<Item = Leaf<'_>> {
    nodes(raw).filter_map(|node| match node {
        Node::Leaf(leaf) => Some(leaf),
        Node::Multipart { .. } => None,
    })
}

/// The parts of a message.
pub(crate) fn nodes(raw: &[u8]) -> Nodes<'_> {
    Nodes { raw, next: Some(0), parts: 0, open: Vec::new(), dashes: Finder::new(b"\n--"), faults: Vec::new() }
}

pub(crate) struct Nodes<'a> {
    raw: &'a [u8],
    /// Where the next part begins.
    next: Option<usize>,
    parts: usize,
    open: Vec<Multipart>,
    dashes: Finder<'static>,
    /// What was broken so far.
    pub(crate) faults: Vec<Fault>,
}

/// A multipart that was entered and not left.
struct Multipart {
    boundary: Vec<u8>,
    kind: Kind,
    /// How many parts were begun in it.
    child: usize,
    /// Which of them gave the text of an alternative.
    taken: Option<usize>,
}

/// A line `--boundary` or `--boundary--`.
struct Delimiter {
    line: usize,
    next: usize,
    /// Of which open multipart.
    level: usize,
    is_close: bool,
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let start = self.next.take()?;
        if self.parts == PARTS_MAX {
            self.fault(Fault::TooMany);
            return None;
        }
        self.parts += 1;
        let (part_id, depth) = (self.path(self.open.len()), self.open.len());
        let in_digest = self.open.last().is_some_and(|outer| outer.kind == Kind::Digest);
        let mut entity = Entity::read(&self.raw[start..], in_digest);
        let body = start + entity.body;
        let entered = self.enter(&mut entity, &part_id);
        let delimiter = self.seek(body);
        // One whose boundary never comes has no parts, and its content is all there is to show.
        let is_own = delimiter.as_ref().is_some_and(|found| found.level + 1 == self.open.len());
        if entered && is_own {
            self.pass(delimiter);
            return Some(Node::Multipart { part_id: named(part_id, "0"), content_type: entity.content_type, depth });
        }
        if entered {
            self.open.pop();
            self.fault(Fault::NoParts(named(part_id.clone(), "1")));
        }
        let end = delimiter.as_ref().map_or(self.raw.len(), |found| content_end(self.raw, body, found.line));
        let leaf = self.leaf(named(part_id, "1"), depth, entity, &self.raw[body..end]);
        self.pass(delimiter);
        Some(Node::Leaf(leaf))
    }
}

impl<'a> Nodes<'a> {
    /// Open a multipart. One without a usable boundary is text, and so is one whose boundary never comes.
    fn enter(&mut self, entity: &mut Entity, part_id: &str) -> bool {
        if !entity.kind.is_multipart() {
            return false;
        }
        if self.open.len() == DEPTH_MAX {
            self.fault(Fault::TooDeep(part_id.to_owned()));
            return false;
        }
        let kind = std::mem::replace(&mut entity.kind, Kind::Plain);
        if entity.boundary.is_empty() {
            self.fault(Fault::NoBoundary(named(part_id.to_owned(), "1")));
            return false;
        }
        let boundary = std::mem::take(&mut entity.boundary);
        self.open.push(Multipart { boundary, kind, child: 0, taken: None });
        true
    }

    fn leaf(&mut self, part_id: String, depth: usize, entity: Entity, content: &'a [u8]) -> Leaf<'a> {
        let is_attachment = entity.is_attachment(self.parts == 1);
        let is_shown = !is_attachment && entity.kind == Kind::Plain && self.claim();
        Leaf { part_id, depth, entity, content, is_attachment, is_shown }
    }

    /// The name of the part that is being read in the outermost `levels` open multiparts; empty for the whole message.
    fn path(&self, levels: usize) -> String {
        let mut path = String::with_capacity(2 * levels);
        for outer in &self.open[..levels] {
            let dot = if path.is_empty() { "" } else { "." };
            // Writing to a string cannot fail.
            let _ = write!(path, "{dot}{}", outer.child);
        }
        path
    }

    fn fault(&mut self, fault: Fault) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }

    /// Take the text of this part for all alternatives it stands in, unless another part of one was taken.
    fn claim(&mut self) -> bool {
        let alternatives = || self.open.iter().filter(|outer| outer.kind == Kind::Alternative);
        if alternatives().any(|outer| outer.taken.is_some_and(|child| child != outer.child)) {
            return false;
        }
        self.open.iter_mut().for_each(|outer| outer.taken = Some(outer.child));
        true
    }

    /// Go on behind a delimiter: into the next part, or out of the multiparts that end here.
    fn pass(&mut self, mut delimiter: Option<Delimiter>) {
        while let Some(found) = delimiter {
            self.leave(found.level + 1);
            if !found.is_close {
                self.open[found.level].child += 1;
                self.next = Some(found.next);
                return;
            }
            self.open.pop();
            delimiter = self.seek(found.next);
        }
        self.leave(0);
    }

    /// Leave the multiparts that stand in the outermost `levels`: they were cut off.
    fn leave(&mut self, levels: usize) {
        for level in levels..self.open.len() {
            if self.faults.len() < FAULTS_MAX {
                self.faults.push(Fault::NotClosed(named(self.path(level), "0")));
            }
        }
        self.open.truncate(levels);
    }

    /// The next delimiter of any open multipart, from the start of a line on.
    fn seek(&self, from: usize) -> Option<Delimiter> {
        if self.open.is_empty() {
            return None;
        }
        if let Some(found) = self.delimiter_at(from) {
            return Some(found);
        }
        self.dashes.find_iter(&self.raw[from..]).find_map(|found| self.delimiter_at(from + found + 1))
    }

    /// The delimiter on the line that begins here. Blanks behind it are forgiven (RFC 2046 §5.1.1); of two open
    /// multiparts with one boundary the inner one has it.
    fn delimiter_at(&self, line: usize) -> Option<Delimiter> {
        let text = self.raw[line..].strip_prefix(b"--")?;
        let length = memchr(b'\n', text).unwrap_or(text.len());
        let opening = text[..length].trim_ascii_end();
        let closing = opening.strip_suffix(b"--").unwrap_or_default();
        let is_of = |outer: &Multipart| outer.boundary == opening || outer.boundary == closing;
        let level = self.open.iter().rposition(is_of)?;
        let next = self.raw.len().min(line + 2 + length + 1);
        Some(Delimiter { line, next, level, is_close: self.open[level].boundary != opening })
    }
}

/// The name of a part, which for the whole message depends on what it is.
fn named(path: String, whole: &str) -> String {
    if path.is_empty() { whole.to_owned() } else { path }
}

/// The line break before a delimiter belongs to it, not to the content (RFC 2046 §5.1.1).
fn content_end(raw: &[u8], body: usize, line: usize) -> usize {
    let content = &raw[body..line];
    let content = content.strip_suffix(b"\n").map_or(content, |cut| cut.strip_suffix(b"\r").unwrap_or(cut));
    body + content.len()
}
