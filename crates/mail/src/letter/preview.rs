//! The first words of a message, for a list.

/// Characters of a preview.
pub const PREVIEW_MAX: usize = 140;

/// The beginning of a text on one line. What senders fill it up with, so that readers' lists show nothing else, is left
/// out: words of letters that nobody sees.
pub(super) fn of(text: &str) -> String {
    let mut preview = String::new();
    let mut room = PREVIEW_MAX;
    for word in text.split(is_blank).filter(|word| !word.chars().all(is_unseen)) {
        if !preview.is_empty() {
            preview.push(' ');
            room -= 1;
        }
        let end = word.char_indices().nth(room).map_or(word.len(), |(end, _)| end);
        preview.push_str(&word[..end]);
        room -= word[..end].chars().count();
        if room <= 1 {
            break;
        }
    }
    preview
}

fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control()
}

/// Letters without a shape. Within a word they may join or part others; a word of nothing else is filling.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_by_example() {
        for (text, preview) in [
            ("", ""),
            (" \r\n\t ", ""),
            ("Hello\n\n  world\t!\n", "Hello world !"),
            ("Hi \u{34f} \u{200c} \u{a0}\u{feff} there", "Hi there"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("a\u{0}b", "a b"),
        ] {
            assert_eq!(of(text), preview, "{text:?}");
        }
    }

    #[test]
    fn a_preview_ends_at_its_limit_whatever_the_words_are() {
        for word in ["x", "xy", "ü", "日本", "x ", "abc ", "é é é ", "\u{200b} "] {
            let preview = of(&word.repeat(1000));
            let letters = preview.chars().count();
            assert!(letters <= PREVIEW_MAX && !preview.ends_with(' '), "{word:?}: {letters}");
            assert!(letters >= PREVIEW_MAX - 1 || word.contains('\u{200b}'), "{word:?}: {letters}");
        }
    }
}
