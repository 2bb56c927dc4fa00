//! Style sheets keep all they say; only `url(cid:…)` becomes the part that it means. What is put in holds none of the signs that
//! mean something in CSS or HTML, so it ends nothing early (T045).

use std::borrow::Cow;

use super::target;

/// Octets of a `cid:` that is looked at.
const CID_MAX: usize = 256;

/// The sheet with its parts in it.
pub(super) fn inlined<'a>(css: &'a str, part: &mut dyn FnMut(&str) -> Option<String>) -> Cow<'a, str> {
    let (mut out, mut told) = (String::new(), 0);
    for (at, _) in css.match_indices(':') {
        if at < told {
            continue;
        }
        let Some((start, end)) = cid(css, at) else { continue };
        let Some(data) = target::cid(&css[start..end]).and_then(|cid| part(&cid)) else { continue };
        out.push_str(&css[told..start]);
        out.push_str(&data);
        told = end;
    }
    match told {
        0 => Cow::Borrowed(css),
        _ => Cow::Owned(out + &css[told..]),
    }
}

/// A sheet without anything that looks like a tag, should something read it that does not know sheets. Where CSS has one,
/// in a string, it may be written otherwise; the marks of a comment of HTML mean nothing there.
pub(super) fn untagged(css: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(css.len()), css);
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix("!--") {
            out.push(' ');
            rest = behind;
        } else if rest.starts_with(|next: char| next.is_ascii_alphanumeric() || matches!(next, '/' | '!' | '?')) {
            out.push_str("\\3c ");
        } else {
            out.push('<');
        }
    }
    out + rest
}

/// From where to where a `cid:` stands whose colon is here, if it is what `url(` holds.
fn cid(css: &str, colon: usize) -> Option<(usize, usize)> {
    let start = colon.checked_sub(3)?;
    if !css.get(start..colon)?.eq_ignore_ascii_case("cid") {
        return None;
    }
    let before =
        css[..start].trim_end_matches(['"', '\'']).trim_end_matches(|letter: char| letter.is_ascii_whitespace());
    let is_url = before.as_bytes().last_chunk::<4>().is_some_and(|word| word.eq_ignore_ascii_case(b"url("));
    let is_end = |byte: u8| matches!(byte, b')' | b'"' | b'\'') || byte.is_ascii_whitespace();
    let length = css[start..].bytes().take(CID_MAX).position(is_end).filter(|_| is_url)?;
    Some((start, start + length))
}
