//! What a client would rather have (RFC 9110 §12): which compressed form of a file, and whether a problem or a page.
//! Whatever cannot be read in these fields is passed over.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, HeaderName};

/// How the bytes of a file are packed, in the order in which we like them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
    Plain,
}

impl Coding {
    /// As Content-Encoding names it; plain bytes need no name.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Plain => None,
        }
    }
}

/// A quality in thousandths.
type Quality = u16;
const WHOLE: Quality = 1000;

/// How much a client likes each of these, most first; of equals ours comes first. What it refuses is left out, but for
/// plain bytes, which are better than none.
pub(crate) fn ranked(fields: &HeaderMap, have: impl Iterator<Item = Coding>) -> Option<Coding> {
    let asked: Vec<_> = members(fields, ACCEPT_ENCODING).collect();
    let said = |name: &str| asked.iter().find(|(word, _)| word.eq_ignore_ascii_case(name)).map(|(_, quality)| *quality);
    let liked = |coding: Coding| match coding {
        Coding::Brotli => said("br").or_else(|| said("*")).unwrap_or(0),
        Coding::Gzip => said("gzip").or_else(|| said("x-gzip")).or_else(|| said("*")).unwrap_or(0),
        // Not named it is taken all the same, after all that is named.
        Coding::Plain => said("identity").or_else(|| said("*")).unwrap_or(0),
    };
    let mut best: Option<(Coding, Quality)> = None;
    for (coding, quality) in have.map(|coding| (coding, liked(coding))) {
        let is_wanted = quality > 0 || coding == Coding::Plain;
        if is_wanted && best.is_none_or(|(_, before)| quality > before) {
            best = Some((coding, quality));
        }
    }
    best.map(|(coding, _)| coding)
}

/// Whether a client asks for HTML by its name, as a browser does for what a person opens, and a program does not.
pub(crate) fn wants_html(fields: &HeaderMap) -> bool {
    members(fields, ACCEPT).any(|(kind, quality)| kind.eq_ignore_ascii_case("text/html") && quality > 0)
}

/// The members of a list, each with its quality.
fn members(fields: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, Quality)> {
    let texts = fields.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).filter_map(|member| {
        let mut parts = member.split(';').map(str::trim);
        let word = parts.next().filter(|word| !word.is_empty())?;
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some((word, weight.map_or(Some(WHOLE), quality)?))
    })
}

/// `0`, `1`, or with at most three decimals.
fn quality(text: &str) -> Option<Quality> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let thousandths: Quality = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(WHOLE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(name: HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_form_is_the_one_that_the_client_likes_best() {
        let all = [Coding::Brotli, Coding::Gzip, Coding::Plain];
        let check = |accept: &[&str], expected: Coding| {
            assert_eq!(ranked(&fields(ACCEPT_ENCODING, accept), all.into_iter()), Some(expected), "{accept:?}");
        };
        check(&["gzip, deflate, br, zstd"], Coding::Brotli);
        check(&["gzip"], Coding::Gzip);
        check(&["GZIP"], Coding::Gzip);
        check(&["x-gzip"], Coding::Gzip);
        check(&["deflate, zstd"], Coding::Plain);
        check(&["gzip;q=1.0, br;q=0.5"], Coding::Gzip);
        check(&["br;q=0.5, gzip;q=0.501"], Coding::Gzip);
        check(&["gzip ; q=0.8", "br"], Coding::Brotli);
        check(&["br;q=0, gzip;q=0"], Coding::Plain);
        check(&["identity;q=1, br;q=0.9"], Coding::Plain);
        check(&["gzip;q=0.1"], Coding::Gzip);
        check(&["*"], Coding::Brotli);
        check(&["br;q=0, *;q=0.3"], Coding::Gzip);
        check(&["*;q=0"], Coding::Plain);
        check(&["br;q=2, gzip;q=0.1234, x;q="], Coding::Plain);
        check(&["", ",, ;"], Coding::Plain);
        check(&[], Coding::Plain);
        assert_eq!(ranked(&fields(ACCEPT_ENCODING, &["br"]), [Coding::Plain].into_iter()), Some(Coding::Plain));
    }

    #[test]
    fn a_browser_asks_for_html_by_name() {
        let check = |accept: &[&str], expected: bool| {
            assert_eq!(wants_html(&fields(ACCEPT, accept)), expected, "{accept:?}");
        };
        check(&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], true);
        check(&["application/json, Text/HTML;q=0.1"], true);
        check(&["*/*"], false);
        check(&["text/*"], false);
        check(&["application/json"], false);
        check(&["text/html;q=0, */*"], false);
        check(&[], false);
    }
}
