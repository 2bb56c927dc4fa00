//! The page: what a browser shows of the mail. Its files are made from `ui/`, which is told where it lies by the `base`
//! in `index.html` and asks the API for all else; so what is sent here holds no mail, and is the same for everybody.

mod file;
mod files;
mod negotiate;

use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

pub(crate) use self::file::digest;
pub use self::files::{BadPage, Page};

use crate::asked::Asked;
use crate::problem::Problem;
use crate::router::Operation;
use crate::shared::Shared;
use crate::v2::etag::Tag;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// A name under `/assets/` holds the hash of what it names: it never becomes another.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// It may be kept, and is asked for each time whether it is still the same.
const ASK: HeaderValue = HeaderValue::from_static("no-cache");
/// Only scripts and styles of our own, none of them inline; nothing that a mail says can become one (T050).
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     frame-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'",
);
/// What the page itself carries, beside what every answer does.
const SHELL: [(HeaderName, HeaderValue); 6] = [
    (CONTENT_TYPE, HTML),
    (CACHE_CONTROL, ASK),
    (CONTENT_SECURITY_POLICY, POLICY),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    // The hosts of a mail's links are looked up when somebody follows one, not when it is read (T046).
    (HeaderName::from_static("x-dns-prefetch-control"), HeaderValue::from_static("off")),
    ROBOTS,
];
/// Mail that was caught is nothing to be found by a search engine.
const ROBOTS: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));

/// Each address of the page: the same file, which looks at the address itself.
pub(crate) fn shell(shared: &Shared, asked: &Asked) -> Response {
    let index = shared.page.index(prefix(shared, asked));
    let tag = Tag::strong(&digest(index.as_bytes()));
    let answer = tag.known(asked).unwrap_or_else(|| tag.on(index.into_response()));
    with(answer, SHELL)
}

/// `GET /assets/{file}`, which the page names by what is in it.
pub(crate) fn asset(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [name] = asked.tail();
    file(shared, asked, &format!("assets/{name}"), FOREVER)
}

/// `GET /favicon.svg`.
pub(crate) fn favicon(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    file(shared, asked, "favicon.svg", ASK)
}

/// For whoever lost their way: the page, which says so and leads home.
pub(crate) fn lost(shared: &Shared, asked: &Asked) -> Response {
    let answer = (StatusCode::NOT_FOUND, shared.page.index(prefix(shared, asked))).into_response();
    let mut answer = with(answer, SHELL);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    answer
}

/// A person in a browser who asks for what is not there is shown the page; a program is told the problem.
pub(crate) fn instead(problem: Problem, head: &Parts, is_api: bool) -> Result<Operation, Problem> {
    let is_read = [Method::GET, Method::HEAD].contains(&head.method);
    let is_unknown = problem.status == StatusCode::NOT_FOUND;
    if is_unknown && is_read && !is_api && negotiate::wants_html(&head.headers) {
        return Ok(Operation::Lost);
    }
    Err(problem)
}

fn prefix<'a>(shared: &'a Shared, asked: &'a Asked) -> &'a str {
    shared.guard.prefix_for(asked.fields(), asked.peer())
}

fn file(shared: &Shared, asked: &Asked, name: &str, keep: HeaderValue) -> Result<Response, Problem> {
    let file = shared.page.file(name).ok_or_else(Problem::route_unknown)?;
    let form = file.best_for(asked.fields());
    let fields = [(CACHE_CONTROL, keep), (VARY, HeaderValue::from_static("Accept-Encoding")), ROBOTS];
    if let Some(known) = form.tag.known(asked) {
        return Ok(with(known, fields));
    }
    let mut answer = with(form.tag.on(form.bytes.clone().into_response()), fields);
    answer.headers_mut().insert(CONTENT_TYPE, file.media_type.clone());
    if let Some(name) = form.coding.name() {
        answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    Ok(answer)
}

/// With these fields, in the place of those of the same names.
fn with<const N: usize>(answer: Response, fields: [(HeaderName, HeaderValue); N]) -> Response {
    (fields, answer).into_response()
}
