//! The session alone: what it answers does not depend on how its input is cut, and nothing but QUIT deletes.

use std::collections::BTreeMap;

use bytes::Bytes;
use mail::MessageId;
use mail::mailbox::BadName;
use proptest::prelude::*;

use super::*;
use crate::reply::Status;
use crate::settings::TlsUse;
use net::Plaintext;

/// A mailbox of three messages, and a mailroom of a few rules: the password is `right`, `locked` is a mailbox that is
/// denied, `kept` one where nothing may be deleted.
#[derive(Clone, Debug)]
struct Room {
    messages: BTreeMap<u64, &'static str>,
    user: String,
}

/// A session in that room.
struct Rig {
    session: Session,
    room: Room,
    out: Vec<u8>,
    input: Vec<u8>,
    ended: Option<Then>,
}

const LETTERS: [&str; 3] = ["A: 1\r\n\r\none\r\n", "A: 2\r\n\r\n.two\nlines", "A: 3\r\n\r\n"];

fn near(cover: Cover) -> Link {
    Link { peer: Some("127.0.0.1".parse().unwrap()), cover }
}

fn far(cover: Cover) -> Link {
    Link { peer: Some("192.0.2.1".parse().unwrap()), cover }
}

impl Rig {
    fn new(settings: Settings, link: Link) -> Self {
        let messages = LETTERS.iter().zip(1..).map(|(letter, id)| (id, *letter)).collect();
        let room = Room { messages, user: String::new() };
        let session = Session::new(Arc::new(settings), link);
        Self { session, room, out: Vec::new(), input: Vec::new(), ended: None }
    }

    fn plain() -> Self {
        Self::new(Settings::default(), near(Cover::None))
    }

    fn signed_in() -> Self {
        let mut rig = Self::plain();
        assert_eq!(rig.ask("USER box\r\nPASS right"), "+OK Now the password\n+OK Welcome; 3 messages (39 octets)\n");
        rig
    }

    /// More input, and all the steps that follow from it.
    fn feed(&mut self, input: &[u8]) {
        self.input.extend_from_slice(input);
        while self.ended.is_none() {
            let (used, step) = self.session.step(&self.input);
            self.input.drain(..used);
            let say = match step {
                Step::Read if used == 0 || self.input.is_empty() => return,
                Step::Read => continue,
                Step::Send => {
                    self.session.write(&mut self.out, 5);
                    continue;
                }
                Step::Say(say) => say,
                Step::Ask(question) => {
                    let answer = self.room.answer(question);
                    self.session.answer(answer)
                }
            };
            say.reply.write(&mut self.out);
            self.ended = (say.then != Then::GoOn).then_some(say.then);
        }
    }

    /// Send lines and return what is said to them, with plain newlines.
    fn ask(&mut self, lines: &str) -> String {
        self.feed(format!("{lines}\r\n").as_bytes());
        String::from_utf8(std::mem::take(&mut self.out)).unwrap().replace("\r\n", "\n")
    }
}

impl Room {
    fn answer(&mut self, question: Question) -> Answer {
        match question {
            Question::SignIn { user, secret } => self.sign_in(user, &secret.text()),
            Question::Read(entry) => match self.messages.get(&entry.id.number()) {
                Some(letter) => Answer::Message(Bytes::from_static(letter.as_bytes())),
                None => Answer::Gone,
            },
            Question::MayDelete => Answer::MayDelete(self.user != "kept"),
            Question::Delete(_) if self.user == "stuck" => Answer::Failed(Failure::Later),
            Question::Delete(_) if self.user == "doubt" => Answer::Failed(Failure::Unknown),
            Question::Delete(ids) => {
                Answer::Deleted(ids.iter().filter_map(|id| self.messages.remove(&id.number())).count() as u64)
            }
        }
    }

