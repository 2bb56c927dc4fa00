//! Scripts in the real binary: every example, what Inbucket's scripts find, hostile ones, changes, and the command line.

mod examples;
mod hostile;
mod inbucket;

use std::fs;
use std::path::{Path, PathBuf};

use crate::http;
use crate::program::{Program, directory, output, postkeep, until};
use crate::smtp::{Smtp, message};

/// A server with one script, and what else is set.
fn with(script: &str, settings: &[&str]) -> Program {
    let path = directory().join("test.lua");
    fs::write(&path, script).unwrap();
    at(&path, settings)
}

fn at(path: &Path, settings: &[&str]) -> Program {
    let path = format!("script.path={}", path.display());
    Program::start(&[&[path.as_str()], settings].concat())
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../script/examples")
}

/// One mail with a text of its own; the first reply that is not good, or the last.
fn send(program: &Program, from: &str, to: &[&str], mail: &str) -> String {
    let mut smtp = Smtp::session(program.smtp);
    let mut reply = smtp.command(&format!("MAIL FROM:<{from}>"));
    for to in to {
        if !reply.starts_with("250") {
            return reply;
        }
        reply = smtp.command(&format!("RCPT TO:<{to}>"));
    }
    if !reply.starts_with("250") {
        return reply;
    }
    smtp.must("354", "DATA");
    smtp.send(&crate::smtp::stuffed(mail.replace('\n', "\r\n").as_bytes()));
    smtp.reply()
}

const HELLO: &str = "From: Jane Doe <jane@shop.test>\nTo: Al <alice@x.test>\nSubject: Hello\n\nHello, world.\n";

/// The summaries of API v2, newest first.
fn listed(program: &Program, mailbox: &str) -> Vec<serde_json::Value> {
    let answer = http::get(program.http, &format!("/api/v2/mailboxes/{mailbox}/messages")).json();
    answer["items"].as_array().unwrap().clone()
}

fn count(program: &Program, mailbox: &str) -> usize {
    http::list(program.http, mailbox).len()
}

/// T099: a failure in each hook, answered as configured; after a refusal nothing is kept.
#[test]
fn t099_a_failing_script_is_met_as_configured() {
    for (hook, stage) in [("mail_from", "MAIL"), ("rcpt_to", "RCPT"), ("message", "DATA")] {
        for what in ["error('oh no')", "while true do end", "local x = nil x.y = 1"] {
            let script = format!("function postkeep.before.{hook}() {what} end");
            let program = with(&script, &["script.deadline=50ms"]);
            let reply = send(&program, "a@x.test", &["alice@x.test"], HELLO);
            assert_eq!(reply, "451 4.3.0 A script of this server failed; try again later", "{stage} {what}");
            assert_eq!(count(&program, "alice"), 0);
            program.wait_for("test.lua");
        }
        let program =
            with(&format!("function postkeep.before.{hook}() error('oh no') end"), &["script.on_error=accept"]);
        assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
        assert_eq!(count(&program, "alice"), 1);
        program.wait_for("test.lua:1: oh no");
    }
}

