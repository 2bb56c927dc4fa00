//! The texts of scripts: one file, or the files of a folder in the order of their names.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::program::BadScript;

/// Bytes of one file.
const FILE_MAX: u64 = 1 << 20;
/// Files of a folder.
const FILES_MAX: usize = 100;

/// How files look, to tell a change without reading them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look(Vec<(PathBuf, Option<(SystemTime, u64)>)>);

/// One text and what it is called.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Look {
    /// How what is there looks now.
    pub fn at(path: &Path) -> Self {
        let look = |path: PathBuf| {
            let seen = fs::metadata(&path).ok().and_then(|file| Some((file.modified().ok()?, file.len())));
            (path, seen)
        };
        Self(files(path).unwrap_or_else(|_| vec![path.to_owned()]).into_iter().map(look).collect())
    }
}

/// Read one file or all scripts of a folder.
pub(crate) fn read(path: &Path) -> Result<Vec<Source>, BadScript> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| BadScript::Unreadable { path, source }
    };
    let files = files(path).map_err(unreadable(path))?;
    if files.is_empty() {
        return Err(BadScript::Empty { path: path.to_owned() });
    }
    if files.len() > FILES_MAX {
        return Err(BadScript::TooMany { path: path.to_owned(), max: FILES_MAX });
    }
    let one = |path: &PathBuf| {
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(unreadable(path))?;
        if bytes.len() as u64 > FILE_MAX {
            return Err(BadScript::TooLarge { path: path.clone() });
        }
        let text = String::from_utf8(bytes).map_err(|_| BadScript::NoText { path: path.clone() })?;
        let name = path.file_name().map_or_else(|| "script".into(), |name| name.to_string_lossy().into_owned());
        Ok(Source { name, text: text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text) })
    };
    files.iter().map(one).collect()
}

/// The file, or the files ending in `.lua` and `.luau` of a folder, by name. What begins with a dot is left alone.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let is_script = path.extension().is_some_and(|kind| kind == "lua" || kind == "luau");
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_script && !is_hidden && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
