//! Columns for people to read. It knows nothing of what stands in them.

/// A heading and its rows, each column as wide as it must be, and an empty line; nothing without rows.
pub(super) fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).chain([heading[column].len()]).max();
    let widths: Vec<_> = (0..N).map(|column| width(column).unwrap_or_default()).collect();
    let line = |cells: [&str; N]| {
        let padded: Vec<_> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    let body: String = rows.iter().map(|row| line(row.each_ref().map(String::as_str))).collect();
    line(heading) + &body + "\n"
}