    fn sign_in(&mut self, user: String, secret: &str) -> Answer {
        let entry = |(id, letter): (&u64, &&str)| Entry { id: MessageId::new(*id), size: letter.len() as u64 };
        self.user = user;
        match (self.user.as_str(), secret) {
            ("locked", _) => Answer::Failed(Failure::Denied),
            ("asleep", _) => Answer::Failed(Failure::Later),
            ("hasty", _) => Answer::Refused(Refused::TooMany),
            ("off", _) => Answer::Refused(Refused::Off),
            ("+tag", _) => Answer::Refused(Refused::Name(BadName::TagAlone)),
            (_, "right") => Answer::SignedIn(self.messages.iter().map(entry).collect()),
            _ => Answer::Refused(Refused::Wrong),
        }
    }
}

#[test]
fn a_mailbox_is_read_and_emptied() {
    let mut rig = Rig::signed_in();
    assert_eq!(rig.ask("STAT"), "+OK 3 39\n");
    assert_eq!(rig.ask("LIST"), "+OK 3 messages (39 octets)\n1 13\n2 18\n3 8\n.\n");
    assert_eq!(rig.ask("UIDL 2"), "+OK 2 0000000000002\n");
    assert_eq!(rig.ask("RETR 2"), "+OK 18 octets\nA: 2\n\n..two\nlines\n.\n");
    assert_eq!(rig.ask("TOP 2 1"), "+OK The top of it\nA: 2\n\n..two\n.\n");
    assert_eq!(rig.ask("DELE 2"), "+OK Marked; QUIT deletes it\n");
    assert_eq!(rig.ask("LIST"), "+OK 2 messages (21 octets)\n1 13\n3 8\n.\n");
    assert!(rig.ask("RETR 2").starts_with("-ERR This message is marked"));
    assert!(rig.ask("DELE 2").starts_with("-ERR This message is marked"));
    assert_eq!(rig.ask("RSET"), "+OK 3 messages (39 octets)\n");
    assert_eq!(rig.ask("DELE 1\r\nDELE 3\r\nQUIT").lines().last(), Some("+OK Bye; 2 messages deleted"));
    assert_eq!(rig.ended, Some(Then::Close));
    assert_eq!(rig.room.messages.into_keys().collect::<Vec<_>>(), [2]);
}

#[test]
fn each_command_has_its_state() {
    let before = ["STAT", "LIST", "UIDL", "RETR 1", "TOP 1 1", "DELE 1", "RSET", "NOOP"];
    for command in before {
        assert_eq!(Rig::plain().ask(command), "-ERR Sign in first: USER, then PASS\n", "{command}");
        assert!(Rig::signed_in().ask(command).starts_with("+OK"), "{command}");
    }
    for command in ["USER box", "PASS right", "STLS", "UTF8"] {
        assert_eq!(Rig::signed_in().ask(command), "-ERR You are signed in; this comes before that\n", "{command}");
    }
    assert!(Rig::plain().ask("PASS right").starts_with("-ERR Say USER first"));
    assert!(Rig::plain().ask("UTF8").starts_with("+OK"));
    assert_eq!(Rig::plain().ask("QUIT"), "+OK Bye\n");
    assert_eq!(Rig::signed_in().ask("QUIT"), "+OK Bye\n");
}

#[test]
fn a_refused_sign_in_says_why_and_forgets_the_name() {
    for (user, start) in [
        ("box", "-ERR [AUTH] The name or the password is wrong"),
        ("locked", "-ERR [AUTH] You may not read this mailbox"),
        ("+tag", "-ERR [AUTH] a tag alone names no mailbox"),
        ("asleep", "-ERR [SYS/TEMP] "),
        ("hasty", "-ERR [SYS/TEMP] Too many sign-ins"),
        ("off", "-ERR [SYS/PERM] "),
    ] {
        let mut rig = Rig::plain();
        rig.ask(&format!("USER {user}"));
        let said = rig.ask("PASS wrong");
        assert!(said.starts_with(start), "{user}: {said}");
        assert_eq!(rig.ask("PASS right"), "-ERR Say USER first\n");
        assert!(rig.ask("USER box\r\nPASS right").ends_with("+OK Welcome; 3 messages (39 octets)\n"), "{user}");
    }
}

