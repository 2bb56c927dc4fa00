//! Numbers and how they are written.

use std::time::Duration;

/// The middle one; of an even count the mean of the two in the middle. There must be one.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// The time that this share of all times stays within (nearest rank). There must be one.
pub(crate) fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort();
    let rank = (times.len() as f64 * share).ceil() as usize;
    times[rank.clamp(1, times.len()) - 1]
}

/// `12 345`, without a fraction.
pub(crate) fn grouped(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

/// Bytes as megabytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// A goal that something be at least, or at most, so much.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    None,
}

impl Goal {
    /// `≥ 0.9: reached`, or nothing where there is no goal.
    pub(crate) fn judged(self, figure: f64) -> String {
        let (sign, bound, reached) = match self {
            Self::AtLeast(bound) => ("≥", bound, figure >= bound),
            Self::AtMost(bound) => ("≤", bound, figure <= bound),
            Self::None => return "–".into(),
        };
        format!("{sign} {bound}: {}", if reached { "reached" } else { "**missed**" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_rank_and_groups() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        let mut times: Vec<_> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(&mut times, 0.99), Duration::from_millis(198));
        assert_eq!(percentile(&mut times[..1], 0.5), Duration::from_millis(1));
        assert_eq!(["7", "1 234", "12 345 678"].map(String::from), [7.4, 1234.0, 12_345_678.0].map(grouped));
    }

    #[test]
    fn a_missed_goal_says_so() {
        assert_eq!(Goal::AtLeast(0.9).judged(0.91), "≥ 0.9: reached");
        assert_eq!(Goal::AtMost(0.8).judged(0.81), "≤ 0.8: **missed**");
    }
}
