//! What is written is read with the house's own reader of MIME; the black-box tests read it with others.

use bytes::Bytes;
use mail::{Door, Letter, Mailbox, Recipient, ReversePath, TransactionId, Transport, letter};

use super::*;
use crate::stub::address;

const MESSAGE: &str = "Return-Path: <app@shop.test>\r\nFrom: app@shop.test\r\nTo: Away <vacation+7@fault.example.com>\r\n\
                       Subject: Your order\r\nMessage-ID: <a1@shop.test>\r\n\r\nHello.\r\n";

fn envelope(sender: Option<&str>, recipients: &[&str]) -> Envelope {
    let recipient = |text: &&str| Recipient { address: address(text), mailbox: Mailbox::from_canonical("anywhere") };
    let peer = Some([192, 0, 2, 7].into());
    Envelope {
        transaction: TransactionId::new(7),
        reverse_path: ReversePath(sender.map(address)),
        recipients: recipients.iter().map(recipient).collect(),
        transport: Transport { door: Door::Esmtp, utf8: false, helo: "app".into(), peer, tls: None, auth_user: None },
    }
}

fn taken<'a>(envelope: &'a Envelope, raw: &'a [u8]) -> Taken<'a> {
    Taken { domain: "fault.example.com", return_max: 4096, envelope, raw, at: Timestamp::UNIX_EPOCH }
}

/// What comes back from the recipients of this envelope, each of whom asks for this.
fn reports(envelope: &Envelope, raw: &str, back: &[Back]) -> Vec<Result<Report, NoReport>> {
    let asked: Vec<_> = envelope.recipients.iter().map(|one| (&one.address, back)).collect();
    taken(envelope, raw.as_bytes()).reports(&asked)
}

fn only(envelope: &Envelope, raw: &str, back: Back) -> String {
    let report = reports(envelope, raw, &[back]).pop().unwrap().unwrap();
    String::from_utf8(report.raw).unwrap()
}

#[test]
fn a_bounce_says_who_why_and_what() {
    let to = ["bounce-5.2.2@fault.example.com", "bounce-5.2.2+7@fault.example.com"];
    let report = only(&envelope(Some("app@shop.test"), &to), MESSAGE, Back::Bounce((5, 2, 2)));
    for line in [
        "From: Mail Delivery System <mailer-daemon@fault.example.com>",
        "To: <app@shop.test>",
        "Auto-Submitted: auto-replied",
        "In-Reply-To: <a1@shop.test>",
        "Content-Type: multipart/report; report-type=delivery-status;",
        "Content-Type: message/delivery-status",
        "Reporting-MTA: dns; fault.example.com",
        "Final-Recipient: rfc822; bounce-5.2.2@fault.example.com",
        "Final-Recipient: rfc822; bounce-5.2.2+7@fault.example.com",
        "Action: failed",
        "Status: 5.2.2",
        "Diagnostic-Code: smtp; 550 5.2.2 As asked by the address",
        "Content-Type: message/rfc822",
    ] {
        assert!(report.contains(&format!("{line}\r\n")), "{line}\n{report}");
    }
    assert!(report.contains(MESSAGE), "the message is returned as it is");
    assert!(!report.replace("\r\n", "").contains(['\r', '\n']), "every line ends in CRLF");
    let letter = Letter::of(&Bytes::from(report), &letter::Limits::default());
    assert!(letter.defects.is_empty(), "{:?}", letter.defects);
}

#[test]
fn a_delay_is_no_failure() {
    let report = only(&envelope(Some("a@x.test"), &["bounce-4.4.1@f.test"]), MESSAGE, Back::Bounce((4, 4, 1)));
    assert!(report.contains("Action: delayed\r\nStatus: 4.4.1\r\n") && report.contains("Subject: Delayed"), "{report}");
}

#[test]
fn a_long_message_comes_back_as_its_header() {
    let raw = format!("{MESSAGE}{}", "long\r\n".repeat(1000));
    let report = only(&envelope(Some("a@x.test"), &["bounce@f.test"]), &raw, Back::Bounce((5, 1, 1)));
    assert!(report.contains("Content-Type: text/rfc822-headers\r\n") && report.contains("Subject: Your order"));
    assert!(!report.contains("long\r\n"));
}

#[test]
fn what_stands_in_the_message_is_no_boundary() {
    let trap = format!("{MESSAGE}--=_report_{}_0--\r\n", TransactionId::new(7));
    let report = only(&envelope(Some("a@x.test"), &["bounce@f.test"]), &trap, Back::Bounce((5, 1, 1)));
    assert!(report.contains(&format!("boundary=\"=_report_{}_1\"", TransactionId::new(7))), "{report}");
}

