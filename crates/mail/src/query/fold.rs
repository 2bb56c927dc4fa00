//! One text for all spellings of it. Letter by letter, so that a part of a text folds to a part of the folded text, which
//! is what lets an index answer; the lower case of whole words is not like that (a sigma at the end of a word).

use icu_normalizer::ComposingNormalizerBorrowed;

/// Lower case, composed (NFC), white space and control characters as one space each run, none at the ends.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(&mut out, text);
    out
}

/// Append a folded text.
pub(super) fn fold_into(out: &mut String, text: &str) {
    if text.is_ascii() {
        return words(out, text);
    }
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    let lower: String = nfc.normalize(text).chars().flat_map(char::to_lowercase).map(one_sigma).collect();
    words(out, &nfc.normalize(&lower));
}

/// The words of a text, with one space between them.
fn words(out: &mut String, text: &str) {
    let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
    let mut first = true;
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        if !first {
            out.push(' ');
        }
        first = false;
        let start = out.len();
        out.push_str(word);
        out[start..].make_ascii_lowercase();
    }
}

fn one_sigma(letter: char) -> char {
    if letter == 'ς' { 'σ' } else { letter }
}
