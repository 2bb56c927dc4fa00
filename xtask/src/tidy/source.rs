//! Rust text as far as the rules need it: what is code and what is comment or literal, where a word stands, where a
//! brace closes, what only tests see. It is no parser, and code that does not compile may fool it.

use std::ops::Range;

/// The text with comments and the insides of literals blanked; every line and column stays where it was.
pub(super) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment(bytes, at);
        for byte in &mut out[at..end.max(at)] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out.into_iter().map(|byte| if byte.is_ascii() { byte } else { b'_' }).collect())
        .expect("only ASCII is left")
}

/// Where the comment or literal that begins here ends; `at` itself when none begins.
fn literal_or_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let fresh = at == 0 || !is_word(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(bytes, at),
        [b'"', ..] => string(bytes, at),
        [b'\'', ..] => character(bytes, at),
        [b'r', b'"' | b'#', ..] if fresh => raw_string(bytes, at, at + 1),
        [b'b' | b'c', b'r', b'"' | b'#', ..] if fresh => raw_string(bytes, at, at + 2),
        _ => at,
    }
}

fn block_comment(bytes: &[u8], begin: usize) -> usize {
    let (mut at, mut depth) = (begin, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `'a'`, `'\n'`, `'…'`, but not the lifetime `'a`.
fn character(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at + 1) == Some(&b'\\') {
        let rest = bytes.get(at + 3..).unwrap_or_default();
        return rest.iter().position(|byte| *byte == b'\'').map_or(bytes.len(), |place| at + 4 + place);
    }
    let width = match bytes.get(at + 1) {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    if bytes.get(at + 1 + width) == Some(&b'\'') { at + 2 + width } else { at }
}

fn raw_string(bytes: &[u8], begin: usize, hashes_at: usize) -> usize {
    let hashes = bytes[hashes_at..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(hashes_at + hashes) != Some(&b'"') {
        return begin; // a raw identifier
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let inside = hashes_at + hashes + 1;
    let found = bytes[inside..].windows(close.len()).position(|window| window == close);
    found.map_or(bytes.len(), |place| inside + place + close.len())
}

/// Part of a name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Every place where this stands as a whole word (or path: `Instant::now`).
pub(super) fn words<'t>(code: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let bytes = code.as_bytes();
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let after = at + word.len();
        (*at == 0 || !is_word(bytes[at - 1])) && (after == bytes.len() || !is_word(bytes[after]))
    })
}

/// The line, counted from 1, of a place.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Where the brace that opens here is closed (the place behind it), in code without literals.
pub(super) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    for (place, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return place + 1;
        }
    }
    code.len()
}

/// What only tests see: every item behind `#[cfg(test)]`.
pub(super) fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("#[cfg(test)]").map(|place| from + place) {
        let open = code[at..].find(['{', ';']).map_or(code.len(), |place| at + place);
        from = if code[open..].starts_with('{') { closing(code, open) } else { open };
        found.push(at..from);
    }
    found
}

/// The code with what only tests see blanked; every line stays where it was.
pub(super) fn without_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    for byte in test_ranges(code).into_iter().flatten() {
        if out[byte] != b'\n' {
            out[byte] = b' ';
        }
    }
    String::from_utf8(out).expect("code is ASCII")
}
