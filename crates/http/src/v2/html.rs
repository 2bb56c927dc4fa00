//! `GET /api/v2/mailboxes/{name}/messages/{id}/html`: the HTML of a message, made harmless twice: nothing in it that acts
//! is kept, and what is kept runs in a sandbox that loads nothing (T038, T039). Links to parts (`cid:`) stay as they are,
//! for a page that knows where the parts lie.

use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::Builder;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use super::etag::Tag;
use super::params::Params;
use super::{About, Answer, Shape, message};
use crate::asked::{Asked, mailbox, which};
use crate::problem::Problem;
use crate::shared::{Shared, placed};

pub(crate) const READ: About = About {
    id: "readHtml",
    summary: "Read the HTML of a message, made harmless",
    detail: "Scripts, forms, frames, style sheets and event handlers are gone, and the answer is sandboxed. `html` of the \
             message itself has it as sent.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 200, about: "The HTML.", media_type: "text/html", shape: Shape::Text }],
    problems: &["bad-mailbox", "message-unknown", "part-unknown"],
};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// No script, no origin, nothing from elsewhere: only inline styles and images that are in the text itself.
const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'",
);
/// Elements open within each other. Parsers of HTML take long over more, and no mail needs it.
const DEPTH_MAX: usize = 500;

/// What mail is laid out with.
const LAYOUT: [&str; 12] = [
    "style",
    "align",
    "valign",
    "bgcolor",
    "width",
    "height",
    "border",
    "cellpadding",
    "cellspacing",
    "color",
    "dir",
    "lang",
];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    builder
        .add_tags(["font", "center", "u", "big"])
        .add_generic_attributes(LAYOUT)
        .add_tag_attributes("font", ["face", "size"])
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel", "cid", "data"]))
        .attribute_filter(|_element, attribute, value| match attribute {
            // A link must not carry a page of its own; an image may carry itself.
            "href" if value.trim_start().to_ascii_lowercase().starts_with("data:") => None,
            "style" if value.to_ascii_lowercase().contains("url(") => None,
            _ => Some(value.into()),
        });
    builder
});

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages, id, _html] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    Params::read(asked, READ.params)?;
    let stored = message::find(shared, asked, &mailbox, which(id)?).await?;
    let tag = Tag::strong(&format!("{}-h", stored.summary.id));
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    let letter = shared.mailroom.letter(&stored).await;
    if letter.html.is_none() {
        return Err(Problem::no_html());
    }
    let size = stored.raw.len();
    let clean = shared.work(size, move || harmless(letter.html.as_deref().unwrap_or_default())).await;
    let place = shared.place(clean.len())?;
    let fields: [(HeaderName, HeaderValue); 2] = [(CONTENT_TYPE, HTML), (CONTENT_SECURITY_POLICY, SANDBOX)];
    Ok(tag.on((fields, placed(clean, place)).into_response()))
}

/// The HTML without what acts. One that is nested too deep is shown as its source.
pub(crate) fn harmless(html: &str) -> String {
    if depth(html) > DEPTH_MAX {
        return format!("<pre>{}</pre>", ammonia::clean_text(html));
    }
    CLEANER.clean(html).to_string()
}

/// About how deep elements stand in each other: tags that open, less those that close. Elements that are never closed
/// count as open, as they do for a parser.
fn depth(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'<') {
        at += found + 1;
        match bytes.get(at) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(letter) if letter.is_ascii_alphabetic() && !is_void(&bytes[at..]) => depth += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Elements that hold nothing, or that mail leaves open and parsers close.
fn is_void(tag: &[u8]) -> bool {
    const VOID: [&[u8]; 14] =
        [b"br", b"img", b"hr", b"meta", b"link", b"input", b"col", b"area", b"base", b"wbr", b"li", b"p", b"td", b"tr"];
    let end = tag.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(tag.len());
    VOID.iter().any(|name| name.eq_ignore_ascii_case(&tag[..end]))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn t038_nothing_that_acts_is_left() {
        let hostile = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<a href=\" JaVaScRiPt:alert(1)\">x</a>",
            "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
            "<iframe src=https://evil.test></iframe>",
            "<form action=https://evil.test><input name=a></form>",
            "<svg onload=alert(1)><script>alert(1)</script></svg>",
            "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
            "<style>@import url(https://evil.test)</style>",
            "<p style=\"background:url(https://evil.test/pixel)\">x</p>",
            "<meta http-equiv=refresh content=\"0;url=https://evil.test\">",
            "<base href=https://evil.test>",
            "<object data=https://evil.test></object><embed src=https://evil.test>",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        ];
        for html in hostile {
            let clean = harmless(html).to_ascii_lowercase();
            for word in [
                "<script",
                "onerror",
                "onload",
                "javascript:",
                "<iframe",
                "<form",
                "<style",
                "<meta",
                "<base",
                "<object",
                "<embed",
                "url(",
                "href=\"data",
            ] {
                assert!(!clean.contains(word), "{html} gave {clean}");
            }
        }
    }

    #[test]
    fn the_layout_of_mail_is_kept() {
        let html = "<table width=\"600\" cellpadding=\"0\"><tbody><tr><td style=\"color:red\" align=\"center\">a\
                    <img src=\"cid:logo@x\" alt=\"l\"></td></tr></tbody></table>";
        let clean = harmless(html);
        for kept in ["width=\"600\"", "style=\"color:red\"", "align=\"center\"", "src=\"cid:logo@x\"", "<table"] {
            assert!(clean.contains(kept), "{kept} is gone: {clean}");
        }
        assert!(harmless("<a href=\"https://x.test\">x</a>").contains("noreferrer"));
    }

    #[test]
    fn t032_nesting_and_numbers_take_no_time() {
        let shapes: [(&str, usize); 6] = [
            ("<b>", 1 << 18),
            ("<div>", 1 << 17),
            ("<a><p>", 1 << 17),
            ("<p>", 1 << 18),
            ("<table><tr><td>", 1 << 15),
            ("</b>", 1 << 18),
        ];
        for (piece, times) in shapes {
            let html = piece.repeat(times);
            let started = Instant::now();
            harmless(&html);
            let took = started.elapsed();
            assert!(took < Duration::from_secs(10), "{piece} took {took:?}");
        }
    }
}
