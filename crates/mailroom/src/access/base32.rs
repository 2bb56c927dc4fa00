//! Bits as digits: the base32 of message ids, for names and secrets that are made of random numbers and of codes.

/// As in message ids: no `i`, `l`, `o`, `u`, so that nothing is read as something else.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The first so many digits of some octets, five bits each. There must be bits enough.
pub(crate) fn digits(octets: &[u8], count: usize) -> String {
    let bit = |place: usize| usize::from(octets[place / 8] >> (7 - place % 8) & 1);
    let digit = |place: usize| (0..5).fold(0, |number, offset| number << 1 | bit(place * 5 + offset));
    (0..count).map(|place| char::from(DIGITS[digit(place)])).collect()
}

/// The number that some digits write; none when they are not digits.
pub(crate) fn number(text: &str) -> Option<u64> {
    let value = |byte: u8| DIGITS.iter().position(|digit| *digit == byte).map(|place| place as u64);
    text.bytes().try_fold(0, |number, byte| Some(number << 5 | value(byte)?))
}

/// A number in so many digits, the leading ones 0.
pub(crate) fn written(number: u64, count: usize) -> String {
    (0..count).rev().map(|place| char::from(DIGITS[(number >> (5 * place) & 31) as usize])).collect()
}

/// Whether these are digits and nothing else.
pub(crate) fn is_digits(text: &[u8]) -> bool {
    text.iter().all(|byte| DIGITS.contains(byte))
}
