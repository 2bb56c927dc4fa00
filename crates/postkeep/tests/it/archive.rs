//! Tars for tests, made and taken apart by hand: the program's own reader and writer are what is tested.

/// One file of a tar.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    /// As its extended header says.
    pub(crate) records: Vec<String>,
    pub(crate) content: Vec<u8>,
}

impl Entry {
    /// The directory it lies in.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').unwrap().0
    }

    /// Everything but its name, which holds an id.
    pub(crate) fn nameless(&self) -> (&str, &[String], &[u8]) {
        (self.folder(), &self.records, &self.content)
    }
}

/// The files of a tar that we wrote.
pub(crate) fn entries(tar: &[u8]) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut records: Vec<String> = Vec::new();
    let mut rest = tar;
    while rest[..512] != [0; 512] {
        let text = |from: usize, to: usize| {
            let field = &rest[from..to];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
            String::from_utf8(field[..end].to_vec()).unwrap()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).unwrap();
        let content = rest[512..512 + size].to_vec();
        match rest[156] {
            b'x' => records = lines(&content),
            b'0' => {
                let mut records = std::mem::take(&mut records);
                let long = records.iter().position(|record| record.starts_with("path="));
                let path = long.map_or(text(0, 100), |at| records.remove(at)[5..].to_owned());
                found.push(Entry { path, records, content });
            }
            other => panic!("a file of kind {other}"),
        }
        rest = &rest[512 + size.next_multiple_of(512)..];
    }
    found
}

fn lines(mut bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|byte| *byte == b' ').unwrap();
        let length: usize = std::str::from_utf8(&bytes[..space]).unwrap().parse().unwrap();
        found.push(String::from_utf8(bytes[space + 1..length - 1].to_vec()).unwrap());
        bytes = &bytes[length..];
    }
    found
}

/// A tar of these files, each of a kind (`0` a file, `2` a link), at this time.
pub(crate) fn tar(files: &[(&str, u8, &[u8])], modified: u64) -> Vec<u8> {
    let mut tar = Vec::new();
    for (path, kind, content) in files {
        if path.len() > 100 {
            // As GNU writes a long name.
            block(&mut tar, "././@LongLink", b'L', path.as_bytes(), modified);
        }
        block(&mut tar, path, *kind, content, modified);
    }
    tar.extend([0; 1024]);
    tar
}

fn block(tar: &mut Vec<u8>, path: &str, kind: u8, content: &[u8], modified: u64) {
    let mut block = [0; 512];
    let name = &path.as_bytes()[..path.len().min(100)];
    block[..name.len()].copy_from_slice(name);
    block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    block[136..147].copy_from_slice(format!("{modified:011o}").as_bytes());
    block[148..156].fill(b' ');
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar  \0");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    tar.extend(block);
    tar.extend(content);
    tar.resize(tar.len().next_multiple_of(512), 0);
}
