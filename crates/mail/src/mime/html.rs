//! A plain rendering of HTML for mail that has no text: words, line breaks, list marks, links. One pass over the
//! tokens, no tree. It is for reading and finding, not for judging markup.

use crate::html::{Tag, Token, Tokens};

/// The text of a page.
pub(crate) fn render(html: &str) -> String {
    let mut page = Page::default();
    for token in Tokens::of(html) {
        match token {
            Token::Text(text) => page.words(text),
            Token::Reference(text) => page.words(&text),
            Token::Open(tag) => page.open(&tag),
            Token::Close(tag) => page.close(&tag.name),
            Token::Unshown(_) => {}
        }
    }
    page.finish()
}

/// The text so far and what is due before the next word.
#[derive(Default)]
struct Page {
    text: String,
    /// Line ends due.
    lines: usize,
    is_blank_due: bool,
    /// Open `pre` elements: blanks and line ends count in them.
    verbatim: usize,
    /// Target of the open link, and where its text began.
    link: Option<(String, usize)>,
}

impl Page {
    fn words(&mut self, text: &str) {
        for letter in text.chars() {
            self.letter(letter);
        }
    }

    fn letter(&mut self, letter: char) {
        match letter {
            '\n' if self.verbatim > 0 => self.line_end(),
            ' ' | '\t' if self.verbatim > 0 => self.put(letter),
            _ if letter.is_whitespace() || letter.is_control() => self.is_blank_due = true,
            _ => self.put(letter),
        }
    }

    fn put(&mut self, letter: char) {
        if self.text.is_empty() {
            (self.lines, self.is_blank_due) = (0, false);
        }
        if self.lines > 0 {
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text.extend(std::iter::repeat_n('\n', self.lines));
        } else if self.is_blank_due && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
        (self.lines, self.is_blank_due) = (0, false);
        self.text.push(letter);
    }

    /// A line ends here, whatever was due.
    fn line_end(&mut self) {
        self.lines = (self.lines + 1).min(2);
    }

    /// At least so many line ends come before the next word.
    fn apart(&mut self, lines: usize) {
        self.lines = self.lines.max(lines);
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match &*tag.name {
            "br" => self.line_end(),
            "a" => self.link = href(tag.source).map(|target| (target, self.text.len())),
            "li" => {
                self.apart(1);
                self.words("* ");
            }
            "pre" => {
                self.apart(2);
                self.verbatim += 1;
            }
            name => self.apart(lines_around(name)),
        }
        if matches!(&*tag.name, "td" | "th") {
            self.is_blank_due = true;
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "a" => self.end_link(),
            "pre" => {
                self.apart(2);
                self.verbatim = self.verbatim.saturating_sub(1);
            }
            _ => self.apart(lines_around(name)),
        }
    }

    /// The target follows the text of a link, unless it is the text.
    fn end_link(&mut self) {
        let Some((target, start)) = self.link.take() else { return };
        let shown = self.text.get(start..).unwrap_or_default();
        if !shown.contains(&target) {
            self.words(if shown.trim().is_empty() { "(" } else { " (" });
            self.words(&target);
            self.put(')');
        }
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

/// How many line ends set an element apart from its neighbours.
fn lines_around(name: &str) -> usize {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "dl" | "table" | "blockquote" | "hr" => 2,
        "div" | "tr" | "li" | "dt" | "dd" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside"
        | "form" | "fieldset" | "center" | "address" | "figure" | "figcaption" | "caption" | "thead" | "tbody"
        | "tfoot" | "body" | "html" => 1,
        _ => 0,
    }
}

/// The target of a link worth telling: one that a reader could follow.
fn href(tag: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find("href")? + 4;
    let value = tag[at..].trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(|letter: char| letter.is_whitespace() || letter == '>').next()?,
    };
    let value = value.trim();
    let scheme = value.get(..8)?.to_ascii_lowercase();
    let is_shown = scheme.starts_with("http://") || scheme.starts_with("https://") || scheme.starts_with("mailto:");
    is_shown.then(|| value.replace("&amp;", "&"))
}
