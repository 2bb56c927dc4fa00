//! Whether a piece of an address was made by chance: only one receiver has it, so the link is for them.

/// Fewest characters of a token.
const LENGTH_MIN: usize = 16;

/// Fewest bits that each of its characters tells.
const BITS_MIN: f64 = 3.2;

/// Characters that are counted.
const LENGTH_MAX: usize = 512;

pub(super) fn is_token(piece: &str) -> bool {
    let piece = &piece[..piece.floor_char_boundary(LENGTH_MAX)];
    is_uuid(piece) || (piece.len() >= LENGTH_MIN && is_random(piece))
}

/// Eight, four, four, four and twelve hexadecimal digits.
fn is_uuid(piece: &str) -> bool {
    let lengths = piece.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && piece.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_random(piece: &str) -> bool {
    let is_plain = piece.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~%=+:".contains(&byte));
    is_plain && !is_slug(piece) && bits(piece.as_bytes()) >= BITS_MIN
}

/// Words and numbers with marks between them: a title, not a token.
fn is_slug(piece: &str) -> bool {
    let is_word = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit())
            || part.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
                && part.bytes().take(1).all(|byte| byte.is_ascii_alphabetic())
    };
    let mut parts = piece.split(['-', '_', '.', '%', '+', '~', ':', '=']);
    parts.all(|part| part.is_empty() || (is_word(part) && part.len() < 16))
}

/// Shannon's entropy of one character.
fn bits(piece: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    piece.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = piece.len() as f64;
    let part = |count: u32| f64::from(count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -part(*count) * part(*count).log2()).sum()
}
