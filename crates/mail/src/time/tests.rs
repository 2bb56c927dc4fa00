//! Against jiff's own formatting.

use super::*;

fn check(at: &str, rfc3339_text: &str, rfc5322_text: &str) {
    let at: Timestamp = at.parse().unwrap();
    assert_eq!(std::str::from_utf8(&rfc3339(at)).unwrap(), rfc3339_text);
    assert_eq!(rfc5322(at), rfc5322_text);
}

#[test]
fn times_are_written_in_full() {
    check("2026-11-15T07:10:58.123456789Z", "2026-11-15T07:10:58.123456+00:00", "Sun, 15 Nov 2026 07:10:58 +0000");
    check("2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000000+00:00", "Thu, 29 Feb 2024 23:59:59 +0000");
    check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000+00:00", "Thu, 01 Jan 1970 00:00:00 +0000");
    check("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999+00:00", "Wed, 31 Dec 1969 23:59:59 +0000");
    check("2026-01-05T01:02:03.000004Z", "2026-01-05T01:02:03.000004+00:00", "Mon, 05 Jan 2026 01:02:03 +0000");
}

#[test]
fn every_day_of_some_years_agrees_with_the_library() {
    for day in 0..1500 {
        let at = Timestamp::from_second(1_700_000_000 + day * 86_461).unwrap();
        let zoned = at.to_zoned(jiff::tz::TimeZone::UTC);
        assert_eq!(rfc5322(at), zoned.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string());
        assert_eq!(&rfc3339(at)[..], zoned.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string().as_bytes());
    }
}
