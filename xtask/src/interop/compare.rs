//! Whether two runs of octets are equal, and when not, where they part, in words that fit on a line.

use super::program::Outcome;

/// So many octets are shown on either side of the place where two messages part.
const SHOWN: usize = 24;

/// Hold what came out against what went in.
pub(crate) fn octets(expected: &[u8], found: &[u8]) -> Outcome {
    if expected == found {
        return Outcome::Equal;
    }
    let at = expected.iter().zip(found).take_while(|(one, other)| one == other).count();
    let (lengths, shown) = ((expected.len(), found.len()), |octets: &[u8]| excerpt(octets, at));
    Outcome::Wrong(format!(
        "sent {} octets, found {}; they part at {at}: sent \"{}\", found \"{}\"",
        lengths.0,
        lengths.1,
        shown(expected),
        shown(found)
    ))
}

/// The neighbourhood of a place, escaped.
fn excerpt(octets: &[u8], at: usize) -> String {
    let (begin, end) = (at.saturating_sub(SHOWN), (at + SHOWN).min(octets.len()));
    octets[begin..end].escape_ascii().to_string()
}

/// Whether the needle is somewhere in there.
pub(crate) fn contains(octets: &[u8], needle: &[u8]) -> bool {
    octets.windows(needle.len()).any(|window| window == needle)
}
