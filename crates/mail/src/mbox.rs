//! Writing mbox, of the kind that is called mboxrd: a line `From sender date` before each message, an empty line behind
//! it, and a `>` before every line of a message that looks like such a line or already has one. Exact to the byte.
//!
//! What the line has no place for stands in its `moreinfo`, which readers pass over (mbox(5)): the microseconds, and
//! `open` when the message does not end with a line feed, for the format can only hold whole lines. Recipients have no
//! place.

use std::io::{self, Write};

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::envelope::ReversePath;

/// How the line before a message begins.
pub const FROM: &[u8] = b"From ";
/// The sender of a message that has none.
pub const NOBODY: &str = "MAILER-DAEMON";
/// Says that the rest of the line is ours.
pub const MARK: &str = "postkeep";
/// The message's last line has no end.
pub const OPEN: &str = "open";
/// The months as the line names them.
pub const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// The days of the week as the line names them.
pub const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Write one message.
pub fn write(out: &mut impl Write, mail_from: &ReversePath, received_at: Timestamp, raw: &[u8]) -> io::Result<()> {
    let is_open = !raw.is_empty() && !raw.ends_with(b"\n");
    out.write_all(separator(mail_from, received_at, is_open).as_bytes())?;
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        if without_quotes(line).starts_with(FROM) {
            out.write_all(b">")?;
        }
        out.write_all(line)?;
    }
    out.write_all(if is_open { b"\n\n" } else { b"\n" })
}

fn separator(mail_from: &ReversePath, at: Timestamp, is_open: bool) -> String {
    let sender = mail_from.0.as_ref().map_or_else(|| NOBODY.to_owned(), |address| one_word(&address.to_string()));
    let time = Offset::UTC.to_datetime(at);
    let (day, month) = (time.weekday().to_monday_zero_offset() as usize, time.month() as usize - 1);
    format!(
        "From {sender} {} {} {:>2} {:02}:{:02}:{:02} {:04} {MARK} us={:06}{}\n",
        DAYS[day],
        MONTHS[month],
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.year(),
        time.subsec_nanosecond() / 1000,
        if is_open { " open" } else { "" },
    )
}

/// The sender is one word: what would end it, and what is not ASCII, becomes an escape.
fn one_word(address: &str) -> String {
    let mut word = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'%' => word.push(char::from(byte)),
            _ => word.push_str(&format!("%{byte:02x}")),
        }
    }
    word
}

/// The line behind its quoting.
pub fn without_quotes(line: &[u8]) -> &[u8] {
    &line[line.iter().take_while(|byte| **byte == b'>').count()..]
}
