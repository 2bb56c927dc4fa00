//! The data file, and how its words are found.

use std::collections::BTreeSet;

use super::*;

#[track_caller]
fn check(text: &str, topics: &[Topic], expected: &[&str]) {
    let folded: Vec<char> = text.to_lowercase().chars().collect();
    let found = of(&all(&folded), |topic| topics.contains(&topic));
    let found: Vec<String> = found.iter().map(|hit| folded[hit.start..hit.end].iter().collect()).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn every_line_of_the_file_is_understood() {
    for line in FILE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (head, words) = line.split_once(": ").unwrap_or_else(|| panic!("no words: {line}"));
        let (topic, language) = head.split_once(' ').unwrap_or_else(|| panic!("no language: {line}"));
        assert!(Topic::named(topic).is_some(), "no such topic: {line}");
        assert!(language.len() == 2, "no language: {line}");
        assert_eq!(words, words.to_lowercase(), "not in lower case");
        assert!(words.split(", ").all(|word| !word.trim_matches('*').trim().is_empty()), "an empty word: {line}");
    }
}

#[test]
fn the_cue_words_cover_at_least_25_languages() {
    let languages: BTreeSet<_> = lines(FILE).filter(|(topic, ..)| *topic == "code").map(|(_, one, _)| one).collect();
    assert!(languages.len() >= 25, "{languages:?}");
}

#[test]
fn words_are_found_as_words() {
    check("Your code is", &[Topic::Code], &["code"]);
    check("decoder, encoded", &[Topic::Code], &[]);
    check("Ihr Bestätigungscode lautet", &[Topic::Code], &["code"]);
    check("Vahvistuskoodisi on", &[Topic::Code], &["vahvistuskoodisi"]);
    check("您的验证码是", &[Topic::Code], &["验证码"]);
    check("인증번호는 입니다", &[Topic::Code], &["인증번호"]);
    check("รหัสยืนยันของคุณ", &[Topic::Code], &["รหัส"]);
    check("код подтверждения", &[Topic::Code], &["код"]);
}

#[test]
fn the_longest_word_wins_and_is_passed_over() {
    check("promo code", &[Topic::Code, Topic::Number], &["promo", "code"]);
    check("postal code", &[Topic::Code, Topic::Number], &["postal code"]);
    check("รหัสไปรษณีย์", &[Topic::Code, Topic::Number], &["รหัสไปรษณีย์"]);
}
