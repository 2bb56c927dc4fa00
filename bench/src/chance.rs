//! Chance that can be repeated: what is drawn comes from the seed, and from nothing else.

use std::time::Duration;

/// A stream of numbers (SplitMix64, of Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators, 2014).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// A stream of its own for each pair of numbers.
    #[must_use]
    pub fn new(seed: u64, number: u64) -> Self {
        let mut chance = Self(seed ^ number.wrapping_mul(0xff51_afd7_ed55_8ccd));
        chance.0 = chance.number();
        chance
    }

    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, this.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    /// Whether something happens that does so many times in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A time between nothing and this.
    pub fn time(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.below(1 << 20) as f64 / f64::from(1 << 20))
    }
}
