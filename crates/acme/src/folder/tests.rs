//! A folder that others have prepared, and files that must be whole.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

const CA: &str = "https://ca.example:14000/dir";

/// A directory for one test, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("acme-folder-{}-{test}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_their_owners_alone_and_replaced_as_a_whole() {
    let scratch = Scratch::new("own");
    let folder = Folder::open(&scratch.0.join("tls"), CA).unwrap();
    assert_eq!(folder.read("a.pem").unwrap(), None);
    folder.write("a.pem", b"one").unwrap();
    folder.write("a.pem", b"second").unwrap();
    assert_eq!(folder.read("a.pem").unwrap().unwrap(), b"second");
    let inner = scratch.0.join("tls/acme-ca.example_14000_dir");
    assert_eq!((mode(&inner), mode(&inner.join("a.pem"))), (0o700, 0o600));
    let names: Vec<_> = fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.pem"]);
}

#[test]
fn what_a_crash_left_is_in_nobodys_way() {
    let scratch = Scratch::new("crash");
    let folder = Folder::open(&scratch.0, CA).unwrap();
    fs::write(folder.at(".a.pem.new"), b"ha").unwrap();
    folder.write("a.pem", b"whole").unwrap();
    assert_eq!(folder.read("a.pem").unwrap().unwrap(), b"whole");
}

#[test]
fn a_folder_that_was_open_is_closed_and_the_outer_one_left_alone() {
    let scratch = Scratch::new("open");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o755)).unwrap();
    let inner = scratch.0.join(name_of(CA));
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o777)).unwrap();
    Folder::open(&scratch.0, CA).unwrap();
    assert_eq!((mode(&inner), mode(&scratch.0)), (0o700, 0o755));
}

#[test]
fn t083_a_link_instead_of_the_folder_is_refused() {
    let scratch = Scratch::new("dirlink");
    let elsewhere = scratch.0.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, scratch.0.join("tls")).unwrap();
    let planted = |outcome| matches!(outcome, Err(FolderError::Planted { .. }));
    assert!(planted(Folder::open(&scratch.0.join("tls"), CA)));
    symlink(&elsewhere, scratch.0.join(name_of(CA))).unwrap();
    assert!(planted(Folder::open(&scratch.0, CA)));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn t083_a_link_instead_of_a_file_is_neither_read_nor_written_through() {
    let scratch = Scratch::new("filelink");
    let target = scratch.0.join("target");
    fs::write(&target, b"of somebody else").unwrap();
    let folder = Folder::open(&scratch.0.join("tls"), CA).unwrap();
    symlink(&target, folder.at("a.pem")).unwrap();
    symlink(&target, folder.at(".a.pem.new")).unwrap();
    assert!(matches!(folder.read("a.pem"), Err(FolderError::Planted { .. })));
    folder.write("a.pem", b"ours").unwrap();
    assert_eq!(folder.read("a.pem").unwrap().unwrap(), b"ours");
    assert_eq!(fs::read(&target).unwrap(), b"of somebody else");
}

#[test]
fn what_is_no_file_or_no_file_of_ours_is_not_read() {
    let scratch = Scratch::new("odd");
    let folder = Folder::open(&scratch.0, CA).unwrap();
    fs::create_dir(folder.at("a.pem")).unwrap();
    assert!(matches!(folder.read("a.pem"), Err(FolderError::Planted { expected: "file", .. })));
    fs::write(folder.at("b.pem"), vec![0; FILE_MAX as usize + 1]).unwrap();
    assert!(matches!(folder.read("b.pem"), Err(FolderError::Large { .. })));
}

#[test]
fn each_directory_has_a_folder_of_its_own() {
    let check = |url: &str, name: &str| assert_eq!(name_of(url), name);
    check("https://acme-v02.api.example/directory", "acme-acme-v02.api.example_directory");
    check("https://127.0.0.1:14000/dir/", "acme-127.0.0.1_14000_dir");
    check("https://[::1]:1/../../x", "acme-___1__1_.._.._x");
    assert!(name_of(&format!("https://{}", "a".repeat(1000))).len() < 255);
}
