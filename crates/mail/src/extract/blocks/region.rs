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
    let mut quoted = false;
    let mut footer = false;
    let count = blocks.len();
    for at in 0..count {
        let block = &blocks[at];
        let tells = |topic| words::tells(&block.hits, topic);
        quoted |= opens_quote(block, tells(Topic::Quote));
        let is_small_print = at >= TOP && at * 2 >= count && tells(Topic::Footer) && !tells(Topic::Code);
        footer |= is_small_print || is_signature(block);
        let look = block.look(0);
        blocks[at].region = match () {
            () if quoted || look.quoted || block.letters.first() == Some(&'>') => Region::Quoted,
            () if footer || look.footer || is_copyright(block) => Region::Footer,
            () if tells(Topic::Address) && has_digits(block) && block.letters.len() < ADDRESS_MAX => Region::Address,
            () => Region::Main,
        };
    }
}

/// "On Monday, Ann wrote:" and what other programs write there.
fn opens_quote(block: &Block, tells: bool) -> bool {
    let ends_in_colon = matches!(block.letters.last(), Some(':' | '：'));
    let is_rule = block.letters.starts_with(&['-'; 3]);
    tells && block.letters.len() < 200 && (ends_in_colon || is_rule)
}

/// "-- " before a signature.
fn is_signature(block: &Block) -> bool {
    block.letters == ['-', '-']
}

fn is_copyright(block: &Block) -> bool {
    block.letters.iter().any(|letter| *letter == '©')
}

fn has_digits(block: &Block) -> bool {
    block.folded.iter().any(char::is_ascii_digit)
}
