//! Which words of a text tell something, in many languages. The words themselves are data: `words.txt`.
//!
//! One pass finds them all. Whoever asks for some topics gets the longest word at each place, and nothing inside of it:
//! a "postal code" is not also a "code".

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word tells. The file names them in lower case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Topic {
    Code,
    Enter,
    Number,
    Unit,
    Currency,
    Lasts,
    Footer,
    Address,
    Quote,
    Verify,
    Reset,
    Login,
    Unsubscribe,
    Idle,
    Decline,
}

/// A known word in a text, counted in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hit {
    pub(super) topic: Topic,
    pub(super) start: usize,
    pub(super) end: usize,
}

struct Word {
    letters: Vec<char>,
    topic: Topic,
    /// May begin inside of a word: the end of a compound.
    ends_compound: bool,
    /// Endings may follow.
    has_endings: bool,
}

const FILE: &str = include_str!("words.txt");

/// Words by how they begin.
struct Index {
    /// Whether some word may begin with a letter, by its last bits: most places in a text are passed over by this.
    firsts: [bool; FIRSTS],
    /// By the first two letters, the longest first; a word of one letter has a blank as its second.
    words: HashMap<[char; 2], Vec<Word>>,
}

const FIRSTS: usize = 1024;

/// Words that stand at the beginning of a word, and those that may also stand inside of one.
static BEGINNINGS: LazyLock<Index> = LazyLock::new(|| Index::read(|_| true));
static COMPOUNDS: LazyLock<Index> = LazyLock::new(|| Index::read(|word| word.ends_compound));

impl Index {
    fn read(is_wanted: impl Fn(&Word) -> bool) -> Self {
        let mut index = Self { firsts: [false; FIRSTS], words: HashMap::new() };
        let all = lines(FILE).filter_map(|(topic, _, word)| Some(Word::read(word, Topic::named(topic)?)));
        for word in all.filter(is_wanted) {
            let second = word.letters.get(1).copied().unwrap_or(' ');
            if let Some(&first) = word.letters.first() {
                index.firsts[u32::from(first) as usize % FIRSTS] = true;
                index.words.entry([first, second]).or_default().push(word);
            }
        }
        index.words.values_mut().for_each(|words| words.sort_by_key(|word| std::cmp::Reverse(word.letters.len())));
        index
    }

    /// The words that stand here.
    fn words_at<'t>(&'t self, text: &'t [char], at: usize) -> impl Iterator<Item = &'t Word> {
        let (first, second) = (text[at], text.get(at + 1).copied().unwrap_or(' '));
        let may_begin = self.firsts[u32::from(first) as usize % FIRSTS];
        let seconds = [second, ' '].into_iter().take(if second == ' ' { 1 } else { 2 }).filter(move |_| may_begin);
        let known = seconds.filter_map(move |second| self.words.get(&[first, second])).flatten();
        known.filter(move |word| word.stands_at(text, at))
    }
}

/// Topic, language and word, one after the other.
pub(super) fn lines(file: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")).flat_map(
        |(head, words)| {
            let (topic, language) = head.split_once(' ').unwrap_or((head, ""));
            words.split(", ").map(move |word| (topic, language, word))
        },
    )
}

impl Topic {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "code" => Self::Code,
            "enter" => Self::Enter,
            "number" => Self::Number,
            "unit" => Self::Unit,
            "currency" => Self::Currency,
            "lasts" => Self::Lasts,
            "footer" => Self::Footer,
            "address" => Self::Address,
            "quote" => Self::Quote,
            "verify" => Self::Verify,
            "reset" => Self::Reset,
            "login" => Self::Login,
            "unsubscribe" => Self::Unsubscribe,
            "idle" => Self::Idle,
            "decline" => Self::Decline,
            _ => return None,
        })
    }
}

impl Word {
    fn read(word: &str, topic: Topic) -> Self {
        let (word, has_endings) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
        let (word, ends_compound) = word.strip_prefix('*').map_or((word, false), |word| (word, true));
        Self { letters: word.chars().collect(), topic, ends_compound, has_endings }
    }

    fn stands_at(&self, text: &[char], at: usize) -> bool {
        let end = at + self.letters.len();
        text.get(at..end).is_some_and(|here| here == self.letters) && (self.has_endings || !continues(text, end))
    }

    /// Where the word that stands here ends, its ending included.
    fn end(&self, text: &[char], at: usize) -> usize {
        let end = at + self.letters.len();
        if !self.has_endings {
            return end;
        }
        end + (end..text.len()).take_while(|at| continues(text, *at) && text[*at].is_alphabetic()).count()
    }
}

/// All known words of a text that is folded to lower case, by where they begin, the longest first.
pub(super) fn all(folded: &[char]) -> Vec<Hit> {
    let mut found = Vec::new();
    for at in 0..folded.len() {
        let begins = at == 0 || !continues(folded, at) || !folded[at - 1].is_alphanumeric();
        let words = if begins { &BEGINNINGS } else { &COMPOUNDS }.words_at(folded, at);
        found.extend(words.map(|word| Hit { topic: word.topic, start: at, end: word.end(folded, at) }));
    }
    found
}

/// Those of some topics, in order, none inside another: of two that overlap the first and longest stays.
pub(super) fn of(hits: &[Hit], is_wanted: impl Fn(Topic) -> bool) -> Vec<Hit> {
    let mut found: Vec<Hit> = Vec::new();
    for hit in hits.iter().filter(|hit| is_wanted(hit.topic)) {
        if found.last().is_none_or(|last| hit.start >= last.end) {
            found.push(*hit);
        }
    }
    found
}

/// Whether one of a topic is among them.
pub(super) fn tells(hits: &[Hit], topic: Topic) -> bool {
    hits.iter().any(|hit| hit.topic == topic)
}

/// Whether the letter here belongs to the word before it.
fn continues(text: &[char], at: usize) -> bool {
    text.get(at).is_some_and(|&letter| letter.is_alphanumeric() && !is_unspaced(letter))
        && at.checked_sub(1).is_none_or(|before| !is_unspaced(text[before]))
}

/// Letters of scripts that put no blanks between words, or glue endings to anything.
pub(super) fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3130..=0x318F
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x2FFFF)
}

#[cfg(test)]
mod tests;
