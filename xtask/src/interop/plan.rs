//! Which letters go over which transport: all over all, or in the short form all over one, by turns, and a few over the
//! others.

use super::corpus::{self, Letter};
use super::program::{Program, Transport};

/// Letters that go over every transport in the short form too: a usual one, dots, long lines, and what needs extensions.
const ALWAYS: [&str; 6] = ["plain-ascii", "utf8-address", "high-octets", "line-2000", "dots", "unterminated"];

pub(super) enum Plan {
    Whole,
    /// The seed decides which program goes which way with all letters.
    Short {
        seed: u64,
    },
}

impl Plan {
    pub(super) fn new(short: bool, seed: Option<u64>) -> Self {
        if !short {
            return Self::Whole;
        }
        let clock = || std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let seed = seed.unwrap_or_else(clock);
        println!("short form, --seed {seed}");
        Self::Short { seed }
    }

    pub(super) fn letters(&self, program: &dyn Program, transport: Transport) -> Vec<Letter> {
        let mut letters = corpus::letters(program.name(), transport);
        if let Self::Short { seed } = self
            && !all_go(*seed, program, transport)
        {
            letters.retain(|letter| ALWAYS.contains(&letter.name));
        }
        letters
    }
}

/// Whether this is the transport that all letters of the program take: one of those that it has, and with the same seed
/// not the same one for every program.
fn all_go(seed: u64, program: &dyn Program, transport: Transport) -> bool {
    let ways: Vec<_> = Transport::ALL.into_iter().filter(|way| program.refuses(*way).is_none()).collect();
    let sum = program.name().bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let chosen = usize::try_from(sum % ways.len().max(1) as u64).unwrap_or_default();
    ways.get(chosen) == Some(&transport)
}

#[cfg(test)]
mod tests {
    use super::super::senders;
    use super::*;

    #[test]
    fn in_the_short_form_all_letters_take_one_way_and_a_few_the_others() {
        for program in senders::all() {
            for seed in 0..100 {
                let ways = Transport::ALL.into_iter().filter(|way| all_go(seed, program.as_ref(), *way));
                let ways: Vec<_> = ways.collect();
                assert_eq!(ways.len(), 1, "{}", program.name());
                assert_eq!(program.refuses(ways[0]), None, "{}", program.name());
            }
        }
    }

    #[test]
    fn the_few_are_letters_that_there_are() {
        let names: Vec<_> = corpus::letters("x", Transport::Plain).iter().map(|letter| letter.name).collect();
        assert!(ALWAYS.iter().all(|name| names.contains(name)));
    }
}
