//! One file of the page, in each form in which it can be sent. It knows nothing of where the bytes came from.

use std::fmt::Write;

use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::negotiate::{Coding, ranked};
use crate::v2::etag::Tag;

/// A file: what it is, and the forms there are, the one we like most first.
pub(crate) struct File {
    pub(crate) media_type: HeaderValue,
    forms: Vec<Form>,
    plain: Form,
}

/// Its bytes in one form.
#[derive(Clone)]
pub(crate) struct Form {
    pub(crate) coding: Coding,
    pub(crate) tag: Tag,
    pub(crate) bytes: Bytes,
}

impl File {
    /// A file of this name, and what stands beside it under the same name with `.br` and `.gz`.
    pub(crate) fn new(name: &str, plain: Bytes, brotli: Option<Bytes>, gzip: Option<Bytes>) -> Self {
        // A name under assets holds a hash already. To read all bytes for one would bring them into memory at the start.
        let whole = if name.starts_with("assets/") { name.to_owned() } else { digest(&plain) };
        let form = |coding: Coding, bytes: Bytes| {
            let tag = coding.name().map_or_else(|| whole.clone(), |name| format!("{whole}-{name}"));
            Form { coding, tag: Tag::strong(&tag), bytes }
        };
        let packed = [brotli.map(|bytes| form(Coding::Brotli, bytes)), gzip.map(|bytes| form(Coding::Gzip, bytes))];
        Self {
            media_type: HeaderValue::from_static(media_type(name)),
            forms: packed.into_iter().flatten().collect(),
            plain: form(Coding::Plain, plain),
        }
    }

    /// The form that the client likes best.
    pub(crate) fn best_for(&self, fields: &HeaderMap) -> &Form {
        let have = self.forms.iter().chain([&self.plain]);
        let best = ranked(fields, have.clone().map(|form| form.coding));
        best.and_then(|coding| have.clone().find(|form| form.coding == coding)).unwrap_or(&self.plain)
    }
}

/// A name for these bytes, as long as it takes for no two versions of a file to share one.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(12).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What a file is, by the end of its name. Nothing guesses: what is not here is bytes.
fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "map" => "application/json",
        _ => "application/octet-stream",
    }
}
