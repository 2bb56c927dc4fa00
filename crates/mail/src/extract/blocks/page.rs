//! HTML as blocks: each paragraph, line, item and cell is one. Keeps a bounded stack of open elements for what is
//! inherited, and the links with what is shown for them. No tree, no recursion.

use super::look::Style;
use super::sheet::Sheet;
use super::{Block, Cell, Look};
use crate::extract::Place;
use crate::html::{Tag, Token, Tokens};

mod element;
mod json_ld;

use element::{Element, Role, role};

/// Open elements that are remembered; what is opened deeper looks like the deepest of them.
const DEPTH_MAX: usize = 100;

/// Characters of a link's text that are kept.
const SHOWN_MAX: usize = 200;

/// A page taken apart.
#[derive(Default)]
pub(super) struct Page {
    pub(super) blocks: Vec<Block>,
    pub(super) anchors: Vec<Anchor>,
    block: Block,
    open: Vec<Element>,
    /// Elements opened beyond the bound.
    deeper: usize,
    sheet: Sheet,
    /// The link that is open.
    anchor: Option<usize>,
    tables: usize,
    /// The content that comes is JSON-LD.
    is_json_ld: bool,
}

/// A link that is an element: `a`, `area`, or an action that the sender declares.
#[derive(Clone, Default, Debug)]
pub(in crate::extract) struct Anchor {
    pub(in crate::extract) href: String,
    pub(in crate::extract) shown: String,
    /// The block that it begins in, and where.
    pub(in crate::extract) block: usize,
    pub(in crate::extract) start: usize,
    /// Where it ends, if that is the same block.
    pub(in crate::extract) end: usize,
    pub(in crate::extract) look: Look,
    /// It is drawn as a box with a fill.
    pub(in crate::extract) button: bool,
    /// It stands in a box with a fill, which makes a button of it if it is all that stands there.
    boxed: bool,
    /// The sender declares it as what the mail is about.
    pub(in crate::extract) declared: bool,
    image: bool,
}

pub(super) fn read(html: &str) -> Page {
    let mut page = Page { block: Block::new(Place::Html), ..Page::default() };
    for token in Tokens::of(html) {
        match token {
            Token::Text(text) => page.words(text),
            Token::Reference(text) => page.words(&text),
            Token::Open(tag) => page.open(&tag),
            Token::Close(tag) => page.close(&tag.name),
            Token::Unshown(content) => page.unshown(content),
        }
    }
    page.end_anchor();
    page.end_block();
    page
}

impl Page {
    fn look(&self) -> Look {
        self.open.last().map(|element| element.look).unwrap_or_default()
    }

    fn words(&mut self, text: &str) {
        let look = self.look();
        for letter in text.chars() {
            self.block.put(letter, look);
        }
        if let Some(anchor) = self.anchor.and_then(|at| self.anchors.get_mut(at)) {
            anchor.show(text);
        }
    }

    fn end_block(&mut self) {
        let cell = self.open.iter().rev().find_map(|element| element.cell);
        let block = std::mem::replace(&mut self.block, Block::new(Place::Html));
        self.blocks.extend(block.finish().map(|block| Block { cell, ..block }));
    }

    fn open(&mut self, tag: &Tag<'_>) {
        let role = role(&tag.name);
        if role.ends_block() {
            self.end_block();
        }
        let (style, seen) = self.element_style(tag);
        match role {
            Role::Void => self.void(tag, &seen),
            Role::Hides => self.is_json_ld = tag.name == "script" && seen.is_json_ld,
            Role::Cell | Role::Row | Role::Item => self.end_open_like(role),
            _ => {}
        }
        if role != Role::Void {
            self.push(tag, role, style, seen.is_action);
        }
        if let Some(anchor) = self.anchor.and_then(|at| self.anchors.get_mut(at)) {
            anchor.button |= style.is_button();
        }
        if tag.name == "a" || tag.name == "area" {
            self.begin_anchor(seen.href, style);
        }
    }

    /// Elements that stand for themselves.
    fn void(&mut self, tag: &Tag<'_>, seen: &element::Seen) {
        if tag.name == "img"
            && let Some(anchor) = self.anchor.and_then(|at| self.anchors.get_mut(at))
        {
            anchor.image = true;
            if anchor.shown.trim().is_empty() {
                anchor.show(&seen.alt);
            }
        }
        if seen.is_address && !seen.href.is_empty() && self.open.iter().any(|element| element.is_action) {
            self.declare(seen.href.clone(), String::new());
        }
    }

