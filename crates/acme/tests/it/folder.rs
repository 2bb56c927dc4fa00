//! Folders that somebody else has prepared.

use std::fs;
use std::os::unix::fs::symlink;

use acme::{FolderError, Notary};

use crate::authority::Authority;
use crate::rig::{Log, Scratch, settings};

const CA: &str = "https://127.0.0.1:1/dir";

#[test]
fn t083_a_link_to_a_pair_elsewhere_is_not_followed() {
    let scratch = Scratch::new("link");
    let authority = Authority::new(&scratch.0);
    let settings = settings(CA, &authority.root, &scratch.0, &["localhost"]);
    let path = Notary::open(settings.clone()).unwrap().path();
    let pair = [fs::read(&authority.certificate).unwrap(), fs::read(&authority.key).unwrap()].concat();
    fs::write(&path, &pair).unwrap();
    assert!(Notary::open(settings.clone()).unwrap().kept().is_some(), "the file itself is taken");
    let elsewhere = scratch.0.join("elsewhere.pem");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    let error = Notary::open(settings).unwrap_err();
    assert!(matches!(error, FolderError::Planted { .. }), "{error}");
    assert!(error.to_string().contains("tls.folder"), "{error}");
}

#[test]
fn a_kept_pair_that_is_damaged_or_for_others_is_passed_over() {
    let (scratch, log) = (Scratch::new("damaged"), Log::hear());
    let authority = Authority::new(&scratch.0);
    let open = |domain: &str| Notary::open(settings(CA, &authority.root, &scratch.0, &[domain])).unwrap();
    let path = open("localhost").path();
    let pair = [fs::read(&authority.certificate).unwrap(), fs::read(&authority.key).unwrap()].concat();
    fs::write(&path, &pair[..pair.len() - 60]).unwrap();
    assert!(open("localhost").kept().is_none());
    assert!(log.text().contains("the kept certificate cannot be used"), "{}", log.text());
    fs::write(&path, &pair).unwrap();
    assert!(open("other.example").kept().is_none());
    assert!(log.text().contains("is for other domains"), "{}", log.text());
}