#[test]
fn a_password_comes_only_where_nobody_listens() {
    let check = |tls, auth_plaintext, link, expected: &str| {
        let mut rig = Rig::new(Settings { tls, auth_plaintext, ..Settings::default() }, link);
        let said = rig.ask("USER box");
        assert!(said.contains(expected), "{tls:?} {auth_plaintext:?} {link:?}: {said}");
        let is_allowed = said.starts_with("+OK");
        assert_eq!(rig.ask("PASS right").starts_with("+OK"), is_allowed, "{tls:?} {auth_plaintext:?} {link:?}");
        rig.session.state = State::Authorization(None);
        let offers = rig.ask("CAPA");
        assert_eq!(offers.contains("\nUSER\n"), is_allowed);
        assert_eq!(offers.contains("\nSTLS\n"), link.cover == Cover::Offered);
    };
    let (ok, stls, required, never) = ("+OK", "say STLS first", "Nobody signs in without TLS", "connect with TLS");
    for plaintext in [Plaintext::Private, Plaintext::Never, Plaintext::Always] {
        for tls in [TlsUse::Offer, TlsUse::Require, TlsUse::Off] {
            check(tls, plaintext, far(Cover::Tls), ok);
        }
        check(TlsUse::Require, plaintext, near(Cover::Offered), required);
        check(TlsUse::Require, plaintext, near(Cover::None), required);
    }
    check(TlsUse::Require, Plaintext::Private, Link { peer: None, cover: Cover::Offered }, ok);
    check(TlsUse::Offer, Plaintext::Private, near(Cover::None), ok);
    check(TlsUse::Offer, Plaintext::Private, near(Cover::Offered), ok);
    check(TlsUse::Offer, Plaintext::Private, far(Cover::Offered), stls);
    check(TlsUse::Offer, Plaintext::Private, far(Cover::None), never);
    check(TlsUse::Offer, Plaintext::Never, near(Cover::Offered), stls);
    check(TlsUse::Off, Plaintext::Never, near(Cover::None), never);
    check(TlsUse::Offer, Plaintext::Always, far(Cover::Offered), ok);
    for ip in ["127.0.0.1", "10.0.0.1", "fd00::1", "fe80::1", "169.254.0.1", "100.64.0.1", "::ffff:192.168.0.1"] {
        let link = Link { peer: Some(ip.parse().unwrap()), cover: Cover::None };
        check(TlsUse::Offer, Plaintext::Private, link, ok);
    }
}

#[test]
fn what_is_offered_depends_on_what_can_be_used() {
    let all = "+OK This is offered\nTOP\nUIDL\nRESP-CODES\nAUTH-RESP-CODE\nPIPELINING\nUTF8 USER\n";
    let tail = "IMPLEMENTATION Postkeep\n.\n";
    let capa = |link| Rig::new(Settings::default(), link).ask("CAPA");
    assert_eq!(capa(near(Cover::None)), format!("{all}USER\n{tail}"));
    assert_eq!(capa(near(Cover::Tls)), format!("{all}USER\n{tail}"));
    assert_eq!(capa(near(Cover::Offered)), format!("{all}USER\nSTLS\n{tail}"));
    assert_eq!(capa(far(Cover::Offered)), format!("{all}STLS\n{tail}"));
    let mut rig = Rig::new(Settings::default(), near(Cover::Offered));
    rig.ask("USER box\r\nPASS right");
    assert_eq!(rig.ask("CAPA"), format!("{all}USER\n{tail}"), "STLS comes before signing in");
}

