//! The matrix as people read it, `docs/interop.md`: written by a whole run, and what every other run is held against.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::shell::root;

use super::corpus;
use super::matrix::{Cell, Matrix, Row};
use super::program::Transport;

const PATH: &str = "docs/interop.md";

const OPENING: &str = "\
# Mail programs and Postkeep

This page is made by `cargo xtask interop`, never by hand. Every program here is the real one and meets the real server: it
sends, relays or reads the same forty letters over every transport, each into a mailbox of its own, and every octet is
compared.

- *plain* is without TLS. With *STARTTLS* (POP3: *STLS*) and *TLS* the program verifies the server's certificate and the name
  `localhost` in it; senders sign in there with AUTH PLAIN or LOGIN. That it came so is read from the `Received` field, and
  every program is also given another certificate to trust: then it must not go on.
- *equal*: what the server kept is to the octet what the program says it sent, below the server's own `Return-Path` and
  `Received`. A library that writes the message anew is asked what it wrote; of a relay, the fields that it adds are taken
  away. For readers: what the program wrote down is what the server keeps.
- *unable*: this program cannot send or read such a letter; the reason stands below the table.
- –: the program does not go this way at all; the reason stands there too.
- *postkeep-release* is a second Postkeep, which sends on by a rule what it gets: to the server, or through a Postfix.

DATA has no way to send a last line without an end: senders end it, and that is what they claim. A bare LF in DATA is refused
with 521 unless `smtp.bare_newlines = \"normalize\"`.
";

fn text(matrix: &Matrix) -> String {
    let mut page = OPENING.to_owned();
    for (title, rows) in &matrix.0 {
        let _ = write!(page, "\n## {title}\n\n{HEAD}");
        page.extend(rows.iter().map(line));
        for row in rows {
            let reasons: String = row.reasons().iter().map(|reason| format!("- {reason}\n")).collect();
            if !reasons.is_empty() {
                let _ = write!(page, "\n{}:\n\n{reasons}", row.name);
            }
        }
    }
    page + &letters()
}

const HEAD: &str = "| program | version | plain | STARTTLS | TLS |\n|---|---|---|---|---|\n";

fn line(row: &Row) -> String {
    let cells: Vec<_> = row.cells.iter().map(Cell::text).collect();
    format!("| {} | {} | {} |\n", row.name, version(row), cells.join(" | "))
}

fn version(row: &Row) -> &str {
    row.version.as_deref().unwrap_or("–")
}

/// What there is to send, with the sizes.
fn letters() -> String {
    let mut text = "\n## The letters\n\n| letter | octets | what is hard |\n|---|---|---|\n".to_owned();
    for letter in corpus::letters("x", Transport::Plain) {
        let _ = writeln!(text, "| {} | {} | {} |", letter.name, letter.raw.len(), letter.has);
    }
    text
}

/// Make the page anew.
pub(super) fn write(matrix: &Matrix) -> Result<()> {
    fs::write(root().join(PATH), text(matrix)).with_context(|| format!("cannot write {PATH}"))
}

/// Hold a run of a part against the page: a program of the same version can do what the page says it can.
pub(super) fn compare(matrix: &Matrix) -> Result<()> {
    let page = fs::read_to_string(root().join(PATH)).with_context(|| format!("cannot read {PATH}"))?;
    let differences: Vec<_> = matrix.rows().flat_map(|row| differences(&page, row)).collect();
    if !differences.is_empty() {
        bail!("{PATH} says otherwise (a whole run makes it anew):\n{}", differences.join("\n"));
    }
    Ok(())
}

fn differences(page: &str, row: &Row) -> Vec<String> {
    let begin = format!("| {} | ", row.name);
    let Some(line) = page.lines().find_map(|line| line.strip_prefix(&begin)) else {
        return vec![format!("{} is not there", row.name)];
    };
    let told = line.split(" | ").next().unwrap_or_default();
    if told != version(row) {
        println!("{}: the page is of version {told}, this is {}", row.name, version(row));
        return Vec::new();
    }
    let notes = notes(page, row.name);
    let untold = row.cells.iter().flat_map(Cell::unable).filter(|(letter, _)| !notes.contains(&format!("`{letter}`")));
    untold.map(|(letter, why)| format!("{}: `{letter}`: {why}", row.name)).collect()
}

/// What the page says of a program below its table.
fn notes<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = format!("\n{name}:\n\n");
    let notes = page.split_once(&begin).map(|(_, rest)| rest).unwrap_or_default();
    notes.split("\n\n").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::program::Outcome;
    use super::*;

    fn row(outcome: Outcome, version: &str) -> Row {
        let never = || Cell::Never("it has no TLS".into());
        Row {
            name: "mailer",
            version: Ok(version.into()),
            cells: [Cell::Tried(vec![("dots", Outcome::Equal), ("nul-octets", outcome)]), never(), never()],
        }
    }

    fn page(outcome: Outcome) -> String {
        text(&Matrix(vec![("Sending", vec![row(outcome, "1.0")])]))
    }

    fn unable() -> Outcome {
        Outcome::Unable("it ends at NUL".into())
    }

    #[test]
    fn every_cell_is_filled_and_what_is_not_equal_has_its_reason() {
        let page = page(unable());
        assert!(page.contains("| mailer | 1.0 | 1 equal, 1 unable | – | – |\n"), "{page}");
        assert!(page.contains("\nmailer:\n\n- `nul-octets` over plain: it ends at NUL\n"), "{page}");
        assert!(page.contains("- everything over STARTTLS and TLS: it has no TLS\n"), "{page}");
    }

    #[test]
    fn a_letter_that_the_page_does_not_tell_of_is_a_difference() {
        assert!(differences(&page(unable()), &row(unable(), "1.0")).is_empty());
        assert!(differences(&page(unable()), &row(Outcome::Equal, "1.0")).is_empty());
        assert_eq!(differences(&page(Outcome::Equal), &row(unable(), "1.0")), ["mailer: `nul-octets`: it ends at NUL"]);
        assert!(differences(&page(Outcome::Equal), &row(unable(), "2.0")).is_empty());
        assert_eq!(differences("", &row(unable(), "1.0")), ["mailer is not there"]);
    }

    #[test]
    fn what_is_wrong_fails_the_run() {
        let matrix = |outcome| Matrix(vec![("Sending", vec![row(outcome, "1.0")])]);
        assert!(matrix(unable()).verdict().is_ok());
        assert!(matrix(Outcome::Wrong("they part at 0".into())).verdict().is_err());
    }
}
