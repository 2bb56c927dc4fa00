//! Texts for people: times, durations and strangers' words, so that none of these harms a terminal or a log.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer};

/// The time of a day here, as `09:30:02`.
pub(crate) fn clock(time: SystemTime) -> String {
    let stamp = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    stamp.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// `20 s`, `1.5 s`, `2 min`.
pub(crate) fn span(time: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    match tenths {
        _ if tenths >= 1200 && tenths.is_multiple_of(600) => format!("{} min", tenths / 600),
        _ if tenths.is_multiple_of(10) => format!("{} s", tenths / 10),
        _ => format!("{}.{} s", tenths / 10, tenths % 10),
    }
}

/// A duration as the API has it.
pub(crate) fn duration(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// In quotes, and harmless.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", plain(text))
}

/// Control characters, and those that turn the direction of a line, as escapes.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(letter.escape_default())
            }
            _ if letter.is_control() => out.extend(letter.escape_default()),
            _ => out.push(letter),
        }
    }
    out
}

/// A time as the API writes it.
pub(crate) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(from)?;
    text.parse::<Timestamp>().map(SystemTime::from).map_err(serde::de::Error::custom)
}

/// The same where there may be none.
pub(crate) fn maybe_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SystemTime>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let time = text.map(|text| text.parse::<Timestamp>().map(SystemTime::from)).transpose();
    time.map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_by_example() {
        for (millis, expected) in [(0, "0 s"), (20_000, "20 s"), (1_204, "1.2 s"), (90_000, "90 s"), (120_000, "2 min")]
        {
            assert_eq!(span(Duration::from_millis(millis)), expected);
        }
    }

    #[test]
    fn strangers_words_are_harmless() {
        assert_eq!(quoted("a\u{1b}[2J\n\u{202e}b é"), "\"a\\u{1b}[2J\\n\\u{202e}b é\"");
    }
}
