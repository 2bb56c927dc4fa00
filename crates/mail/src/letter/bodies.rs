//! What a letter takes from the body: text, HTML, attachments, the tree of parts.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::tree::{Part, Tree};
use super::{Attached, Limits, Remote, TextSource, defects};
use crate::extract;
use crate::mime::walk::{self, Leaf, Node};
use crate::mime::{self, Kind, append, filename, html};

/// The body, read.
pub(super) struct Bodies {
    pub(super) text: String,
    pub(super) text_source: TextSource,
    pub(super) html: Option<String>,
    pub(super) html_size: Option<u64>,
    pub(super) remote: Option<Remote>,
    /// Which part the text begins with, and which one the HTML is.
    pub(super) text_part: Option<String>,
    pub(super) html_part: Option<String>,
    pub(super) truncated: Vec<&'static str>,
    pub(super) parts: Part,
    pub(super) attachments: Vec<Attached>,
    pub(super) defects: Vec<String>,
}

impl Bodies {
    /// The plain text, to find codes and links in.
    pub(super) fn plain(&self) -> Option<extract::Body<'_>> {
        Some(extract::Body { part_id: self.text_part.as_deref()?, content: &self.text })
    }

    /// The HTML, to find codes and links in.
    pub(super) fn rich(&self) -> Option<extract::Body<'_>> {
        Some(extract::Body { part_id: self.html_part.as_deref()?, content: self.html.as_deref()? })
    }
}

/// Read the body of a message.
pub(super) fn read(raw: &[u8], limits: &Limits) -> Bodies {
    let mut reading = Reading { limits: *limits, ..Reading::default() };
    let mut nodes = walk::nodes(raw);
    for node in nodes.by_ref() {
        match node {
            Node::Multipart { part_id, content_type, depth } => {
                reading.tree.open(depth, Part { part_id, content_type, ..Part::default() });
            }
            Node::Leaf(leaf) => reading.leaf(leaf),
        }
    }
    let structure = nodes.faults.iter().map(defects::structure);
    reading.defects.splice(0..0, structure);
    reading.finish()
}

/// The body as far as it was read.
#[derive(Default)]
struct Reading {
    limits: Limits,
    text: Option<String>,
    html: Option<String>,
    text_part: Option<String>,
    html_part: Option<String>,
    tree: Tree,
    attachments: Vec<Attached>,
    defects: Vec<String>,
}

impl Reading {
    fn leaf(&mut self, leaf: Leaf<'_>) {
        let content = leaf.entity.encoding.decode(leaf.content);
        self.defect(defects::encoding(&leaf.part_id, &leaf.entity, leaf.content));
        let size = content.len() as u64;
        if leaf.is_attachment {
            self.attachments.push(attached(&leaf, &content));
        } else if leaf.entity.kind == Kind::Html {
            self.html(&leaf, &content);
        } else if leaf.is_shown {
            self.text(&leaf, &content);
        }
        let entity = leaf.entity;
        let (charset, encoding) = (entity.charset_label(), entity.encoding_label());
        let name = entity.name.map(|name| filename::safe(&name, &entity.content_type));
        let (part_id, content_type) = (leaf.part_id, entity.content_type);
        let (real_type, cid, sub_parts) = (mime::sniff(&content), entity.cid, Vec::new());
        let size = Some(size);
        let part = Part { part_id, content_type, real_type, charset, encoding, size, name, cid, sub_parts };
        self.tree.leaf(leaf.depth, part);
    }

    /// The first HTML counts, as in v1.
    fn html(&mut self, leaf: &Leaf<'_>, content: &[u8]) {
        if self.html.is_none() {
            let html = leaf.entity.text_of(content);
            self.defect(defects::charset(&leaf.part_id, &leaf.entity, &html));
            self.html = Some(html);
            self.html_part = Some(leaf.part_id.clone());
        }
    }

    /// Texts are joined, as in v1, until there is more than is kept.
    fn text(&mut self, leaf: &Leaf<'_>, content: &[u8]) {
        if self.text.as_ref().is_none_or(|text| text.len() <= self.limits.text_max) {
            let text = leaf.entity.text_of(content);
            self.defect(defects::charset(&leaf.part_id, &leaf.entity, &text));
            append(&mut self.text, text);
            self.text_part.get_or_insert_with(|| leaf.part_id.clone());
        }
    }

    fn defect(&mut self, found: Option<String>) {
        if self.defects.len() < defects::DEFECTS_MAX {
            self.defects.extend(found);
        }
    }

    fn finish(mut self) -> Bodies {
        let text_max = self.limits.text_max;
        let html_size = self.html.as_ref().map(|html| html.len() as u64);
        let remote = self.html.as_deref().map(Remote::of);
        let is_html_cut = self.html.as_mut().is_some_and(|html| cut(html, text_max));
        let text_source = match (&self.text, &self.html) {
            (None, Some(_)) => TextSource::Html,
            _ => TextSource::Plain,
        };
        let rendered = || self.html.as_deref().map(html::render).unwrap_or_default();
        let mut text = self.text.take().unwrap_or_else(rendered);
        let is_text_cut = cut(&mut text, text_max) || (is_html_cut && text_source == TextSource::Html);
        let truncated = [("text", is_text_cut), ("html", is_html_cut)];
        Bodies {
            text,
            text_source,
            html: self.html,
            html_size,
            remote,
            text_part: self.text_part,
            html_part: self.html_part,
            truncated: truncated.into_iter().filter(|(_, is_cut)| *is_cut).map(|(name, _)| name).collect(),
            parts: self.tree.finish(),
            attachments: self.attachments,
            defects: self.defects,
        }
    }
}

fn attached(leaf: &Leaf<'_>, content: &[u8]) -> Attached {
    let entity = &leaf.entity;
    Attached {
        part_id: leaf.part_id.clone(),
        name: filename::safe(entity.name.as_deref().unwrap_or_default(), &entity.content_type),
        content_type: entity.content_type.clone(),
        real_type: mime::sniff(content),
        size: content.len() as u64,
        sha256: hex(&Sha256::digest(content)),
        cid: entity.cid.clone(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Cut a text that is longer; tells whether it was.
fn cut(text: &mut String, max: usize) -> bool {
    let is_long = text.len() > max;
    if is_long {
        text.truncate(text.floor_char_boundary(max));
        text.shrink_to_fit();
    }
    is_long
}
