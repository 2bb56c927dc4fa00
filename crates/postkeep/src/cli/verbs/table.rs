//! Columns, sizes and local times for a person at a terminal. Strangers' words are made harmless here.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::log::escaped;

/// A column but the last is no wider than this.
const WIDTH_MAX: usize = 44;

/// Rows below a heading, each column as wide as it must be.
pub(in crate::cli) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::cli) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|&word| word.to_owned()).collect()] }
    }

    /// Every cell may hold anything.
    pub(in crate::cli) fn row(&mut self, cells: &[String]) {
        let last = cells.len().saturating_sub(1);
        let cell = |(place, text): (usize, &String)| if place == last { escaped(text) } else { cut(&escaped(text)) };
        self.rows.push(cells.iter().enumerate().map(cell).collect());
    }

    pub(in crate::cli) fn text(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH_MAX {
        return text.to_owned();
    }
    text.chars().take(WIDTH_MAX - 1).chain(['…']).collect()
}

/// `09:30:00` today, else `2026-11-14 09:30`.
pub(super) fn moment(time: SystemTime) -> String {
    told(time, &Zoned::now())
}

fn told(time: SystemTime, now: &Zoned) -> String {
    let at = local(time, now.time_zone());
    let form = if at.date() == now.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M" };
    at.strftime(form).to_string()
}

/// Day and time, whatever day it is.
pub(super) fn day_and_time(time: SystemTime) -> String {
    local(time, &TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn local(time: SystemTime, zone: &TimeZone) -> Zoned {
    Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

/// `812`, `4.7 K`, `1.2 M`.
pub(super) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "";
    for next in [" K", " M", " G", " T"] {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit.is_empty() { bytes.to_string() } else { format!("{value:.1}{unit}") }
}

/// Text of many lines, each made harmless; tabs stay.
pub(super) fn lines(text: &str) -> String {
    let harmless = |line: &str| line.split('\t').map(escaped).collect::<Vec<_>>().join("\t");
    let mut out: String = text.lines().map(|line| harmless(line) + "\n").collect();
    out.truncate(out.trim_end().len());
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let mut table = Table::new(&["ID", "FROM", "SUBJECT"]);
        table.row(&["1nb".into(), "é@x".into(), "Hi\u{1b}[2J".into()]);
        table.row(&["2".into(), "a".repeat(60), "s".repeat(60)]);
        let long = format!("{}…", "a".repeat(43));
        let blank = " ".repeat(44 - 4);
        let more = " ".repeat(44 - 3);
        let expected =
            format!("ID   FROM{blank}  SUBJECT\n1nb  é@x{more}  Hi\\u{{1b}}[2J\n2    {long}  {}\n", "s".repeat(60));
        assert_eq!(table.text(), expected);
    }

    #[test]
    fn sizes_by_example() {
        for (bytes, expected) in [(0, "0"), (999, "999"), (4821, "4.7 K"), (1_200_000, "1.1 M"), (1000, "1.0 K")] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn today_is_told_by_the_clock_alone() {
        let at = |text: &str| SystemTime::from(text.parse::<Timestamp>().unwrap());
        let now = "2026-11-14T23:00:00Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC);
        assert_eq!(told(at("2026-11-14T09:30:00Z"), &now), "09:30:00");
        assert_eq!(told(at("2026-11-13T09:30:00Z"), &now), "2026-11-13 09:30");
    }

    #[test]
    fn a_text_keeps_its_lines_and_nothing_else() {
        assert_eq!(lines("a\tb\r\n\u{1b}]0;x\u{7}\n\n\n"), "a\tb\n\\u{1b}]0;x\\u{7}\n");
        assert_eq!(lines(""), "\n");
    }
}
