//! Addresses of the web in running text.

use std::ops::Range;

use crate::extract::words::is_unspaced;

/// Characters of an address; a longer one is none.
const URL_MAX: usize = 4096;

/// Where addresses stand: `https://…`, `http://…`, `www.…`, and `host.name/path`.
pub(in crate::extract) fn urls(folded: &[char]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < folded.len() {
        let end = at + folded[at..].iter().position(|letter| !is_part(*letter)).unwrap_or(folded.len() - at);
        if let Some(start) = begin(&folded[at..end]) {
            let end = trimmed(&folded[..end], at + start);
            found.push(at + start..end);
        }
        at = end + 1;
    }
    found
}

/// Where an address begins in a stretch without blanks.
fn begin(word: &[char]) -> Option<usize> {
    let slashes = word.windows(3).position(|three| three == [':', '/', '/']);
    if let Some(at) = slashes {
        let scheme = word[..at].iter().rev().take_while(|letter| letter.is_ascii_alphabetic()).count();
        return (scheme > 0).then_some(at - scheme);
    }
    let slash = word.iter().position(|letter| *letter == '/').unwrap_or(word.len());
    let host = &word[..slash];
    let is_www = host.starts_with(&['w', 'w', 'w', '.']);
    let is_host = slash < word.len()
        && host.windows(3).any(|three| matches!(three, [_, '.', letter] if letter.is_ascii_alphabetic()));
    (is_www || is_host).then_some(0)
}

fn is_part(letter: char) -> bool {
    !(letter.is_whitespace() || letter.is_control())
        && !matches!(
            letter,
            '<' | '>' | '"' | '“' | '”' | '«' | '»' | '„' | '「' | '」' | '（' | '）' | '。' | '，' | '、'
        )
        && !is_unspaced(letter)
}

/// Without the marks of the sentence around it.
fn trimmed(text: &[char], start: usize) -> usize {
    let mut end = text.len().min(start + URL_MAX);
    while end > start {
        let is_open = || text[start..end].contains(&'(');
        match text[end - 1] {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | ']' | '}' | '*' | '’' => end -= 1,
            ')' if !is_open() => end -= 1,
            _ => break,
        }
    }
    end
}
