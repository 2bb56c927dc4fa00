//! Codes and links in mails as senders write them: how many are found, how many wrongly. The held part judges; the tune
//! part is there to look at. `docs/extraction.md` carries the figures.

use std::fs;
use std::path::{Path, PathBuf};

use mail::extract::{Body, Extracted, Limits, Sources, extract};
use serde_json::Value;

mod figures;

use figures::Figures;

/// A mail and what a person sees in it.
struct Case {
    name: String,
    best: Option<String>,
    action: Option<String>,
    kind: Option<String>,
    found: Extracted,
}

fn folder(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(part)
}

fn cases(part: &str) -> Vec<Case> {
    let files = fs::read_dir(folder(part)).unwrap().map(|entry| entry.unwrap().path());
    let mut mails: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "eml")).collect();
    mails.sort();
    mails.iter().map(|path| Case::read(path)).collect()
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
            found: found(&fs::read(path).unwrap()),
        }
    }
}

/// Read a mail as the product does.
fn found(raw: &[u8]) -> Extracted {
    let letter = mail::Letter::of(raw, &mail::letter::Limits::default());
    let from = letter.from.as_ref().map_or("", |author| author.email.as_str());
    let text =
        (letter.text_source == mail::letter::TextSource::Plain && !letter.text.is_empty()).then_some(&letter.text);
    let body = |content| Body { part_id: "1", content };
    let sources = Sources {
        subject: &letter.subject,
        from,
        text: text.map(|text| body(text.as_str())),
        html: letter.html.as_deref().map(body),
    };
    extract(&sources, &Limits::default())
}

#[test]
fn tune() {
    let cases = cases("tune");
    let figures = Figures::of(&cases);
    figures.print_misses();
    println!("{}", figures.row("tune"));
}
