//! What elements are to the reader of a page, and what a tag says of itself.

use super::super::Cell;
use super::super::look::{Look, Style};
use super::Page;
use crate::html::Tag;

/// An open element.
pub(super) struct Element {
    pub(super) name: String,
    pub(super) role: Role,
    /// How what stands inside looks.
    pub(super) look: Look,
    /// What it says of itself.
    pub(super) style: Style,
    pub(super) cell: Option<Cell>,
    /// Microdata: it describes an action.
    pub(super) is_action: bool,
    /// Of a table: its number, the rows so far, the cells of the last one.
    pub(super) table: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// What an element does to the flow of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Root,
    Inline,
    Block,
    List,
    Item,
    Table,
    Row,
    Cell,
    /// Has no content and no end.
    Void,
    /// Likewise, and ends a line.
    Break,
    /// Its content is not shown.
    Hides,
}

impl Role {
    pub(super) fn ends_block(self) -> bool {
        !matches!(self, Self::Inline | Self::Void | Self::Hides)
    }
}

pub(super) fn role(name: &str) -> Role {
    match name {
        "html" | "body" | "head" => Role::Root,
        "p" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "blockquote" | "section" | "article"
        | "header" | "footer" | "main" | "nav" | "aside" | "form" | "fieldset" | "center" | "address" | "figure"
        | "figcaption" | "caption" | "dt" | "dd" => Role::Block,
        "ul" | "ol" | "dl" => Role::List,
        "li" => Role::Item,
        "table" => Role::Table,
        "tr" => Role::Row,
        "td" | "th" => Role::Cell,
        "br" | "hr" => Role::Break,
        "img" | "meta" | "link" | "input" | "area" | "base" | "col" | "wbr" | "source" | "embed" | "param" => {
            Role::Void
        }
        "style" | "script" | "title" | "template" | "textarea" | "select" | "svg" => Role::Hides,
        _ => Role::Inline,
    }
}

/// Attributes that matter beyond the look.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) href: String,
    pub(super) alt: String,
    pub(super) is_json_ld: bool,
    /// Microdata: the element describes an action.
    pub(super) is_action: bool,
    /// Microdata: it holds an address, of whatever is described around it.
    pub(super) is_address: bool,
}

impl Page {
    /// What a tag says of itself, by its name, its attributes and the sheet.
    pub(super) fn element_style(&self, tag: &Tag<'_>) -> (Style, Seen) {
        let (mut style, mut seen) = (by_name(&tag.name).and(self.sheet.style(&tag.name)), Seen::default());
        for (name, value) in tag.attributes() {
            match &*name {
                "style" => style = style.and(Style::read(&value)),
                "class" => style = style.and(self.classes(&value)),
                "id" => {
                    style = style.and(self.sheet.style(&format!("#{}", value.to_ascii_lowercase())));
                    style.look.footer |= value.to_ascii_lowercase().contains("footer");
                }
                "bgcolor" => style.fill(&value),
                "hidden" => style.look.hidden = true,
                "role" if value.eq_ignore_ascii_case("button") => style = style.and(Style::BUTTON),
                "href" | "content" if seen.href.is_empty() => seen.href = value.into_owned(),
                "alt" => seen.alt = value.into_owned(),
                "type" => seen.is_json_ld = value.to_ascii_lowercase().contains("ld+json"),
                "itemtype" => seen.is_action |= value.ends_with("Action"),
                "itemprop" => seen.is_address = matches!(&*value, "url" | "target"),
                _ => {}
            }
        }
        (style, seen)
    }

    /// What the sheet says of classes, and what their names say by themselves.
    fn classes(&self, names: &str) -> Style {
        let mut style = Style::default();
        for name in names.split_ascii_whitespace() {
            let name = name.to_ascii_lowercase();
            style = style.and(self.sheet.style(&format!(".{name}")));
            style.look.footer |= name.contains("footer");
            style.look.quoted |= name.contains("gmail_quote") || name.contains("moz-cite");
            if name.contains("button") || name.contains("btn") || name == "cta" {
                style = style.and(Style::BUTTON);
            }
        }
        style
    }
}

fn by_name(name: &str) -> Style {
    let look = Look {
        heading: matches!(name, "h1" | "h2" | "h3" | "h4"),
        mono: matches!(name, "code" | "pre" | "tt" | "kbd" | "samp"),
        bold: matches!(name, "b" | "strong" | "th" | "h1" | "h2" | "h3" | "h4"),
        footer: name == "footer",
        quoted: name == "blockquote",
        ..Look::default()
    };
    Style { look, ..Style::default() }
}

impl Style {
    const BUTTON: Self = Self { look: Look::PLAIN, sized: false, filled: true, padded: true, bordered: false };

    /// Drawn as a box to press.
    pub(super) fn is_button(self) -> bool {
        (self.filled && (self.padded || self.bordered)) || (self.padded && self.bordered)
    }
}
