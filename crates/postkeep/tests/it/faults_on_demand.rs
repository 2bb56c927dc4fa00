//! Faults on demand over the wire: every row of the table in `docs/faults.md` with its real replies, and what comes back.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Answer, get, list, send, wait_for_count};
use crate::program::Program;
use crate::smtp::{Smtp, stuffed};

/// A row of the table.
#[derive(Debug)]
struct Row {
    /// `RCPT TO:<…>` or `MAIL FROM:<…>`.
    said: String,
    /// At MAIL, RCPT and behind the content.
    replies: [String; 3],
    back: Vec<String>,
}

/// The rows of the document, so that neither can say what the other does not.
fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| `RCPT TO:<") || line.starts_with("| `MAIL FROM:<"));
    let row = |line: &str| {
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
        let [said, mail, rcpt, content, back] = <[String; 5]>::try_from(cells).unwrap();
        let back = back.split(", ").filter(|one| !one.is_empty()).map(str::to_owned).collect();
        Row { said, replies: [mail, rcpt, content], back }
    };
    lines.map(row).collect()
}

/// A message of 2 KiB that names its recipient.
pub(crate) fn letter(recipient: &str) -> Vec<u8> {
    let head = format!("From: app@shop.test\r\nTo: <{recipient}>\r\nSubject: Your order\r\n\r\n");
    let mut letter = head.into_bytes();
    while letter.len() < 2048 {
        let line = (2048 - letter.len()).min(64);
        letter.extend_from_slice(&b"x".repeat(line.saturating_sub(2)));
        letter.extend_from_slice(b"\r\n");
    }
    letter
}

/// Hear what a cell says; whether the session goes on.
fn hear(smtp: &mut Smtp, cell: &str, begun: Instant, what: &str) -> bool {
    let (told, is_cut) = cell.strip_suffix(", cut").map_or((cell, cell == "cut"), |told| (told, true));
    let (code, after) = told.split_once(" after ").unwrap_or((told, "0ms"));
    let heard = smtp.heard();
    let after = Duration::from_millis(after.trim_end_matches("ms").parse().unwrap());
    assert!(begun.elapsed() >= after, "{what}: {heard:?} came after {:?}", begun.elapsed());
    match (cell, heard) {
        ("cut", None) => {}
        (_, Some(line)) => {
            let exact = if code.len() > 3 { format!("{code} ") } else { code.to_owned() };
            assert!(line.starts_with(&exact), "{what}: {line:?} is not {cell:?}");
        }
        (_, None) => panic!("{what}: cut, and not {cell:?}"),
    }
    if is_cut {
        assert_eq!(smtp.heard(), None, "{what} goes on");
    }
    !is_cut && code.starts_with('2')
}

/// Say a row; whether its message was taken.
fn say(smtp_at: SocketAddr, row: &Row, sender: &str) -> bool {
    let (mail, rcpt) = match row.said.starts_with("MAIL") {
        true => (row.said.clone(), "RCPT TO:<box@shop.test>".to_owned()),
        false => (format!("MAIL FROM:<{sender}>"), row.said.clone()),
    };
    let mut smtp = Smtp::session(smtp_at);
    for (line, cell) in [(&mail, &row.replies[0]), (&rcpt, &row.replies[1])] {
        let begun = Instant::now();
        smtp.send(format!("{line}\r\n").as_bytes());
        if !hear(&mut smtp, cell, begun, line) {
            return false;
        }
    }
    smtp.must("354", "DATA");
    let recipient = rcpt.trim_start_matches("RCPT TO:<").trim_end_matches('>');
    let begun = Instant::now();
    smtp.send(&stuffed(&letter(recipient)));
    hear(&mut smtp, &row.replies[2], begun, &row.said)
}

