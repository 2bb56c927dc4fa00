//! The files of the repository, read once, and its packages as Cargo sees them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::source;
use crate::shell::{cargo, output};

/// One file. Bytes that are not UTF-8 make a file without text.
pub(super) struct File {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// Of a Rust file: the text with comments and literals blanked, place by place.
    pub(super) code: String,
}

impl File {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") { source::code(text) } else { String::new() };
        Self { path: path.into(), text: text.into(), code }
    }

    /// Whether it is no part of the program: a test or an example.
    pub(super) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| ["examples", "tests", "tests.rs"].contains(&part))
    }
}

/// The repository.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    /// `packages` of `cargo metadata`.
    pub(super) packages: Vec<Value>,
    /// Crates that the lock file names although nothing is built with them: some feature would want them that is off.
    pub(super) unbuilt: Vec<String>,
    /// Where the repository lies on this machine.
    pub(super) root: String,
}

impl Tree {
    /// Everything below the root that is not ignored.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let ignored: Vec<_> = ignored.lines().filter_map(|line| line.strip_prefix('/')).chain([".git"]).collect();
        let mut files = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let at = root.join(&folder);
            for entry in fs::read_dir(&at).with_context(|| format!("cannot list {}", at.display()))? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                let kind = entry.file_type()?;
                if ignored.contains(&path.as_str()) || kind.is_symlink() {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
                    files.push(File::new(&path, &String::from_utf8(bytes).unwrap_or_default()));
                }
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let lock = files.iter().find(|file| file.path == "Cargo.lock").map_or("", |file| file.text.as_str());
        let unbuilt = unbuilt(lock)?;
        Ok(Self { files, packages: packages()?, unbuilt, root: root.to_string_lossy().into_owned() })
    }

    /// The Rust files.
    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The file of this path.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file or a folder of this path is there.
    pub(super) fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty() || self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }
}

fn unbuilt(lock: &str) -> Result<Vec<String>> {
    let text = output(&mut cargo(["tree", "--workspace", "--edges", "all", "--prefix", "none", "--format", "{p}"]))?;
    let built: HashSet<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    let named = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    Ok(named.filter(|name| !built.contains(name)).map(str::to_owned).collect())
}

fn packages() -> Result<Vec<Value>> {
    let text = output(&mut cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
    let whole: Value = serde_json::from_str(&text).context("cargo metadata did not print JSON")?;
    whole["packages"].as_array().cloned().context("cargo metadata names no packages")
}
