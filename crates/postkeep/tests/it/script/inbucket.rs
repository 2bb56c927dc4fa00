//! What scripts for Inbucket find, one script for each row of what it documents, in the real binary.

use super::*;

#[test]
fn before_mail_from_accepted() {
    let script = "function inbucket.before.mail_from_accepted(session)
            if session.from.address == 'no@x.test' then return smtp.deny() end
            if session.from.address == 'later@x.test' then return smtp.deny(451, 'Later') end
            if session.from.address == 'yes@bad.test' then return smtp.allow() end
            if session.from.address == 'nil@x.test' then return nil end
            return smtp.defer()
        end";
    let program = with(script, &["policy.reject_senders=bad.test"]);
    assert_eq!(send(&program, "no@x.test", &["a@x.test"], HELLO), "550 5.7.1 Mail denied by policy");
    assert_eq!(send(&program, "later@x.test", &["a@x.test"], HELLO), "451 4.7.1 Later");
    assert!(send(&program, "yes@bad.test", &["a@x.test"], HELLO).starts_with("250"), "allow skips the policy");
    assert!(send(&program, "no@bad.test", &["a@x.test"], HELLO).starts_with("550"), "defer does not");
    assert!(send(&program, "nil@x.test", &["a@x.test"], HELLO).starts_with("250"));
}

#[test]
fn before_rcpt_to_accepted() {
    let script = "function inbucket.before.rcpt_to_accepted(session)
            local last = session.to[#session.to].address
            if last == 'no@x.test' then return smtp.deny(550, 'so far ' .. #session.to .. ' from ' .. session.remote_addr) end
            if last == 'yes@bad.test' then return smtp.allow() end
        end";
    let program = with(script, &["policy.reject=bad.test"]);
    let mut smtp = Smtp::session(program.smtp);
    smtp.must("250", "MAIL FROM:<a@x.test>");
    smtp.must("250", "RCPT TO:<one@x.test>");
    smtp.must("550 5.7.1 so far 2 from 127.0.0.1", "RCPT TO:<no@x.test>");
    smtp.must("550", "RCPT TO:<other@bad.test>");
    smtp.must("250", "RCPT TO:<yes@bad.test>");
    smtp.must("354", "DATA");
    smtp.send(&crate::smtp::stuffed(&message("one")));
    assert!(smtp.reply().starts_with("250"));
    assert_eq!(
        ["one", "no", "other", "yes"].map(|name| count(&program, name)),
        [1, 0, 0, 1],
        "only that recipient goes"
    );
}

#[test]
fn before_message_stored() {
    let script = "function inbucket.before.message_stored(msg)
            if msg.subject == 'drop' then msg.mailboxes = {} return msg end
            if msg.subject == 'nil' then return nil end
            if msg.subject == 'false' then return false end
            assert(msg.size > 0 and msg.from.address == 'jane@shop.test' and msg.to[1].address == 'alice@x.test')
            msg.mailboxes = { 'first', 'second' }
            msg.subject = 'Changed: ' .. msg.subject
            msg.from = address.new('Robot', 'robot@x.test')
            return msg
        end";
    let program = with(script, &[]);
    for subject in ["drop", "nil", "false"] {
        assert!(
            send(&program, "a@x.test", &["alice@x.test"], &HELLO.replace("Hello\n", &format!("{subject}\n")))
                .starts_with("250")
        );
    }
    assert_eq!(count(&program, "alice"), 2, "nil and false are the usual way");
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    assert_eq!((count(&program, "alice"), count(&program, "first"), count(&program, "second")), (2, 1, 1));
    let first = &listed(&program, "first")[0];
    assert_eq!(first["subject"].as_str(), Some("Changed: Hello"));
    assert_eq!(first["from"]["email"].as_str(), Some("robot@x.test"));
    let source = http::latest_as_sent(program.http, "first");
    assert!(source.starts_with(b"From: Jane Doe"), "the bytes stay as they are");
}

#[test]
fn after_message_stored_and_deleted() {
    let script = "local logger = require('logger')
        function inbucket.after.message_stored(m)
            logger.info('stored', { mailbox = m.mailbox, from = m.from.address, subject = m.subject, size = m.size > 0, date = m.date > 1e9, to = m.to[1].address })
        end
        function inbucket.after.message_deleted(m) logger.info('gone', { mailbox = m.mailbox, subject = m.subject }) end";
    let program = with(script, &[]);
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    program.wait_for("stored date=true from=jane@shop.test mailbox=alice size=true subject=Hello to=alice@x.test");
    http::delete(program.http, "/api/v1/mailbox/alice");
    program.wait_for("gone mailbox=alice subject=Hello");
}

#[test]
fn an_unknown_event_is_an_error() {
    let path = directory().join("test.lua");
    fs::write(&path, "function inbucket.before.connected() end").unwrap();
    let (code, _, stderr) = output(&mut postkeep(&["script", "check", path.to_str().unwrap()]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("test.lua:1: inbucket.before has no event \"connected\""), "{stderr}");
}

/// Types, modules, unknown fields, and the name that was changed: each asserted inside, where a mistake is a 451.
#[test]
fn types_and_modules() {
    let script = r#"local logger, http, json = require("logger"), require("http"), require("json")
        function inbucket.before.mail_accepted(localpart, domain) return localpart ~= "no" end
        function inbucket.before.message_stored(msg)
            local a = address.new("Jane", "jane@x.test")
            a.name, a.address = "Joe", "joe@x.test"
            assert(a.name == "Joe" and a.address == "joe@x.test" and a.other == nil)
            assert(not pcall(function() a.other = 1 end) and not pcall(function() msg.size = 1 end))
            local m = message_metadata.new()
            m.mailbox, m.id, m.date, m.subject, m.size, m.from, m.to = "b", "1", 2, "s", 3, a, { a }
            assert(m.mailbox .. m.id .. m.date .. m.subject .. m.size .. m.from.name .. m.to[1].name == "b12s3JoeJoe")
            assert(smtp_session.new().from.address == "" and #inbound_message.new().mailboxes == 0)
            assert(json.decode(json.encode({ a = { 1, 2 } })).a[2] == 2)
            local response, err = http.get("http://127.0.0.1:1/", { timeout = "1s", headers = { A = "b" } })
            assert(response == nil and type(err) == "string")
            for _, name in { "post", "put", "patch", "delete", "head", "request", "request_batch" } do assert(http[name]) end
            for _, name in { "debug", "info", "warn", "error" } do logger[name]("line of " .. name, { x = 1 }) end
            assert(not pcall(require, "socket"))
            return nil
        end"#;
    let program = with(script, &[]);
    assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"), "{}", program.stderr());
    assert_eq!(send(&program, "no@x.test", &["alice@x.test"], HELLO), "550 5.7.1 Mail denied by policy");
    program.wait_for("line of error x=1");
}

/// Globals are not shared, and a handler's error counts as no answer where that is what is configured.
#[test]
fn errors_and_globals() {
    let script = "function inbucket.before.mail_from_accepted(session)
            seen = (seen or 0) + 1
            if seen > 1 then return smtp.deny() end
            if session.from.address == 'throw@x.test' then error('thrown') end
        end";
    let program = with(script, &["script.on_error=accept"]);
    for _ in 0..5 {
        assert!(send(&program, "a@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    }
    assert!(send(&program, "throw@x.test", &["alice@x.test"], HELLO).starts_with("250"));
    program.wait_for("test.lua:4: thrown");
}
