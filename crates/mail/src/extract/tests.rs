//! Any text gives an answer, in time that grows with it.

use proptest::prelude::*;

use super::*;
use crate::clock::tenfold;

mod bombs;
mod pages;

fn both(content: &str) -> Sources<'_> {
    let body = Some(Body { part_id: "1", content });
    Sources { subject: content, from: content, text: body, html: body }
}

proptest! {
    #[test]
    fn any_text_gives_an_answer(text in "(<|>|/|&|;|=|\"|'|#|@|:|-|\\.| |\n|a|A|1|482915|td|tr|table|a href=https://x.test/|style=font-size:30px|code|\\PC){0,80}") {
        let found = extract(&both(&text), &Limits::default());
        prop_assert!(found.codes.len() <= 10 && found.links.len() <= 200);
        prop_assert!(found.links.iter().filter(|link| link.action).count() <= 1);
        prop_assert!(found.codes.is_sorted_by(|a, b| a.confidence >= b.confidence));
        prop_assert!(found.codes.iter().all(|code| code.value.is_ascii() && (0.2..=1.0).contains(&code.confidence)));
    }
}

#[test]
fn limits_are_kept() {
    let text: String = (0..400).map(|at| format!("https://x.test/{at} your code: {}\n", 482_000 + at)).collect();
    let limits = Limits { codes_max: 3, links_max: 5, ..Limits::default() };
    let found = extract(&both(&text), &limits);
    assert!(found.codes.len() <= 3);
    assert_eq!(found.links.len(), 5);
    let late = format!("{}\nYour code: 482915", "x\n".repeat(1000));
    let cut = Limits { text_max: 1000, ..limits };
    let sources = Sources { text: Some(Body { part_id: "1", content: &late }), ..Sources::default() };
    assert_eq!(extract(&sources, &limits).codes.len(), 1);
    assert_eq!(extract(&sources, &cut).codes.len(), 0);
}
