//! What has the shape of a code and is certainly none: parts of addresses, amounts, times, dates, versions, phones.

use std::ops::Range;

use super::shapes::is_hyphen;
use crate::extract::blocks::Block;
use crate::extract::links::text::urls;
use crate::extract::words::{Topic, is_unspaced};

/// Signs of money, and others that make an amount of the number beside them.
const AMOUNT_SIGNS: &[char] = &[
    '$', '€', '£', '¥', '₹', '₽', '₺', '₴', '₩', '₪', '฿', '₫', '₱', '₦', '₸', '₾', '¢', '%', '‰', '°', '￥', '×', '℃',
];

/// Letters of the longest word for a currency.
const CURRENCY_MAX: usize = 8;

/// The stretches of a block that are addresses of the web or of mail, in order.
pub(super) fn spans(block: &Block) -> Vec<Range<usize>> {
    let mut spans = urls(&block.folded);
    spans.extend(mailboxes(&block.folded));
    spans.sort_by_key(|span| span.start);
    spans
}

/// Words with an `@` inside.
fn mailboxes(folded: &[char]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for word in folded.split(|letter| *letter == ' ') {
        let at = word.iter().position(|letter| *letter == '@');
        if at.is_some_and(|at| at > 0 && at + 1 < word.len()) {
            found.push(start..start + word.len());
        }
        start += word.len() + 1;
    }
    found
}

/// Whether what stands beside a candidate makes it something else.
pub(super) fn beside(block: &Block, start: usize, end: usize) -> bool {
    let before = |steps: usize| start.checked_sub(steps).and_then(|at| block.folded.get(at)).copied();
    let after = |steps: usize| block.folded.get(end + steps - 1).copied();
    glued(before(1), after(1))
        || continued(before(1), before(2))
        || continued(after(1), after(2))
        || hyphened(before(1), before(2))
        || bracketed(&block.folded, start, end)
        || amount(block, start, end)
        || masked(&block.folded, start, end)
        || signs_before(&block.folded[..start], &['©', '+'])
}

/// A letter, a digit or `_` at once beside it; letters of scripts without blanks are none.
fn glued(before: Option<char>, after: Option<char>) -> bool {
    [before, after]
        .into_iter()
        .flatten()
        .any(|letter| letter == '_' || (letter.is_alphanumeric() && !is_unspaced(letter)))
}

/// A mark that joins it to a digit: decimals, times, dates, versions, addresses, fractions.
fn continued(mark: Option<char>, next: Option<char>) -> bool {
    let is_digit = next.is_some_and(|next| next.is_ascii_digit());
    match mark {
        Some('.' | ',' | ':' | '\'' | '：' | '·' | '٫' | '٬') => is_digit,
        Some('/' | '\\' | '=' | '&') => next.is_some_and(|next| next.is_alphanumeric()),
        _ => false,
    }
}

/// The last digits of a card, `•••• 4829`; marks on both sides are no mask but for stress.
fn masked(folded: &[char], start: usize, end: usize) -> bool {
    let is_mask = |letter: &char| matches!(letter, '*' | '•' | '●' | '…' | '∙');
    let before = folded[..start].strip_suffix(&[' ']).unwrap_or(&folded[..start]);
    before.last().is_some_and(is_mask) && !folded.get(end).is_some_and(is_mask)
}

/// The end of a word with a hyphen, as in `step-1234`; a hyphen behind it begins an ending.
fn hyphened(mark: Option<char>, next: Option<char>) -> bool {
    mark.is_some_and(is_hyphen) && next.is_some_and(|next| next.is_alphanumeric() && !is_unspaced(next))
}

/// `(030) 1234`: an area, and the rest of its number.
fn bracketed(folded: &[char], start: usize, end: usize) -> bool {
    let before = folded[..start].strip_suffix(&[' ']).unwrap_or(&folded[..start]);
    let is_rest = matches!(before, [.., digit, ')'] if digit.is_ascii_digit());
    let after = folded[end..].strip_prefix(&[')']).map(|after| after.strip_prefix(&[' ']).unwrap_or(after));
    let is_area =
        before.last() == Some(&'(') && after.is_some_and(|after| after.first().is_some_and(char::is_ascii_digit));
    is_rest || is_area
}

/// Beside a currency or a unit.
fn amount(block: &Block, start: usize, end: usize) -> bool {
    signs_before(&block.folded[..start], AMOUNT_SIGNS)
        || signs_after(&block.folded[end..])
        || unit_after(block, end)
        || currency_before(block, start)
}

/// One of the signs, perhaps with a blank behind it.
fn signs_before(before: &[char], signs: &[char]) -> bool {
    let before = before.strip_suffix(&[' ']).unwrap_or(before);
    before.last().is_some_and(|last| signs.contains(last))
}

fn signs_after(after: &[char]) -> bool {
    let after = after.strip_prefix(&[' ']).unwrap_or(after);
    after.first().is_some_and(|first| AMOUNT_SIGNS.contains(first))
}

/// A unit or a currency as the next word.
fn unit_after(block: &Block, end: usize) -> bool {
    let at = end + usize::from(block.folded.get(end) == Some(&' '));
    let from = block.hits.partition_point(|hit| hit.start < at);
    let mut here = block.hits[from..].iter().take_while(|hit| hit.start == at);
    here.any(|hit| matches!(hit.topic, Topic::Unit | Topic::Currency))
}

/// A currency as the word before, as in `EUR 1200`.
fn currency_before(block: &Block, start: usize) -> bool {
    let at = start - usize::from(block.folded[..start].last() == Some(&' '));
    let until = block.hits.partition_point(|hit| hit.start < at);
    let mut near = block.hits[..until].iter().rev().take_while(|hit| hit.start + CURRENCY_MAX >= at);
    near.any(|hit| hit.topic == Topic::Currency && hit.end == at)
}
