//! What a query says. Every word of it is known and makes sense, or the request is refused: a misspelt one would lose
//! what it says, and a matcher that is lost matches everything.

use std::borrow::Cow;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use super::about::{Kind, Param};
use crate::asked::Asked;
use crate::problem::{Mistake, Problem};

/// A word that is further off than this was not meant.
const NEAREST_MAX: usize = 3;

/// A query, of which every name is known.
pub(crate) struct Params<'a> {
    pairs: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Params<'a> {
    /// Read the query of a request that may say these.
    pub(crate) fn read(asked: &'a Asked, known: &[Param]) -> Result<Self, Problem> {
        let (mut pairs, mut mistakes) = (Vec::new(), Vec::new());
        for pair in asked.query().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).unwrap_or(Cow::Borrowed("?"));
            match known.iter().find(|param| param.name == name) {
                None => mistakes.push(unknown(&name, known)),
                Some(param) if param.kind != Kind::Texts && pairs.iter().any(|(other, _)| *other == name) => {
                    mistakes.push(mistake(&name, "It is there twice. Say it once."));
                }
                Some(_) if decode(value).is_none() => {
                    mistakes.push(mistake(&name, "It is no UTF-8. Percent-encode its bytes."));
                }
                Some(_) => pairs.push((name, value)),
            }
        }
        if mistakes.is_empty() { Ok(Self { pairs }) } else { Err(Problem::mistakes(&mistakes)) }
    }

    /// A text in which a plus sign stands for a blank, as forms write it.
    #[allow(dead_code, reason = "for words that are looked for, which come with the search")]
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let raw = self.raw(name)?;
        decode(&raw.replace('+', " ")).map(Cow::into_owned)
    }

    /// A text in which a plus sign stands for itself: an address, a name, a cursor.
    pub(crate) fn exact(&self, name: &str) -> Option<Cow<'a, str>> {
        decode(self.raw(name)?)
    }

    /// All texts of this name, a plus sign standing for itself.
    pub(crate) fn exacts(&self, name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        self.pairs.iter().filter(move |(given, _)| given == name).filter_map(|(_, value)| decode(value))
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let digits = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        self.read_as(name, "a whole number such as 20", digits)
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        self.read_as(name, "true or false", |text| text.parse().ok())
    }

    /// A duration.
    #[allow(dead_code, reason = "for the operations that wait")]
    pub(crate) fn duration(&self, name: &str) -> Result<Option<Duration>, Problem> {
        self.read_as(name, "a duration such as 10s, 500ms or 2m", duration)
    }

    /// One of these words, by its number.
    pub(crate) fn word(&self, name: &str, words: &[&str]) -> Result<Option<usize>, Problem> {
        self.read_as(name, &words.join(" or "), |text| words.iter().position(|word| *word == text))
    }

    fn read_as<T>(&self, name: &str, what: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Problem> {
        let Some(text) = self.exact(name) else { return Ok(None) };
        read(&text).map(Some).ok_or_else(|| refuse(name, format!("{name} is {what}.")))
    }

    fn raw(&self, name: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(given, _)| given == name).map(|(_, value)| *value)
    }
}

/// The problem of one parameter.
pub(crate) fn refuse(name: &str, detail: impl Into<String>) -> Problem {
    Problem::mistakes(&[mistake(name, detail)])
}

fn mistake(name: &str, detail: impl Into<String>) -> Mistake {
    Mistake { place: "query", name: name.to_owned(), detail: detail.into(), nearest: None }
}

fn unknown(name: &str, known: &[Param]) -> Mistake {
    let nearest = nearest(name, known.iter().map(|param| param.name));
    let hint = match nearest {
        Some(meant) => format!(" Did you mean {meant}?"),
        None if known.is_empty() => " It takes none.".to_owned(),
        None => format!(" It takes {}.", known.iter().map(|param| param.name).collect::<Vec<_>>().join(", ")),
    };
    let name: String = name.chars().take(64).collect();
    let detail = format!("There is no parameter {name:?} here.{hint}");
    Mistake { place: "query", name, detail, nearest: nearest.map(str::to_owned) }
}

fn decode(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}

/// A whole number and its unit: `ms`, `s`, `m`, `h`, `d`.
#[allow(dead_code, reason = "for the operations that wait")]
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    Some(match unit {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60)?),
        "h" => Duration::from_secs(number.checked_mul(3600)?),
        "d" => Duration::from_secs(number.checked_mul(86_400)?),
        _ => return None,
    })
}

/// The known word that was probably meant: few letters off, case and hyphens aside.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.'], "");
    let word = plain(word.get(..word.len().min(64)).unwrap_or_default());
    let near = |known: &'k str| (distance(&word, &plain(known)), known);
    let (off, found) = known.map(near).min_by_key(|(off, _)| *off)?;
    (off <= NEAREST_MAX.min(found.len() / 2)).then_some(found)
}

/// Levenshtein's distance, of words that are short.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, same) in other.iter().enumerate() {
            let swapped = diagonal + usize::from(*same != letter);
            diagonal = row[place + 1];
            row[place + 1] = swapped.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_what_was_meant_or_none() {
        let known = || ["order", "limit", "page", "rcptTo", "since"].into_iter();
        for (word, meant) in [("oder", "order"), ("Limit", "limit"), ("rcpt_to", "rcptTo"), ("sicne", "since")] {
            assert_eq!(nearest(word, known()), Some(meant), "{word}");
        }
        for word in ["", "x", "subject", "zzzz", &"order".repeat(1000), "öööö"] {
            assert_eq!(nearest(word, known()), None, "{word}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("10s"), Some(Duration::from_secs(10)));
        assert_eq!(duration("0s"), Some(Duration::ZERO));
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        for text in ["", "10", "s", "-1s", "1.5s", "10 s", "1y", "99999999999999999999s", "99999999999999999d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
