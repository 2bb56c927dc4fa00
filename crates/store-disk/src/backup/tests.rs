//! A backup is a whole store of one moment, or none.

use std::fs;
use std::sync::Arc;

use mail::Mailbox;
use store::conformance::Letter;
use store::list::{Order, Page};
use store::{Clock, Store, SystemClock};

use super::{BackupError, backup};
use crate::check::{Depth, check};
use crate::tests::Place;
use crate::{Disk, Settings};

fn open(place: &Place) -> Disk {
    let settings = Settings { free_min: 0, messages_max: 0, ..Settings::new(place.path()) };
    Disk::open(settings, Arc::new(SystemClock)).unwrap()
}

async fn append(disk: &Disk, count: usize) {
    for number in 0..count {
        let letter = Letter::new(format!("{number}"), &["a", "b"]).size(number * 100);
        disk.append(letter.delivery(SystemClock.now())).await.unwrap();
    }
}

async fn count(disk: &Disk) -> usize {
    let page = Page { after: None, limit: 100_000, order: Order::Oldest };
    disk.list(&Mailbox::from_canonical("a"), page).await.unwrap().items.len()
}

#[tokio::test]
async fn a_backup_is_a_store_of_its_own() {
    let (place, to) = (Place::new(), Place::new());
    let disk = open(&place);
    append(&disk, 50).await;
    let mut told = (0, 0);
    let backed = backup(place.path(), to.path(), &mut |done, all| told = (done, all)).unwrap();
    assert_eq!((backed.messages, told.0, told.1), (100, backed.bytes, backed.bytes));
    let names: Vec<_> = fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["postkeep.db"], "one file, whole in itself");
    append(&disk, 1).await;
    let copy = open(&to);
    assert_eq!((count(&disk).await, count(&copy).await), (51, 50));
    assert_ne!(disk.abilities().epoch, copy.abilities().epoch, "cursors of the original mean nothing in the copy");
    append(&copy, 3).await;
    drop(copy);
    assert_eq!(check(to.path(), Depth::Whole, &mut |_| ()).unwrap().faults, 0);
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (place, to) = (Place::new(), Place::new());
    append(&open(&place), 1).await;
    fs::create_dir(to.path()).unwrap();
    backup(place.path(), to.path(), &mut |_, _| ()).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(to.path()), mode(&to.path().join("postkeep.db"))), (0o700, 0o600));
}

#[tokio::test]
async fn what_is_there_is_not_written_over() {
    let (place, to) = (Place::new(), Place::new());
    let disk = open(&place);
    append(&disk, 1).await;
    fs::create_dir(to.path()).unwrap();
    fs::write(to.path().join("mine"), "mine").unwrap();
    let refused = backup(place.path(), to.path(), &mut |_, _| ());
    assert!(matches!(refused, Err(BackupError::Occupied { .. })), "{refused:?}");
    let onto_itself = backup(place.path(), place.path(), &mut |_, _| ());
    assert!(matches!(onto_itself, Err(BackupError::Occupied { .. })));
    #[cfg(unix)]
    {
        let link = Place::new();
        std::os::unix::fs::symlink(to.path(), link.path()).unwrap();
        assert!(matches!(backup(place.path(), link.path(), &mut |_, _| ()), Err(BackupError::Occupied { .. })));
        fs::remove_file(link.path()).unwrap();
    }
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn half_a_copy_is_taken_for_no_store() {
    let (place, to) = (Place::new(), Place::new());
    append(&open(&place), 5).await;
    fs::create_dir(to.path()).unwrap();
    // As it lies there when the program was killed in the middle.
    fs::copy(place.path().join("postkeep.db"), to.path().join(super::UNFINISHED)).unwrap();
    assert!(Disk::open(Settings::new(to.path()), Arc::new(SystemClock)).is_err());
    assert!(Disk::look(to.path(), Arc::new(SystemClock)).is_err());
    assert!(check(to.path(), Depth::Usual, &mut |_| ()).is_err());
}

#[tokio::test]
async fn a_backup_beside_writers_is_one_moment() {
    let place = Place::new();
    let disk = Arc::new(open(&place));
    append(&disk, 100).await;
    let writer = tokio::spawn({
        let disk = Arc::clone(&disk);
        async move { append(&disk, 1_000).await }
    });
    let mut before = count(&disk).await;
    while !writer.is_finished() {
        let to = Place::new();
        let (from, copy) = (place.path().to_owned(), to.path().to_owned());
        tokio::task::spawn_blocking(move || backup(&from, &copy, &mut |_, _| ())).await.unwrap().unwrap();
        let checked = check(to.path(), Depth::Whole, &mut |_| ()).unwrap();
        assert_eq!(checked.faults, 0);
        assert!(checked.messages / 2 >= before as u64, "what was acknowledged before is there");
        assert_eq!(checked.messages % 2, 0, "no message is in one of its mailboxes alone");
        before = count(&disk).await;
    }
    writer.await.unwrap();
}
