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
    let (year, micros) = (u32::from(time.year().unsigned_abs()), time.subsec_nanosecond().unsigned_abs() / 1000);
    pair(&mut out, 0, year / 100);
    pair(&mut out, 2, year % 100);
    pair(&mut out, 5, time.month() as u32);
    pair(&mut out, 8, time.day() as u32);
    clock(&mut out, 11, time);
    pair(&mut out, 20, micros / 10_000);
    pair(&mut out, 22, micros / 100 % 100);
    pair(&mut out, 24, micros % 100);
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
    pair(&mut out, 5, time.day() as u32);
    out[8..11].copy_from_slice(MONTHS[time.month() as usize - 1]);
    let year = u32::from(time.year().unsigned_abs());
    pair(&mut out, 12, year / 100);
    pair(&mut out, 14, year % 100);
    clock(&mut out, 17, time);
    out
}

fn utc(at: Timestamp) -> DateTime {
    Offset::UTC.to_datetime(at)
}

/// `hh:mm:ss`
fn clock<const N: usize>(out: &mut [u8; N], at: usize, time: DateTime) {
    pair(out, at, time.hour() as u32);
    pair(out, at + 3, time.minute() as u32);
    pair(out, at + 6, time.second() as u32);
}

/// Two decimal digits of a number below 100.
fn pair<const N: usize>(out: &mut [u8; N], at: usize, number: u32) {
    out[at] = b'0' + (number / 10) as u8;
    out[at + 1] = b'0' + (number % 10) as u8;
}
