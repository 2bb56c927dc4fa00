//! Numbers and names as a person reads them.

use crate::log;

/// `1 message`, `1,234 messages`.
pub(super) fn count(number: u64, one: &str) -> String {
    format!("{} {one}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// `1 mailbox`, `2 mailboxes`.
pub(super) fn many(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { more })
}

/// `12.3 MB`.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if number < 1000 {
        return count(number, "byte");
    }
    let mut value = number as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A name that came from outside, such that it cannot do anything to a terminal.
pub(super) fn shown(name: &str) -> String {
    log::escaped(name)
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        for (number, expected) in
            [(0, "0 messages"), (1, "1 message"), (999, "999 messages"), (1_234_567, "1,234,567 messages")]
        {
            assert_eq!(count(number, "message"), expected);
        }
        for (number, expected) in
            [(1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (999_960, "1.0 MB")]
        {
            assert_eq!(bytes(number), expected);
        }
        assert_eq!(many(2, "body", "bodies"), "2 bodies");
    }

    #[test]
    fn a_name_does_nothing_to_a_terminal() {
        assert_eq!(shown("a\x1b[31m\u{202e}ü"), "a\\u{1b}[31m\\u{202e}ü");
    }
}
