//! The page's files by their exact names: those that were built into the program, or those of a folder, read once. Which
//! ones there are is known before anybody asks, so no path of a request is ever one of a file system (T064).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use bytes::Bytes;
use rust_embed::RustEmbed;

use super::file::File;

/// What `npm run build` made in `ui/`, as it was when this program was built.
#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
struct Built;

const INDEX: &str = "index.html";
/// Where `index.html` says at which path the page lies.
const BASE: [&str; 2] = ["<base href=\"", "/\""];
/// Bytes of a folder. A page has far less; another folder that was named by mistake may have far more.
const FOLDER_MAX: u64 = 64 << 20;

/// The page, ready to be sent.
pub struct Page {
    /// The text of `index.html`, before and behind the prefix of its base.
    index: [String; 2],
    files: BTreeMap<String, File>,
}

/// Why a folder is no page.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages tell it")]
pub enum BadPage {
    #[error(
        "there is no index.html in {0}; build the page there with `npm run build` in ui/, or leave http.page_folder empty \
         for the page of this program"
    )]
    NoIndex(PathBuf),
    #[error("index.html in {0} has to say <base href=\"/\" /> once; take the one that `npm run build` makes in ui/")]
    NoBase(PathBuf),
    #[error("{0} holds more than 64 MiB, so it is no page; name the folder that `npm run build` made in ui/")]
    TooLarge(PathBuf),
    #[error("{path} cannot be read: {error}; let this user read it")]
    Unreadable { path: PathBuf, error: io::Error },
}

impl Page {
    /// The page of this folder, or the one that is built in.
    pub fn read(folder: Option<&Path>) -> Result<Self, BadPage> {
        match folder {
            Some(folder) => Self::of(folder, read(folder)?),
            None => Self::of(Path::new("ui/dist"), built()),
        }
    }

    /// A page of these files, by their names in the folder.
    pub(crate) fn of(folder: &Path, mut found: BTreeMap<String, Bytes>) -> Result<Self, BadPage> {
        let index = found.remove(INDEX).ok_or_else(|| BadPage::NoIndex(folder.to_owned()))?;
        let no_base = || BadPage::NoBase(folder.to_owned());
        let index = String::from_utf8(index.into()).map_err(|_| no_base())?;
        let [before, behind] = index.split(&BASE.concat()).collect::<Vec<_>>().try_into().map_err(|_| no_base())?;
        let beside = |name: &String, ending: &str| found.get(&format!("{name}{ending}")).cloned();
        let is_packed = |name: &str| name.ends_with(".br") || name.ends_with(".gz");
        let files = found.iter().filter(|(name, _)| !is_packed(name)).map(|(name, plain)| {
            (name.clone(), File::new(name, plain.clone(), beside(name, ".br"), beside(name, ".gz")))
        });
        Ok(Self { files: files.collect(), index: [format!("{before}{}", BASE[0]), format!("{}{behind}", BASE[1])] })
    }

    /// `index.html` for a page below this prefix, which holds no character that means anything in HTML: it was read
    /// strictly, wherever it came from.
    pub(crate) fn index(&self, prefix: &str) -> String {
        let [before, behind] = &self.index;
        [before, prefix, behind].concat()
    }

    /// The file of exactly this name.
    pub(crate) fn file(&self, name: &str) -> Option<&File> {
        self.files.get(name)
    }

    /// The names of all files but the index.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

fn built() -> BTreeMap<String, Bytes> {
    let bytes = |data: Cow<'static, [u8]>| match data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Built::iter().filter_map(|name| Some((name.to_string(), bytes(Built::get(&name)?.data)))).collect()
}

/// What a page is made of, and nothing else that may lie in the folder.
fn read(folder: &Path) -> Result<BTreeMap<String, Bytes>, BadPage> {
    let unreadable = |path: &Path, error| BadPage::Unreadable { path: path.to_owned(), error };
    let mut names = vec![INDEX.to_owned(), "favicon.svg".to_owned()];
    let assets = folder.join("assets");
    if assets.is_dir() {
        for entry in fs::read_dir(&assets).map_err(|error| unreadable(&assets, error))? {
            let name = entry.map_err(|error| unreadable(&assets, error))?.file_name();
            names.extend(name.to_str().map(|name| format!("assets/{name}")));
        }
    }
    let (mut found, mut room) = (BTreeMap::new(), FOLDER_MAX);
    for name in names {
        let path = folder.join(&name);
        if !path.is_file() {
            continue;
        }
        let length = path.metadata().map_err(|error| unreadable(&path, error))?.len();
        room = room.checked_sub(length).ok_or_else(|| BadPage::TooLarge(folder.to_owned()))?;
        found.insert(name, fs::read(&path).map_err(|error| unreadable(&path, error))?.into());
    }
    Ok(found)
}