#[test]
fn other_letters_have_their_own_types() {
    let raw = "Subject: Grüße\r\n\r\nHello.\r\n";
    let report = only(&envelope(Some("jörg@x.test"), &["bounce+ü@f.test"]), raw, Back::Bounce((5, 1, 1)));
    assert!(report.contains("Final-Recipient: utf-8; bounce+ü@f.test\r\n"), "{report}");
    assert!(report.contains("Content-Type: message/global-delivery-status\r\nContent-Transfer-Encoding: 8bit"));
    assert!(report.contains("Content-Type: message/global\r\nContent-Transfer-Encoding: 8bit\r\n"));
    assert_eq!(encoding_of(b"a\0b"), "binary");
    assert_eq!(encoding_of(b"a\nb"), "binary");
    assert_eq!(encoding_of(&[b'a'; 999]), "binary");
    assert_eq!(encoding_of(b"a\r\nb"), "7bit");
}

#[test]
fn a_complaint_has_what_its_format_wants() {
    let envelope = envelope(Some("app@shop.test"), &["complaint-fraud@fault.example.com"]);
    let report = only(&envelope, MESSAGE, Back::Complaint("fraud"));
    for line in [
        "Content-Type: multipart/report; report-type=feedback-report;",
        "Content-Type: message/feedback-report",
        "Feedback-Type: fraud",
        "Version: 1",
        "Original-Mail-From: <app@shop.test>",
        "Original-Rcpt-To: <complaint-fraud@fault.example.com>",
        "Source-IP: 192.0.2.7",
        "Reported-Domain: shop.test",
    ] {
        assert!(report.contains(&format!("{line}\r\n")), "{line}\n{report}");
    }
}

#[test]
fn a_note_of_absence_answers_people_only() {
    let away = |sender: &str, raw: &str| {
        reports(&envelope(Some(sender), &["vacation+7@fault.example.com"]), raw, &[Back::Vacation]).pop().unwrap()
    };
    let note = String::from_utf8(away("app@shop.test", MESSAGE).unwrap().raw).unwrap();
    assert!(
        note.starts_with(
            "From: <vacation+7@fault.example.com>\r\nTo: <app@shop.test>\r\nSubject: Auto: Your order\r\n"
        )
    );
    for field in [
        "Auto-Submitted: auto-generated",
        "Auto-Submitted: auto-replied; owner=a",
        "List-Id: <news.shop.test>",
        "List-Unsubscribe: <mailto:a@x.test>",
        "Precedence: Bulk",
    ] {
        let why = away("app@shop.test", &format!("{field}\r\n{MESSAGE}")).unwrap_err();
        assert!(why.starts_with("no note of absence"), "{field}");
    }
    assert!(away("app@shop.test", &format!("Auto-Submitted: no (really)\r\n{MESSAGE}")).is_ok());
    assert!(away("app@shop.test", "To: somebody@else.test\r\n\r\nHello.\r\n").is_err(), "it was a blind copy");
    for sender in ["MAILER-DAEMON@x.test", "owner-news@x.test", "news-request@x.test"] {
        assert!(away(sender, MESSAGE).is_err(), "{sender}");
    }
}

#[test]
fn nothing_comes_back_to_nobody() {
    for back in [Back::Bounce((5, 1, 1)), Back::Complaint("abuse"), Back::Vacation] {
        assert!(matches!(reports(&envelope(None, &["a@f.test"]), MESSAGE, &[back])[..], [Err(_)]));
    }
    assert!(reports(&envelope(None, &["a@f.test"]), MESSAGE, &[]).is_empty());
}

#[test]
fn a_subject_of_other_letters_is_encoded_in_words() {
    let raw = format!("To: vacation@f.test\r\nSubject: {}\r\n\r\n", "Grüße ".repeat(20));
    let note = only(&envelope(Some("a@x.test"), &["vacation@f.test"]), &raw, Back::Vacation);
    assert!(note.is_ascii(), "{note}");
    assert!(note.lines().all(|line| line.len() <= 78), "{note}");
    let letter = Letter::of(&Bytes::from(note), &letter::Limits::default());
    assert!(letter.subject.starts_with("Auto: Grüße Grüße"), "{}", letter.subject);
    let field = "Subject: no\rBcc: evil@x.test";
    let note = only(
        &envelope(Some("a@x.test"), &["vacation@f.test"]),
        &format!("To: vacation@f.test\r\n{field}\r\n\r\n"),
        Back::Vacation,
    );
    assert!(!note.replace("\r\n", "").contains('\r'), "{note}");
}
