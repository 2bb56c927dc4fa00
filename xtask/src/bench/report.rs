//! A measurement as people read it: a table, then the raw figures it was made from.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};

use crate::shell::{output, root};

/// One measurement.
pub(crate) struct Report {
    /// The words behind `cargo xtask` that make it; its marks in the book are called so too.
    name: &'static str,
    book: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
    raw: Vec<String>,
}

impl Report {
    /// One that goes into the book of speed.
    pub(crate) fn new(name: &'static str, columns: &'static [&'static str]) -> Self {
        Self::within("docs/performance.md", name, columns)
    }

    /// One that goes into another book.
    pub(crate) fn within(book: &'static str, name: &'static str, columns: &'static [&'static str]) -> Self {
        Self { name, book, columns, rows: Vec::new(), raw: Vec::new() }
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
        format!("Measured on {} with `cargo xtask {}`; {cores} vCPU, virtual disk.", date.trim(), self.name)
    }

    /// Put it between its marks in the book.
    pub(crate) fn write(&self) -> Result<()> {
        let path = root().join(self.book);
        let book = fs::read_to_string(&path).with_context(|| format!("{} is missing", self.book))?;
        let book = replaced(&book, self.name, &self.text()).with_context(|| format!("in {}", self.book))?;
        fs::write(&path, book)?;
        println!("written to {}", self.book);
        Ok(())
    }
}

/// The book with the text between `<!-- NAME -->` and `<!-- /NAME -->` replaced.
fn replaced(book: &str, name: &str, text: &str) -> Result<String> {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let (before, rest) = book.split_once(&open).with_context(|| format!("there is no mark `{open}`"))?;
    let (_, after) = rest.split_once(&close).with_context(|| format!("there is no mark `{close}`"))?;
    Ok(format!("{before}{open}\n\n{text}\n{close}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_its_place_in_a_book() {
        let speed = [
            "bench smtp",
            "bench script",
            "bench http",
            "bench start",
            "bench disk",
            "bench search",
            "bench cluster",
            "bench tls",
        ];
        let large = ["long growth", "long expiry", "long turnover", "long tls hold", "long tls storm"];
        let api = ["long waits", "long kit", "long events"];
        let leaving = ["long leaving pace"];
        let places = speed.iter().chain(&large).chain(&api).chain(&leaving).map(|name| ("docs/performance.md", *name));
        let cluster =
            ["stale", "mailboxes", "mailboxes --shards 4", "turnover"].map(|part| format!("long cluster {part}"));
        let scale = cluster.iter().map(|name| ("docs/scale.md", name.as_str()));
        let faults = ["long reopen", "long faults", "long leaving events"].map(|name| ("docs/reliability.md", name));
        for (book, name) in places.chain(scale).chain(faults) {
            let text = fs::read_to_string(root().join(book)).expect("the book is there");
            assert!(replaced(&text, name, "").is_ok(), "{book} has no marks of {name}");
        }
    }

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let book = "a\n<!-- bench x -->\nold\n<!-- /bench x -->\nb\n<!-- bench y -->\n<!-- /bench y -->\n";
        let new = replaced(book, "bench x", "new").expect("the marks are there");
        assert_eq!(new, book.replace("\nold\n", "\n\nnew\n"));
        assert!(replaced(book, "bench z", "new").is_err());
    }
}