    /// A row, cell or item ends an open one of the same table or list.
    fn end_open_like(&mut self, role: Role) {
        let is_wall = |element: &Element| matches!(element.role, Role::Table | Role::List);
        let inside = self.open.iter().rposition(is_wall).map_or(0, |at| at + 1);
        let same = self.open[inside..]
            .iter()
            .position(|one| one.role == role || (role == Role::Row && one.role == Role::Cell));
        if let Some(at) = same {
            self.open.truncate(inside + at);
        }
    }

    fn push(&mut self, tag: &Tag<'_>, role: Role, style: Style, is_action: bool) {
        if self.open.len() >= DEPTH_MAX {
            self.deeper += 1;
            return;
        }
        let cell = self.place(role);
        let look = style.inside(self.look());
        self.open.push(Element {
            name: tag.name.clone(),
            role,
            look,
            style,
            cell,
            is_action,
            rows: 0,
            columns: 0,
            table: self.tables,
        });
    }

    /// Where a new cell stands, counted in its table and its row.
    fn place(&mut self, role: Role) -> Option<Cell> {
        match role {
            Role::Table => self.tables += 1,
            Role::Row => {
                let table = self.open.iter_mut().rev().find(|element| element.role == Role::Table)?;
                table.rows += 1;
                table.columns = 0;
            }
            Role::Cell => {
                let table = self.open.iter_mut().rev().find(|element| element.role == Role::Table)?;
                table.columns += 1;
                return Some(Cell { table: table.table, row: table.rows, column: table.columns });
            }
            _ => {}
        }
        None
    }

    fn close(&mut self, name: &str) {
        if name == "a" {
            self.end_anchor();
        }
        if role(name).ends_block() {
            self.end_block();
        }
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(at) = self.open.iter().rposition(|element| element.name == name) {
            self.open.truncate(at);
        }
    }

    fn begin_anchor(&mut self, href: String, style: Style) {
        self.end_anchor();
        let href = href.trim();
        if href.is_empty() {
            return;
        }
        let container = self.open.iter().rev().find(|element| element.role != Role::Inline);
        let boxed = self.block.letters.is_empty()
            && container.is_some_and(|element| element.style.filled && element.role != Role::Root);
        let anchor = Anchor {
            href: href.to_owned(),
            block: self.blocks.len(),
            start: self.block.letters.len(),
            look: self.look(),
            button: style.is_button(),
            boxed,
            ..Anchor::default()
        };
        self.anchor = Some(self.anchors.len());
        self.anchors.push(anchor);
    }

    /// A link in a filled box is a button if nothing stands beside it; what comes after it is not waited for.
    fn end_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take().and_then(|at| self.anchors.get_mut(at)) {
            anchor.end = if anchor.block == self.blocks.len() { self.block.letters.len() } else { usize::MAX };
            anchor.button |= anchor.boxed && !anchor.shown.trim().is_empty() && !anchor.image;
            anchor.shown.truncate(anchor.shown.trim_end().len());
        }
    }

    fn declare(&mut self, href: String, shown: String) {
        let (block, start) = (self.blocks.len(), self.block.letters.len());
        self.anchors.push(Anchor { href, shown, block, start, declared: true, ..Anchor::default() });
    }

    fn unshown(&mut self, content: &str) {
        match self.open.last().map(|element| element.name.as_str()) {
            Some("style") => self.sheet.read(content),
            Some("script") if self.is_json_ld => {
                json_ld::actions(content).into_iter().for_each(|(href, name)| self.declare(href, name));
            }
            _ => {}
        }
    }
}

impl Anchor {
    fn show(&mut self, text: &str) {
        for letter in text.chars().take(SHOWN_MAX) {
            let is_blank = letter.is_whitespace() || letter.is_control();
            if self.shown.len() >= SHOWN_MAX || (is_blank && (self.shown.is_empty() || self.shown.ends_with(' '))) {
                continue;
            }
            self.shown.push(if is_blank { ' ' } else { letter });
        }
    }
}
