//! Each kind of damage is found and named, and nothing is found where nothing is.

use std::fs::{self, File};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use mail::{Mailbox, MessageId};
use rusqlite::Connection;
use store::conformance::Letter;
use store::{Clock, Position, Store, SystemClock};

use super::{Check, Checked, Depth, Fault, Told, check};
use crate::tests::Place;
use crate::{Disk, Settings};

/// A store with a few messages, small and large, shared and not, some of them purged; closed.
async fn filled() -> Place {
    let place = Place::new();
    let disk = open(&place);
    for number in 0..20 {
        let to: &[&str] = if number % 4 == 0 { &["a", "b", "c"] } else { &["a"] };
        let letter = Letter::new(format!("number {number}"), to).size(1 + number * 3_000);
        disk.append(letter.delivery(SystemClock.now())).await.unwrap();
    }
    let many = (0..600).map(|_| disk.append(Letter::new("many", &["many"]).delivery(SystemClock.now())));
    futures_util::future::try_join_all(many).await.unwrap();
    disk.purge(&Mailbox::from_canonical("c"), Position::END, Vec::new()).await.unwrap();
    disk.purge(&Mailbox::from_canonical("many"), Position::END, Vec::new()).await.unwrap();
    disk.close();
    place
}

fn open(place: &Place) -> Disk {
    let settings = Settings { free_min: 0, messages_max: 0, ..Settings::new(place.path()) };
    Disk::open(settings, Arc::new(SystemClock)).unwrap()
}

fn checked(place: &Place) -> (Checked, Vec<Fault>) {
    let mut faults = Vec::new();
    let checked = check(place.path(), Depth::Usual, &mut |told| {
        if let Told::Fault(fault) = told {
            faults.push(fault.clone());
        }
    });
    (checked.unwrap(), faults)
}

/// Do something to the database behind everybody's back.
fn meddle(place: &Place, sql: &str) -> usize {
    let connection = Connection::open(place.path().join("postkeep.db")).unwrap();
    connection.execute(sql, []).unwrap()
}

fn first_id(place: &Place) -> MessageId {
    let connection = Connection::open(place.path().join("postkeep.db")).unwrap();
    MessageId::new(connection.query_row("SELECT min(id) FROM message", [], |row| row.get::<_, i64>(0)).unwrap() as u64)
}

#[tokio::test]
async fn a_sound_store_is_sound() {
    let place = filled().await;
    let (checked, faults) = checked(&place);
    assert_eq!(faults, []);
    assert_eq!((checked.mailboxes, checked.bodies, checked.whole), (2, 20, true));
    assert!(checked.messages == 25 && checked.bytes > 500_000, "{checked:?}");
}

#[tokio::test]
async fn every_fault_is_named_and_does_not_end_the_check() {
    let whole = filled().await;
    // The change, what is said about it, and whether it is said about the first message.
    for (sql, told, of_first) in [
        (
            "UPDATE message SET subject = 'forged' WHERE id = (SELECT min(id) FROM message)",
            "entry that is not what",
            true,
        ),
        ("UPDATE message SET received_at = 5 WHERE id = (SELECT min(id) FROM message)", "entry that is not what", true),
        ("UPDATE body SET data = X'00' WHERE id = (SELECT min(id) FROM body)", "body that is not what", true),
        ("UPDATE body SET helo = 'x' WHERE id = (SELECT min(id) FROM body)", "body whose entry is not what", true),
        ("UPDATE body SET size = size + 1 WHERE id = (SELECT min(id) FROM body)", "body whose entry is not what", true),
        ("DELETE FROM body WHERE id = (SELECT min(id) FROM body)", "lost its body", true),
        (
            "UPDATE shared SET copies = 5 WHERE body = (SELECT min(id) FROM body)",
            "5 are counted, and 2 are there",
            true,
        ),
        ("DELETE FROM shared WHERE body = (SELECT min(id) FROM body)", "is not known", true),
        (
            "DELETE FROM message WHERE id = (SELECT max(id) FROM message WHERE shared = 0)",
            "belongs to no message",
            false,
        ),
        ("INSERT INTO shared VALUES (7, 2)", "share a body which is not there", false),
        ("INSERT INTO mailbox VALUES (99999, 'ghost', 0)", "ghost: the mailbox is listed and holds no message", false),
        ("DELETE FROM mailbox WHERE name = 'a'", "belongs to no mailbox", false),
        ("UPDATE mailbox SET name = 'other' WHERE name = 'a'", "entry that is not what", false),
        ("UPDATE state SET last_position = 5", "ids may be given twice", false),
        ("DELETE FROM state", "the state is missing", false),
    ] {
        let place = Place::new();
        fs::create_dir(place.path()).unwrap();
        fs::copy(whole.path().join("postkeep.db"), place.path().join("postkeep.db")).unwrap();
        let first = first_id(&place);
        assert_eq!(meddle(&place, sql), 1, "{sql}");
        let (found, faults) = checked(&place);
        let text = |fault: &Fault| format!("{}: {}", fault.mailbox.as_deref().unwrap_or("-"), fault.what);
        let hit = faults.iter().find(|fault| text(fault).contains(told));
        let hit = hit.unwrap_or_else(|| panic!("{sql}: {faults:?}"));
        assert!(!of_first || (hit.mailbox.as_deref(), hit.id) == (Some("a"), Some(first)), "{sql}: {hit:?}");
        assert_eq!(found.faults, faults.len() as u64);
        assert!(!hit.next.is_empty());
        let others = faults.iter().filter(|fault| fault.id.is_some_and(|id| id != first)).count();
        assert!(!of_first || others == 0, "nothing else is damaged by {sql}: {faults:?}");
    }
}

