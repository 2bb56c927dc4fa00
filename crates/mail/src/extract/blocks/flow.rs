//! Characters into blocks: blanks collapse, marks without width go, the digits of all scripts become ASCII beside them.

use super::{Block, Look, Span};
use crate::extract::words;

impl Block {
    /// Put one character. A blank is put only between others.
    pub(super) fn put(&mut self, letter: char, look: Look) {
        if is_widthless(letter) {
            return;
        }
        if letter.is_whitespace() || letter.is_control() {
            if self.letters.last().is_none_or(|last| *last == ' ') {
                return;
            }
            return self.push(' ', look);
        }
        self.push(letter, look);
    }

    fn push(&mut self, letter: char, look: Look) {
        if self.spans.last().is_none_or(|span| span.look != look) {
            self.spans.push(Span { start: self.letters.len(), look });
        }
        self.worded += usize::from(letter.is_alphanumeric());
        self.letters.push(letter);
        self.folded.push(folded(letter));
    }

    /// Without a blank at its end; none if nothing is left.
    pub(super) fn finish(mut self) -> Option<Self> {
        if self.letters.last() == Some(&' ') {
            self.letters.pop();
            self.folded.pop();
        }
        self.hits = words::all(&self.folded);
        (!self.letters.is_empty()).then_some(self)
    }
}

/// In lower case, a digit as ASCII; always one character for one.
fn folded(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    match digit(letter) {
        Some(digit) => digit,
        None => match letter {
            '\u{2018}' | '\u{2019}' => '\'',
            // Full-width forms of ASCII.
            '\u{FF01}'..='\u{FF5E}' => {
                char::from_u32(u32::from(letter) - 0xFEE0).map_or(letter, |one| one.to_ascii_lowercase())
            }
            _ => letter.to_lowercase().next().unwrap_or(letter),
        },
    }
}

/// The first digits of the blocks of ten that mail is written with.
const ZEROS: &[u32] = &[
    0x0660, 0x06F0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0, 0x1040,
    0x17E0, 0xFF10, 0x1D7CE,
];

/// A digit of another script as ASCII.
fn digit(letter: char) -> Option<char> {
    let letter = u32::from(letter);
    let zero = ZEROS.iter().find(|&&zero| (zero..zero + 10).contains(&letter))?;
    char::from_digit(letter - zero, 10)
}

/// Soft hyphens, joiners, direction marks, the fillers of previews.
fn is_widthless(letter: char) -> bool {
    matches!(letter, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2069}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}
