//! Clients that mean harm or break off.

use std::fs;

use crate::http::{ask, get, latest_as_sent, list, subjects, wait_for_count};
use crate::program::Program;
use crate::smtp::{Smtp, deliver, message, stuffed};

#[test]
fn f13_a_dialogue_cut_at_any_byte_leaves_a_whole_message_or_none() {
    let program = Program::start(&[]);
    let body = message("cut");
    for cut in 0.. {
        let mut dialogue = format!("EHLO c.test\r\nMAIL FROM:<>\r\nRCPT TO:<cut{cut}@x.test>\r\nDATA\r\n").into_bytes();
        dialogue.extend(stuffed(&body));
        let complete = dialogue.len();
        dialogue.extend_from_slice(b"QUIT\r\n");
        if cut > dialogue.len() {
            break;
        }
        let mut smtp = Smtp::connect(program.smtp);
        smtp.send(&dialogue[..cut]);
        let replies = smtp.finish();
        let mailbox = format!("cut{cut}");
        assert_eq!(list(program.http, &mailbox).len(), usize::from(cut >= complete), "cut at {cut}: {replies}");
        if cut >= complete {
            assert_eq!(latest_as_sent(program.http, &mailbox), body);
        }
    }
}

#[test]
fn f13_a_client_that_vanishes_after_the_end_mark_has_its_mail_kept_once_or_not_at_all() {
    let program = Program::start(&[]);
    for number in 0..50 {
        let mut smtp = Smtp::session(program.smtp);
        smtp.begin("", &[&format!("gone{number}@x.test")]);
        smtp.send(&stuffed(&message("gone")));
    }
    deliver(program.smtp, "here@x.test", &message("here"));
    for number in 0..50 {
        let held = list(program.http, &format!("gone{number}"));
        assert!(held.len() <= 1);
        if !held.is_empty() {
            assert_eq!(latest_as_sent(program.http, &format!("gone{number}")), message("gone"));
        }
    }
    wait_for_count(program.http, "here", 1);
}

#[test]
fn t015_no_field_reaches_a_shell() {
    let program = Program::start(&[]);
    let mut smtp = Smtp::connect(program.smtp);
    smtp.command("EHLO ;$(touch${IFS}made)`touch${IFS}made`");
    smtp.must("250", "EHLO c.test");
    smtp.command("MAIL FROM:<;touch made;@x.test>");
    smtp.command("RSET");
    smtp.must("250", "MAIL FROM:<\"|touch made;$(touch made)\"@x.test>");
    smtp.must("250", "RCPT TO:<\"`touch made`;touch made\"@x.test>");
    smtp.must("250", "RCPT TO:<plain@x.test>");
    smtp.must("354", "DATA");
    smtp.send(b"From: $(touch made)\r\nSubject: ;touch made\r\n\r\n`touch made`\r\n.\r\n");
    assert!(smtp.reply().starts_with("250"));
    get(program.http, "/api/v1/mailbox/;touch%20made/$(touch%20made)");
    assert_eq!(subjects(program.http, "plain"), [";touch made"]);
    assert_eq!(fs::read_dir(&program.dir).unwrap().count(), 0, "no file was made");
    #[cfg(target_os = "linux")]
    {
        let children = format!("/proc/{0}/task/{0}/children", program.pid());
        assert_eq!(fs::read_to_string(children).unwrap_or_default(), "", "no process was started");
    }
}

#[test]
fn t104_nothing_a_client_sends_reaches_the_log_raw() {
    for format in ["text", "json"] {
        let program = Program::start(&["log.level=trace", &format!("log.format={format}"), "policy.reject=no.test"]);
        let canary = "a\x1b[31m\x07\x08\t\x0b\u{9b}31m\u{85}\u{202e}forged";
        let mut smtp = Smtp::connect(program.smtp);
        smtp.command(&format!("EHLO {canary}"));
        smtp.must("250", "EHLO c.test");
        for line in ["MAIL FROM:<{}@x.test>", "RCPT TO:<{}@no.test>", "VRFY {}", "{}", "MAIL FROM:<> X={}"] {
            smtp.command(&line.replace("{}", canary));
        }
        smtp.must("250", "RSET");
        smtp.must("250", "MAIL FROM:<\"a b\"@x.test>");
        smtp.must("550", "RCPT TO:<a@no.test>");
        smtp.must("250", "RCPT TO:<log@x.test>");
        smtp.must("354", "DATA");
        smtp.send(stuffed(format!("From: {canary}\r\nSubject: {canary}\r\n\r\n{canary}\r\n").as_bytes()).as_slice());
        assert!(smtp.reply().starts_with("250"));
        smtp.send(b"NOOP \rERROR forged\nERROR forged\r\n");
        smtp.finish();
        get(program.http, "/api/v1/mailbox/%1b%5b31m%0d%0aERROR%20forged");
        // What is logged of a client today; the program's own tests of its log try the rest.
        ask(program.http, "GET", "/", "forged.example.com");
        ask(program.http, "DELETE", "/api/v1/mailbox/a", "localhost\r\nOrigin: http://a\u{9b}31m\u{85}\tforged.test");
        program.wait_for("forged.example.com");
        program.wait_for("an origin was refused");
        wait_for_count(program.http, "log", 1);
        let log = program.stderr();
        assert!(!log.replace('\n', "").contains(char::is_control), "{log:?}");
        assert!(!log.lines().any(|line| line.starts_with("ERROR forged")), "{log}");
        if format == "json" {
            log.lines().for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).expect(line)));
        }
    }
}
