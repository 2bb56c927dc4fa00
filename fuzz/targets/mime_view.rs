//! Whole messages: every view is bounded by its input, and what it names is safe to show.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::header::FIELDS_MAX;
use mail::mime::PARTS_MAX;
use mail::{Attachment, View};

fuzz_target!(|input: &[u8]| {
    let view = View::of(input);
    assert!(view.header.len() <= FIELDS_MAX);
    assert!(view.attachments.len() <= PARTS_MAX);
    assert!(!view.text.contains('\r') && !view.html.contains('\r'));
    assert!(view.html.len() <= 3 * input.len());
    assert!(view.text.len() <= 12 * input.len() + 16);
    let content: usize = view.attachments.iter().map(|one| one.content.len()).sum();
    assert!(content <= input.len());
    view.attachments.iter().for_each(check_attachment);
    assert_eq!(View::of(input), view);
    check_enclosed(input);
});

fn check_attachment(one: &Attachment) {
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '/' | '\\');
    assert!(!one.filename.is_empty() && one.filename.len() <= 255 && !one.filename.contains(is_odd));
    assert!(one.filename != "." && one.filename != "..");
    assert!(one.content_type.contains('/'));
    assert!(one.content_type.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
}

/// Whatever stands in an enclosed message, it comes out as it went in, and nothing else of it is seen.
fn check_enclosed(input: &[u8]) {
    let boundary = b"--=_a-boundary-that-no-fuzzer-guesses_=";
    if input.windows(boundary.len()).any(|window| window == boundary) {
        return;
    }
    let open = b"Content-Type: multipart/mixed; boundary=\"=_a-boundary-that-no-fuzzer-guesses_=\"\r\n\r\n";
    let part = b"\r\nContent-Type: message/rfc822\r\n\r\n";
    let view = View::of(&[&open[..], boundary, part, input, b"\r\n", boundary, b"--\r\n"].concat());
    assert_eq!(view.attachments.len(), 1);
    assert_eq!(view.attachments[0].content, input);
    assert!(view.text.is_empty() && view.html.is_empty());
}
