//! How near two words are: for "did you mean", and for mail that went to a mistyped name.

/// How many characters must be put in, taken out or changed to make one text of the other; none when that is more than
/// `most`. Takes about `most` times the length: of long texts only what lies near the diagonal is looked at.
pub fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let far = most + 1;
    let mut above: Vec<usize> = (0..=other.len()).map(|steps| steps.min(far)).collect();
    let mut row = vec![far; other.len() + 1];
    for (i, letter) in one.iter().enumerate() {
        let (from, to) = (i.saturating_sub(most), other.len().min(i + most + 1));
        row[from] = if from == 0 { far.min(i + 1) } else { far };
        for j in from..to {
            let changed = above[j] + usize::from(*letter != other[j]);
            row[j + 1] = changed.min(above[j + 1] + 1).min(row[j] + 1).min(far);
        }
        row[to + 1..].iter_mut().take(1).for_each(|beyond| *beyond = far);
        std::mem::swap(&mut above, &mut row);
    }
    above.last().copied().filter(|steps| *steps <= most)
}

/// The known word that is most like this one, if any is near.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let most = (word.len() / 4).max(2);
    let steps = known.iter().filter_map(|other| distance(word, other, most).map(|steps| (steps, *other)));
    // One letter is near to everything.
    steps.filter(|(steps, other)| *steps < other.len()).min_by_key(|(steps, _)| *steps).map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_steps() {
        for (one, other, steps) in [
            ("alice", "alice", Some(0)),
            ("alcie", "alice", Some(2)),
            ("alice", "alic", Some(1)),
            ("alice", "bob", None),
            ("", "ab", Some(2)),
            ("ab", "", Some(2)),
            ("kitten", "sitting", None),
            ("äöü", "aöü", Some(1)),
        ] {
            assert_eq!(distance(one, other, 2), steps, "{one} {other}");
        }
        assert_eq!(distance("kitten", "sitting", 3), Some(3));
    }

    #[test]
    fn names_the_nearest() {
        let known = ["from", "subject", "body"];
        assert_eq!(nearest("subjct", &known), Some("subject"));
        assert_eq!(nearest("form", &known), Some("from"));
        assert_eq!(nearest("x", &known), None);
        assert_eq!(nearest("", &known), None);
    }

    #[test]
    fn t036_long_texts_take_linear_time() {
        let text = |size: usize| vec![b'a'; size];
        crate::clock::doubling(20_000, text, |bytes| {
            let one = String::from_utf8_lossy(bytes);
            distance(&one, &format!("b{}", &one[1..]), 2)
        });
    }
}
