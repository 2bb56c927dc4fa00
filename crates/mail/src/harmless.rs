//! The HTML of a mail without what acts, and with all that shows: made for a frame that runs no script, has no origin and
//! loads only what its policy lets it.
//!
//! What is written is built anew, token by token, from lists of elements and attributes: text is escaped, a value is
//! escaped, and nothing of the source is copied but the content of `<style>`, in which nothing looks like a tag. So it
//! does not matter whether a browser would have read the source otherwise: it reads what is written here. There is no
//! tree, and no SVG or MathML (T043, T044), in which the rules of HTML do not hold.
//!
//! Style sheets stay whole. What they or pictures would load from elsewhere is the policy's business, not this file's.

mod css;
mod lists;
mod target;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::html::{Tag, Token, Tokens};

/// What a reader wants, and has.
pub struct Reader<'a> {
    /// Whether style sheets of other hosts are linked.
    pub remote: bool,
    /// What a `cid:` leads to, as a `data:` URL; none: to nothing that can be shown.
    pub part: &'a mut dyn FnMut(&str) -> Option<String>,
}

/// The HTML without what acts. What is nested so deep that browsers choke on it is shown as its source.
pub fn harmless(html: &str, reader: Reader<'_>) -> String {
    if lists::depth(html) > lists::DEPTH_MAX {
        let mut source = String::from("<pre>");
        escape(&mut source, html);
        return source + "</pre>";
    }
    let mut page = Page { out: String::with_capacity(html.len() + html.len() / 8), reader, is_sheet: false };
    page.out.push_str(doctype(html));
    for token in Tokens::of(html) {
        match token {
            Token::Text(text) => escape(&mut page.out, text),
            Token::Reference(text) => escape(&mut page.out, &text),
            Token::Open(tag) => page.open(&tag),
            Token::Close(tag) => page.close(&tag.name),
            Token::Unshown(content) => page.unshown(content),
        }
    }
    page.out
}

/// What was written so far.
struct Page<'a> {
    out: String,
    reader: Reader<'a>,
    /// A style sheet was opened.
    is_sheet: bool,
}

impl Page<'_> {
    fn open(&mut self, tag: &Tag<'_>) {
        let Some(name) = lists::element(&tag.name) else { return };
        match name {
            "style" => self.is_sheet = true,
            "meta" if !is_scheme(tag) => return,
            "link" if !(self.reader.remote && is_sheet(tag)) => return,
            _ => {}
        }
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in tag.attributes() {
            if let Some(attribute) = lists::attribute(name, &attribute)
                && let Some(value) = self.value(name, attribute, &value)
            {
                self.attribute(attribute, &value);
            }
        }
        if name == "link" {
            self.attribute("rel", "stylesheet");
        }
        self.out.push('>');
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape(&mut self.out, value);
        self.out.push('"');
    }

    /// What an attribute may say; none: nothing. A link that leads out is opened apart from the mail, and is not told
    /// where it was found (T048).
    fn value<'v>(&mut self, element: &str, attribute: &str, value: &'v str) -> Option<Cow<'v, str>> {
        match attribute {
            "href" if element == "link" => target::loaded(value),
            "href" => {
                let link = target::link(value)?;
                if !link.starts_with('#') {
                    self.out.push_str(" target=\"_blank\" rel=\"noopener noreferrer\"");
                }
                Some(link)
            }
            "src" | "background" => match target::cid(value) {
                Some(cid) => (self.reader.part)(&cid).map(Cow::Owned),
                None => target::loaded(value).or_else(|| target::data(value)),
            },
            "srcset" => target::all_loaded(value).then_some(Cow::Borrowed(value)),
            "style" => Some(css::inlined(value, self.reader.part)),
            _ => Some(Cow::Borrowed(value)),
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(name) = lists::element(name).filter(|name| !lists::is_empty(name) && *name != "style") {
            self.out.push_str("</");
            self.out.push_str(name);
            self.out.push('>');
        }
    }

    /// Of all that is not shown only a style sheet stays, and it is closed here, whether it was closed or not: it holds
    /// no `</style`, by which alone a browser ends it.
    fn unshown(&mut self, content: &str) {
        if std::mem::take(&mut self.is_sheet) {
            let sheet = css::inlined(content, self.reader.part);
            self.out.push_str(&css::untagged(&sheet));
            self.out.push_str("</style>");
        }
    }
}

/// Whether a `<meta>` says which colour schemes the mail is made for; no other is kept.
fn is_scheme(tag: &Tag<'_>) -> bool {
    let name = tag.attributes().find(|(name, _)| name == "name");
    name.is_some_and(|(_, value)| {
        ["color-scheme", "supported-color-schemes"].iter().any(|known| value.trim().eq_ignore_ascii_case(known))
    })
}

/// Whether a `<link>` is to a style sheet and to nothing else.
fn is_sheet(tag: &Tag<'_>) -> bool {
    let rel = tag.attributes().find(|(name, _)| name == "rel");
    rel.is_some_and(|(_, value)| value.trim().eq_ignore_ascii_case("stylesheet"))
}

/// By the declaration of its type a browser lays a page out as it does today or as it did once: as its author meant it.
fn doctype(html: &str) -> &'static str {
    let start = html.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
    let Some(start) = start.get(..start.floor_char_boundary(200)) else { return "" };
    let declared = start.split('>').next().unwrap_or_default().to_ascii_lowercase();
    match declared.strip_prefix("<!doctype") {
        None => "",
        Some(rest) if rest.contains("xhtml 1.0 transitional") || rest.contains("html 4.01 transitional") => {
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \
             \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">"
        }
        Some(rest) if rest.contains("html 4.0 ") || rest.contains("html 3.2") => "",
        Some(_) => "<!DOCTYPE html>",
    }
}

/// A text as it stands between tags and in a quoted value alike.
fn escape(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\0']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
