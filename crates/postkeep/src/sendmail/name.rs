//! A person's name as it can stand before an address in a header field (RFC 5322 §3.2.5, RFC 2047 §5).

/// Octets of text in one encoded word: three letters each, and the word stays under 75.
const WORD_MAX: usize = 20;

/// The name as a phrase: as it is, in quotes, or as encoded words. It holds no control character.
pub(super) fn phrase(name: &str) -> String {
    let name = name.trim();
    if !name.is_ascii() {
        return encoded(name);
    }
    if name.is_empty() || name.split(' ').all(is_atom) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in name.chars() {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted + "\""
}

fn is_atom(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
        && !word.starts_with("=?")
}

/// Words of the Q encoding, none of which parts a letter.
pub(super) fn encoded(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut octets = WORD_MAX;
    for letter in name.chars() {
        if octets + letter.len_utf8() > WORD_MAX {
            words.push(String::new());
            octets = 0;
        }
        octets += letter.len_utf8();
        if let Some(word) = words.last_mut() {
            quoted_printable(letter, word);
        }
    }
    words.iter().map(|word| format!("=?utf-8?Q?{word}?=")).collect::<Vec<_>>().join("\r\n ")
}

fn quoted_printable(letter: char, out: &mut String) {
    match letter {
        ' ' => out.push('_'),
        _ if letter.is_ascii_alphanumeric() => out.push(letter),
        _ => letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("={byte:02X}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_a_phrase() {
        for (name, expected) in [
            ("CronDaemon", "CronDaemon"),
            ("Cron Daemon", "Cron Daemon"),
            (" Ann ", "Ann"),
            ("", ""),
            ("Doe, Ann", "\"Doe, Ann\""),
            ("J. \"Q\" \\", "\"J. \\\"Q\\\" \\\\\""),
            ("a  b", "\"a  b\""),
            ("<x@y>", "\"<x@y>\""),
            ("=?utf-8?Q?x?=", "\"=?utf-8?Q?x?=\""),
            ("Zoë 1", "=?utf-8?Q?Zo=C3=AB_1?="),
        ] {
            assert_eq!(phrase(name), expected, "{name}");
        }
    }

    #[test]
    fn long_names_are_folded_between_words() {
        let name = "ü".repeat(25);
        let written = phrase(&name);
        assert!(written.split("\r\n ").all(|word| word.len() <= 75), "{written}");
        assert_eq!(mail::header::decode_words(written.replace("\r\n ", " ").as_bytes()), name);
    }
}
