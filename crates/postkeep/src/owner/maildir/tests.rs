//! Messages and their receipt come back from a Maildir, and nothing else does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use mail::MessageId;

use super::{Reader, Writer};
use crate::owner::letter::{Found, Letter};
use crate::owner::tree::Dir;

fn place(name: &str) -> PathBuf {
    let root = std::env::temp_dir().join(format!("postkeep-maildir-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    root
}

fn letter(raw: impl Into<Vec<u8>>, micros: i64) -> Letter {
    let received_at = Some(Timestamp::from_microsecond(micros).unwrap());
    Letter { received_at, mail_from: None, rcpt_to: Vec::new(), raw: raw.into() }
}

fn read(root: &Path, max: usize) -> Vec<Found> {
    let mut reader = Reader::new(Dir::open(root).unwrap(), max);
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

#[test]
fn messages_come_back_by_mailbox_in_the_order_of_receipt() {
    let root = place("order");
    let to = Dir::fresh(&root).unwrap();
    let long = format!("\"{}\"@{}", "\u{fc}".repeat(31), "x".repeat(255));
    let names = ["alice", "\"../..\"", "cur", "con.x", &long, "new", "tmp"];
    let mut expected = Vec::new();
    for name in names {
        let writer = Writer::begin(&to, name).unwrap();
        let times = [-5, 7, 1_794_737_625_000_042, 1_794_737_625_000_043];
        let sent = times.map(|at| letter(format!("{name}\0\r\r\n{at}"), at));
        for (id, letter) in sent.iter().enumerate().rev() {
            writer.write(MessageId::new(9 - id as u64), letter).unwrap();
        }
        expected.extend(sent.map(|letter| Found::Letter(Some(name.to_owned()), letter)));
    }
    let name = |found: &Found| format!("{found:?}");
    let mut found = read(&root, 1 << 20);
    found.sort_by_key(name);
    expected.sort_by_key(name);
    assert_eq!(found, expected);
    let alone = read(&root.join("alice"), 1 << 20);
    assert!(
        alone.len() == 4 && alone.iter().all(|found| matches!(found, Found::Letter(Some(name), _) if name == "alice"))
    );
    let times: Vec<i64> = alone
        .iter()
        .map(|found| match found {
            Found::Letter(_, letter) => letter.received_at.unwrap().as_microsecond(),
            Found::Passed(..) => panic!("{found:?}"),
        })
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn the_files_own_time_counts_where_its_name_tells_none() {
    let root = place("times");
    for half in ["cur", "new", "tmp"] {
        fs::create_dir_all(root.join(half)).unwrap();
    }
    for name in ["cur/1794737625.V801I.host:2,S", "new/x", "cur/99999999999999999999.M1P2.x", "new/1.M9999999P1.x"] {
        fs::write(root.join(name), "x").unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_007);
        fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(at).unwrap();
    }
    fs::write(root.join("cur/3.M000007P1.x:2,FS"), "x").unwrap();
    fs::write(root.join("tmp/half"), "x").unwrap();
    let found = read(&root, 100);
    let times: Vec<i64> = found
        .iter()
        .filter_map(|found| match found {
            Found::Letter(_, letter) => Some(letter.received_at?.as_microsecond()),
            Found::Passed(..) => None,
        })
        .collect();
    assert_eq!(
        times,
        [3_000_007, 1_700_000_000_000_007, 1_700_000_000_000_007, 1_700_000_000_000_007, 1_700_000_000_000_007]
    );
    fs::remove_dir_all(root).unwrap();
}

#[cfg(unix)]
#[test]
fn t083_links_and_what_is_too_large_are_passed_over() {
    let root = place("links");
    let to = Dir::fresh(&root).unwrap();
    let writer = Writer::begin(&to, "a").unwrap();
    writer.write(MessageId::new(1), &letter("x".repeat(101), 0)).unwrap();
    writer.write(MessageId::new(2), &letter("x".repeat(100), 0)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", root.join("a/new/1.M1P1.link")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("b")).unwrap();
    fs::create_dir_all(root.join("empty/deeper")).unwrap();
    fs::write(root.join("stray"), "x").unwrap();
    let found = read(&root, 100);
    let (letters, passed): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| matches!(found, Found::Letter(..)));
    assert_eq!(letters, [Found::Letter(Some("a".into()), letter("x".repeat(100), 0))]);
    assert_eq!(passed.len(), 5, "{passed:?}");
    fs::remove_dir_all(root).unwrap();
}
