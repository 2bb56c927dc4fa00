//! The date a sender wrote (RFC 5322 §3.3), with the offset it was written in.

use std::fmt;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::Offset;

/// A wrong name of the day does not make a date unreadable.
const DATES: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// When a message says it was sent. Shown as RFC 3339 in its own offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentAt {
    /// The moment.
    pub at: Timestamp,
    /// The offset of the sender's clock.
    pub offset: Offset,
}

impl SentAt {
    /// Read an unfolded Date field.
    pub fn read(text: &str) -> Option<Self> {
        let zoned = DATES.parse_zoned(text.trim()).ok().or_else(|| DATES.parse_zoned(in_gmt(text)?).ok())?;
        Some(Self { at: zoned.timestamp(), offset: zoned.offset() })
    }
}

/// `UTC` and `Z` are no zones of RFC 5322, yet are written.
fn in_gmt(text: &str) -> Option<String> {
    let (rest, zone) = text.trim().rsplit_once(' ')?;
    matches!(zone, "UTC" | "Z" | "utc").then(|| format!("{rest} GMT"))
}

impl fmt::Display for SentAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.offset.to_datetime(self.at);
        let minutes = self.offset.seconds() / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
        write!(f, "{}{sign}{hours:02}:{minutes:02}", time.strftime("%Y-%m-%dT%H:%M:%S"))
    }
}
