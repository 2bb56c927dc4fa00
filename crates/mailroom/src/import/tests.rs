//! What becomes of an import, without an engine.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mail::{Door, Naming, ReversePath, TransactionId};
use store::Delivery;

use super::Import;
use crate::stub::{address, mailbox};

fn import(raw: &'static str, rcpt_to: &[&str]) -> Import {
    Import {
        mailbox: mailbox("a"),
        raw: Bytes::from_static(raw.as_bytes()),
        received_at: Timestamp::UNIX_EPOCH,
        mail_from: None,
        rcpt_to: rcpt_to.iter().map(|text| address(text)).collect(),
    }
}

fn sorted(import: Import) -> Delivery {
    import.sort(TransactionId::new(7), Naming::Local, Timestamp::UNIX_EPOCH + SignedDuration::from_secs(100))
}

#[test]
fn bytes_and_receipt_stay_as_they_are() {
    let raw = "Subject: old\n\nno line end\0";
    let delivery = sorted(import(raw, &[]));
    assert_eq!(delivery.raw, raw);
    assert_eq!(delivery.received_at, Timestamp::UNIX_EPOCH);
    assert_eq!(delivery.digest.subject, "old");
    assert_eq!(delivery.envelope.transport.door, Door::Import);
    assert_eq!((delivery.copies.len(), delivery.copies[0].mailbox.as_str()), (1, "a"));
    let late = Import { received_at: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(101), ..import(raw, &[]) };
    assert_eq!(sorted(late).received_at.as_second(), 100, "what lies in the future is taken for now");
}

#[test]
fn recipients_are_those_of_this_mailbox_and_others() {
    let all = ["b@x.test", "a@x.test", "A+1@x.test", "a@y.test", "a@z.test", "a@w.test"];
    let delivery = sorted(import("x", &all));
    let copy = &delivery.copies[0];
    assert_eq!(copy.rcpt_to, all[1..5].iter().map(|text| address(text)).collect::<Vec<_>>());
    assert_eq!((copy.other_recipients, delivery.envelope.recipients.len()), (2, 6));
    let copy = sorted(import("x", &["b@x.test"])).copies.remove(0);
    assert_eq!((copy.rcpt_to.len(), copy.other_recipients), (0, 1));
}

#[test]
fn the_sender_is_the_one_given_or_that_of_the_return_path() {
    let check = |raw: &'static str, given: Option<ReversePath>, expected: Option<&str>| {
        let delivery = sorted(Import { mail_from: given, ..import(raw, &[]) });
        assert_eq!(delivery.envelope.reverse_path.0, expected.map(address), "{raw:?}");
    };
    check("Return-Path: <ann@x.test>\r\n\r\n", None, Some("ann@x.test"));
    check("A: b\r\nreturn-path:\r\n  <ann@x.test>\r\n\r\n", None, Some("ann@x.test"));
    check("Return-Path: <>\r\n\r\n", None, None);
    check("Return-Path: nonsense\r\n\r\n", None, None);
    check("\r\nReturn-Path: <ann@x.test>\r\n", None, None);
    check("Return-Path: <ann@x.test>\r\n\r\n", Some(ReversePath(None)), None);
    check("", Some(ReversePath(Some(address("bob@x.test")))), Some("bob@x.test"));
}
