//! Scripts that were written for Inbucket, row by row of what it documents.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_mail_from_and_rcpt_to() {
    for (answer, expected) in [
        ("smtp.allow()", "allow"),
        ("smtp.defer()", "defer"),
        ("smtp.deny()", "550 5.7.1 Mail denied by policy"),
        ("smtp.deny(551)", "551 5.7.1 Mail denied by policy"),
        ("smtp.deny(450, 'Not now')", "450 4.7.1 Not now"),
        ("nil", "defer"),
        ("'nonsense'", "defer"),
        ("true", "defer"),
        ("{}", "defer"),
    ] {
        let text = "function inbucket.before.mail_from_accepted(session) return ANSWER end
            function inbucket.before.rcpt_to_accepted(session) return ANSWER end";
        let scripts = start(&text.replace("ANSWER", answer));
        assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), expected, "{answer}");
        assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await), expected, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_smtp_session() {
    let text = "function inbucket.before.rcpt_to_accepted(session)
            local to = {}
            for i, a in ipairs(session.to) do to[i] = a.address end
            assert(session.nothing == nil and not pcall(function() session.from = nil end))
            assert(not pcall(function() session.x = 1 end))
            local from = session.from
            return smtp.deny(550, table.concat({ from.address, from.name, table.concat(to, ' '), session.remote_addr }, '|'))
        end";
    let told = thought(&rcpt_to(&start(text), "a@x.test", &["b@x.test"], "c@x.test").await);
    assert_eq!(told, "550 5.7.1 a@x.test||b@x.test c@x.test|192.0.2.7");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_message_stored_returns() {
    for body in [
        "return nil",
        "return false",
        "return msg",
        "msg.mailboxes = { 'other' }",
        "table.insert(msg.mailboxes, 'x') return msg",
    ] {
        let scripts = start(&format!("function inbucket.before.message_stored(msg) {body} end"));
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await, Handling::USUAL, "{body}");
    }
    let scripts = start("function inbucket.before.message_stored(msg) msg.mailboxes = { 'one', 'Two' } return msg end");
    assert_eq!(boxes(&message(&scripts, &["alice@x.test"], HELLO).await).unwrap(), ["one", "two"]);
    for none in ["msg.mailboxes = {} return msg", "return inbound_message.new()"] {
        let scripts = start(&format!("function inbucket.before.message_stored(msg) {none} end"));
        assert_eq!(decided(&message(&scripts, &["alice@x.test"], HELLO).await.verdict.decision), "discard", "{none}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inbound_message() {
    let text = "function inbucket.before.message_stored(msg)
            assert(msg.mailboxes[1] == 'alice' and msg.from.name == 'Jane Doe' and msg.from.address == 'jane@shop.test')
            assert(msg.to[1].name == 'Al' and msg.to[1].address == 'alice@x.test')
            assert(msg.subject == 'Hello' and msg.size > 50 and msg.nothing == nil)
            assert(not pcall(function() msg.size = 1 end) and not pcall(function() msg.x = 1 end))
            msg.subject = 'Changed'
            msg.from = address.new('Other', 'other@x.test')
            msg.to = { address.new('Any', 'any@x.test') }
            return msg
        end";
    let handling = message(&start(text), &["alice@x.test"], HELLO).await;
    assert_eq!(handling.subject.as_deref(), Some("Changed"));
    assert_eq!(handling.from.unwrap().display(), "Other <other@x.test>");
    assert_eq!(handling.mailboxes, None);
    let scripts = start("function inbucket.before.message_stored(msg) msg.from.name = 'New' return msg end");
    let from = message(&scripts, &["alice@x.test"], HELLO).await.from;
    assert_eq!(from.unwrap().display(), "New <jane@shop.test>");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_and_objects_of_ones_own() {
    let text = "function inbucket.before.message_stored(msg)
            local a = address.new('Jane', 'jane@x.test')
            assert(a.name == 'Jane' and a.address == 'jane@x.test' and a.x == nil)
            a.name, a.address = 'Joe', 'joe@x.test'
            assert(a.name == 'Joe' and a.address == 'joe@x.test' and not pcall(function() a.x = 1 end))
            local s, m = smtp_session.new(), message_metadata.new()
            assert(s.from.address == '' and #s.to == 0 and s.remote_addr == '')
            m.mailbox, m.id, m.from, m.to, m.date, m.subject, m.size = 'box', '1', a, { a }, 5, 'S', 6
            assert(m.mailbox == 'box' and m.id == '1' and m.from.name == 'Joe' and m.to[1].name == 'Joe')
            assert(m.date == 5 and m.subject == 'S' and m.size == 6 and m.x == nil)
            assert(not pcall(function() m.x = 1 end))
            msg.mailboxes = { 'done' }
            return msg
        end";
    assert_eq!(boxes(&message(&start(text), &["alice@x.test"], HELLO).await).unwrap(), ["done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_afterwards() {
    let text = "function inbucket.after.message_stored(m)
            local told = { m.mailbox, m.id, m.from.address, m.to[1].address, m.date, m.subject, m.size }
            postkeep.remember('a', table.concat(told, '|'), 60)
        end
        function inbucket.after.message_deleted(m) postkeep.remember('b', m.subject, 60) end
        function postkeep.before.message(m)
            m.subject = (postkeep.recall('a') or '-') .. '/' .. (postkeep.recall('b') or '-')
        end";
    let scripts = start(text);
    let mailbox = Naming::Local.named("alice").unwrap();
    scripts.after(After::Delivered(mailbox.clone(), summary("One")));
    scripts.after(After::Deleted(mailbox, summary("Two")));
    let expected = "alice|0000000000007|jane@shop.test|alice@x.test|1700000000|One|1234/Two";
    for _ in 0..500 {
        if message(&scripts, &["a@x.test"], HELLO).await.subject.as_deref() == Some(expected) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", message(&scripts, &["a@x.test"], HELLO).await.subject);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_that_was_changed() {
    let text = "function inbucket.before.mail_accepted(localpart, domain)
            if localpart == 'no' then return false end
            if domain == 'yes.test' then return true end
        end";
    let scripts = start(text);
    assert_eq!(thought(&mail_from(&scripts, "no@x.test").await), "550 5.7.1 Mail denied by policy");
    assert_eq!(thought(&mail_from(&scripts, "a@yes.test").await), "allow");
    assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), "defer");
}

/// Sloppy scripts go on as they did: globals without `local`, helpers, loops of Lua 5.1.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_as_people_write_them() {
    let text = r#"local logger = require("logger")
        logger.info("Starting", {})
        blocked = { "spam.test", "bulk.test" }
        function is_blocked(domain)
            count = (count or 0) + 1
            for i = 1, table.getn(blocked) do
                if blocked[i] == domain then return true end
            end
            return false
        end
        function inbucket.before.mail_from_accepted(session)
            _, _, domain = string.find(session.from.address, "@(.*)$")
            if is_blocked(domain) then
                logger.warn("Blocked", { from = session.from.address })
                return smtp.deny(554, string.format("%s is blocked (%d)", domain, count))
            end
            return smtp.defer()
        end"#;
    let scripts = with(text, Settings { workers: 1, ..Settings::default() });
    for _ in 0..3 {
        assert_eq!(thought(&mail_from(&scripts, "a@bulk.test").await), "554 5.7.1 bulk.test is blocked (1)");
        assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), "defer");
    }
}
