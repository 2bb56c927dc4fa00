//! Dialogues by example: `<` is what the server says, `>` what it is told.

use mail::Address;
use mail::address::Charset;

use super::*;
use crate::sendmail::letter::Traits;

const ALL: &str = "250-mx.test\n250-size 1000\n250-8BITMIME\n250-SmtpUtf8\n250 CHUNKING";

fn letter(recipients: &[&str], traits: Traits) -> Letter {
    let address = |text: &str| Address::parse(text, Charset::Utf8).unwrap();
    Letter {
        sender: Some(address("me@x.test")),
        recipients: recipients.iter().map(|recipient| address(recipient)).collect(),
        content: b"A: b\r\n\r\n".to_vec(),
        traits,
    }
}

fn reply(text: &str) -> Reply {
    let mut reply = Reply::default();
    for line in text.lines() {
        reply.take(line.as_bytes()).unwrap();
    }
    reply
}

/// Play it: each reply, and what is said to it; how it ended.
#[track_caller]
fn play(letter: &Letter, script: &[(&str, &str)]) -> Result<(), (Ending, String)> {
    let mut dialogue = Dialogue::new(letter, "me.test");
    for (said, expected) in script {
        match dialogue.hear(&reply(said)) {
            Act::Say(line) => assert_eq!(&line, expected, "after {said}"),
            Act::Data => assert_eq!(*expected, "(data)", "after {said}"),
            Act::Chunk(line) => assert_eq!(&format!("{line} (chunk)"), expected, "after {said}"),
            Act::End(ended) => {
                assert_eq!(*expected, "(end)", "after {said}: {ended:?}");
                return ended.map_err(|failure| (failure.ending, failure.what));
            }
        }
    }
    panic!("it does not end");
}

const UP_TO_MAIL: [(&str, &str); 2] = [("220 mx", "EHLO me.test"), (ALL, "MAIL FROM:<me@x.test> SIZE=8")];

#[track_caller]
fn ends(script: &[(&str, &str)], ending: Ending, words: &str) {
    let letter = letter(&["a@x.test", "b@y.test"], Traits::default());
    let (found, what) = play(&letter, &[&UP_TO_MAIL[..], script].concat()).unwrap_err();
    assert!(found == ending && what.contains(words), "{found:?}: {what}");
}

#[test]
fn a_letter_goes() {
    let letter = letter(&["a@x.test", "b@y.test"], Traits::default());
    let rest = [
        ("250 ok", "RCPT TO:<a@x.test>"),
        ("250 ok", "RCPT TO:<b@y.test>"),
        ("251 ok", "DATA"),
        ("354 go on", "(data)"),
        ("250 kept", "(end)"),
    ];
    assert_eq!(play(&letter, &[&UP_TO_MAIL[..], &rest].concat()), Ok(()));
}

#[test]
fn an_old_server_is_greeted_again() {
    let letter = Letter {
        sender: None,
        ..letter(&["a@x.test"], Traits { has_8bit: true, has_utf8_header: true, ..Traits::default() })
    };
    let script = [
        ("220 mx", "EHLO me.test"),
        ("502 what", "HELO me.test"),
        ("250 mx", "MAIL FROM:<>"),
        ("250 ok", "RCPT TO:<a@x.test>"),
        ("250 ok", "DATA"),
        ("354 go on", "(data)"),
        ("250 kept", "(end)"),
    ];
    assert_eq!(play(&letter, &script), Ok(()));
}

#[test]
fn what_is_offered_and_needed_is_used() {
    let plain = Traits::default();
    for (traits, parameters) in [
        (Traits { has_8bit: true, ..plain }, " BODY=8BITMIME"),
        (Traits { has_8bit: true, has_utf8_header: true, ..plain }, " BODY=8BITMIME SMTPUTF8"),
        (Traits { has_utf8_address: true, ..plain }, " SMTPUTF8"),
    ] {
        let mut dialogue_letter = letter(&["a@x.test"], traits);
        dialogue_letter.sender = None;
        let mut dialogue = Dialogue::new(&dialogue_letter, "me.test");
        dialogue.hear(&reply("220 mx"));
        assert_eq!(dialogue.hear(&reply(ALL)), Act::Say(format!("MAIL FROM:<> SIZE=8{parameters}")));
    }
    let binary = letter(&["a@x.test"], Traits { is_binary: true, ..plain });
    let rest = [("250 ok", "RCPT TO:<a@x.test>"), ("250 ok", "BDAT 8 LAST (chunk)"), ("250 kept", "(end)")];
    assert_eq!(play(&binary, &[&UP_TO_MAIL[..], &rest].concat()), Ok(()));
}

