//! The API in the house's words: what handlers see, and what their answers do.

use super::*;
use crate::OnError;

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_a_sender_and_a_recipient() {
    for (answer, expected) in [
        ("", "defer"),
        ("return nil", "defer"),
        ("return postkeep.defer()", "defer"),
        ("return postkeep.accept()", "allow"),
        ("return postkeep.refuse()", "550 5.7.1 Mail denied by policy"),
        ("return postkeep.refuse(451, 'later')", "451 4.7.1 later"),
        ("return postkeep.refuse(550, '5.1.1 nobody')", "550 5.1.1 nobody"),
    ] {
        let text = "function postkeep.before.mail_from(session) ANSWER end \
            function postkeep.before.rcpt_to(session) ANSWER end";
        let scripts = start(&text.replace("ANSWER", answer));
        assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), expected, "{answer}");
        assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await), expected, "{answer}");
    }
    let scripts = start("function postkeep.before.rcpt_to(session) return postkeep.discard() end");
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await), "discard");
    let scripts = start("function postkeep.before.mail_from(session) return postkeep.discard() end");
    assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), TEMPFAIL);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_to_a_message() {
    for (answer, expected) in [
        ("", "accept"),
        ("return message", "accept"),
        ("return postkeep.defer()", "accept"),
        ("return postkeep.accept()", "accept"),
        ("return postkeep.discard()", "discard"),
        ("return postkeep.refuse(554, 'no')", "554 5.7.1 no"),
        ("return true", TEMPFAIL),
        ("return 'accept'", TEMPFAIL),
        ("return {}", TEMPFAIL),
        ("message.mailboxes = {}", "discard"),
        ("message.size = 1", TEMPFAIL),
        ("message.nothing = 1", TEMPFAIL),
        ("assert(message.nothing == nil)", "accept"),
    ] {
        let scripts = start(&format!("function postkeep.before.message(message) {answer} end"));
        assert_eq!(decided(&message(&scripts, &["alice@x.test"], HELLO).await.verdict.decision), expected, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_421_hangs_up() {
    let scripts = start("function postkeep.before.mail_from() return postkeep.refuse(421, 'bye') end");
    assert!(matches!(mail_from(&scripts, "a@x.test").await, Opinion::Judge(verdict) if verdict.hang_up));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_session_shows() {
    let scripts = start(
        "function postkeep.before.rcpt_to(session)
            local to = table.concat(session.to, ' ')
            local text = table.concat({ session.from, to, session.recipient, session.helo, session.peer, session.user }, '|')
            return postkeep.refuse(550, text)
        end",
    );
    let opinion = rcpt_to(&scripts, "a@x.test", &["b@x.test", "c@x.test"], "d@x.test").await;
    let expected = "550 5.7.1 a@x.test|b@x.test c@x.test|d@x.test|client.test|192.0.2.7|ann";
    assert_eq!(thought(&opinion), expected);
    let scripts = start(
        "function postkeep.before.mail_from(session)
            assert(session.from == '' and #session.to == 0 and session.recipient == nil)
            session.from = 'x'
        end",
    );
    assert_eq!(thought(&mail_from(&scripts, "").await), TEMPFAIL, "a session cannot be changed");
}

const PARTS: &str = "\
From: =?utf-8?Q?J=C3=A4ne?= <jane@shop.test>
To: Al <alice@x.test>, bob@x.test
Subject: =?utf-8?B?R3LDvMOfZQ==?=
X-Team: red
X-Team: blue
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

Dear Al,
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename=bill.pdf
Content-Transfer-Encoding: base64

UERG
--b--
";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_message_shows() {
    let scripts = start(
        r#"function postkeep.before.message(message)
            local function is(found, wanted) if found ~= wanted then error(tostring(found) .. " is not " .. tostring(wanted), 2) end end
            is(message.from, "jane@shop.test") is(message.from_name, "Jäne") is(message.subject, "Grüße")
            is(message.sender, "bounce@shop.test") is(table.concat(message.recipients, " "), "alice@x.test")
            is(table.concat(message.to, " "), "alice@x.test bob@x.test")
            is(table.concat(message.mailboxes, " "), "alice")
            is(message.helo, "client.test") is(message.peer, "192.0.2.7") is(message.user, nil)
            is(message:header("x-team"), "red") is(message:header("X-None"), nil)
            is(#message:headers(), 7) is(message:headers()[1].name, "From") is(message:headers("x-team")[2].value, "blue")
            local text, cut = message:body()
            is(text, "Dear Al,") is(cut, false)
            is(message:html(), nil)
            local source, cut = message:source()
            is(#source, message.size) is(cut, false)
            is(#message:attachments(), 1)
            local bill = message:attachments()[1]
            is(bill.name, "bill.pdf") is(bill.type, "application/pdf") is(bill.size, 3)
            message:tag("seen")
        end"#,
    );
    let handling = message(&scripts, &["alice@x.test"], PARTS).await;
    assert_eq!((decided(&handling.verdict.decision), handling.tags), ("accept".into(), vec!["seen".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_message_lets_change() {
    let scripts = start(
        "function postkeep.before.message(message)
            table.insert(message.mailboxes, 'Archive+old')
            message:tag('a') message:tag('b') message:tag('a')
            message.subject = 'Re:\\r\\nX: y'
            message.from_name = 'Somebody'
        end",
    );
    let handling = message(&scripts, &["alice@x.test"], HELLO).await;
    assert_eq!(boxes(&handling).unwrap(), ["alice", "archive"], "T100: by the one canonicaliser");
    assert_eq!(handling.tags, ["a", "b"]);
    assert_eq!(handling.subject.as_deref(), Some("Re:  X: y"));
    assert_eq!(handling.from.unwrap().display(), "Somebody <jane@shop.test>");
    let scripts = start("function postkeep.before.message(message) local _ = message.mailboxes end");
    assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await, Handling::USUAL, "to look is not to change");
}

#[tokio::test(flavor = "multi_thread")]
async fn t100_a_mailbox_that_cannot_be_is_a_failure() {
    for name in ["''", "'+x'", "'a b'", "'a\\r\\nb'", "'../etc'", "('x'):rep(65)", "'a@b@c'", "1", "{}", "nil, 'x'"] {
        let text = format!("function postkeep.before.message(message) message.mailboxes = {{ {name} }} end");
        let handling = message(&start(&text), &["alice@x.test"], HELLO).await;
        assert_eq!(decided(&handling.verdict.decision), TEMPFAIL, "{name}: {handling:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_much_of_a_message_is_shown() {
    let settings = Settings { source_max: 100, ..Settings::default() };
    let text = "function postkeep.before.message(message)
        local source, cut = message:source()
        local _, body_cut = message:body()
        assert(#source == 100 and cut and body_cut and message.size > 100)
    end";
    let handling = message(&with(text, settings), &["alice@x.test"], &format!("{HELLO}{}", "x".repeat(1000))).await;
    assert_eq!(handling, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn t099_a_failure_is_met_as_configured() {
    let throws = "function postkeep.before.mail_from() error('oh') end
        function postkeep.before.rcpt_to() local x = nil; return x.y end
        function postkeep.before.message() while true do end end";
    let scripts = with(throws, short());
    assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), TEMPFAIL);
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await), TEMPFAIL);
    assert_eq!(decided(&message(&scripts, &["alice@x.test"], HELLO).await.verdict.decision), TEMPFAIL);
    let scripts = with(throws, Settings { on_error: OnError::Accept, ..short() });
    assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), "defer");
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await), "defer");
    assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_asked_by_name_until_one_decides() {
    let texts = [
        ("10.lua", "function postkeep.before.message(m) m:tag('one') table.insert(m.mailboxes, 'copy') end"),
        (
            "20.lua",
            "function postkeep.before.message(m) m:tag(table.concat(m.mailboxes, '+')) return postkeep.accept() end",
        ),
        ("30.lua", "function postkeep.before.message(m) m:tag('three') return postkeep.refuse() end"),
    ];
    let handling = message(&several(&texts, Settings::default()), &["alice@x.test"], HELLO).await;
    assert_eq!(handling.tags, ["one", "alice+copy"]);
    assert_eq!(
        (decided(&handling.verdict.decision), boxes(&handling).unwrap()),
        ("accept".into(), vec!["alice".to_owned(), "copy".into()])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn t097_each_event_finds_the_script_as_it_was_read() {
    let text = "count = (count or 0) + 1
        local mine = { n = 0 }
        function bump() mine.n += 1; total = (total or 0) + 1; return mine.n + total + count end
        function postkeep.before.message(message)
            message:tag(tostring(bump()))
            _G.poison, string2, postkeep.extra = true, true, true
            postkeep.before.message = function() error('poisoned') end
            postkeep.accept = nil
            inbucket.before.x = 1
        end";
    let scripts = with(text, Settings { workers: 1, ..Settings::default() });
    for _ in 0..5 {
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["3"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_remembered_is_there_for_the_next() {
    let text = "function postkeep.before.message(message)
        message:tag('seen ' .. postkeep.count(message.from, 60))
        message:tag('last ' .. (postkeep.recall('last') or 'none'))
        postkeep.remember('last', message.subject, 60)
    end";
    let scripts = start(text);
    assert_eq!(message(&scripts, &["a@x.test"], HELLO).await.tags, ["seen 1", "last none"]);
    assert_eq!(message(&scripts, &["a@x.test"], HELLO).await.tags, ["seen 2", "last Hello"]);
    for wrong in [
        "count('x', 0)",
        "count('x', -1)",
        "count('x', 0/0)",
        "count(('x'):rep(300), 1)",
        "remember('a', ('x'):rep(5000), 1)",
        "count()",
    ] {
        let scripts = start(&format!("function postkeep.before.message(m) postkeep.{wrong} end"));
        assert_eq!(decided(&message(&scripts, &["a@x.test"], HELLO).await.verdict.decision), TEMPFAIL, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_is_told() {
    // What it sees, it shows to the next question: nothing else comes out of it.
    let text = "function postkeep.after.message(m)
            postkeep.remember('told', table.concat({ m.mailbox, m.id, m.from, m.from_name, m.sender, m.recipients[1], m.subject,
                tostring(m.size), tostring(m.received_at), m.tags[1] }, '|'), 60)
        end
        function postkeep.after.delete(m) postkeep.remember('gone', m.subject, 60) end
        function postkeep.before.message(m)
            m:tag(postkeep.recall('told') or '-') m:tag('gone ' .. (postkeep.recall('gone') or '-'))
        end";
    let text = text.replace("m:tag(postkeep.recall('told') or '-')", "m.subject = postkeep.recall('told') or '-'");
    let scripts = start(&text);
    let mailbox = Naming::Local.named("alice").unwrap();
    scripts.after(After::Delivered(mailbox.clone(), summary("One")));
    scripts.after(After::Deleted(mailbox, summary("Two")));
    let mut seen = message(&scripts, &["a@x.test"], HELLO).await;
    for _ in 0..500 {
        if seen.subject.as_deref() != Some("-") && seen.tags == ["gone Two"] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        seen = message(&scripts, &["a@x.test"], HELLO).await;
    }
    let expected = "alice|0000000000007|jane@shop.test|Jane Doe|bounce@shop.test|alice@x.test|One|1234|1700000000|red";
    assert_eq!((seen.subject.as_deref(), &*seen.tags), (Some(expected), &["gone Two".to_owned()][..]));
}
