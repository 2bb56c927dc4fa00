//! Which blocks of a part are its small print, a postal address or a quoted mail. By markup where there is some, else
//! by words: small print begins where its first words stand, if that is not at the top and the block is not about
//! a code, and goes on to the end.

use super::{Block, Region};
use crate::extract::words::{self, Topic};

/// The blocks at the top in which words of small print are a line about the mail ("view in browser").
const TOP: usize = 2;

/// Characters of a line with a postal address.
const ADDRESS_MAX: usize = 200;

/// Mark the blocks of one part.
pub(super) fn mark(blocks: &mut [Block]) {
    let (mut quoted, mut footer) = (false, false);
    let count = blocks.len();
    for (at, block) in blocks.iter_mut().enumerate() {
        quoted |= opens_quote(block);
        footer |= is_signature(block) || (at >= TOP && at * 2 >= count && opens_small_print(block));
        let look = block.look(0);
        block.region = match () {
            () if quoted || look.quoted || block.letters.first() == Some(&'>') => Region::Quoted,
            () if footer || look.footer || block.letters.contains(&'©') => Region::Footer,
            () if is_address(block) => Region::Address,
            () => Region::Main,
        };
    }
}

/// "On Monday, Ann wrote:" and what other programs write there.
fn opens_quote(block: &Block) -> bool {
    let ends_in_colon = matches!(block.letters.last(), Some(':' | '：'));
    let is_rule = block.letters.starts_with(&['-'; 3]);
    block.letters.len() < 200 && (ends_in_colon || is_rule) && words::tells(&block.hits, Topic::Quote)
}

fn opens_small_print(block: &Block) -> bool {
    words::tells(&block.hits, Topic::Footer) && !words::tells(&block.hits, Topic::Code)
}

/// "-- " before a signature.
fn is_signature(block: &Block) -> bool {
    block.letters == ['-', '-']
}

fn is_address(block: &Block) -> bool {
    let has_digits = || block.folded.iter().any(char::is_ascii_digit);
    block.letters.len() < ADDRESS_MAX && words::tells(&block.hits, Topic::Address) && has_digits()
}
