//! A measurement as people read it: a table, then the raw figures it was made from.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};

use crate::shell::{output, root};

const BOOK: &str = "docs/performance.md";

/// One measurement.
pub(crate) struct Report {
    name: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
    raw: Vec<String>,
}

impl Report {
    pub(crate) fn new(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self { name, columns, rows: Vec::new(), raw: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for every column");
        self.rows.push(cells);
    }

    /// A line of raw figures; it is also shown at once, as a sign of life.
    pub(crate) fn raw(&mut self, line: String) {
        println!("{line}");
        self.raw.push(line);
    }

    /// As Markdown.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.heading());
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        text += &line(&self.columns.iter().map(|cell| (*cell).into()).collect::<Vec<_>>());
        text += &line(&self.columns.iter().map(|_| "---".into()).collect::<Vec<_>>());
        text.extend(self.rows.iter().map(|row| line(row)));
        let _ = write!(text, "\nRaw figures:\n\n```\n{}\n```\n", self.raw.join("\n"));
        text
    }

    fn heading(&self) -> String {
        let date = output(std::process::Command::new("date").args(["-u", "+%Y-%m-%d"])).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        format!("Measured on {} with `cargo xtask bench {}`; {cores} vCPU, virtual disk.", date.trim(), self.name)
    }

    /// Put it between its marks in the book.
    pub(crate) fn write(&self) -> Result<()> {
        let path = root().join(BOOK);
        let book = fs::read_to_string(&path).with_context(|| format!("{BOOK} is missing"))?;
        fs::write(&path, replaced(&book, self.name, &self.text())?)?;
        println!("written to {BOOK}");
        Ok(())
    }
}

/// The book with the text between `<!-- bench NAME -->` and `<!-- /bench NAME -->` replaced.
fn replaced(book: &str, name: &str, text: &str) -> Result<String> {
    let (open, close) = (format!("<!-- bench {name} -->"), format!("<!-- /bench {name} -->"));
    let (before, rest) = book.split_once(&open).with_context(|| format!("{BOOK} has no mark `{open}`"))?;
    let (_, after) = rest.split_once(&close).with_context(|| format!("{BOOK} has no mark `{close}`"))?;
    Ok(format!("{before}{open}\n\n{text}\n{close}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let book = "a\n<!-- bench x -->\nold\n<!-- /bench x -->\nb\n<!-- bench y -->\n<!-- /bench y -->\n";
        let new = replaced(book, "x", "new").expect("the marks are there");
        assert_eq!(new, book.replace("\nold\n", "\n\nnew\n"));
        assert!(replaced(book, "z", "new").is_err());
    }
}
