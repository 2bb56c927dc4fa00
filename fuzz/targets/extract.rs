//! Codes and links: any text as subject, text and HTML gives an answer within its limits, and the same one again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::extract::{Body, Extracted, Limits, Sources, extract};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let cut = text.floor_char_boundary(usize::from(input.first().copied().unwrap_or_default()));
    let (head, content) = text.split_at(cut);
    let body = Some(Body { part_id: "1", content });
    let sources = Sources { subject: head, from: head, text: body, html: body };
    let found = extract(&sources, &Limits::default());
    check(&found, &text);
    assert_eq!(extract(&sources, &Limits::default()), found);
});

fn check(found: &Extracted, text: &str) {
    let limits = Limits::default();
    assert!(found.codes.len() <= limits.codes_max && found.links.len() <= limits.links_max);
    assert!(found.codes.is_sorted_by(|a, b| a.confidence >= b.confidence));
    assert!(found.links.iter().filter(|link| link.action).count() <= 1);
    for code in &found.codes {
        assert!((4..=12).contains(&code.value.len()) && code.value.is_ascii(), "{code:?}");
        assert!((0.2..=1.0).contains(&code.confidence) && !code.signals.is_empty());
        assert!(code.raw.len() <= text.len() + 8 && code.snippet.len() <= 4 * text.len() + 16);
    }
    for link in &found.links {
        let scheme = link.href.to_ascii_lowercase();
        assert!(!link.href.is_empty() && link.href.len() <= text.len() + 8);
        assert!(!scheme.starts_with("javascript:") && !scheme.starts_with("data:"), "{link:?}");
    }
}
