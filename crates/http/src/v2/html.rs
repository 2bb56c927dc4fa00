//! `GET /api/v2/mailboxes/{name}/messages/{id}/html`: the HTML of a message, made harmless twice: nothing in it that acts
//! is kept, and what is kept runs in a sandbox that has no origin and loads nothing from elsewhere unless it was asked for
//! (T038, T039, T046). It is made for a frame of the page, and nobody else may frame it.

use std::collections::HashMap;

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_DNS_PREFETCH_CONTROL, X_FRAME_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use mail::Letter;
use mail::harmless::{Reader, harmless};

use super::etag::Tag;
use super::params::Params;
use super::{About, Answer, Kind, Param, Shape, message};
use crate::asked::{Asked, mailbox, which};
use crate::problem::Problem;
use crate::shared::{Shared, placed};

pub(crate) const READ: About = About {
    id: "readHtml",
    summary: "Read the HTML of a message, made harmless",
    detail: "Scripts, forms, frames and event handlers are gone, style sheets are whole, pictures among the parts are in it, \
             and the answer is sandboxed: it loads nothing from other hosts unless remote=true. `html` of the message \
             itself has it as sent.",
    params: &[Param::new("remote", Kind::Flag, "Let it load pictures, styles and fonts of other hosts.")],
    bodies: &[],
    answers: &[Answer { status: 200, about: "The HTML.", media_type: "text/html", shape: Shape::Text }],
    problems: &["bad-mailbox", "message-unknown", "part-unknown"],
};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// No script and no origin; a link opens in a window of its own. Only what is in the text itself is loaded.
const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; \
     style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
);
/// The same for a reader who asked for what lies elsewhere.
const REMOTE: HeaderValue = HeaderValue::from_static(
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data: http: https:; \
     style-src 'unsafe-inline' http: https:; font-src data: http: https:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'",
);
/// The root, by a name to begin at (`#mail`): from there Shift+Tab leaves the frame at once, whatever links the mail has. What
/// a mail says of its root is added to it.
const START: &str = "<html id=\"mail\">";
/// Pictures of the message are put in as often as they are named, up to so many times the size of the message in all: a
/// page of names must not grow without end.
const GROWTH_MAX: usize = 3;
/// And up to this however small the message is.
const INLINE_MIN: usize = 64 << 10;

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name, _messages, id, _html] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let remote = Params::read(asked, READ.params)?.flag("remote")?.unwrap_or(false);
    let stored = message::find(shared, asked, &mailbox, which(id)?).await?;
    let tag = Tag::strong(&format!("{}-h{}", stored.summary.id, if remote { "r" } else { "" }));
    if let Some(known) = tag.known(asked) {
        return Ok(known);
    }
    let letter = shared.mailroom.letter(&stored).await;
    if letter.html.is_none() {
        return Err(Problem::no_html());
    }
    let (size, raw) = (stored.raw.len(), stored.raw);
    let work = move || {
        // A letter keeps no more of it than its limit.
        let whole = letter.truncated.contains(&"html").then(|| Letter::whole_html(&raw)).flatten();
        framed(whole.as_deref().or(letter.html.as_deref()).unwrap_or_default(), &raw, remote)
    };
    let made = shared.work(size, work).await;
    let place = shared.place(made.len())?;
    let fields: [(HeaderName, HeaderValue); 4] = [
        (CONTENT_TYPE, HTML),
        (CONTENT_SECURITY_POLICY, if remote { REMOTE } else { SANDBOX }),
        (X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN")),
        // To look up the host of a link is to tell its owner that the mail was opened.
        (X_DNS_PREFETCH_CONTROL, HeaderValue::from_static("off")),
    ];
    Ok(tag.on((fields, placed(made, place)).into_response()))
}

/// The HTML for a frame, with the pictures of its message in it.
fn framed(html: &str, raw: &Bytes, remote: bool) -> String {
    let pictures: HashMap<String, (&'static str, Bytes)> = match html.to_ascii_lowercase().contains("cid:") {
        true => Letter::pictures(raw).into_iter().rev().map(|(cid, kind, content)| (cid, (kind, content))).collect(),
        false => HashMap::new(),
    };
    let mut room = (raw.len() * GROWTH_MAX).max(INLINE_MIN);
    let mut part = |cid: &str| {
        let (kind, content) = pictures.get(cid)?;
        room = room.checked_sub(content.len().div_ceil(3) * 4)?;
        Some(format!("data:{kind};base64,{}", STANDARD.encode(content)))
    };
    let mut made = harmless(html, Reader { remote, part: &mut part });
    let doctype = if made.starts_with("<!DOCTYPE") { made.find('>').map_or(0, |at| at + 1) } else { 0 };
    made.insert_str(doctype, START);
    made
}
