//! A plain rendering of HTML for mail that has no text: words, line breaks, list marks, links. One pass over the bytes,
//! no tree, so that no nesting and no number of tags can hurt. It is for reading and finding, not for judging markup.

use memchr::{memchr, memchr2, memmem};

/// Octets of a character reference, `&` and `;` included: the longest names of HTML are below it.
const ENTITY_MAX: usize = 40;

/// The text of a page.
pub(crate) fn render(html: &str) -> String {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(at) = memchr2(b'<', b'&', rest.as_bytes()) {
        page.words(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with('&') { page.reference(rest) } else { page.markup(rest) };
        rest = &rest[length..];
    }
    page.words(rest);
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

    /// A character reference, or the `&` alone.
    fn reference(&mut self, rest: &str) -> usize {
        let end = rest.bytes().take(ENTITY_MAX).position(|byte| byte == b';');
        let Some(end) = end.filter(|end| is_reference(&rest[1..*end])) else {
            self.put('&');
            return 1;
        };
        let mut decoded = String::new();
        mail_parser::add_html_token(&mut decoded, &rest.as_bytes()[..=end], false);
        self.words(&decoded);
        end + 1
    }

    /// A tag, a comment, or a `<` alone; returns its length.
    fn markup(&mut self, rest: &str) -> usize {
        let bytes = rest.as_bytes();
        match bytes.get(1) {
            Some(b'!') if rest.starts_with("<!--") => {
                memmem::find(&bytes[4..], b"-->").map_or(rest.len(), |found| 4 + found + 3)
            }
            Some(b'!' | b'?') => memchr(b'>', bytes).map_or(rest.len(), |end| end + 1),
            Some(b'/') if bytes.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                let length = tag_length(bytes);
                self.close(&tag_name(&rest[2..length]));
                length
            }
            Some(letter) if letter.is_ascii_alphabetic() => self.open(rest),
            _ => {
                self.put('<');
                1
            }
        }
    }

    fn open(&mut self, rest: &str) -> usize {
        let length = tag_length(rest.as_bytes());
        let name = tag_name(&rest[1..length]);
        match &*name {
            "style" | "script" | "title" | "template" | "textarea" | "select" | "svg" => {
                return length + hidden_length(&rest.as_bytes()[length..], name.as_bytes());
            }
            "br" => self.line_end(),
            "a" => self.link = href(&rest[..length]).map(|target| (target, self.text.len())),
            "li" => {
                self.apart(1);
                self.words("* ");
            }
            "pre" => {
                self.apart(2);
                self.verbatim += 1;
            }
            _ => self.apart(lines_around(&name)),
        }
        if matches!(&*name, "td" | "th") {
            self.is_blank_due = true;
        }
        length
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

fn is_reference(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
}

/// In lower case, without what follows it.
fn tag_name(tag: &str) -> String {
    let end = tag.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(tag.len());
    tag[..end].to_ascii_lowercase()
}

/// Up to the `>` that ends a tag; one in a quoted attribute value does not.
fn tag_length(tag: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr2(b'>', b'=', &tag[at..]) {
        at += found + 1;
        if tag[at - 1] == b'>' {
            return at;
        }
        at += tag[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if let Some(&quote @ (b'"' | b'\'')) = tag.get(at) {
            at = memchr(quote, &tag[at + 1..]).map_or(tag.len(), |end| at + end + 2);
        }
    }
    tag.len()
}

/// The length of an element's content that is not shown, its end tag excluded.
fn hidden_length(content: &[u8], name: &[u8]) -> usize {
    memmem::find_iter(content, b"</")
        .find(|at| {
            let tag = &content[at + 2..];
            tag.len() >= name.len() && tag[..name.len()].eq_ignore_ascii_case(name)
        })
        .unwrap_or(content.len())
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
