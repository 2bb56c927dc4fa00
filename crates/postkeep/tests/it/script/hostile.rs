//! Scripts that mean harm, in the real binary: stopped, and everybody else's mail goes on.

use std::time::{Duration, Instant};

use super::*;

const SCRIPTS: &[(&str, &str)] = &[
    ("endless loop", "while true do end"),
    ("loop under pcall", "while true do pcall(function() while true do end end) end"),
    ("pattern", "return (('a'):rep(100)):find(('a-'):rep(5) .. 'b')"),
    ("text in text", "local _ = (('a'):rep(4000000)):find(('a'):rep(2000000) .. 'b', 1, true) error('it ended')"),
    ("memory", "local t = 'x' while true do t = t .. t end"),
    ("tables", "while true do pcall(function() local t = {} while true do t[#t + 1] = t end end) end"),
    ("recursion", "local function f() return pcall(f) end while true do f() end"),
    ("coroutines", "while true do coroutine.wrap(function() while true do end end)() end"),
    ("poison", "getmetatable('').__index = nil"),
    ("bytecode", "loadstring('\\27Lua')()"),
    ("files", "io.open('/etc/passwd')"),
    ("commands", "os.execute('touch owned')"),
    ("modules", "require('os')"),
    ("a mailbox that is none", "message.mailboxes = { 'a\\r\\nb' }"),
];

/// T094 T095 T096: each within its time, while another connection delivers.
#[test]
fn t094_hostile_scripts_harm_only_their_own_mail() {
    let mut script = String::from("local evil = {}\n");
    for (number, (_, body)) in SCRIPTS.iter().enumerate() {
        script += &format!("evil['evil{number}'] = function(message) {body} end\n");
    }
    script += "function postkeep.before.message(message)
        local act = evil[message.mailboxes[1]]
        if act then act(message) end
        message:tag('fine')
    end";
    let program = with(&script, &["script.deadline=200ms"]);
    let mut other = Smtp::session(program.smtp);
    for (number, (name, _)) in SCRIPTS.iter().enumerate() {
        let mut smtp = Smtp::session(program.smtp);
        let mailbox = format!("evil{number}");
        smtp.begin("a@x.test", &[&format!("{mailbox}@x.test")]);
        let began = Instant::now();
        smtp.send(&crate::smtp::stuffed(&message("evil")));
        let mut slowest = Duration::ZERO;
        for _ in 0..5 {
            let began = Instant::now();
            assert!(other.mail("b@x.test", &["alice@x.test"], &message("one")).starts_with("250"), "beside {name}");
            slowest = slowest.max(began.elapsed());
        }
        assert_eq!(smtp.reply(), "451 4.3.0 A script of this server failed; try again later", "{name}");
        assert!(began.elapsed() < Duration::from_secs(2), "{name}: {:?}", began.elapsed());
        assert!(slowest < Duration::from_secs(1), "{name}: another waited {slowest:?}");
        assert_eq!(count(&program, &mailbox), 0, "{name}");
    }
    assert_eq!(count(&program, "alice"), 5 * SCRIPTS.len());
    assert!(listed(&program, "alice").iter().all(|item| item["tags"][0] == "fine"));
    assert!(!program.dir.join("owned").exists());
}

/// T100: a text with line ends does not become two replies.
#[test]
fn t100_a_reply_is_one_line() {
    let script =
        "function postkeep.before.mail_from() return postkeep.refuse(550, 'no\\r\\n250 yes' .. ('x'):rep(100000)) end";
    let program = with(script, &[]);
    let mut smtp = Smtp::session(program.smtp);
    let reply = smtp.command("MAIL FROM:<a@x.test>");
    assert!(reply.starts_with("550 5.7.1 no  250 yes") && reply.len() <= 510, "{reply}");
    assert!(smtp.command("NOOP").starts_with("250"), "the dialogue is in step");
}
