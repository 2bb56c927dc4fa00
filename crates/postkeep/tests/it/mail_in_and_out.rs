//! Mail goes in over SMTP and comes out over REST, to the byte.

use std::thread;

use serde_json::Value;

use crate::http::{as_sent, delete, get, latest_as_sent, list, subjects};
use crate::program::Program;
use crate::smtp::{Smtp, deliver, message, stuffed};

const MESSAGE: &[u8] =
    b"From: Ann <ann@sender.test>\r\nTo: jane@mail.test\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n\r\n\
.one dot\r\n..two dots\r\n.\t\r\ntext  \r\n\r\n";

#[test]
fn the_first_mail_is_listed_read_and_deleted_exactly() {
    let program = Program::start(&["smtp.hostname=mx.test"]);
    assert_eq!(get(program.http, "/api/v1/mailbox/jane").text(), "[]\n");
    deliver(program.smtp, "Jane@mail.test", MESSAGE);

    let source = get(program.http, "/api/v1/mailbox/jane/latest/source");
    assert_eq!(as_sent(&source.body), MESSAGE);
    let head = String::from_utf8(source.body[..source.body.len() - MESSAGE.len()].to_vec()).unwrap();
    assert!(head.starts_with("Return-Path: <ann@sender.test>\r\nReceived: from client.test ([127.0.0.1])"), "{head}");
    assert!(unfolded(&head).contains(" by mx.test with ESMTP id "), "{head}");

    let answer = get(program.http, "/api/v1/mailbox/jane");
    let (id, summary) = expected_summary(&answer.json()[0], source.body.len());
    assert_eq!(answer.text(), format!("[{{{summary}}}]\n"));
    assert_eq!(answer.field("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(answer.field("expires"), Some("-1"));

    let received = head.split_once("Received: ").unwrap().1.trim_end();
    let expected = format!(
        "{{{summary},\"body\":{{\"text\":\".one dot\\n..two dots\\n.\\t\\ntext  \\n\\n\",\"html\":\"\"}},\"header\":{{\
         \"Return-Path\":[\"<ann@sender.test>\"],\"Received\":[{}],\"From\":[\"Ann <ann@sender.test>\"],\
         \"To\":[\"jane@mail.test\"],\"Subject\":[\"=?utf-8?Q?Gr=C3=BC=C3=9Fe?=\"]}},\"attachments\":[]}}\n",
        Value::from(unfolded(received))
    );
    for which in [id.as_str(), "latest"] {
        assert_eq!(get(program.http, &format!("/api/v1/mailbox/jane/{which}")).text(), expected);
    }

    let gone = delete(program.http, &format!("/api/v1/mailbox/jane/{id}"));
    assert_eq!((gone.status, gone.text()), (200, "\"OK\"\n"));
    assert_eq!(get(program.http, &format!("/api/v1/mailbox/jane/{id}")).status, 404);
    assert_eq!(get(program.http, "/api/v1/mailbox/jane").text(), "[]\n");
}

/// Each fold as one space.
fn unfolded(field: &str) -> String {
    field.replace("\r\n\t", " ").replace("\r\n ", " ")
}

/// The id, and the members of the summary with that id and date.
fn expected_summary(item: &Value, size: usize) -> (String, String) {
    let (id, date) = (item["id"].as_str().unwrap(), item["date"].as_str().unwrap());
    assert_eq!((id.len(), date.len()), (13, "2026-11-14T09:30:00.123456+00:00".len()));
    let summary = format!(
        "\"mailbox\":\"jane\",\"id\":\"{id}\",\"from\":\"Ann <ann@sender.test>\",\"subject\":\"Grüße\",\"date\":\"{date}\",\
         \"size\":{size}"
    );
    (id.to_owned(), summary)
}

#[test]
fn a_purge_empties_one_mailbox_only() {
    let program = Program::start(&[]);
    for (recipient, subject) in [("a@x.test", "1"), ("a@x.test", "2"), ("b@x.test", "3")] {
        deliver(program.smtp, recipient, &message(subject));
    }
    assert_eq!(subjects(program.http, "a"), ["1", "2"]);
    let purged = delete(program.http, "/api/v1/mailbox/a");
    assert_eq!((purged.status, purged.text()), (200, "\"OK\"\n"));
    assert_eq!((subjects(program.http, "a").len(), subjects(program.http, "b")), (0, vec!["3".to_owned()]));
}

#[test]
fn one_message_for_many_reaches_each_mailbox_once() {
    let program = Program::start(&[]);
    let mut smtp = Smtp::session(program.smtp);
    let recipients = ["a@x.test", "b@x.test", "A+tag@y.test", "\"c\"@x.test"];
    assert!(smtp.mail("", &recipients, &message("all")).starts_with("250"));
    for mailbox in ["a", "b", "c"] {
        assert_eq!(subjects(program.http, mailbox), ["all"]);
        let source = get(program.http, &format!("/api/v1/mailbox/{mailbox}/latest/source")).body;
        let trace = String::from_utf8(source[..source.len() - message("all").len()].to_vec()).unwrap();
        assert!(!trace.contains("x.test"), "no recipient is told of another: {trace}");
    }
}

#[test]
fn every_byte_that_smtp_carries_is_kept() {
    let program = Program::start(&[]);
    let mut all: Vec<u8> = b"Subject: all bytes\r\n\r\n".to_vec();
    all.extend((0..=255).filter(|byte| !b"\r\n".contains(byte)));
    all.extend(vec![b'x'; 100_000]);
    all.extend_from_slice(b"\r\n.\r\n..\r\n");
    deliver(program.smtp, "bytes@x.test", &all);
    assert!(latest_as_sent(program.http, "bytes") == all);
}

#[test]
fn chunks_are_kept_as_they_are() {
    let program = Program::start(&[]);
    let mut smtp = Smtp::session(program.smtp);
    smtp.must("250", "MAIL FROM:<>");
    smtp.must("250", "RCPT TO:<chunks@x.test>");
    smtp.send(b"BDAT 14\r\nSubject: a\n\r\r\n");
    assert!(smtp.reply().starts_with("250"));
    smtp.send(b"BDAT 5 LAST\r\n.\r\n.\n");
    assert!(smtp.reply().starts_with("250"));
    assert_eq!(latest_as_sent(program.http, "chunks"), b"Subject: a\n\r\r\n.\r\n.\n");
}

#[test]
fn an_attachment_is_linked_and_handed_out() {
    let program = Program::start(&[]);
    let mail = b"Subject: att\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
Content-Type: text/plain\r\n\r\nsee there\r\n--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\
Content-Disposition: attachment; filename=\"a b.png\"\r\n\r\nAAEC/w==\r\n--b--\r\n";
    deliver(program.smtp, "att@x.test", mail);
    let read = get(program.http, "/api/v1/mailbox/att/latest").json();
    let attachment = &read["attachments"][0];
    assert_eq!((&attachment["filename"], &attachment["content-type"]), (&"a b.png".into(), &"image/png".into()));
    for link in ["download-link", "view-link"] {
        let link = attachment[link].as_str().unwrap();
        let path = link.strip_prefix(&format!("http://{}", program.http)).unwrap();
        assert!(path.ends_with("/0/a%20b.png"), "{link}");
        assert_eq!(get(program.http, path).body, [0, 1, 2, 255]);
    }
}

#[test]
fn two_hundred_sessions_at_once_lose_nothing() {
    let program = Program::start(&[]);
    let sessions: Vec<_> = (0..200)
        .map(|number: usize| {
            let addr = program.smtp;
            thread::spawn(move || deliver(addr, &format!("box{}@x.test", number % 8), &message(&number.to_string())))
        })
        .collect();
    sessions.into_iter().for_each(|session| session.join().unwrap());
    let mut seen: Vec<usize> = Vec::new();
    for mailbox in 0..8 {
        let list = list(program.http, &format!("box{mailbox}"));
        let ids: Vec<&str> = list.iter().map(|message| message["id"].as_str().unwrap()).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        seen.extend(list.iter().map(|message| message["subject"].as_str().unwrap().parse::<usize>().unwrap()));
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..200).collect::<Vec<_>>());
}

#[test]
fn commands_may_come_all_at_once() {
    let program = Program::start(&[]);
    let mut smtp = Smtp::connect(program.smtp);
    let mut all = b"EHLO c.test\r\nMAIL FROM:<>\r\nRCPT TO:<p@x.test>\r\nDATA\r\n".to_vec();
    all.extend(stuffed(&message("piped")));
    all.extend_from_slice(b"QUIT\r\n");
    smtp.send(&all);
    let replies = smtp.finish();
    let codes: Vec<&str> = replies.lines().filter(|line| line.as_bytes()[3] == b' ').map(|line| &line[..3]).collect();
    assert_eq!(codes, ["250", "250", "250", "354", "250", "221"]);
    assert_eq!(subjects(program.http, "p"), ["piped"]);
}

#[test]
fn health_is_told() {
    let program = Program::start(&[]);
    for path in ["/livez", "/readyz", "/"] {
        assert_eq!(get(program.http, path).status, 200, "{path}");
    }
}
