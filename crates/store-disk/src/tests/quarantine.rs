//! F03, T086, one damage at a time: a message that is damaged is named and not handed out, and everything else goes on,
//! its own mailbox included.

use std::fs;
use std::time::Duration;

use mail::MessageId;
use store::conformance::Letter;
use store::{Clock, Error, Position, Store};

use super::bench::{Bench, Log, mailbox, subjects, until};
use crate::Disk;

const PAGE: usize = 8192;

/// Where these bytes lie in the database of a closed store; they lie there once.
fn find(bench: &Bench, text: &[u8]) -> usize {
    let bytes = fs::read(bench.database()).unwrap();
    let mut places = bytes.windows(text.len()).enumerate().filter(|(_, window)| *window == text);
    let (place, _) = places.next().expect("it is there");
    assert!(places.next().is_none(), "it is there once");
    place
}

fn overwrite(bench: &Bench, at: usize, with: &[u8]) {
    let mut bytes = fs::read(bench.database()).unwrap();
    bytes[at..at + with.len()].copy_from_slice(with);
    fs::write(bench.database(), bytes).unwrap();
}

/// A long message with a word in its middle, which lies on a page of its own then.
async fn send_long(bench: &Bench, disk: &Disk, subject: &str, name: &str, word: &str) -> MessageId {
    let mut delivery = Letter::new(subject, &[name]).size(60_000).delivery(bench.clock.now());
    let mut raw = delivery.raw.to_vec();
    raw[30_000..30_000 + word.len()].copy_from_slice(word.as_bytes());
    delivery.raw = raw.into();
    disk.append(delivery).await.unwrap()[0].id
}

/// How a body may be damaged.
#[derive(Clone, Copy, Debug)]
enum Harm {
    /// One byte of it is another.
    Byte,
    /// The page in its middle leads to no other page.
    Chain,
    /// The page in its middle leads to a page of somebody else.
    Crossed,
}

#[tokio::test]
async fn f03_t086_a_damaged_body_is_named_and_can_be_deleted_purged_and_aged() {
    for harm in [Harm::Byte, Harm::Chain, Harm::Crossed] {
        let name = format!("{harm:?}").to_lowercase();
        let mut bench = Bench::new(|settings| settings.retention = Some(Duration::from_secs(1_000)));
        let disk = bench.open();
        let mut ids = Vec::new();
        for place in ["deleted", "purged", "capped", "aged"] {
            for number in 0..3 {
                let word = format!("the word of {place} {number}");
                ids.push(send_long(&bench, &disk, &format!("{number}"), &format!("{name}-{place}"), &word).await);
            }
        }
        drop(disk);
        let other = find(&bench, b"the word of aged 2") / PAGE;
        for place in ["deleted", "purged", "capped", "aged"] {
            let at = find(&bench, format!("the word of {place} 1").as_bytes());
            match harm {
                Harm::Byte => overwrite(&bench, at, b"T"),
                Harm::Chain => overwrite(&bench, at / PAGE * PAGE, &[0xff; 4]),
                Harm::Crossed => overwrite(&bench, at / PAGE * PAGE, &(other as u32 + 1).to_be_bytes()),
            }
        }
        bench.settings.messages_max = 3;
        let (log, disk) = (Log::here(), bench.open());
        for (place, ids) in ["deleted", "purged", "capped", "aged"].iter().zip(ids.chunks(3)) {
            let full = mailbox(&format!("{name}-{place}"));
            assert_eq!(subjects(&disk, full.as_str()).await, ["0", "1", "2"], "{harm:?}: a list touches no body");
            assert!(
                disk.read(&full, ids[0]).await.unwrap().is_some() && disk.read(&full, ids[2]).await.unwrap().is_some()
            );
            let error = disk.read(&full, ids[1]).await.unwrap_err();
            assert!(matches!(error, Error::Damaged { id, .. } if id == ids[1]), "{harm:?}: {error}");
            assert!(log.has(&["ERROR", &full.to_string(), &ids[1].to_string(), "store check"]), "{harm:?}");
        }
        let deleted = mailbox(&format!("{name}-deleted"));
        assert_eq!(disk.delete(&deleted, &ids[1..2], Vec::new()).await.unwrap(), &ids[1..2], "{harm:?}");
        assert_eq!(subjects(&disk, deleted.as_str()).await, ["0", "2"], "{harm:?}");
        let purged = mailbox(&format!("{name}-purged"));
        assert_eq!(disk.purge(&purged, Position::END, Vec::new()).await.unwrap(), 3, "{harm:?}");
        let capped = format!("{name}-capped");
        for subject in ["3", "4"] {
            bench.send(&disk, Letter::new(subject, &[&capped])).await;
        }
        assert_eq!(subjects(&disk, &capped).await, ["2", "3", "4"], "{harm:?}");
        if !matches!(harm, Harm::Crossed) {
            assert!(disk.read(&mailbox(&format!("{name}-aged")), ids[11]).await.unwrap().is_some(), "{harm:?}");
        }
        bench.pass(1_001);
        until("everything else has lapsed", || bench.number("SELECT count(*) FROM message") == 0);
        bench.send(&disk, Letter::new("new", &[&capped])).await;
        assert_eq!(subjects(&disk, &capped).await, ["new"], "{harm:?}");
    }
}

