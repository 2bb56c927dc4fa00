//! A ZIP archive written as it goes (APPNOTE 6.3): files as they are, not compressed; the directory at the end. Each file
//! is known whole when it comes, so its sum and size stand before it and nothing is written twice. Beyond 65,535 files or
//! 4 GiB the ZIP64 forms are used.

/// The directory so far.
#[derive(Default)]
pub(crate) struct Archive {
    directory: Vec<u8>,
    files: u64,
    written: u64,
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut sum, mut bit) = (byte as u32, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

impl Archive {
    /// What stands before the bytes of a file of this name, which come next. A name is ASCII.
    pub(crate) fn file(&mut self, name: &str, content: &[u8], at: jiff::civil::DateTime) -> Vec<u8> {
        let (sum, size) = (crc32(content), content.len() as u32);
        let (time, date) = dos(at);
        let mut shared = Vec::with_capacity(26);
        // Version needed, flags, method, time, date, sum, sizes, lengths of the name and of what follows it.
        for half in [45_u16, 0, 0, time, date] {
            shared.extend_from_slice(&half.to_le_bytes());
        }
        for word in [sum, size, size] {
            shared.extend_from_slice(&word.to_le_bytes());
        }
        shared.extend_from_slice(&(name.len() as u16).to_le_bytes());
        let mut local = b"PK\x03\x04".to_vec();
        local.extend_from_slice(&shared);
        local.extend_from_slice(&0_u16.to_le_bytes());
        local.extend_from_slice(name.as_bytes());
        self.enter(&shared, name);
        self.files += 1;
        self.written += (local.len() + content.len()) as u64;
        local
    }

    fn enter(&mut self, shared: &[u8], name: &str) {
        let offset = self.written;
        let is_far = offset >= u64::from(u32::MAX);
        let directory = &mut self.directory;
        directory.extend_from_slice(b"PK\x01\x02\x2d\x00");
        directory.extend_from_slice(shared);
        let extra: u16 = if is_far { 12 } else { 0 };
        directory.extend_from_slice(&extra.to_le_bytes());
        // No comment, one disk, no attributes.
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&u32::try_from(offset).unwrap_or(u32::MAX).to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
        if is_far {
            directory.extend_from_slice(&[1, 0, 8, 0]);
            directory.extend_from_slice(&offset.to_le_bytes());
        }
    }

    /// What stands at the end.
    pub(crate) fn finish(self) -> Vec<u8> {
        let (files, size, offset) = (self.files, self.directory.len() as u64, self.written);
        let mut end = self.directory;
        if files >= 0xffff || offset + size >= u64::from(u32::MAX) {
            end.extend_from_slice(b"PK\x06\x06");
            end.extend_from_slice(&44_u64.to_le_bytes());
            end.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [files, files, size, offset] {
                end.extend_from_slice(&number.to_le_bytes());
            }
            end.extend_from_slice(b"PK\x06\x07\0\0\0\0");
            end.extend_from_slice(&(offset + size).to_le_bytes());
            end.extend_from_slice(&1_u32.to_le_bytes());
        }
        let few = u16::try_from(files).unwrap_or(u16::MAX).to_le_bytes();
        end.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        end.extend_from_slice(&few);
        end.extend_from_slice(&few);
        for number in [size, offset] {
            end.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        end.extend_from_slice(&[0, 0]);
        end
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8))
}

/// Time and date as DOS had them: two seconds, since 1980.
fn dos(at: jiff::civil::DateTime) -> (u16, u16) {
    let year = (at.year().max(1980) - 1980).min(127) as u16;
    let time = (at.hour() as u16) << 11 | (at.minute() as u16) << 5 | ((at.second() as u16) / 2);
    (time, year << 9 | (at.month() as u16) << 5 | at.day() as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_one_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn beyond_four_gigabytes_offsets_are_long() {
        let mut archive = Archive { written: u64::from(u32::MAX) + 5, ..Archive::default() };
        archive.file("a.eml", b"x", jiff::civil::date(2026, 11, 15).at(1, 2, 3, 0));
        let end = archive.finish();
        let far = (u64::from(u32::MAX) + 5).to_le_bytes();
        assert!(end.windows(8).any(|eight| eight == far), "the offset of the file");
        assert!(end.windows(4).any(|four| four == b"PK\x06\x06"), "the long end");
    }
}