#[test]
fn what_a_server_cannot_do_is_told_before() {
    let plain = Traits::default();
    for (traits, offers, words) in [
        (plain, "250-mx\n250 SIZE 7", "the message has 8 octets and the server takes 7"),
        (Traits { has_utf8_address: true, ..plain }, "250 mx", "does not offer SMTPUTF8"),
        (Traits { is_binary: true, ..plain }, "250 mx", "does not offer CHUNKING"),
    ] {
        let letter = letter(&["a@x.test"], traits);
        let (ending, what) = play(&letter, &[("220 mx", "EHLO me.test"), (offers, "(end)")]).unwrap_err();
        assert!(ending == Ending::Data && what.contains(words), "{ending:?}: {what}");
    }
    for offers in ["250-mx\n250 SIZE 8", "250-mx\n250 SIZE 0", "250-mx\n250 SIZE", "250-SIZE 7\n250 HELP"] {
        let letter = letter(&["a@x.test"], plain);
        let mut dialogue = Dialogue::new(&letter, "me.test");
        dialogue.hear(&reply("220 mx"));
        assert!(matches!(dialogue.hear(&reply(offers)), Act::Say(_)), "{offers}");
    }
}

#[test]
fn refusals_have_their_codes() {
    use Ending::*;
    let (one, two) = (("250 ok", "RCPT TO:<a@x.test>"), ("250 ok", "RCPT TO:<b@y.test>"));
    let data = [one, two, ("250 ok", "DATA")];
    ends(&[("421 later", "(end)")], Temporary, "refused the sender: 421 later; try again later");
    ends(&[("550 no", "(end)")], Unavailable, "refused the sender");
    ends(&[("552 large", "(end)")], Data, "smaller");
    ends(&[("530 5.7.0 STARTTLS", "(end)")], Unavailable, "smtp.auth_required = false");
    ends(&[one, ("550 5.1.1 unknown", "(end)")], NoUser, "the recipient a@x.test: 550 5.1.1 unknown; correct");
    ends(&[one, ("553 bad", "(end)")], NoUser, "the recipient a@x.test");
    ends(&[one, two, ("550 unknown", "(end)")], NoUser, "the recipient b@y.test");
    ends(&[one, ("554 no", "(end)")], Unavailable, "the recipient");
    ends(&[one, ("450 later", "(end)")], Temporary, "the recipient");
    ends(&[one, ("452 full", "(end)")], Temporary, "the recipient a@x.test");
    ends(&[&data[..], &[("451 later", "(end)")]].concat(), Temporary, "the message");
    ends(&[&data[..], &[("250 what", "(end)")]].concat(), Unavailable, "not what SMTP has here");
    let sent = [&data[..], &[("354 go on", "(data)")]].concat();
    ends(&[&sent[..], &[("552 large", "(end)")]].concat(), Data, "the message");
    ends(&[&sent[..], &[("554 no", "(end)")]].concat(), Unavailable, "the message");
    ends(&[&sent[..], &[("452 full", "(end)")]].concat(), Temporary, "the message");
    let letter = letter(&["a@x.test"], Traits::default());
    for (greeting, ending) in [("554 no", Unavailable), ("421 busy", Temporary), ("250 what", Unavailable)] {
        assert_eq!(play(&letter, &[(greeting, "(end)")]).unwrap_err().0, ending, "{greeting}");
    }
}

#[test]
fn those_for_whom_there_is_no_room_come_next() {
    let letter = letter(&["a@x.test", "b@y.test", "c@z.test"], Traits::default());
    let again = "MAIL FROM:<me@x.test> SIZE=8";
    let first = [
        ("250 ok", "RCPT TO:<a@x.test>"),
        ("250 ok", "RCPT TO:<b@y.test>"),
        ("452 4.5.3 too many", "DATA"),
        ("354 go on", "(data)"),
        ("250 kept", again),
        ("250 ok", "RCPT TO:<b@y.test>"),
    ];
    let well = [("250 ok", "RCPT TO:<c@z.test>"), ("250 ok", "DATA"), ("354 go on", "(data)"), ("250 kept", "(end)")];
    assert_eq!(play(&letter, &[&UP_TO_MAIL[..], &first, &well].concat()), Ok(()));
    let badly = [("452 full", "(end)")];
    let (ending, what) = play(&letter, &[&UP_TO_MAIL[..], &first, &badly].concat()).unwrap_err();
    assert!(ending == Ending::Temporary && what.ends_with("(the first 1 of 3 recipients have it)"), "{what}");
}

#[test]
fn a_lost_connection_says_what_is_known() {
    let letter = letter(&["a@x.test"], Traits::default());
    let mut dialogue = Dialogue::new(&letter, "me.test");
    for said in ["220 mx", "250 mx", "250 ok", "250 ok"] {
        assert!(dialogue.lost("gone").what.contains("nothing was handed on"), "after {said}");
        dialogue.hear(&reply(said));
    }
    dialogue.hear(&reply("354 go on"));
    let lost = dialogue.lost("gone");
    assert!(lost.ending == Ending::Temporary && lost.what.contains("not known"), "{lost:?}");
}
