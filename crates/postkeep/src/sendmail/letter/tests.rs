//! Messages by example: what goes in, what is handed on.

use mail::address::Charset;

use super::*;

fn origin() -> Origin {
    Origin {
        user: Address::parse("me@host.test", Charset::Utf8).unwrap(),
        host: "host.test".to_owned(),
        now: Timestamp::from_second(1_794_726_658).unwrap(),
        unique: "1.2.3".to_owned(),
    }
}

const FULL: &str = "From: a@x.test\r\nDate: now\r\nMessage-ID: <1@x>\r\n";
const ADDED: &str = "From: me@host.test\r\nDate: Sun, 15 Nov 2026 07:10:58 +0000\r\nMessage-ID: <1.2.3@host.test>\r\n";

fn header() -> Options {
    Options { source: Source::Header, dots: Dots::Text, ..Options::default() }
}

fn to(recipient: &str) -> Options {
    Options { recipients: vec![recipient.to_owned()], ..Options::default() }
}

fn composed(input: &[u8], options: &Options) -> Result<Letter, Unsendable> {
    compose(input, options, &origin())
}

#[track_caller]
fn content(input: &str, options: &Options, expected: &str) {
    let letter = composed(input.as_bytes(), options).unwrap();
    assert_eq!(String::from_utf8_lossy(&letter.content), expected, "{input:?}");
}

