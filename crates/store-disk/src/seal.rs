//! Seals: a few bytes beside each row that only its own content has, so that a damaged row is known and never shown.
//! They guard against disks, not against people: whoever can write the file can write a seal.

/// What is sealed, gathered field by field; each has a length, so that no two contents look the same.
#[derive(Default)]
pub(crate) struct Wax(Vec<u8>);

impl Wax {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(512))
    }

    pub(crate) fn number(&mut self, number: i64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn maybe(&mut self, number: Option<i64>) -> &mut Self {
        self.number(i64::from(number.is_some())).number(number.unwrap_or(0))
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as i64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn maybe_text(&mut self, text: Option<&str>) -> &mut Self {
        self.number(i64::from(text.is_some())).text(text.unwrap_or_default())
    }

    /// The seal but for the numbers that are drawn last.
    pub(crate) fn melt(&self) -> Molten {
        Molten(*blake3::hash(&self.0).as_bytes())
    }
}

/// A seal that waits for its numbers.
#[derive(Clone, Copy)]
pub(crate) struct Molten([u8; 32]);

impl Molten {
    /// The seal, as it stands in its column.
    pub(crate) fn press(&self, numbers: [i64; 3]) -> i64 {
        let mut all = [0; 56];
        all[..32].copy_from_slice(&self.0);
        for (place, number) in numbers.iter().enumerate() {
            all[32 + 8 * place..][..8].copy_from_slice(&number.to_le_bytes());
        }
        let hash = blake3::hash(&all);
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_bytes()[..8]);
        i64::from_le_bytes(first)
    }
}
