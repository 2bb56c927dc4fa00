//! Content as DATA carries it (RFC 5321 §4.5.2): a dot that begins a line is doubled, and a dot alone is the end.

use memchr::memchr_iter;

/// The content with its dots doubled and its end. No lone CR or LF may be in it, so that all servers see the same lines and
/// the same end: whoever calls this has seen to that.
pub fn stuffed(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + content.len() / 64 + 8);
    let mut begin = 0;
    for dot in memchr_iter(b'.', content).filter(|dot| *dot == 0 || content[dot - 1] == b'\n') {
        out.extend_from_slice(&content[begin..dot]);
        out.push(b'.');
        begin = dot;
    }
    out.extend_from_slice(&content[begin..]);
    if !content.is_empty() && !content.ends_with(b"\r\n") {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_that_begin_a_line_are_doubled() {
        for (content, expected) in [
            ("", ".\r\n"),
            ("a", "a\r\n.\r\n"),
            ("a\r\n", "a\r\n.\r\n"),
            (".\r\n", "..\r\n.\r\n"),
            (".", "..\r\n.\r\n"),
            ("\r\n\r\n.\r\n", "\r\n\r\n..\r\n.\r\n"),
            (".a\r\nb.\r\n..\r\n", "..a\r\nb.\r\n...\r\n.\r\n"),
        ] {
            assert_eq!(stuffed(content.as_bytes()), expected.as_bytes(), "{content:?}");
        }
    }
}
