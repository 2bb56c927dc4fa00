//! Codes as pages show them.

use super::*;

fn page(html: &str) -> Extracted {
    let html = Some(Body { part_id: "2", content: html });
    extract(&Sources { html, ..Sources::default() }, &Limits::default())
}

#[track_caller]
fn check(html: &str, code: &str, signals: &[&str]) {
    let found = page(html);
    let best = found.code().one().unwrap_or_else(|| panic!("{html}: {:?}", found.codes));
    assert_eq!(best.value, code);
    assert!(signals.iter().all(|signal| best.signals.contains(signal)), "{:?}", best.signals);
}

#[test]
fn a_code_may_stand_alone_and_large() {
    check(
        "<p>Hello</p><div style='font-size:32px'>482915</div><p>10 minutes</p>",
        "482915",
        &["alone", "styled", "expiry"],
    );
    check("<style>.c{letter-spacing:6px}</style><p class=c>482915</p>", "482915", &["alone", "styled"]);
    check("<p>Code: <code>A7K9QX</code></p>", "A7K9QX", &["cue", "styled", "mixed", "colon"]);
}

#[test]
fn a_code_may_stand_in_boxes() {
    let boxes: String = "482915".chars().map(|digit| format!("<td style='border:1px solid'>{digit}</td>")).collect();
    check(&format!("<table><tr>{boxes}</tr></table>"), "482915", &["singles", "alone"]);
    check("<p><span>4</span> <span>8</span> <span>2</span> <span>9</span></p>", "4829", &["singles"]);
}

#[test]
fn what_is_hidden_or_small_print_counts_less() {
    let html = "<div style='display:none'>Code 111222</div><p>Code: 482915</p><div class=footer>Code 333444</div>";
    check(html, "482915", &["cue", "colon"]);
    assert!(page("<style>.x{display:none}@media print{p{display:none}}</style><p class=x>482915</p>").codes.is_empty());
}

#[test]
fn an_entry_of_a_table_is_called_by_its_row_and_its_column() {
    let table = "<table><tr><th>Order</th><th>Total</th></tr><tr><td>482915</td><td>$ 20</td></tr></table>";
    assert!(page(table).codes.is_empty(), "{:?}", page(table).codes);
    let table =
        "<table><tr><td>Order number</td><td>482915</td></tr><tr><td>Your code</td><td>778812</td></tr></table>";
    check(table, "778812", &["cue"]);
}
