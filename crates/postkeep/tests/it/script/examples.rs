//! Every example that is shipped, in the real binary.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::*;
use crate::program::PATIENCE;

fn example(name: &str) -> Program {
    at(&examples().join(name), &[])
}

fn mail(subject: &str, more: &str, body: &str) -> String {
    format!("From: a@shop.test\nSubject: {subject}\n{more}\n{body}\n")
}

/// Whoever adds one, adds a test here.
#[test]
fn each_has_its_test() {
    for entry in fs::read_dir(examples()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(include_str!("examples.rs").contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn those_that_sort_mail() {
    let program = example("01_plus_tag.lua");
    assert!(send(&program, "a@x.test", &["alice+news@x.test"], HELLO).starts_with("250"));
    assert_eq!((count(&program, "alice"), count(&program, "news")), (1, 1));
    let program = example("07_archive_copy.lua");
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    assert_eq!((count(&program, "alice"), count(&program, "archive")), (1, 1));
    let program = example("08_subject_mailbox.lua");
    assert!(send(&program, "a@x.test", &["alice@x.test"], &mail("[Shop-42] Order", "", "x")).starts_with("250"));
    assert_eq!((count(&program, "alice"), listed(&program, "shop-42")[0]["subject"].as_str()), (0, Some("Order")));
    let program = example("09_team_by_header.lua");
    assert!(send(&program, "a@x.test", &["alice@x.test"], &mail("Hi", "X-Team: billing\n", "x")).starts_with("250"));
    assert_eq!(
        (count(&program, "alice"), listed(&program, "team-billing")[0]["tags"][0].as_str()),
        (0, Some("team-billing"))
    );
    let program = example("04_tag_invoices.lua");
    assert!(send(&program, "a@x.test", &["alice@x.test"], &mail("Your invoice", "", "x")).starts_with("250"));
    assert_eq!(listed(&program, "alice")[0]["tags"], serde_json::json!(["invoice"]));
}

#[test]
fn those_that_refuse_and_discard() {
    let program = example("02_refuse_sender.lua");
    assert_eq!(send(&program, "spammer@example.com", &["a@x.test"], HELLO), "550 5.7.1 We asked you to stop");
    assert!(send(&program, "jane@shop.test", &["a@x.test"], HELLO).starts_with("250"));
    let program = example("06_discard_newsletters.lua");
    let news = mail("News", "List-Unsubscribe: <mailto:off@shop.test>\n", "x");
    assert!(send(&program, "a@x.test", &["alice@x.test"], &news).starts_with("250"));
    assert!(send(&program, "a@x.test", &["newsletters@x.test"], &news).starts_with("250"));
    assert_eq!((count(&program, "alice"), count(&program, "newsletters")), (0, 1));
    let program = example("11_only_known.lua");
    assert_eq!(send(&program, "a@x.test", &["eve@x.test"], HELLO), "550 5.1.1 No such user here");
    assert!(send(&program, "a@x.test", &["bob@x.test"], HELLO).starts_with("250"));
    let program = example("12_no_secrets.lua");
    let card = mail("Order", "", "Paid with 4111 1111 1111 1111.");
    let told = "554 5.7.1 The text holds what looks like a card number";
    assert_eq!(send(&program, "a@x.test", &["alice@x.test"], &card), told);
    assert_eq!(count(&program, "alice"), 0);
    program.wait_for("a card number from=a@shop.test subject=Order");
}

#[test]
fn those_that_remember() {
    let program = example("03_greylist.lua");
    let grey = "451 4.7.1 Greylisted, try again in a moment";
    assert_eq!(send(&program, "a@x.test", &["alice@x.test"], HELLO), grey);
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    let program = example("10_rate_guard.lua");
    let mut smtp = Smtp::session(program.smtp);
    for _ in 0..100 {
        assert!(smtp.mail("a@x.test", &["alice@x.test"], &message("one")).starts_with("250"));
    }
    smtp.must("451 4.7.0 101 mails in a minute are too many", "MAIL FROM:<a@x.test>");
}

#[test]
fn those_that_hear_of_it_and_ask_others() {
    let program = example("14_log_deleted.lua");
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    let id = listed(&program, "alice")[0]["id"].as_str().unwrap().to_owned();
    http::delete(program.http, &format!("/api/v1/mailbox/alice/{id}"));
    program.wait_for("deleted from=jane@shop.test mailbox=alice subject=Hello");
    let (address, asked) = receiver("{\"active\":false}");
    let program = with(&text("05_webhook.lua", &address), &["outbound.allow=127.0.0.1"]);
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    let request = asked.recv_timeout(PATIENCE).unwrap();
    assert!(request.starts_with("POST /mail HTTP/1.1\r\n") && request.contains("\"mailbox\":\"alice\""), "{request}");
    let program = with(&text("13_ask_before.lua", &address), &["outbound.allow=127.0.0.1"]);
    assert_eq!(send(&program, "a@x.test", &["alice@x.test"], HELLO), "550 5.1.1 No such user here");
    assert!(asked.recv_timeout(PATIENCE).unwrap().starts_with("GET /users?email=alice@x.test HTTP/1.1\r\n"));
}

/// T098: without `outbound.allow` a script's request does not reach this machine.
#[test]
fn t098_a_script_is_a_stranger() {
    let (address, asked) = receiver("");
    let program = with(&text("05_webhook.lua", &address), &[]);
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    program.wait_for("nobody was told mailbox=alice why=127.0.0.1 is at 127.0.0.1, which is not on the open network");
    assert!(asked.try_recv().is_err());
    let program = with(&text("13_ask_before.lua", &address), &["access.mode=public", "outbound.allow=127.0.0.1"]);
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"), "nobody answers: it is taken");
    assert!(asked.try_recv().is_err(), "in public mode no script asks anybody");
}

/// An example that asks this address.
fn text(name: &str, address: &SocketAddr) -> String {
    fs::read_to_string(examples().join(name)).unwrap().replace("127.0.0.1:9099", &address.to_string())
}

/// An HTTP server that answers 200 to everybody, and tells what was asked.
fn receiver(body: &'static str) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, (told, asked)) = (listener.local_addr().unwrap(), channel());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut text, mut piece) = (stream.unwrap(), String::new(), [0; 4096]);
            // A body, where there is one, ends with the object's brace.
            while !(text.ends_with("\r\n\r\n") && text.starts_with("GET") || text.ends_with('}')) {
                let count = stream.read(&mut piece).unwrap();
                text += &String::from_utf8_lossy(&piece[..count]);
                if count == 0 {
                    break;
                }
            }
            let _ = told.send(text);
            let _ =
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        }
    });
    (address, asked)
}
