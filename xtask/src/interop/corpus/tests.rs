//! The corpus keeps its promises: how many, how named, how large, and each trait somewhere.

use std::collections::HashSet;

use super::*;

#[test]
fn there_are_forty_letters_each_with_a_name_and_a_mailbox_of_its_own() {
    let letters = letters("aiosmtplib", Transport::StartTls);
    assert_eq!(letters.len(), 40);
    assert_eq!(letters.iter().map(|letter| letter.name).collect::<HashSet<_>>().len(), 40);
    assert_eq!(letters.iter().map(Letter::mailbox).collect::<HashSet<_>>().len(), 40);
    assert!(letters.iter().all(|letter| letter.raw.len() < MESSAGE_MAX && letter.mailbox().len() <= 64));
}

#[test]
fn a_letter_has_the_traits_that_its_name_tells() {
    let letters = letters("x", Transport::Plain);
    let having = |of: fn(&Traits) -> bool| -> Vec<&str> {
        letters.iter().filter(|letter| of(&letter.has)).map(|letter| letter.name).collect()
    };
    assert_eq!(having(|has| has.utf8), ["utf8-header", "utf8-address"]);
    let eight_bit = ["utf8-header", "utf8-address", "utf8-body", "latin1-body", "high-octets"];
    assert_eq!(having(|has| has.eight_bit), eight_bit);
    assert_eq!(having(|has| has.nul), ["nul-octets"]);
    assert_eq!(having(|has| has.bare), ["bare-lf"]);
    assert_eq!(having(|has| has.long_line), ["header-line-3000", "line-2000", "line-100000"]);
    assert_eq!(having(|has| has.unterminated), ["unterminated"]);
    assert_eq!(having(|has| has.large), ["attachment-20-mib"]);
    assert_eq!(having(|has| has.empty), ["empty-message"]);
}
