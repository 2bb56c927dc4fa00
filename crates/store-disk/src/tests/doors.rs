//! T083: the directory is its owner's alone, is reached through no link, and one at a time has it. F25: what is not a
//! store, or one of a later format, is left as it is.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use store::conformance::Letter;

use super::bench::{Bench, quick_place, subjects, until};
use crate::{Disk, OpenError, Search};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn t083_a_link_in_the_place_of_the_directory_is_not_followed() {
    let (bench, target) = (Bench::new(|_| ()), quick_place());
    fs::create_dir(target.path()).unwrap();
    fs::set_permissions(target.path(), Permissions::from_mode(0o755)).unwrap();
    symlink(target.path(), bench.place.path()).unwrap();
    let error = bench.try_open().err().unwrap();
    assert!(matches!(error, OpenError::Link { .. }), "{error}");
    assert!(Disk::look(bench.place.path(), bench.clock.clone()).is_err());
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0, "nothing was put there");
    assert_eq!(mode(target.path()), 0o755);
    fs::remove_file(bench.place.path()).unwrap();
}

#[tokio::test]
async fn t083_a_link_in_the_place_of_a_file_is_not_followed() {
    for name in ["postkeep.db", "postkeep.db-wal", "postkeep.db-shm", "lock", "search.db", "search.db-wal"] {
        for dangling in [false, true] {
            let (bench, target) = (Bench::new(|_| ()), quick_place());
            fs::create_dir(bench.place.path()).unwrap();
            if !dangling {
                fs::write(target.path(), "of somebody else").unwrap();
            }
            symlink(target.path(), bench.place.path().join(name)).unwrap();
            let error = bench.try_open().err().unwrap();
            assert!(matches!(&error, OpenError::Link { path } if path.ends_with(name)), "{name}: {error}");
            assert!(Disk::look(bench.place.path(), bench.clock.clone()).is_err());
            match dangling {
                false => assert_eq!(fs::read_to_string(target.path()).unwrap(), "of somebody else", "{name}"),
                true => assert!(!target.path().exists(), "{name}"),
            }
            let _ = fs::remove_file(target.path());
        }
    }
}

/// One that is planted between two starts is met just the same.
#[tokio::test]
async fn t083_a_link_planted_beside_a_store_is_not_followed() {
    let (bench, target) = (Bench::new(|_| ()), quick_place());
    drop(bench.open());
    fs::write(target.path(), "of somebody else").unwrap();
    symlink(target.path(), bench.place.path().join("postkeep.db-wal")).unwrap();
    assert!(bench.try_open().is_err());
    assert_eq!(fs::read_to_string(target.path()).unwrap(), "of somebody else");
    fs::remove_file(target.path()).unwrap();
}

#[tokio::test]
async fn t083_the_directory_is_closed_to_others() {
    let bench = Bench::new(|settings| settings.search = Search::default());
    fs::create_dir(bench.place.path()).unwrap();
    fs::set_permissions(bench.place.path(), Permissions::from_mode(0o777)).unwrap();
    let disk = bench.open();
    bench.send(&disk, Letter::new("x", &["a"])).await;
    assert_eq!(mode(bench.place.path()), 0o700);
    until("the index is there", || fs::read_dir(bench.place.path()).unwrap().count() == 7);
    for entry in fs::read_dir(bench.place.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn t083_a_directory_of_somebody_else_is_left_alone() {
    let bench = Bench::new(|_| ());
    fs::create_dir(bench.place.path()).unwrap();
    fs::write(bench.place.path().join("thesis.txt"), "years of work").unwrap();
    fs::set_permissions(bench.place.path(), Permissions::from_mode(0o755)).unwrap();
    let error = bench.try_open().err().unwrap();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("name an empty directory"), "{error}");
    assert_eq!(mode(bench.place.path()), 0o755);
    assert_eq!(fs::read_dir(bench.place.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn t083_one_at_a_time_has_a_directory() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    bench.send(&disk, Letter::new("x", &["a"])).await;
    let error = bench.try_open().err().unwrap();
    let number = format!("process {}", std::process::id());
    assert!(matches!(error, OpenError::InUse { .. }) && error.to_string().contains(&number), "{error}");
    assert_eq!(subjects(&disk, "a").await, ["x"], "the first one goes on");
    bench.send(&disk, Letter::new("y", &["a"])).await;
    drop(disk);
    assert_eq!(subjects(&bench.open(), "a").await, ["x", "y"]);
}

#[tokio::test]
async fn f25_what_is_no_store_is_refused_and_left_as_it_is() {
    let other = quick_place();
    fs::create_dir(other.path()).unwrap();
    let database = other.path().join("other.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('soup')").unwrap();
    drop(connection);
    let garbage: Vec<u8> = (0..20_000u32).map(|number| (number * 7 % 251) as u8).collect();
    for foreign in [fs::read(database).unwrap(), garbage, b"hello".to_vec()] {
        let bench = Bench::new(|_| ());
        fs::create_dir(bench.place.path()).unwrap();
        fs::write(bench.database(), &foreign).unwrap();
        for error in [bench.try_open().err(), Disk::look(bench.place.path(), bench.clock.clone()).err()] {
            let error = error.unwrap();
            assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
            assert!(error.to_string().contains("name another directory"), "{error}");
        }
        assert!(fs::read(bench.database()).unwrap() == foreign, "it is as it was");
    }
}

/// A start that was stopped right at its beginning leaves an empty file.
#[tokio::test]
async fn f25_an_empty_file_becomes_a_store() {
    let bench = Bench::new(|_| ());
    fs::create_dir(bench.place.path()).unwrap();
    fs::write(bench.database(), b"").unwrap();
    assert!(Disk::look(bench.place.path(), bench.clock.clone()).is_err());
    let disk = bench.open();
    bench.send(&disk, Letter::new("x", &["a"])).await;
    assert_eq!(subjects(&disk, "a").await, ["x"]);
}

#[tokio::test]
async fn f25_a_newer_format_is_refused_and_left_as_it_is() {
    let bench = Bench::new(|_| ());
    drop(bench.open());
    bench.beside().pragma_update(None, "user_version", 7).unwrap();
    let before = fs::read(bench.database()).unwrap();
    for error in [bench.try_open().err(), Disk::look(bench.place.path(), bench.clock.clone()).err()] {
        let error = error.unwrap().to_string();
        assert!(error.contains("newer postkeep (format 7, this one reads up to 2)"), "{error}");
        assert!(error.contains("start that version, or restore a backup"), "{error}");
    }
    assert!(fs::read(bench.database()).unwrap() == before, "it is as it was");
    let log = bench.place.path().join("postkeep.db-wal");
    assert!(fs::metadata(log).map_or(0, |log| log.len()) == 0);
}