#[test]
fn a_changed_script_is_read_again_and_a_wrong_one_is_not_taken() {
    let folder = directory();
    let path = folder.join("a.lua");
    let tagged = |tag: &str| format!("function postkeep.before.message(message) message:tag('{tag}') end");
    fs::write(&path, tagged("one")).unwrap();
    let program = at(&folder, &[]);
    let tag = || {
        assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
        listed(&program, "alice")[0]["tags"][0].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(tag(), "one");
    fs::write(&path, tagged("second")).unwrap();
    until("the change is seen", || (tag() == "second").then_some(()));
    fs::write(&path, "function postkeep.before.mesage(message) end").unwrap();
    program.wait_for("a.lua:1: postkeep.before has no event \"mesage\"");
    assert_eq!(tag(), "second", "the last good one stays");
    fs::write(folder.join("b.lua"), "function postkeep.before.message(m) return postkeep.refuse(550, m.tags[1]) end")
        .unwrap();
    fs::write(&path, tagged("third one")).unwrap();
    until("both are asked", || {
        (send(&program, "a@x.test", &["alice@x.test"], HELLO) == "550 5.7.1 third one").then_some(())
    });
}

#[test]
fn a_wrong_script_ends_the_start() {
    let path = directory().join("bad.lua");
    fs::write(&path, "\nlocal x = = 1").unwrap();
    let set = format!("script.path={}", path.display());
    let (code, _, stderr) = output(&mut postkeep(&[
        "serve",
        "--set",
        &set,
        "--set",
        "smtp.addr=127.0.0.1:0",
        "--set",
        "http.addr=127.0.0.1:0",
    ]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("script.path: bad.lua:2: "), "{stderr}");
}

#[test]
fn what_the_command_line_shows() {
    let dir = directory();
    let (script, eml) = (dir.join("route.lua"), dir.join("mail.eml"));
    let text = "local logger = require('logger')
function postkeep.before.rcpt_to(session)
  if session.recipient == 'eve@x.test' then return postkeep.refuse(550, '5.1.1 nobody') end
end
function postkeep.before.message(message)
  logger.info('seen', { size = message.size })
  require('http').get('http://127.0.0.1:1/')
  message:tag('red')
  table.insert(message.mailboxes, 'copy')
end";
    fs::write(&script, text).unwrap();
    fs::write(&eml, HELLO).unwrap();
    let (script, eml) = (script.to_str().unwrap(), eml.to_str().unwrap());
    let (code, stdout, stderr) = output(&mut postkeep(&["script", "check", script]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, "route.lua: postkeep.before.rcpt_to, postkeep.before.message\n");
    let (code, stdout, _) =
        output(&mut postkeep(&["script", "try", script, "--eml", eml, "--to", "eve@x.test", "--to", "al@x.test"]));
    let lines: Vec<String> = stdout.lines().map(|line| line.split("  0.").next().unwrap().to_owned()).collect();
    let expected = "before.rcpt_to <eve@x.test>
    route.lua  postkeep.before.rcpt_to
    → refused: 550 5.1.1 nobody
before.rcpt_to <al@x.test>
    route.lua  postkeep.before.rcpt_to
    → goes on: policy decides
before.message
    route.lua  postkeep.before.message
    route.lua  log info: seen size=84
    route.lua  log info: http GET http://127.0.0.1:1/ (not sent)
    → kept in al, copy; tagged red";
    assert_eq!((code, lines.join("\n").as_str()), (Some(0), expected));
    let (_, stdout, _) = output(&mut postkeep(&["script", "try", script, "--eml", eml, "--http"]));
    assert!(!stdout.contains("not sent"), "{stdout}");
}

#[test]
fn mistakes_on_the_command_line() {
    let dir = directory();
    let (script, eml) = (dir.join("bad.lua"), dir.join("mail.eml"));
    fs::write(&script, "function postkeep.before.message(m)\n  m.x = 1\nend").unwrap();
    fs::write(&eml, HELLO).unwrap();
    let (script, eml) = (script.to_str().unwrap(), eml.to_str().unwrap());
    let (code, stdout, _) = output(&mut postkeep(&["script", "try", script, "--eml", eml]));
    assert_eq!(code, Some(1));
    assert!(stdout.contains("failed: bad.lua:2: message.x cannot be changed"), "{stdout}");
    assert!(stdout.contains("the client hears 451"), "{stdout}");
    for (args, code, words) in [
        (&["check", "/nowhere.lua"][..], 1, "cannot read /nowhere.lua"),
        (&["check", "."], 1, "holds no script"),
        (&["try", script, "--eml", "/nowhere.eml"], 2, "cannot read /nowhere.eml"),
        (&["try", script, "--eml", eml, "--to", "nonsense"], 2, "nonsense"),
        (&["try", script, "--eml", eml, "--set", "script.on_error=no"], 2, "script.on_error"),
        (&["try", script], 2, "--eml"),
    ] {
        let (ended, _, stderr) = output(postkeep(&["script"]).args(args).current_dir(directory()));
        assert_eq!(ended, Some(code), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
}
