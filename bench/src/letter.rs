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

/// A message as an application sends it to somebody who signs up: a code of so many digits, as text and as HTML.
#[must_use]
pub fn with_code(to: &str, subject: &str, code: &str) -> Vec<u8> {
    format!(
        "From: Shop <no-reply@shop.test>\r\nTo: <{to}>\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/alternative; boundary=\"edge\"\r\n\r\n--edge\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\r\nWelcome to the shop.\r\n\r\n\
         Your verification code is {code}\r\n\r\nIt expires in 10 minutes.\r\n\
         Order 4471920, 48.50 EUR, 14 November 2026\r\n--edge\r\n\
         Content-Type: text/html; charset=utf-8\r\n\r\n<p>Welcome to the shop.</p>\r\n\
         <p>Your verification code:</p><p style=\"font-size:32px;letter-spacing:6px\">{code}</p>\r\n\
         <p>It expires in 10 minutes.</p><p style=\"font-size:11px\">Harbour Street 12, 20457 &copy; 2026</p>\r\n\
         --edge--\r\n.\r\n"
    )
    .into_bytes()
}
