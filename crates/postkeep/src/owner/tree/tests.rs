//! Links are not followed, and what is there is not written over.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::{Dir, Kind};

/// A fresh directory, and a file beside it that nobody may touch.
fn place(name: &str) -> (PathBuf, PathBuf) {
    let root = std::env::temp_dir().join(format!("postkeep-tree-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("outside")).unwrap();
    fs::write(root.join("outside/kept"), "kept").unwrap();
    (root.join("to"), root.join("outside"))
}

#[test]
fn t083_a_planted_link_is_not_followed() {
    let (to, outside) = place("planted");
    let dir = Dir::fresh(&to).unwrap();
    symlink(&outside, to.join("inside")).unwrap();
    symlink(outside.join("kept"), to.join("kept")).unwrap();
    symlink(outside.join("made"), to.join("made")).unwrap();
    dir.enter("inside").expect_err("a link is no directory to enter");
    dir.create("kept").expect_err("a link is there already");
    dir.create("made").expect_err("a link that leads nowhere is there already");
    dir.file("kept").expect_err("a link is not read");
    let kinds: Vec<Kind> = dir.entries().unwrap().into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, [Kind::Other; 3]);
    // A directory that was swapped for a link while it was open still is the directory.
    let inner = dir.enter("inner").unwrap();
    fs::rename(to.join("inner"), to.join("moved")).unwrap();
    symlink(&outside, to.join("inner")).unwrap();
    inner.create("made").unwrap().write_all(b"x").unwrap();
    assert_eq!(fs::read(to.join("moved/made")).unwrap(), b"x");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(outside.join("kept")).unwrap(), b"kept");
    fs::remove_dir_all(to.parent().unwrap()).unwrap();
}

#[test]
fn what_is_written_into_is_new_or_empty_and_its_owners_alone() {
    let (to, outside) = place("fresh");
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let dir = Dir::fresh(&to).unwrap();
    assert_eq!(mode(&to), 0o700);
    drop(Dir::fresh(&to).expect("an empty one will do"));
    dir.create("a").unwrap();
    assert_eq!(mode(&to.join("a")), 0o600);
    assert_eq!(mode(&{ dir.enter("b").unwrap().path().to_owned() }), 0o700);
    dir.create("a").expect_err("it is there");
    assert!(Dir::fresh(&to).unwrap_err().to_string().contains("not empty"));
    let link = to.with_file_name("link");
    symlink(&outside, &link).unwrap();
    assert!(Dir::fresh(&link).unwrap_err().to_string().contains("symbolic link"));
    fs::remove_dir_all(to.parent().unwrap()).unwrap();
}
