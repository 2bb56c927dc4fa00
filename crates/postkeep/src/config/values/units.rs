//! Sizes and durations with units.

use std::fmt;
use std::time::Duration;

use net::Quota;

/// Largest first, so that writing finds the shortest form.
const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

/// In milliseconds, largest first.
const TIMES: [(&str, u64); 6] =
    [("w", 7 * 86_400_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Bytes, as a person writes them.
pub(crate) struct Size(pub(crate) u64);

/// A duration, as a person writes it.
pub(crate) struct Time(pub(crate) Duration);

/// `25MiB`, `25 MiB`, `25000000`.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = number(text)?;
    let unit = unit.trim_start();
    let factor = match unit {
        "" => 1,
        _ => SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1,
    };
    number.checked_mul(factor)
}

/// `5m`, `1h30m`, `500ms`, `0`; each unit at most once, larger ones first.
pub(crate) fn time(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut units, mut total) = (text, &TIMES[..], 0_u64);
    while !rest.is_empty() {
        let (count, behind) = number(rest)?;
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let at = units.iter().position(|(name, _)| *name == &behind[..end])?;
        total = total.checked_add(count.checked_mul(units[at].1)?)?;
        (rest, units) = (&behind[end..], &units[at + 1..]);
    }
    (!text.is_empty()).then(|| Duration::from_millis(total))
}

/// `100/1m`, `100/m`, `100MiB/1h`; `0` and `off` are no limit.
pub(crate) fn rate(text: &str) -> Option<Option<Quota>> {
    if text == "0" || text == "off" {
        return Some(None);
    }
    let (count, per) = text.split_once('/')?;
    let count = u32::try_from(size(count.trim())?).ok().filter(|&count| count > 0)?;
    let per = per.trim();
    let per = time(per).or_else(|| time(&format!("1{per}"))).filter(|per| !per.is_zero())?;
    Some(Some(Quota { count, per }))
}

/// The digits in front, and what stands behind them.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = SIZES.iter().find(|(_, factor)| self.0 != 0 && self.0.is_multiple_of(*factor));
        match whole {
            Some((unit, factor)) if *factor > 1 => write!(out, "{}{unit}", self.0 / factor),
            _ => self.0.fmt(out),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if left == 0 {
            return out.write_str("0");
        }
        // Weeks are read but not written: "7d" is what people say.
        for (unit, factor) in &TIMES[1..] {
            if left >= *factor {
                write!(out, "{}{unit}", left / factor)?;
                left %= factor;
            }
        }
        Ok(())
    }
}
