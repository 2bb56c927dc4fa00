//! How it ends: what runs is finished, and a second signal waits for nothing.
#![cfg(unix)]

use std::net::TcpStream;

use rustix::process::Signal;

use crate::http::{get, latest_as_sent};
use crate::program::{Program, until};
use crate::smtp::{Smtp, message, stuffed};

#[test]
fn an_idle_session_is_told_and_the_program_ends_well() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut program = Program::start(&[]);
        let mut idle = Smtp::session(program.smtp);
        program.signal(signal);
        let reply = idle.reply();
        assert!(reply.starts_with("421 4.3.2"), "{reply}");
        assert_eq!(idle.finish(), "");
        assert_eq!(program.wait(), Some(0));
    }
}

#[test]
fn a_running_transaction_is_finished_while_nobody_new_is_let_in() {
    let mut program = Program::start(&["stop.grace=1m"]);
    let (mail, mut smtp) = (stuffed(&message("last")), Smtp::session(program.smtp));
    let mut idle = Smtp::session(program.smtp);
    smtp.begin("", &["last@x.test"]);
    smtp.send(&mail[..30]);
    program.signal(Signal::TERM);
    assert!(idle.reply().starts_with("421"), "the stop has begun");
    until("nobody new is let in", || TcpStream::connect(program.smtp).is_err().then_some(()));
    assert!(program.is_running());
    smtp.send(&mail[30..]);
    assert!(smtp.reply().starts_with("250"));
    assert!(smtp.finish().starts_with("421"));
    assert_eq!(program.wait(), Some(0));
}

#[test]
fn a_client_that_never_finishes_is_cut_off_after_the_grace() {
    let mut program = Program::start(&["stop.grace=200ms"]);
    let mut smtp = Smtp::session(program.smtp);
    smtp.begin("", &["never@x.test"]);
    smtp.send(b"Subject: never\r\n");
    program.signal(Signal::TERM);
    assert_eq!(program.wait(), Some(0));
    program.wait_for("not everything was finished within stop.grace");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut program = Program::start(&["stop.grace=1h"]);
        let (mut stuck, mut idle) = (Smtp::session(program.smtp), Smtp::session(program.smtp));
        stuck.begin("", &["never@x.test"]);
        program.signal(signal);
        assert!(idle.reply().starts_with("421"), "the stop has begun");
        assert!(program.is_running());
        program.signal(signal);
        assert_eq!(program.wait(), Some(code));
    }
}

#[test]
fn a_kept_http_connection_does_not_hold_up_the_end() {
    let mut program = Program::start(&["stop.grace=1h"]);
    let silent = TcpStream::connect(program.http).unwrap();
    let mut smtp = Smtp::session(program.smtp);
    assert!(smtp.mail("", &["kept@x.test"], &message("kept")).starts_with("250"));
    assert_eq!(latest_as_sent(program.http, "kept"), message("kept"));
    assert_eq!(get(program.http, "/livez").status, 200);
    program.signal(Signal::TERM);
    assert_eq!(program.wait(), Some(0));
    drop(silent);
}
