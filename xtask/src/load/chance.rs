//! Chance that can be repeated: what is drawn comes from the seed, and from nothing else.

use std::time::Duration;

/// A stream of numbers (SplitMix64, of Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators, 2014).
#[derive(Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// A stream of its own for each list of numbers.
    pub(crate) fn new(numbers: &[u64]) -> Self {
        let mut chance = Self(0);
        for number in numbers {
            chance.0 ^= number.wrapping_mul(0xff51_afd7_ed55_8ccd);
            chance.0 = chance.number();
        }
        chance
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, this.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    /// From 0 up to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether something happens that does so many times in a hundred.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Between two bounds, with each order of magnitude as likely as any other.
    pub(crate) fn spread(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + self.share() * (most / least).ln()).exp()
    }

    /// A time between nothing and this.
    pub(crate) fn time(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.share())
    }
}
