//! Files and functions stay short enough to read; one that does not says why, next to it.

use super::source::{closing, is_word, line, test_ranges, without_tests, words};
use super::tree::File;
use super::{Tree, Violation};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 80;
const REASON: &str = "// tidy: long because ";

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    tree.rust()
        .filter(|file| !file.is_test())
        .flat_map(|file| whole_file(file).into_iter().chain(functions(file)))
        .collect()
}

fn whole_file(file: &File) -> Option<Violation> {
    let tests: usize = test_ranges(&file.code).into_iter().map(|range| file.code[range].lines().count()).sum();
    let lines = file.text.lines().count().saturating_sub(tests);
    let mut head = file.text.lines().take_while(|line| line.is_empty() || line.starts_with("//"));
    let excused = head.any(|line| line.starts_with(REASON));
    let what = format!("{lines} lines, more than {FILE_LINES_MAX}: divide it, or say `{REASON}…` under its `//!`");
    (lines > FILE_LINES_MAX && !excused).then(|| Violation::new(&file.path, 1, what))
}

fn functions(file: &File) -> Vec<Violation> {
    let code = without_tests(&file.code);
    let mut found = Vec::new();
    for at in words(&code, "fn") {
        let Some((name, begin, end)) = body(&code, at) else { continue };
        let lines = line(&code, end) - line(&code, begin) + 1;
        if lines > FUNCTION_LINES_MAX && !excused(&file.text, line(&code, at)) {
            let what = format!(
                "`{name}` has {lines} lines, more than {FUNCTION_LINES_MAX}: divide it, or say `{REASON}…` above it"
            );
            found.push(Violation::new(&file.path, line(&code, at), what));
        }
    }
    found
}

/// Name, begin and end of the function whose `fn` stands here; none for a type, or for one without a body.
fn body(code: &str, at: usize) -> Option<(&str, usize, usize)> {
    let rest = code[at + 2..].trim_start();
    let name = &rest[..rest.bytes().position(|byte| !is_word(byte))?];
    if name.is_empty() {
        return None;
    }
    let mut depth = 0usize;
    for (place, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => return None,
            b'{' if depth == 0 => return Some((name, at, closing(code, place))),
            _ => {}
        }
    }
    None
}

/// Whether a reason stands in the comments and attributes right above this line.
fn excused(text: &str, line: usize) -> bool {
    let lines: Vec<_> = text.lines().take(line - 1).map(str::trim_start).collect();
    let mut above = lines.iter().rev().take_while(|line| line.starts_with("//") || line.starts_with("#["));
    above.any(|line| line.starts_with(REASON))
}
