//! Limits: what is too large, too many or too old.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::http::{list, subjects, wait_for_count};
use crate::program::{PATIENCE, Program, until};
use crate::smtp::{Smtp, deliver, message};

#[test]
fn the_largest_message_is_taken_and_one_byte_more_is_not() {
    let program = Program::start(&["smtp.message_max=2000"]);
    let exactly = |bytes: usize| format!("Subject: {bytes}\r\n\r\n{}\r\n", "x".repeat(bytes - 19)).into_bytes();
    let mut smtp = Smtp::connect(program.smtp);
    assert!(smtp.command("EHLO c.test").contains("SIZE 2000"));
    assert!(smtp.mail("", &["big@x.test"], &exactly(2000)).starts_with("250"));
    assert!(smtp.mail("", &["big@x.test"], &exactly(2001)).starts_with("552 5.3.4"));
    smtp.must("552 5.3.4", "MAIL FROM:<> SIZE=2001");
    assert_eq!(subjects(program.http, "big"), ["2000"]);
}

#[test]
fn recipients_beyond_the_limit_are_put_off() {
    let program = Program::start(&["smtp.recipients_max=2"]);
    let mut smtp = Smtp::session(program.smtp);
    smtp.must("250", "MAIL FROM:<>");
    for (recipient, code) in [("a", "250"), ("b", "250"), ("c", "452 4.5.3")] {
        smtp.must(code, &format!("RCPT TO:<{recipient}@x.test>"));
    }
}

#[test]
fn connections_beyond_the_limit_are_turned_away_and_places_come_back() {
    for limit in ["smtp.connections_max=2", "smtp.connections_per_ip_max=2"] {
        let program = Program::start(&[limit]);
        let held = [Smtp::connect(program.smtp), Smtp::connect(program.smtp)];
        let greeting = Smtp::connect(program.smtp).greeting;
        assert!(greeting.starts_with("421"), "{limit}: {greeting}");
        drop(held);
        until("a place", || Smtp::connect(program.smtp).greeting.starts_with("220").then_some(()));
    }
}

#[test]
fn bytes_in_flight_beyond_the_budget_are_put_off() {
    let program = Program::start(&["smtp.in_flight_max=64KiB"]);
    program.wait_for("smtp.in_flight_max is 64KiB");
    let mut smtp = Smtp::session(program.smtp);
    let large = format!("Subject: large\r\n\r\n{}", "0123456789abcdef\r\n".repeat(8 << 10));
    let reply = smtp.mail("", &["f@x.test"], large.as_bytes());
    assert!(reply.starts_with("452 4.3.1"), "{reply}");
    deliver(program.smtp, "f@x.test", &message("small"));
    assert_eq!(subjects(program.http, "f"), ["small"]);
}

#[test]
fn a_mailbox_keeps_its_newest() {
    let program = Program::start(&["mailbox.messages_max=3"]);
    (1..=5).for_each(|number| deliver(program.smtp, "cap@x.test", &message(&number.to_string())));
    assert_eq!(subjects(program.http, "cap"), ["3", "4", "5"]);
}

#[test]
fn what_is_too_old_goes_by_itself() {
    let program = Program::start(&["mailbox.retention=300ms"]);
    deliver(program.smtp, "old@x.test", &message("old"));
    wait_for_count(program.http, "old", 0);
    let for_ever = Program::start(&["mailbox.retention=0"]);
    deliver(for_ever.smtp, "old@x.test", &message("kept"));
    assert_eq!(list(for_ever.http, "old").len(), 1);
    for_ever.wait_for("messages in a mailbox");
    assert!(!for_ever.stderr().contains(", for "), "{}", for_ever.stderr());
}

#[test]
fn t023_a_flood_pushes_out_nobody_elses_mail() {
    let program = Program::start(&["store.memory.bytes_max=200KiB", "mailbox.messages_max=0"]);
    deliver(program.smtp, "quiet@x.test", &message("quiet"));
    let mut smtp = Smtp::session(program.smtp);
    let flood = format!("Subject: flood\r\n\r\n{}\r\n", "x".repeat(5000));
    for _ in 0..200 {
        assert!(smtp.mail("", &["flood@x.test"], flood.as_bytes()).starts_with("250"));
    }
    assert_eq!(subjects(program.http, "quiet"), ["quiet"]);
    let flooded = list(program.http, "flood").len();
    assert!((1..200).contains(&flooded), "{flooded}");
}

#[test]
fn a_request_with_a_head_beyond_the_limit_is_told_so() {
    let head = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "x".repeat(60_000));
    for (setting, status) in [("http.header_max=128KiB", "404"), ("http.header_max=8KiB", "431")] {
        let program = Program::start(&[setting]);
        let mut stream = TcpStream::connect(program.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // In pieces, so that much of it comes after the server has heard enough.
        for piece in head.as_bytes().chunks(4_000) {
            stream.write_all(piece).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{setting}: {answer}");
    }
}

/// The server under a limit of open files.
#[cfg(unix)]
fn with_files(limit: &str) -> Program {
    let mut command = Command::new("sh");
    let script = format!("ulimit {limit} || exit 9; exec \"$0\" serve \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_postkeep")]).env_clear().stdin(Stdio::null());
    Program::run(command, &["runtime.workers=2"])
}

#[test]
#[cfg(unix)]
fn f08_t010_a_crowd_over_the_limit_of_files_is_survived() {
    let program = with_files("-n 144");
    program.wait_for("the limit of open files is 144 here, so smtp.connections_max is 64 instead of 12000");
    let crowd: Vec<Smtp> = (0..300).map(|_| Smtp::dial(program.smtp)).collect();
    let greetings: Vec<Option<String>> = crowd.into_iter().map(|mut client| client.heard()).collect();
    let count = |code: &str| greetings.iter().flatten().filter(|greeting| greeting.starts_with(code)).count();
    let (taken, put_off) = (count("220"), count("421"));
    // Where a busy machine turns them away more slowly than they come, a few find no file left to be answered through.
    let cut_off = greetings.iter().filter(|greeting| greeting.is_none()).count();
    assert!(taken >= 64 && taken + put_off + cut_off == 300, "{taken} taken, {put_off} put off, {cut_off} cut off");
    assert!(cut_off < 60, "{cut_off} of 300 were told nothing");
    until("a place", || Smtp::connect(program.smtp).greeting.starts_with("220").then_some(()));
    deliver(program.smtp, "after@x.test", &message("after"));
    assert_eq!(subjects(program.http, "after"), ["after"]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_soft_limit_of_files_is_raised_to_the_hard_one() {
    let program = with_files("-S -n 100");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", program.pid())).unwrap();
    let files: Vec<&str> =
        limits.lines().find(|line| line.starts_with("Max open files")).unwrap().split_whitespace().collect();
    assert_eq!(files[3], files[4], "soft and hard");
    assert_ne!(files[3], "100");
}