/// A page of `message` is gone: the rest of its mailbox is listed, and others know nothing of it.
#[tokio::test]
async fn t086_a_damaged_page_of_a_list_takes_only_its_own_messages() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    bench.send(&disk, Letter::new("before", &["leaf-before"])).await;
    let mut ids = Vec::new();
    for number in 0..300 {
        ids.extend(bench.send(&disk, Letter::new(format!("subject {number} of the list"), &["leaf"])).await);
    }
    bench.send(&disk, Letter::new("after", &["leaf-after"])).await;
    drop(disk);
    // As it stands in the row, behind the author; in the bytes of the body it stands otherwise.
    let page = find(&bench, b"Annann@shop.testsubject 150 of the list") / PAGE;
    overwrite(&bench, page * PAGE, &[0; PAGE]);
    let (log, disk) = (Log::here(), bench.open());
    let listed = subjects(&disk, "leaf").await;
    assert!((200..299).contains(&listed.len()), "{} of 300 are listed", listed.len());
    let number = |subject: &String| subject.split(' ').nth(1).unwrap().parse::<usize>().unwrap();
    assert!(listed.iter().map(number).is_sorted(), "in their order");
    assert!(listed.iter().all(|subject| number(subject) != 150));
    assert!(log.has(&["ERROR", "leaf", &ids[150].to_string()]), "what is missing is named");
    for subject in &listed {
        assert!(disk.read(&mailbox("leaf"), ids[number(subject)]).await.unwrap().is_some());
    }
    let error = disk.read(&mailbox("leaf"), ids[150]).await.unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert_eq!(subjects(&disk, "leaf-before").await, ["before"]);
    assert_eq!(subjects(&disk, "leaf-after").await, ["after"]);
    bench.send(&disk, Letter::new("subject 300 of the list", &["leaf", "leaf-after"])).await;
    assert_eq!(subjects(&disk, "leaf").await.len(), listed.len() + 1, "mail still comes");
    assert_eq!(disk.delete(&mailbox("leaf"), &ids[..1], Vec::new()).await.unwrap(), &ids[..1], "and goes");
}

/// An index that does not tell of a mailbox any more: it looks empty, and that is said.
#[tokio::test]
async fn t086_a_mailbox_hidden_by_a_damaged_index_is_named() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    for name in ["index-a", "index-b", "index-c"] {
        bench.send(&disk, Letter::new(name, &[name])).await;
    }
    drop(disk);
    let root = bench.number("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_mailbox_1'") as usize;
    // The first entry points to where the second one does.
    let page = (root - 1) * PAGE;
    let second = fs::read(bench.database()).unwrap()[page + 10..][..2].to_vec();
    overwrite(&bench, page + 8, &second);
    let (log, disk) = (Log::here(), bench.open());
    until("the mailbox is named", || log.has(&["ERROR", "mailbox=index-a", "store check"]));
    assert!(!log.has(&["ERROR", "index-c"]));
    assert_eq!(subjects(&disk, "index-b").await, ["index-b"]);
    assert_eq!(subjects(&disk, "index-c").await, ["index-c"]);
}
