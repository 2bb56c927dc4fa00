//! Codes and links in mails as senders write them: how many are found, how many wrongly. The held part judges; the tune
//! part is there to look at. `docs/extraction.md` carries the figures, and `UPDATE_GOLDEN=1` writes them there anew.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and tells what it saw")]

use std::fs;
use std::path::{Path, PathBuf};

use mail::Letter;
use mail::extract::Extracted;
use mail::letter::Limits;
use serde_json::Value;

mod figures;
mod page;

use figures::Figures;

/// A mail and what a person sees in it.
struct Case {
    name: String,
    best: Option<String>,
    action: Option<String>,
    kind: Option<String>,
    found: Extracted,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn figures(part: &str) -> Figures {
    let files = fs::read_dir(root().join("crates/mail/corpus").join(part)).unwrap().map(|entry| entry.unwrap().path());
    let mut mails: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "eml")).collect();
    mails.sort();
    Figures::of(&mails.iter().map(|path| Case::read(path)).collect::<Vec<_>>())
}

impl Case {
    fn read(path: &Path) -> Self {
        let truth: Value = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        let text = |member: &str| truth[member].as_str().map(str::to_owned);
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            best: text("best"),
            action: text("action"),
            kind: text("kind"),
            found: Letter::of(&fs::read(path).unwrap(), &Limits::default()).extracted,
        }
    }
}

#[test]
fn tune() {
    let figures = figures("tune");
    figures.print_misses();
    assert!(figures.is_good(), "{}", figures.row("tune"));
}

/// What the rules are judged by. Its misses are printed only if asked for, so that nobody tunes on them by accident.
#[test]
fn held() {
    let figures = figures("held");
    if std::env::var_os("SHOW_HELD").is_some() {
        figures.print_misses();
    }
    assert!(figures.mails >= 150 && figures.with_code >= 100 && figures.with_action >= 80, "{}", figures.row("held"));
    assert!(figures.is_good(), "{}", figures.row("held"));
}

#[test]
fn the_page_for_users_carries_the_signals_and_the_figures() {
    page::check(&root().join("docs/extraction.md"), &[figures("tune").row("tune"), figures("held").row("held")]);
}
