//! Messages as they are sent in DATA: of a wanted size, with CRLF at the end of each line, and no line that begins with a
//! dot but the last.

const LINE: &str = "Your order has been shipped and will arrive within the next three days.\r\n";

/// A plain message of about so many bytes, and the dot at its end.
#[must_use]
pub fn letter(subject: &str, bytes: usize) -> Vec<u8> {
    let head = format!("From: Shop <sender@client.test>\r\nTo: somebody@client.test\r\nSubject: {subject}\r\n\r\n");
    let lines = bytes.saturating_sub(head.len()).div_ceil(LINE.len());
    [&head, &LINE.repeat(lines), ".\r\n"].concat().into_bytes()
}
