//! The block before each file of a tar (POSIX `ustar`), and the records of an extended header. It reads no stream.

use jiff::Timestamp;

use super::BLOCK;

/// What follows a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A file.
    File,
    /// A directory: nothing follows.
    Directory,
    /// Records for the file that comes next.
    Extended,
    /// GNU's own way to write the name of the file that comes next, when it is long.
    LongName,
    /// Records for all files, and everything else.
    Other,
}

/// A header, as far as it matters here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) size: u64,
    /// Seconds since 1970.
    pub(super) modified: i64,
}

impl Header {
    /// Write it. A path or time that does not fit is cut: the extended header before it has them whole.
    pub(super) fn block(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        put(&mut block[..100], self.path.as_bytes());
        octal(&mut block[100..108], 0o600);
        octal(&mut block[108..116], 0);
        octal(&mut block[116..124], 0);
        octal(&mut block[124..136], self.size);
        octal(&mut block[136..148], u64::try_from(self.modified).unwrap_or(0));
        block[148..156].fill(b' ');
        block[156] = if self.kind == Kind::Extended { b'x' } else { b'0' };
        put(&mut block[257..265], b"ustar\x0000");
        octal(&mut block[329..337], 0);
        octal(&mut block[337..345], 0);
        let sum = sum(&block);
        put(&mut block[148..156], format!("{sum:06o}\0 ").as_bytes());
        block
    }

    /// Read it; none when this is no header.
    pub(super) fn read(block: &[u8; BLOCK]) -> Option<Self> {
        if number(&block[148..156])? != sum(block) {
            return None;
        }
        let is_posix = &block[257..263] == b"ustar\0";
        let prefix = if is_posix { text(&block[345..500]) } else { String::new() };
        let name = text(&block[..100]);
        let kind = match block[156] {
            b'0' | b'7' | 0 => Kind::File,
            b'5' => Kind::Directory,
            b'x' => Kind::Extended,
            b'L' => Kind::LongName,
            _ => Kind::Other,
        };
        Some(Self {
            path: if prefix.is_empty() { name } else { format!("{prefix}/{name}") },
            kind,
            size: number(&block[124..136])?,
            modified: number(&block[136..148]).and_then(|second| i64::try_from(second).ok()).unwrap_or(0),
        })
    }
}

/// As many bytes as fit.
fn put(place: &mut [u8], bytes: &[u8]) {
    let count = bytes.len().min(place.len());
    place[..count].copy_from_slice(&bytes[..count]);
}

/// Octal digits and a NUL.
fn octal(place: &mut [u8], number: u64) {
    let width = place.len() - 1;
    put(place, format!("{number:0width$o}\0").as_bytes());
}

/// Octal digits, or base 256 as GNU writes what is too large for them.
fn number(place: &[u8]) -> Option<u64> {
    if place[0] == 0x80 {
        let (high, low) = place.split_at(place.len() - 8);
        let fits = high[1..].iter().all(|byte| *byte == 0);
        return if fits { Some(u64::from_be_bytes(low.try_into().ok()?)) } else { None };
    }
    let text = text(place);
    let digits = text.trim_matches(' ');
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with('+')) }
}

/// Up to the first NUL.
fn text(place: &[u8]) -> String {
    let end = place.iter().position(|byte| *byte == 0).unwrap_or(place.len());
    String::from_utf8_lossy(&place[..end]).into_owned()
}

/// The sum of all bytes, those of the sum itself taken as spaces.
fn sum(block: &[u8; BLOCK]) -> u64 {
    let own = |place: &usize| (148..156).contains(place);
    block.iter().enumerate().map(|(place, byte)| if own(&place) { u64::from(b' ') } else { u64::from(*byte) }).sum()
}

/// One record of an extended header: its own length, a space, `key=value`, a line feed.
pub(super) fn record(key: &str, value: &str, out: &mut Vec<u8>) {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    out.extend_from_slice(format!("{length} {key}={value}\n").as_bytes());
}

/// Key and value.
type Record<'a> = (&'a str, &'a [u8]);

/// The records of an extended header, as far as they can be read.
pub(super) fn records(bytes: &[u8]) -> Vec<Record<'_>> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some((one, behind)) = first(rest) {
        found.push(one);
        rest = behind;
    }
    found
}

/// The first record, and what follows it.
fn first(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let space = bytes.iter().take(20).position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
    let (record, behind) = bytes.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some(((std::str::from_utf8(&record[..equals]).ok()?, &record[equals + 1..]), behind))
}

/// `1794737625.000042`, before 1970 with a minus in front of all of it.
pub(super) fn exact(at: Timestamp) -> String {
    let micros = at.as_microsecond();
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.unsigned_abs();
    format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The same read, however many digits stand behind the point.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) {
        return None;
    }
    let part: i64 = format!("{part:0<6}")[..6].parse().ok()?;
    let micros = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(part)?;
    Timestamp::from_microsecond(sign * micros).ok()
}