/// F03: whatever byte of the file is another one, the check finds it or the byte does not matter, and it ends.
#[cfg(unix)]
#[tokio::test]
async fn f03_a_flipped_byte_is_found_or_harmless() {
    let place = filled().await;
    drop(open(&place));
    let path = place.path().join("postkeep.db");
    let length = fs::metadata(&path).unwrap().len();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let mut missed = 0;
    for number in 0..120 {
        // Not the first page, which says whether it is a store at all.
        let first = crate::schema::PAGE_BYTES;
        let at = first + (number * 7_919 * 13) % (length - first);
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x55], at).unwrap();
        let found = check(place.path(), Depth::Usual, &mut |_| ());
        missed += usize::from(found.is_ok_and(|found| found.faults == 0));
        file.write_all_at(&byte, at).unwrap();
    }
    assert_eq!(checked(&place).1, []);
    // Free pages, and room within pages, hold nothing.
    assert!(missed < 60, "{missed} of 120 were not found");
}

#[tokio::test]
async fn a_check_beside_a_writer_finds_nothing() {
    let place = filled().await;
    let disk = Arc::new(open(&place));
    let writer = tokio::spawn({
        let disk = Arc::clone(&disk);
        async move {
            for number in 0..400 {
                let letter = Letter::new("beside", &["a", "b", "d"]).size(2_000);
                let filed = disk.append(letter.delivery(SystemClock.now())).await.unwrap();
                let gone = &filed[number % 3];
                disk.delete(&gone.mailbox, &[gone.id], Vec::new()).await.unwrap();
                if number % 50 == 0 {
                    disk.purge(&Mailbox::from_canonical("a"), Position::END, Vec::new()).await.unwrap();
                }
            }
        }
    });
    while !writer.is_finished() {
        let path = place.path().to_owned();
        let faults = tokio::task::spawn_blocking(move || {
            let mut faults = Vec::new();
            check(&path, Depth::Whole, &mut |told| {
                if let Told::Fault(fault) = told {
                    faults.push(fault.clone());
                }
            })
            .unwrap();
            faults
        });
        assert_eq!(faults.await.unwrap(), []);
    }
    writer.await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_large_store_is_checked_table_by_table() {
    let place = filled().await;
    drop(open(&place));
    let path = place.path().join("postkeep.db");
    let tables = || {
        let mut told = 0;
        let mut tell = |said: Told<'_>| told += u64::from(matches!(said, Told::Fault(_)));
        let connection = crate::schema::open_reader(&path).unwrap();
        let mut check = Check { connection, tell: &mut tell, found: Checked::default(), last: i64::MAX };
        let done = check.structure();
        check.go_on("the pages", done).unwrap();
        told
    };
    assert_eq!(tables(), 0);
    let connection = Connection::open(&path).unwrap();
    let sql = "SELECT (rootpage - 1) * page_size FROM sqlite_schema, pragma_page_size WHERE name = 'message_by_age'";
    let root: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(connection);
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&[0xff; 64], root as u64 + 8).unwrap();
    assert!(tables() > 0);
}

#[test]
fn where_no_store_is_none_is_checked() {
    let place = Place::new();
    assert!(check(place.path(), Depth::Usual, &mut |_| ()).is_err());
    assert!(!place.path().exists(), "nothing is made");
}
