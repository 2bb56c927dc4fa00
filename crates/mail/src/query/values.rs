//! Sizes and times as they stand in a query.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// `1500`, `20KB`, `1MB`, `1MiB`: as sizes are written elsewhere, in any case.
pub(super) fn size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let times = match unit {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(times)
}

/// `2026-11-14`, which begins at midnight UTC, or a time as answers show it: `2026-11-14T09:30:00+00:00`.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    // A day alone: what else jiff would take of it is not meant.
    if text.len() != "2026-11-14".len() {
        return None;
    }
    text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp())
}
