//! The tables of `docs/extraction.md`, made from what is true.

use std::fs;
use std::path::Path;

use mail::extract::signals::{CODES, LINKS, Signal};

use super::figures::HEAD;

/// Compare the page with its tables as they should be, or write them.
#[track_caller]
pub(super) fn check(path: &Path, figures: &[String]) {
    let kept = fs::read_to_string(path).unwrap();
    let page = with(&kept, "codes", &signals(CODES));
    let page = with(&page, "links", &signals(LINKS));
    let page = with(&page, "figures", &format!("{HEAD}\n{}\n", figures.join("\n")));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    assert!(kept == page, "{} differs; set UPDATE_GOLDEN=1 to write it anew. Now:\n{page}", path.display());
}

/// The page with what stands between `<!-- name -->` and `<!-- /name -->` replaced.
fn with(page: &str, name: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = page.split_once(&open).unwrap();
    let (_, after) = rest.split_once(&close).unwrap();
    format!("{before}{open}{table}{close}{after}")
}

fn signals(signals: &[&Signal]) -> String {
    let row = |signal: &&Signal| format!("| `{}` | {} | {} |\n", signal.name, points(signal.points), signal.holds);
    let rows: String = signals.iter().map(row).collect();
    format!("| signal | points | it holds if the candidate is or has |\n|---|---|---|\n{rows}")
}

/// With a sign, and a minus that is one.
fn points(points: i32) -> String {
    match points {
        0 => "0".into(),
        1.. => format!("+{points}"),
        _ => format!("−{}", -points),
    }
}
