//! The page's own rules: files that are read in one go and say what they are, and nothing in them that makes HTML of a text
//! or carries a style that the page's policy refuses. What is made from them (`ui/dist`, the API's types) is not looked at.

use super::tree::File;
use super::{Tree, Violation};

const LINES_MAX: usize = 250;
/// What a comment begins with, by the end of a file's name.
const OPENINGS: &[(&str, &[&str])] = &[
    (".ts", &["//", "/*"]),
    (".js", &["//", "/*"]),
    (".mjs", &["//", "/*"]),
    (".css", &["/*"]),
    (".svelte", &["<!--"]),
];
const MADE: &[&str] = &["ui/dist/", "ui/src/api/schema.d.ts"];
/// Ways from a text to HTML, anywhere in the sources.
const PARSING: &[&str] = &["{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc", "document.write"];
/// The same for what is markup itself. Texts of mail, in other files, may hold styles.
const INLINE: &[&str] = &["style=\"", "style='", "style={", "javascript:"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let ours = tree.files.iter().filter(|file| file.path.starts_with("ui/") && !is_made(&file.path));
    ours.flat_map(|file| [shape(file), words(file)].concat()).collect()
}

fn is_made(path: &str) -> bool {
    MADE.iter().any(|made| path.starts_with(made))
}

fn shape(file: &File) -> Vec<Violation> {
    let Some((_, openings)) = OPENINGS.iter().find(|(ending, _)| file.path.ends_with(ending)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if !openings.iter().any(|opening| file.text.starts_with(opening)) {
        let what = format!("opens without `{}`: say what this file is", openings[0]);
        found.push(Violation::new(&file.path, 1, what));
    }
    let lines = file.text.lines().count();
    if lines > LINES_MAX {
        found.push(Violation::new(&file.path, 1, format!("{lines} lines, more than {LINES_MAX}: divide it")));
    }
    found
}

fn words(file: &File) -> Vec<Violation> {
    let is_markup = file.path.ends_with(".svelte") || file.path == "ui/index.html";
    if !is_markup && !file.path.starts_with("ui/src/") {
        return Vec::new();
    }
    let unwanted = || PARSING.iter().chain(if is_markup { INLINE } else { &[] });
    let found = file.text.lines().enumerate().filter_map(|(at, line)| {
        let word = unwanted().find(|word| line.contains(**word))?;
        Some(Violation::new(&file.path, at + 1, format!("`{word}`: the page shows text nodes and classes only")))
    });
    found.collect()
}
