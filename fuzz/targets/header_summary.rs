//! Headers: the fields are those of the text, the summary is clean, and reading stays within its bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::Digest;
use mail::header::{self, FIELDS_MAX};

fuzz_target!(|input: &[u8]| {
    let mut fields = header::fields(input);
    let mut received = 0;
    let mut count = 0;
    let mut octets = 0;
    for field in fields.by_ref() {
        count += 1;
        octets += field.name.len() + field.value.len() + 1;
        received += usize::from(field.is("received"));
        assert!(!field.name.is_empty() && field.name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':'));
        assert!(!field.text().contains('\n') && field.text().len() <= 3 * field.value.len());
        assert!(field.canonical_name().eq_ignore_ascii_case(field.name));
    }
    let body = fields.body();
    assert!(count <= FIELDS_MAX && octets <= body && body <= input.len());
    assert!(header::received_count(input) >= received);
    // A header read without its body is the same header.
    assert_eq!(header::fields(&input[..body]).count(), count);
    let digest = Digest::of(input);
    assert_eq!(Digest::of(&input[..body]), digest);
    check_digest(&digest, body);
    check_digest(&Digest::of(&[b"From: ", input].concat()), input.len() + 6);
    check_words(input);
});

fn check_digest(digest: &Digest, header: usize) {
    assert!(!digest.subject.contains(char::is_control) && digest.subject.len() <= 3 * header);
    let Some(author) = &digest.from else { return };
    // Thrice for U+FFFD in place of an octet, and thrice again when a charset is put on that.
    assert!(!author.name.contains(char::is_control) && author.name.len() <= 9 * header);
    assert!(!author.email.contains(char::is_control) && author.email.contains('@'));
    // What a list shows as an address is read as that address again.
    let again = Digest::of(format!("From: <{}>\r\n\r\n", author.email).as_bytes()).from;
    assert_eq!(again.map(|again| again.email).as_ref(), Some(&author.email));
}

/// Text without an encoded word is left alone, and decoding makes no more of it than its charset can.
fn check_words(input: &[u8]) {
    let text = header::decode_words(input);
    assert!(text.len() <= 3 * input.len());
    if !input.windows(2).any(|pair| pair == b"=?") {
        assert_eq!(text, String::from_utf8_lossy(input));
    }
}