#[test]
fn every_row_of_the_table_is_answered_as_it_says() {
    let program = Program::start(&[]);
    let rows = rows();
    assert!(rows.len() >= 35, "the table is read: {}", rows.len());
    for (number, row) in rows.iter().enumerate() {
        let name = format!("app-{number}");
        let taken = say(program.smtp, row, &format!("{name}@shop.test"));
        assert_eq!(taken, row.replies[2].starts_with("250"), "{row:?}");
        // What comes back is there when the 250 is.
        let back = list(program.http, &name);
        let subjects: Vec<&str> = back.iter().map(|one| one["subject"].as_str().unwrap()).collect();
        assert_eq!(back.len(), row.back.len(), "{row:?}: {subjects:?}");
        for (message, expected) in back.iter().zip(&row.back) {
            let path = format!("/api/v1/mailbox/{name}/{}/source", message["id"].as_str().unwrap());
            let source = get(program.http, &path);
            came_back(source.text(), expected, &name);
        }
    }
    assert!(!program.stderr().contains("WARN"), "{}", program.stderr());
}

/// What is in a report, each of its own format.
fn came_back(source: &str, expected: &str, sender: &str) {
    let (kind, detail) = expected.split_once(' ').unwrap_or((expected, ""));
    let class = if detail.starts_with('4') { "delayed" } else { "failed" };
    let wanted = match kind {
        "bounce" => vec![
            "Content-Type: multipart/report; report-type=delivery-status;".to_owned(),
            format!("Action: {class}"),
            format!("Status: {detail}"),
        ],
        "complaint" => vec![
            "Content-Type: multipart/report; report-type=feedback-report;".to_owned(),
            format!("Feedback-Type: {detail}"),
            format!("Original-Mail-From: <{sender}@shop.test>"),
        ],
        _ => vec!["Subject: Auto: Your order".to_owned()],
    };
    let usual = ["Return-Path: <>".to_owned(), "Auto-Submitted: auto-replied".to_owned()];
    for line in usual.iter().chain(&wanted).chain([&format!("To: <{sender}@shop.test>")]) {
        assert!(source.contains(&format!("{line}\r\n")), "{line}: {source}");
    }
}

#[test]
fn lmtp_and_http_tell_the_same_in_their_own_ways() {
    let program = Program::start(&["lmtp.addr=127.0.0.1:0"]);
    let ready: Value = serde_json::from_str(program.ready.strip_prefix("ready ").unwrap()).unwrap();
    let mut lmtp = Smtp::connect(ready["lmtp"].as_str().unwrap().parse().unwrap());
    lmtp.must("250", "LHLO client.test");
    lmtp.begin("a@x.test", &["one@x.test", "452-4.2.2.data@fault.example.com"]);
    lmtp.send(&stuffed(&letter("one@x.test")));
    assert!(lmtp.reply().starts_with("452 4.2.2 ") && lmtp.reply().starts_with("452 4.2.2 "));
    wait_for_count(program.http, "one", 0);
    for (address, code) in [("451-4.3.0.rcpt", 451), ("552.data", 552), ("drop.data", 421)] {
        let path = format!("/api/v2/messages?mailFrom=a@x.test&rcptTo={address}@fault.example.com");
        let answer = post(program.http, &path, "message/rfc822", "Subject: x\r\n\r\nx\r\n");
        assert_eq!(answer.status, 422, "{answer:?}");
        let problem = answer.json();
        assert_eq!(problem["smtp"]["code"], code, "{problem}");
        assert_eq!(problem["fault"], format!("{address}@fault.example.com"));
    }
}

#[test]
fn faults_by_address_can_be_switched_off_and_are_in_public_mode() {
    for settings in [&["faults.domain="][..], &["access.mode=public"]] {
        let program = Program::start(settings);
        let mut smtp = Smtp::session(program.smtp);
        smtp.must("250", "MAIL FROM:<451.mail@fault.example.com>");
        smtp.must("250", "RCPT TO:<451.rcpt@fault.example.com>");
    }
    let program = Program::start(&["faults.plans_max=0"]);
    let answer = plan(program.http, &json!({"drop": true}));
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(answer.text().contains("faults.plans_max"), "{answer:?}");
}

pub(crate) fn post(at: SocketAddr, path: &str, media_type: &str, body: &str) -> Answer {
    send(at, "POST", path, media_type, body)
}

pub(crate) fn plan(at: SocketAddr, plan: &Value) -> Answer {
    post(at, "/api/v2/faults", "application/json", &plan.to_string())
}