fn recipients(letter: &Letter) -> Vec<String> {
    letter.recipients.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn goes_to(header: &str, options: &Options, expected: &[&str]) {
    let letter = composed(format!("{header}\r\n\r\nbody\r\n").as_bytes(), options).unwrap();
    assert_eq!(recipients(&letter), expected, "{header:?}");
}

#[test]
fn lines_end_with_crlf() {
    let same = format!("{FULL}To: b@y.test\r\n\r\none\r\n\r\n two \r\n");
    content(&same, &header(), &same);
    content(&same.replace("\r\n", "\n"), &header(), &same);
    content(same.trim_end_matches("\r\n"), &header(), &same);
    content(&same.replacen("\r\n", "\n", 2), &header(), &same);
    content(&format!("{same}\r"), &header(), &format!("{same}\r\n"));
}

#[test]
fn missing_fields_are_added_and_nothing_else() {
    content("Subject: x\n\nbody\n", &to("b"), &format!("{ADDED}Subject: x\r\n\r\nbody\r\n"));
    content(
        "from: a@x.test\ndate : now\nmessage-id: <1@x>\n\n",
        &to("b"),
        "from: a@x.test\r\ndate : now\r\nmessage-id: <1@x>\r\n\r\n",
    );
    content("hello\n", &to("b"), &format!("{ADDED}\r\nhello\r\n"));
    content("\nhello\n", &to("b"), &format!("{ADDED}\r\nhello\r\n"));
    content("Subject: x\nhello world\n", &to("b"), &format!("{ADDED}Subject: x\r\n\r\nhello world\r\n"));
    content("", &to("b"), ADDED);
    content("Subject: x", &to("b"), &format!("{ADDED}Subject: x\r\n"));
    content("From me Sun Nov 15 2026\nSubject: x\n\n", &to("b"), &format!("{ADDED}Subject: x\r\n\r\n"));
}

#[test]
fn the_senders_name_is_for_a_missing_from() {
    let named = Options { name: Some("Cron, D".to_owned()), sender: Some("root".to_owned()), ..to("b") };
    let added = ADDED.replace("me@host.test", "\"Cron, D\" <root@host.test>");
    content("Subject: x\n\n", &named, &format!("{added}Subject: x\r\n\r\n"));
    content(&format!("{FULL}\r\n"), &named, &format!("{FULL}\r\n"));
    let letter = composed(b"\n", &Options { sender: Some("<>".to_owned()), ..to("b") }).unwrap();
    assert_eq!(letter.sender, None);
    assert!(letter.content.starts_with(b"From: me@host.test\r\n"), "there is always an author");
    for name in ["x\r\nBcc: evil@x.test", "x\0"] {
        let options = Options { name: Some(name.to_owned()), ..to("b") };
        assert_eq!(composed(b"\n", &options), Err(Unsendable::BadName));
    }
}

#[test]
fn a_lone_dot_ends_only_where_it_may() {
    let with = |dots| Options { dots, ..to("b") };
    for end in ["\n.\n", "\n.\r\n", "\n.", "\r\n.\r\n", "\n.\r"] {
        let input = format!("{FULL}\r\none{end}");
        content(&input, &with(Dots::End), &format!("{FULL}\r\none\r\n"));
        content(&input, &with(Dots::Text), &format!("{FULL}\r\none\r\n.\r\n"));
    }
    for line in ["..", ".a", ". ", "a."] {
        let text = format!("{FULL}\r\n{line}\r\nmore\r\n");
        content(&text, &with(Dots::End), &text);
    }
    content(".\nSubject: x\n", &with(Dots::End), ADDED);
}

#[test]
fn recipients_come_from_the_header_when_asked() {
    let both = Options { recipients: vec!["c@z.test, Ann <a@x.test>".to_owned()], ..header() };
    goes_to("To: a@x.test\nCc: b@y.test\nBCC: c@z.test", &header(), &["a@x.test", "b@y.test", "c@z.test"]);
    goes_to("To: Ann\n <a@x.test>,\n\tb@y.test", &header(), &["a@x.test", "b@y.test"]);
    goes_to("To: a@x.test\nTo: b@y.test\nCc: a@x.test", &header(), &["a@x.test", "b@y.test"]);
    goes_to("To: a@x.test\nReply-To: b@y.test", &header(), &["a@x.test"]);
    goes_to("To: a@x.test\nBcc: d@w.test", &both, &["c@z.test", "a@x.test", "d@w.test"]);
    goes_to("To: a@x.test", &to("b@y.test"), &["b@y.test"]);
    goes_to("To: undisclosed-recipients:;\nBcc: a@x.test", &header(), &["a@x.test"]);
    goes_to(
        "Resent-To: b@y.test\nResent-Bcc: c@z.test\nTo: a@x.test\nBcc: d@w.test",
        &header(),
        &["b@y.test", "c@z.test"],
    );
    goes_to("Resent-From: b@y.test\nTo: a@x.test", &header(), &["a@x.test"]);
}

#[test]
fn nobody_to_send_to_is_told() {
    for input in ["", "\n", "To:\n\n", "To: nobody:;\n\n", "Subject: x\n\nTo: a@x.test\n"] {
        assert_eq!(composed(input.as_bytes(), &header()), Err(Unsendable::NoRecipients), "{input:?}");
    }
    assert_eq!(composed(b"To: a@x.test\n\n", &Options::default()), Err(Unsendable::NoRecipients));
    let why = composed(b"To: a@x.test\nCc: a@@x\n\n", &header()).unwrap_err().to_string();
    assert_eq!(why, "in the field Cc, \"a@@x\": this is no address of the form user@domain; correct it");
    assert!(matches!(composed(b"\n", &to("a b")), Err(Unsendable::BadArgument(_))));
    let from = Options { sender: Some("a b".to_owned()), ..to("b") };
    assert!(matches!(composed(b"\n", &from), Err(Unsendable::BadSender(_))));
    assert!(composed(b"To: a\xff@x.test\n\n", &header()).is_err());
    assert!(composed(b"To: Zo\xeb <a@x.test>\n\n", &header()).is_ok(), "a name may be in any charset");
}

#[test]
fn bcc_never_leaves() {
    let input =
        "Bcc: s1@x.test\nTo: a@x.test\nbcc :s2@x.test,\n\ts3@x.test\nBCC:\n s4@x.test\nResent-Bcc: s5@x.test\n\nbody\n";
    for options in [header(), to("b"), Options { breaks: Breaks::Octets, ..header() }] {
        let letter = composed(input.as_bytes(), &options).unwrap();
        let text = String::from_utf8_lossy(&letter.content).into_owned();
        assert!(!text.contains("@x.test,") && !(1..=5).any(|n| text.contains(&format!("s{n}@"))), "{text}");
        assert!(text.contains("To: a@x.test") && text.contains("body"), "{text}");
    }
    let far = format!("To: a@x.test\n{}Bcc: secret@x.test\n\n", "X-Many: 0123456789\n".repeat(20_000));
    let letter = composed(far.as_bytes(), &header()).unwrap();
    assert_eq!(recipients(&letter), ["a@x.test", "secret@x.test"]);
    assert!(!String::from_utf8_lossy(&letter.content).contains("secret"));
    let longer = format!("{}Bcc: secret@x.test\n\n", "X-Many: 0123456789\n".repeat(60_000));
    assert_eq!(composed(longer.as_bytes(), &header()), Err(Unsendable::Header(TooLarge)));
}

#[test]
fn what_the_server_must_be_able_to_do() {
    let traits = |input: &[u8], options: &Options| composed(input, options).unwrap().traits;
    let plain = Traits::default();
    assert_eq!(traits(b"Subject: x\n\nbody\n", &to("b")), plain);
    assert_eq!(traits(b"Subject: x\n\nb\xf6dy\n", &to("b")), Traits { has_8bit: true, ..plain });
    assert_eq!(traits(b"Subject: \xf6\n\n", &to("b")), Traits { has_8bit: true, ..plain });
    let utf8 = Traits { has_8bit: true, has_utf8_header: true, ..plain };
    assert_eq!(traits("Subject: ö\n\n".as_bytes(), &to("b")), utf8);
    assert_eq!(traits(b"\n", &to("zo\u{eb}@x.test")), Traits { has_utf8_address: true, ..plain });
    let sender = Options { sender: Some("zoë@x.test".to_owned()), ..to("b") };
    assert_eq!(traits(b"\n", &sender), Traits { has_utf8_address: true, ..utf8 });
    for binary in [&b"\n\na\rb\n"[..], b"\n\na\0b\n", b"\n\r\r\n"] {
        assert_eq!(traits(binary, &to("b")), Traits { is_binary: true, ..plain }, "{binary:?}");
    }
    let octets = Options { breaks: Breaks::Octets, ..to("b") };
    assert_eq!(traits(b"A: b\r\n\r\na\r\n", &octets), plain);
    assert_eq!(traits(b"A: b\r\n\r\na\nb\r\n", &octets), Traits { is_binary: true, ..plain });
    assert_eq!(traits(b"A: b\r\n\r\nno end", &octets), Traits { is_binary: true, ..plain });
    content("A: b\r\n\r\na\nb\r\nno end", &octets, &format!("{ADDED}A: b\r\n\r\na\nb\r\nno end"));
}
