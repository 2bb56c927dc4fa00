//! How a start looks, and how a failed one does.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;

use crate::http::ask;
use crate::program::{Program, output, postkeep};
use crate::smtp::Smtp;

#[test]
fn a_start_tells_a_person_four_lines_and_a_program_one() {
    let program = Program::start(&[]);
    let (smtp, http) = (program.smtp, program.http);
    let pop3 = program.ready.split('"').nth(7).unwrap();
    let ready = format!("ready {{\"smtp\":\"{smtp}\",\"pop3\":\"{pop3}\",\"http\":\"{http}\"}}\n");
    assert_eq!(program.ready, ready);
    let kept = "in memory, until this program ends; at most 512MiB in all, 500 messages in a mailbox, for 7d";
    let lines = [
        format!("Send mail to   smtp://{smtp}"),
        format!("Look at it on  http://{http}"),
        format!("Or fetch it by pop3://{pop3}"),
        format!("It is kept     {kept}"),
    ];
    program.wait_for(kept);
    // A machine with few files adds a warning in front.
    let told = program.stderr();
    let told: Vec<&str> = told.lines().filter(|line| !line.contains("the limit of open files is")).collect();
    assert_eq!(told, lines);
}

#[test]
fn postkeep_alone_serves() {
    let program = Program::run(postkeep(&[]), &["smtp.hostname=alone.test"]);
    assert!(Smtp::connect(program.smtp).greeting.starts_with("220 alone.test "));
}

#[test]
fn for_machines_a_start_is_one_event() {
    let program = Program::start(&["log.format=json"]);
    program.wait_for("\"message\":\"started\"");
    for line in program.stderr().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(["INFO", "WARN"].contains(&event["level"].as_str().unwrap()), "{line}");
    }
}

#[test]
fn a_port_in_use_is_told_in_one_sentence() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap();
    for (name, other) in [("smtp", "http"), ("http", "smtp")] {
        let (here, there) = (format!("{name}.addr={taken}"), format!("{other}.addr=127.0.0.1:0"));
        let (code, stdout, stderr) = output(&mut postkeep(&["--set", &here, "--set", &there]));
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        let why = "another program uses this port; stop it or choose another (port 0 takes a free one)";
        assert_eq!(stderr, format!("postkeep: {name}.addr: cannot listen on {taken}: {why}\n"));
    }
}

#[test]
fn an_address_of_another_machine_is_told_in_one_sentence() {
    let (code, _, stderr) = output(&mut postkeep(&[
        "--set",
        "smtp.addr=192.0.2.1:0",
        "--set",
        "http.addr=127.0.0.1:0",
        "--set",
        "pop3.addr=127.0.0.1:0",
    ]));
    assert_eq!(code, Some(1));
    assert_eq!(stderr, "postkeep: smtp.addr: cannot listen on 192.0.2.1:0: this machine has no such address\n");
}

#[test]
fn a_mistake_ends_the_start_before_anything_listens() {
    let (code, stdout, stderr) = output(&mut postkeep(&["serve", "--set", "smtp.adr=127.0.0.1:0"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert_eq!(stderr, "--set: smtp.adr is no key; did you mean smtp.addr?\n");
}

#[test]
fn a_log_that_nobody_reads_breaks_no_connection() {
    let set = [
        "--set",
        "smtp.addr=127.0.0.1:0",
        "--set",
        "http.addr=127.0.0.1:0",
        "--set",
        "pop3.addr=127.0.0.1:0",
        "--set",
        "log.level=debug",
    ];
    let mut child = postkeep(&set).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let look = lines.map(Result::unwrap).find(|line| line.starts_with("Look at it on")).unwrap();
    let http = look.split_once("http://").unwrap().1.parse().unwrap();
    // Now stderr is closed as well, and there is something to log.
    for (host, status) in [("strange.example.com", 421), ("localhost", 200)] {
        assert_eq!(ask(http, "GET", "/livez", host).status, status);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn an_idle_server_is_small() {
    let program = Program::start(&[]);
    let resident = program.resident();
    assert!(resident < 18_000_000, "{resident} bytes");
}
