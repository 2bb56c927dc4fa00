//! Attachments as files: downloaded, or shown when nothing in them can act. The bytes come from strangers, so a fixed
//! set of fields goes with them and no field of the part itself (T042); only types that no browser runs are named, and
//! everything else is bytes to save (T040).

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use mail::MessageId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use crate::asked::{Asked, mailbox, which};
use crate::problem::{Doing, Problem};
use crate::shared::{Shared, placed};

/// The types that may be shown, and how they are named.
const PASSIVE: [(&str, &str); 12] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
    ("image/avif", "image/avif"),
    ("text/plain", "text/plain; charset=utf-8"),
    ("audio/mpeg", "audio/mpeg"),
    ("audio/ogg", "audio/ogg"),
    ("audio/wav", "audio/wav"),
    ("audio/mp4", "audio/mp4"),
    ("video/mp4", "video/mp4"),
    ("video/webm", "video/webm"),
];
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// Even if a browser opens it as a page: no script, no origin, nothing loaded but the file itself in its own frame.
const SANDBOX: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
);
/// A file name in a header is no longer than this many characters.
const NAME_MAX: usize = 255;

/// What stands for itself in a segment of a path and in `filename*` alike (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where an attachment is.
pub(crate) struct Link<'a> {
    pub(crate) base_url: &'a str,
    /// As it is spelled outside.
    pub(crate) mailbox: &'a str,
    pub(crate) id: MessageId,
    pub(crate) index: usize,
}

/// The absolute link to an attachment; the file name is for people.
pub(crate) fn link(at: &Link<'_>, kind: &str, filename: &str) -> String {
    let (base_url, id, index) = (at.base_url, at.id, at.index);
    format!("{base_url}/mailbox/{kind}/{}/{id}/{index}/{}", encoded(at.mailbox), encoded(filename))
}

/// `GET /mailbox/dattach/…`: the bytes, to be saved.
pub(crate) async fn download(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    find(shared, asked, |_| None).await
}

/// `GET /mailbox/vattach/…`: the bytes, shown if that is safe.
pub(crate) async fn view(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    find(shared, asked, passive).await
}

async fn find(shared: &Shared, asked: &Asked, shown_as: ShownAs) -> Result<Response, Problem> {
    let [name, id, index, _filename] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let (which, index) = (which(id)?, index_of(index).ok_or_else(Problem::part_unknown)?);
    let stored = shared.mailroom.read(&asked.caller, &mailbox, which).await;
    let raw = stored.map_err(|error| Problem::of(&error, Doing::Reading))?.ok_or_else(Problem::message_unknown)?.raw;
    let (place, view) = (shared.place(raw.len())?, shared.view);
    let part = shared.work(raw.len(), move || view(&raw).attachments.into_iter().nth(index)).await;
    let part = part.ok_or_else(Problem::part_unknown)?;
    Ok((file_fields(shown_as(&part.content_type), &part.filename), placed(part.content, place)).into_response())
}

/// What goes with the bytes of a file: how it may be shown, or that it is to be saved.
pub(crate) fn file_fields(shown_as: Option<&'static str>, filename: &str) -> [(HeaderName, HeaderValue); 3] {
    let (content_type, kind) = match shown_as {
        Some(passive) => (HeaderValue::from_static(passive), "inline"),
        None => (BYTES, "attachment"),
    };
    [
        (CONTENT_TYPE, content_type),
        (CONTENT_DISPOSITION, disposition(kind, filename)),
        (CONTENT_SECURITY_POLICY, SANDBOX),
    ]
}

/// How a type is named to a browser; none when it is not to be shown.
type ShownAs = fn(&str) -> Option<&'static str>;

pub(crate) fn passive(content_type: &str) -> Option<&'static str> {
    PASSIVE.iter().find(|(known, _)| *known == content_type).map(|(_, named)| *named)
}

/// An index in its one spelling: no sign, no leading zero.
fn index_of(segment: &str) -> Option<usize> {
    let index: usize = segment.parse().ok()?;
    (index.to_string() == segment).then_some(index)
}

/// RFC 6266: a name in plain ASCII for old clients, and the true one beside it.
pub(crate) fn disposition(kind: &str, filename: &str) -> HeaderValue {
    let name: String = filename.chars().take(NAME_MAX).collect();
    let plain = |char: char| char.is_ascii_graphic() && !matches!(char, '"' | '\\' | '%') || char == ' ';
    let ascii: String = name.chars().map(|char| if plain(char) { char } else { '_' }).collect();
    let text = format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{}", encoded(&name));
    HeaderValue::try_from(text).expect("everything but printable ASCII is replaced or encoded")
}

pub(crate) fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t042_a_file_name_cannot_leave_its_place_in_the_header() {
        let check = |name: &str, expected: &str| assert_eq!(disposition("attachment", name), expected, "{name:?}");
        check("report.pdf", "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf");
        check("my file", "attachment; filename=\"my file\"; filename*=UTF-8''my%20file");
        check("na\u{ef}ve", "attachment; filename=\"na_ve\"; filename*=UTF-8''na%C3%AFve");
        check("a\"b\\c%41", "attachment; filename=\"a_b_c_41\"; filename*=UTF-8''a%22b%5Cc%2541");
        check("a\r\nX: 1\0", "attachment; filename=\"a__X: 1_\"; filename*=UTF-8''a%0D%0AX%3A%201%00");
        check("a;b='c'", "attachment; filename=\"a;b='c'\"; filename*=UTF-8''a%3Bb%3D%27c%27");
        for code in (0..0x300).filter_map(char::from_u32) {
            disposition("inline", &code.to_string().repeat(300));
        }
    }

    #[test]
    fn an_index_has_one_spelling() {
        let check = |text: &str, expected: Option<usize>| assert_eq!(index_of(text), expected, "{text:?}");
        check("0", Some(0));
        check("17", Some(17));
        for text in ["", "-1", "+1", "00", "01", "0x0", "1.0", "%30", " 1", "x", &"9".repeat(30)] {
            check(text, None);
        }
    }
}
