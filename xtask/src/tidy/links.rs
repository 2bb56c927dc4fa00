//! Relative links in the documents lead to a file, a folder or a heading that is there.

use super::tree::File;
use super::{Tree, Violation};

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, target) in links(&file.text) {
            if let Some(what) = broken(tree, file, &target) {
                found.push(Violation::new(&file.path, line, format!("the link `{target}` {what}")));
            }
        }
    }
    found
}

/// What is wrong with a link, if anything. Links to elsewhere are not followed.
fn broken(tree: &Tree, file: &File, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() { Some(file.path.clone()) } else { joined(&file.path, path) };
    let Some(path) = path.filter(|path| tree.holds(path)) else { return Some("leads to no file") };
    let anchor = anchor?;
    let text = &tree.file(&path)?.text;
    (path.ends_with(".md") && !anchors(text).any(|known| known == anchor)).then_some("leads to no heading")
}

/// The target as seen from the file's folder; none when it leaves the repository.
fn joined(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Every `[text](target)` and `[text]: target` outside of code, with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        found.extend(inline.map(|target| (line, target.to_owned())));
        let definition = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        found.extend(definition.and_then(|(_, target)| Some((line, target.split_whitespace().next()?.to_owned()))));
    }
    found
}

/// The headings' anchors as the usual hosts make them: lower case, spaces to dashes, other signs dropped.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// Lines outside of fences, with `code` cut out of all but headings.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        let whole = line.starts_with('#');
        let outside = line.split('`').enumerate().filter(|(part, _)| whole || part % 2 == 0).map(|(_, text)| text);
        (!fenced).then(|| (at + 1, outside.collect()))
    })
}
