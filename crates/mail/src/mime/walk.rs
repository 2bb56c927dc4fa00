//! From the root of a message to its leaves in order of appearance (RFC 2046 §5.1): one pass over the bytes with a stack
//! of open multiparts. An enclosed message is a leaf.

use memchr::memchr;
use memchr::memmem::Finder;

use super::entity::{Entity, Kind};

/// Open multiparts. One nested deeper is a leaf.
pub const DEPTH_MAX: usize = 100;
/// Parts of one message, multiparts included. What comes after them is left to those who read the raw message.
pub const PARTS_MAX: usize = 10_000;

/// A part that holds content.
pub(super) struct Leaf<'a> {
    /// What its header says.
    pub(super) entity: Entity,
    /// As it stands in the message.
    pub(super) content: &'a [u8],
    /// Whether it is listed as an attachment.
    pub(super) is_attachment: bool,
    /// Whether its text counts; not so when a `multipart/alternative` gave its text already.
    pub(super) is_shown: bool,
}

/// The leaves of a message.
pub(super) fn leaves(raw: &[u8]) -> Leaves<'_> {
    Leaves { raw, next: Some(0), parts: 0, open: Vec::new(), dashes: Finder::new(b"\n--") }
}

pub(super) struct Leaves<'a> {
    raw: &'a [u8],
    /// Where the next part begins.
    next: Option<usize>,
    parts: usize,
    open: Vec<Multipart>,
    dashes: Finder<'static>,
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

impl<'a> Iterator for Leaves<'a> {
    type Item = Leaf<'a>;

    fn next(&mut self) -> Option<Leaf<'a>> {
        while let Some(start) = self.next.take() {
            if self.parts == PARTS_MAX {
                return None;
            }
            self.parts += 1;
            let in_digest = self.open.last().is_some_and(|outer| outer.kind == Kind::Digest);
            let mut entity = Entity::read(&self.raw[start..], in_digest);
            let body = start + entity.body;
            let entered = self.enter(&mut entity);
            let delimiter = self.seek(body);
            // One whose boundary never comes has no parts, and its content is all there is to show.
            let is_own = delimiter.as_ref().is_some_and(|found| found.level + 1 == self.open.len());
            if entered && is_own {
                self.pass(delimiter);
                continue;
            }
            let end = delimiter.as_ref().map_or(self.raw.len(), |found| content_end(self.raw, body, found.line));
            let leaf = self.leaf(entity, &self.raw[body..end]);
            self.pass(delimiter);
            return Some(leaf);
        }
        None
    }
}

impl<'a> Leaves<'a> {
    /// Open a multipart. One without a usable boundary is text, and so is one whose boundary never comes.
    fn enter(&mut self, entity: &mut Entity) -> bool {
        if !entity.kind.is_multipart() || self.open.len() == DEPTH_MAX {
            return false;
        }
        let kind = std::mem::replace(&mut entity.kind, Kind::Plain);
        if entity.boundary.is_empty() {
            return false;
        }
        let boundary = std::mem::take(&mut entity.boundary);
        self.open.push(Multipart { boundary, kind, child: 0, taken: None });
        true
    }

    fn leaf(&mut self, entity: Entity, content: &'a [u8]) -> Leaf<'a> {
        let is_attachment = entity.is_attachment(self.parts == 1);
        let is_shown = !is_attachment && entity.kind == Kind::Plain && self.claim();
        Leaf { entity, content, is_attachment, is_shown }
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
            self.open.truncate(found.level + 1);
            if !found.is_close {
                self.open[found.level].child += 1;
                self.next = Some(found.next);
                return;
            }
            self.open.pop();
            delimiter = self.seek(found.next);
        }
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

/// The line break before a delimiter belongs to it, not to the content (RFC 2046 §5.1.1).
fn content_end(raw: &[u8], body: usize, line: usize) -> usize {
    let content = &raw[body..line];
    let content = content.strip_suffix(b"\n").map_or(content, |cut| cut.strip_suffix(b"\r").unwrap_or(cut));
    body + content.len()
}
