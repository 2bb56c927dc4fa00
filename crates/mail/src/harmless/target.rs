//! Where links and pictures may lead. An address is read as a browser reads it: blanks around it and line ends in it do
//! not count, so none hides behind them.

use std::borrow::Cow;

/// Pictures that may stand in the page itself.
const PICTURES: [&str; 8] = ["png", "jpeg", "jpg", "gif", "webp", "avif", "bmp", "x-icon"];

/// The address without what a browser passes over.
fn plain(value: &str) -> Cow<'_, str> {
    let value = value.trim_matches(|letter: char| letter <= ' ');
    match value.contains(['\t', '\n', '\r']) {
        true => Cow::Owned(value.replace(['\t', '\n', '\r'], "")),
        false => Cow::Borrowed(value),
    }
}

fn begins(value: &str, scheme: &str) -> bool {
    value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

fn is_web(value: &str) -> bool {
    begins(value, "http://") || begins(value, "https://")
}

/// A link that a reader may follow: to the web, to somebody, or within the mail.
pub(super) fn link(value: &str) -> Option<Cow<'_, str>> {
    Some(plain(value)).filter(|value| is_web(value) || begins(value, "mailto:") || value.starts_with('#'))
}

/// Something of another host.
pub(super) fn loaded(value: &str) -> Option<Cow<'_, str>> {
    Some(plain(value)).filter(|value| is_web(value) || value.starts_with("//"))
}

/// A picture in the page itself.
pub(super) fn data(value: &str) -> Option<Cow<'_, str>> {
    let value = plain(value);
    let is_picture = begins(&value, "data:image/") && {
        let kind = value["data:image/".len()..].split([';', ',']).next().unwrap_or_default().to_ascii_lowercase();
        PICTURES.contains(&kind.as_str())
    };
    is_picture.then_some(value)
}

/// Whether all the pictures to choose from are of other hosts.
pub(super) fn all_loaded(value: &str) -> bool {
    let mut pieces = value.split(',').map(plain).filter(|piece| !piece.is_empty());
    let mut is_first = true;
    // An address may hold a comma, so what follows one may be the rest of an address; with a scheme it begins one.
    pieces.all(|piece| {
        let has_scheme = piece.split(['/', '?', '#', ' ']).next().is_some_and(|front| front.contains(':'));
        let is_sound = is_web(&piece) || piece.starts_with("//") || !(has_scheme || std::mem::take(&mut is_first));
        is_first = false;
        is_sound
    })
}

/// The part that `cid:` leads to (RFC 2392).
pub(super) fn cid(value: &str) -> Option<String> {
    let value = plain(value);
    begins(&value, "cid:").then(|| decoded(&value[4..]))
}

/// A text with its percent signs decoded; those that begin no octet stay.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
