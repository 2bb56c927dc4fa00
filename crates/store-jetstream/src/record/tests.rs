//! Records come back as they were, old ones too, and bytes of others are no records.

use proptest::prelude::*;
use store::conformance::Letter;

use super::*;

fn line(subject: &str) -> Line {
    let sorted = Letter::new(subject, &["ann"]).delivery(Timestamp::UNIX_EPOCH).sort();
    let (mailbox, summary) = sorted.copies.into_iter().next().expect("one copy");
    Line::new(Deed(7), &mailbox, summary, BodyRef { shard: 1, seq: 2, chunks: 3, hash: [4; 32] })
}

fn intent(lines: usize) -> Intent {
    let what = What::Deliver { lines: vec![line("often"); lines], body: None, done: vec![(1, 9)] };
    let jobs = vec![JobLine {
        kind: "webhook".to_owned(),
        payload: vec![1, 2],
        not_before: Some(5),
        lane: Some("ann".to_owned()),
    }];
    Intent { deed: 7, begun_at: 11, what, jobs }
}

#[test]
fn records_come_back() {
    let there = line("grüße");
    assert_eq!(read::<Line>(&write(&there)), Ok(there.clone()));
    let summary = there.summary(5).expect("it is whole");
    assert_eq!((summary.id, summary.subject.as_str()), (MessageId::new(5), "grüße"));
    let there = intent(3);
    assert_eq!(read_intent(&write_intent(&there)), Ok(there));
    let there = Mark { deed: 1, mailbox: "ann".to_owned(), gone: Gone::UpTo(5) };
    assert_eq!(read::<Mark>(&write(&there)), Ok(there));
}

/// A line as the first version wrote it. When this fails, mail that lies on brokers can no longer be read.
#[test]
fn f25_a_line_of_the_first_format_is_read() {
    let written = write(&line("kept"));
    let known = include_bytes!("format-1.line");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/record/format-1.line"), &written)
            .expect("it is written");
        return;
    }
    assert_eq!(read::<Line>(known), Ok(line("kept")));
    assert_eq!(&written[..], known, "the format of lines has changed: give it another first byte");
}

/// What was begun by a process that knew of no lanes is finished by one that does.
#[test]
fn f25_an_intent_of_the_first_format_is_read() {
    let Intent { deed, begun_at, what, .. } = intent(2);
    let jobs = vec![LanelessJob { kind: "webhook".to_owned(), payload: vec![1, 2], not_before: Some(5) }];
    let old = LanelessIntent { deed, begun_at, what, jobs };
    let packed = zstd::bulk::compress(&write(&old), PACK_LEVEL).expect("it is packed");
    let mut expected = intent(2);
    expected.jobs[0].lane = None;
    assert_eq!(read_intent(&packed), Ok(expected));
}

#[test]
fn a_message_for_ten_thousand_mailboxes_is_written_down_in_one_message() {
    assert!(write_intent(&intent(10_000)).len() < 900_000);
}

#[test]
fn a_huge_subject_is_cut_for_lists() {
    let there = line(&"ü".repeat(3 << 20));
    assert!(there.subject.len() <= TEXT_MAX && write(&there).len() < 200_000);
}

proptest! {
    #[test]
    fn bytes_of_others_are_no_records(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        // None of these may panic or ask for memory that is not there.
        let _ = read::<Line>(&bytes);
        let _ = read::<Mark>(&bytes);
        let _ = read_intent(&bytes);
        let _ = read_body(&bytes).map(|body| body.size);
    }
}