#[test]
fn t087_nothing_may_be_sent_behind_stls() {
    let mut rig = Rig::new(Settings::default(), near(Cover::Offered));
    assert_eq!(rig.ask("STLS"), "+OK Begin TLS now\n");
    assert_eq!(rig.ended, Some(Then::Secure));
    for behind in ["CAPA\r\n", "U", "\r\n", "\u{16}"] {
        let mut rig = Rig::new(Settings::default(), near(Cover::Offered));
        rig.feed(format!("STLS\r\n{behind}").as_bytes());
        assert!(rig.out.starts_with(b"-ERR Something was sent behind STLS"), "{behind:?}");
        assert_eq!(rig.ended, Some(Then::Close), "{behind:?}");
    }
    assert!(Rig::plain().ask("STLS").starts_with("-ERR TLS is not offered"));
    assert!(Rig::new(Settings::default(), near(Cover::Tls)).ask("STLS").starts_with("-ERR TLS is on"));
}

#[test]
fn strangers_and_bare_newlines_end_the_session() {
    let check = |input: &[u8], start: &str| {
        let mut rig = Rig::plain();
        rig.feed(input);
        let said = String::from_utf8_lossy(&rig.out).into_owned();
        assert!(said.starts_with(start) && said.lines().count() == 1, "{input:?}: {said}");
        assert_eq!(rig.ended, Some(Then::Close), "{input:?}");
    };
    check(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "-ERR This is POP3 and not HTTP");
    check(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 110\r\nUSER box\r\n", "-ERR A PROXY header");
    check(b"\x16\x03\x01\x02\x00\x01\x00", "-ERR This port begins without TLS");
    check(b"CAPA\nCAPA\r\n", "-ERR A line ends in CRLF");
    check(b"NO\rOP\r\n", "-ERR A line ends in CRLF");
    let mut rig = Rig::plain();
    rig.feed(b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c");
    assert_eq!(rig.ended, Some(Then::Close), "the binary PROXY header");
    assert!(rig.out.ends_with(b"closing\r\n"));
    let mut rig = Rig::plain();
    rig.ask("CAPA");
    assert!(rig.ask("GET / HTTP/1.1").starts_with("-ERR This is not a command"), "only the first line tells");
}

#[test]
fn errors_are_counted_and_too_many_end_the_session() {
    let settings = Settings { errors_max: 3, line_max: 32, ..Settings::default() };
    let mut rig = Rig::new(settings, near(Cover::None));
    assert!(rig.ask("BOGUS").starts_with("-ERR This is not a command"));
    assert!(rig.ask(&"x".repeat(1000)).starts_with("-ERR The line is too long"));
    assert!(rig.ask("LIST").starts_with("-ERR Sign in first"));
    assert!(rig.ask("CAPA").starts_with("+OK"));
    assert!(rig.ask("LIST").starts_with("-ERR Too many errors"));
    assert_eq!(rig.ended, Some(Then::Close));
    let mut rig = Rig::new(Settings { line_max: 32, ..Settings::default() }, near(Cover::None));
    rig.feed(&vec![b'x'; 32 * LONG_LINES_MAX + 100]);
    rig.feed(&[b'x'; 32]);
    assert_eq!(rig.ended, Some(Then::Close), "a line without end");
}

#[test]
fn what_vanished_is_told_and_is_nobodys_error() {
    let mut rig = Rig::signed_in();
    rig.room.messages.remove(&1);
    for _ in 0..50 {
        assert!(rig.ask("RETR 1").starts_with("-ERR This message is no longer there"));
    }
    assert_eq!(rig.ask("DELE 1\r\nDELE 3\r\nQUIT").lines().last(), Some("+OK Bye; 1 message deleted"));
}

#[test]
fn t090_a_failed_update_is_told_and_ends_the_session() {
    for (user, start) in [("stuck", "-ERR [SYS/TEMP] This cannot"), ("doubt", "-ERR [SYS/TEMP] It is not known")] {
        let mut rig = Rig::plain();
        rig.ask(&format!("USER {user}\r\nPASS right\r\nDELE 1"));
        assert!(rig.ask("QUIT").starts_with(start), "{user}");
        assert_eq!((rig.ended, rig.room.messages.len()), (Some(Then::Close), 3));
    }
}

/// Who may do what, and what is heard and lost where it is not allowed.
#[test]
fn t091_nobody_reads_or_deletes_what_is_denied() {
    let commands = ["STAT", "LIST", "UIDL", "UIDL 1", "RETR 1", "TOP 1 9", "DELE 1"];
    for (user, password, reads, deletes) in [
        ("box", "right", true, true),
        ("kept", "right", true, false),
        ("box", "wrong", false, false),
        ("locked", "right", false, false),
        ("off", "right", false, false),
        ("hasty", "right", false, false),
    ] {
        let mut rig = Rig::plain();
        assert_eq!(rig.ask(&format!("USER {user}")), "+OK Now the password\n", "the same for every name");
        assert_eq!(rig.ask(&format!("PASS {password}")).starts_with("+OK"), reads, "{user}");
        for command in commands {
            let may = if command.starts_with("DELE") { deletes } else { reads };
            let said = rig.ask(command);
            assert_eq!(said.starts_with("+OK"), may, "{user} {command}: {said}");
            assert!(may || said.lines().count() == 1 && !said.contains("A: "), "{user} {command}: {said}");
        }
        rig.ask("QUIT");
        assert_eq!(rig.room.messages.len(), if deletes { 2 } else { 3 }, "{user}");
    }
}

/// The units of which dialogues are made.
const UNITS: [&str; 16] = [
    "USER box\r\n",
    "PASS right\r\n",
    "PASS wrong\r\n",
    "USER kept\r\n",
    "CAPA\r\n",
    "STAT\r\n",
    "LIST\r\n",
    "LIST 2\r\n",
    "UIDL\r\n",
    "RETR 2\r\n",
    "TOP 1 0\r\n",
    "DELE 1\r\n",
    "DELE 3\r\n",
    "RSET\r\n",
    "BOGUS\r\n",
    "NOOP\r\n",
];

/// Input, and where it is cut.
fn dialogue() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    let unit = prop_oneof![
        12 => prop::sample::select(UNITS.to_vec()).prop_map(|unit| unit.as_bytes().to_vec()),
        1 => prop::sample::select(vec!["QUIT\r\n", "\r\n", "x\ny\r\n"]).prop_map(|unit| unit.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    let signed_in = any::<bool>().prop_map(|first| if first { "USER box\r\nPASS right\r\n" } else { "" });
    let input = (signed_in, prop::collection::vec(unit, 0..20));
    let input = input.prop_map(|(first, units)| [first.as_bytes(), &units.concat()].concat());
    (input, prop::collection::vec(1..12usize, 1..40))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn t088_any_dialogue_is_answered_the_same_however_it_is_cut((input, cuts) in dialogue()) {
        let (mut whole, mut pieces) = (Rig::plain(), Rig::plain());
        whole.feed(&input);
        let (mut rest, mut cuts) = (&input[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            pieces.feed(piece);
            rest = behind;
        }
        prop_assert_eq!(&whole.out, &pieces.out);
        prop_assert_eq!(whole.ended, pieces.ended);
        prop_assert_eq!(&whole.room.messages, &pieces.room.messages);
        let is_update = whole.ended == Some(Then::Close) && String::from_utf8_lossy(&whole.out).contains("deleted\r\n");
        prop_assert!(is_update || whole.room.messages.len() == LETTERS.len(), "nothing goes without QUIT");
    }
}

#[test]
fn the_greeting_offers_no_apop() {
    let greeting = Rig::plain().session.greeting();
    assert_eq!(greeting.status, Status::Ok);
    assert!(!greeting.text.contains('<'));
}
