//! JSON written straight into one buffer: compact, UTF-8 as it is, only what JSON requires is escaped (RFC 8259 §7).
//!
//! A list has hundreds of strings and a message tens of kilobytes of text, so they are copied in runs. It knows no
//! types: who calls it writes the brackets, the keys and the commas.

/// A JSON text that grows.
pub(crate) struct Json(Vec<u8>);

impl Json {
    /// An empty text with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Write this as it stands: syntax and keys, never a value from outside.
    pub(crate) fn raw(&mut self, syntax: &str) -> &mut Self {
        self.0.extend_from_slice(syntax.as_bytes());
        self
    }

    /// Write bytes that are known to need no escape, such as digits.
    pub(crate) fn plain(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Write a string with its quotes.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.raw("\"").escaped(text).raw("\"")
    }

    /// Write a part of a string, without quotes.
    pub(crate) fn escaped(&mut self, text: &str) -> &mut Self {
        let mut rest = text.as_bytes();
        while let Some(at) = first_special(rest) {
            self.0.extend_from_slice(&rest[..at]);
            self.escape(rest[at]);
            rest = &rest[at + 1..];
        }
        self.plain(rest)
    }

    /// Write a number.
    pub(crate) fn number(&mut self, mut number: u64) -> &mut Self {
        let mut digits = [b'0'; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return self.plain(&digits[at..]);
            }
        }
    }

    /// Write a list: each item by `write`, commas between.
    pub(crate) fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            write(self, item);
        }
    }

    /// What was written so far.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The text and one newline.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.0.push(b'\n');
        self.0
    }

    fn escape(&mut self, byte: u8) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        match byte {
            b'"' | b'\\' => self.0.extend_from_slice(&[b'\\', byte]),
            b'\n' => self.0.extend_from_slice(b"\\n"),
            b'\r' => self.0.extend_from_slice(b"\\r"),
            b'\t' => self.0.extend_from_slice(b"\\t"),
            _ => {
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                self.0.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        }
    }
}

/// Where the first byte stands that JSON wants escaped: a control character, a quote or a backslash.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(index * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    tail.iter().position(is_special).map(|at| words.len() * 8 + at)
}

/// Eight bytes at once: the lowest high bit that is set stands in the first special byte. (Borrows may set bits above
/// it for bytes that are not special, never below.)
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & (ONES * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut json = Json::with_capacity(0);
        json.string(text);
        String::from_utf8(json.0).unwrap()
    }

    #[test]
    fn strings_are_escaped_as_little_as_json_allows() {
        let check = |text: &str, expected: &str| assert_eq!(written(text), expected, "{text:?}");
        check("", r#""""#);
        check("grüße 世界 🙂 <a&b> \u{2028}\u{7f}", "\"grüße 世界 🙂 <a&b> \u{2028}\u{7f}\"");
        check("a\"b\\c/d", r#""a\"b\\c/d""#);
        check("\r\n\t\0\u{1b}\u{1f}", r#""\r\n\t\u0000\u001b\u001f""#);
    }

    #[test]
    fn every_byte_at_every_place_reads_back() {
        for place in 0..20 {
            for code in (0..0x100).chain([0x2028, 0xfffd, 0x1f642]).filter_map(char::from_u32) {
                let text: String = "x".repeat(place) + &code.to_string() + &"ÿ\u{80}".repeat(place);
                let back: String = serde_json::from_str(&written(&text)).unwrap();
                assert_eq!(back, text);
                assert_eq!(
                    written(&text),
                    serde_json::to_string(&text).unwrap().replace("\\b", "\\u0008").replace("\\f", "\\u000c")
                );
            }
        }
    }

    #[test]
    fn numbers_and_lists() {
        let mut json = Json::with_capacity(0);
        json.raw("[").list([0, 7, 10, 1_234_567_890, u64::MAX], |json, number| _ = json.number(number));
        json.raw("]");
        assert_eq!(json.finish(), b"[0,7,10,1234567890,18446744073709551615]\n");
    }
}
