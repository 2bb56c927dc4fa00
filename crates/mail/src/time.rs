//! Times as the house writes them. Which time it is, is never asked here.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

#[cfg(test)]
mod tests;

const DAYS: [&[u8; 3]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// RFC 3339 with six fractional digits and `+00:00`, as REST shows every time. Written by hand: a list writes hundreds.
pub fn rfc3339(at: Timestamp) -> [u8; 32] {
    let time = utc(at);
    let mut out = *b"0000-00-00T00:00:00.000000+00:00";
    put(&mut out[..4], u32::from(time.year().unsigned_abs()));
    put(&mut out[5..7], time.month() as u32);
    put(&mut out[8..10], time.day() as u32);
    put_clock(&mut out[11..19], time);
    put(&mut out[20..26], time.subsec_nanosecond() as u32 / 1000);
    out
}

/// The date of a trace field: RFC 5322 §3.3 in UTC, as `Sun, 15 Nov 2026 07:10:58 +0000`.
pub fn rfc5322(at: Timestamp) -> String {
    String::from_utf8_lossy(&trace_date(at)).into_owned()
}

/// [`rfc5322`] without an allocation.
pub(crate) fn trace_date(at: Timestamp) -> [u8; 31] {
    let time = utc(at);
    let mut out = *b"Day, 00 Mon 0000 00:00:00 +0000";
    out[..3].copy_from_slice(DAYS[time.weekday().to_monday_zero_offset() as usize]);
    put(&mut out[5..7], time.day() as u32);
    out[8..11].copy_from_slice(MONTHS[time.month() as usize - 1]);
    put(&mut out[12..16], u32::from(time.year().unsigned_abs()));
    put_clock(&mut out[17..25], time);
    out
}

fn utc(at: Timestamp) -> DateTime {
    Offset::UTC.to_datetime(at)
}

/// `hh:mm:ss`
fn put_clock(place: &mut [u8], time: DateTime) {
    put(&mut place[..2], time.hour() as u32);
    put(&mut place[3..5], time.minute() as u32);
    put(&mut place[6..8], time.second() as u32);
}

/// Decimal digits that fill the place, with leading zeros.
fn put(place: &mut [u8], mut number: u32) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}
