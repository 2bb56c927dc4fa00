//! POP3 sessions: the same replies however the input is cut, all of them in clean lines; a message is read back as it was
//! stored, and nothing goes without QUIT.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mail::MessageId;
use pop3::Settings;
use pop3::session::{Answer, Cover, Entry, Failure, Link, Question, Refused, Session, Step, Then};
use pop3::stuffing::{Part, Progress, Stuffer};

fuzz_target!(|input: &[u8]| {
    let Some((&first, rest)) = input.split_first() else { return };
    let (dialogue, message) = rest.split_at(rest.len() * usize::from(first) / 255);
    check_message(message, usize::from(first) + 1);
    for opening in [&b""[..], b"USER box\r\nPASS right\r\n"] {
        let dialogue = [opening, dialogue].concat();
        let whole = talk(&dialogue, message, dialogue.len().max(1));
        // Of a line that is too long the beginning is answered before its end is known, unless both come at once.
        if lines(&dialogue).all(|line| line.len() <= Settings::default().line_max) {
            assert_eq!(whole, talk(&dialogue, message, usize::from(first) % 16 + 1));
        }
        assert!(!whole.deleted || is_within(b" deleted\r\n", &whole.said));
        check_lines(&whole.said);
    }
});

#[derive(PartialEq, Eq, Debug)]
struct Talk {
    said: Vec<u8>,
    then: Then,
    deleted: bool,
}

/// Everything that is said to a client that sends so many bytes at a time.
fn talk(dialogue: &[u8], message: &[u8], step: usize) -> Talk {
    let link = Link { peer: None, cover: Cover::Offered };
    let mut session = Session::new(Arc::new(Settings::default()), link);
    let mut talk = Talk { said: Vec::new(), then: Then::GoOn, deleted: false };
    let mut input = Vec::new();
    for piece in dialogue.chunks(step) {
        input.extend_from_slice(piece);
        while talk.then == Then::GoOn {
            let (used, next) = session.step(&input);
            input.drain(..used);
            let say = match next {
                Step::Read if used == 0 || input.is_empty() => break,
                Step::Read => continue,
                Step::Send => {
                    session.write(&mut talk.said, 7);
                    continue;
                }
                Step::Say(say) => say,
                Step::Ask(question) => session.answer(answer(question, message, &mut talk.deleted)),
            };
            say.reply.write(&mut talk.said);
            talk.then = say.then;
        }
    }
    // Whether something follows STLS is known only when it is there: then the connection ends, else TLS begins.
    if talk.then == Then::Secure || is_within(b"sent behind STLS", &talk.said) {
        return Talk { said: Vec::new(), then: Then::Secure, deleted: talk.deleted };
    }
    talk
}

fn answer(question: Question, message: &[u8], deleted: &mut bool) -> Answer {
    let entry = |id| Entry { id: MessageId::new(id), size: message.len() as u64 };
    match question {
        Question::SignIn { secret, .. } if secret.as_bytes() == b"right" => {
            Answer::SignedIn((1..4).map(entry).collect())
        }
        Question::SignIn { .. } => Answer::Refused(Refused::Wrong),
        Question::Read(entry) if entry.id.number() == 3 => Answer::Failed(Failure::Later),
        Question::Read(_) => Answer::Message(message.to_vec().into()),
        Question::MayDelete => Answer::MayDelete(true),
        Question::Delete(ids) => {
            assert!(!ids.is_empty());
            *deleted = true;
            Answer::Deleted(ids.len() as u64)
        }
    }
}

/// Every line ends in CRLF, and no CR or LF stands alone.
fn check_lines(said: &[u8]) {
    for line in said.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\r\n").expect("a line ends in CRLF");
        assert!(!text.contains(&b'\r'));
    }
}

/// A strict reader finds one end, at the end, and before it what was stored.
fn check_message(raw: &[u8], room: usize) {
    let mut stuffer = Stuffer::new(raw.to_vec().into(), Part::Whole);
    let mut wire = Vec::new();
    while stuffer.write(&mut wire, room) == Progress::More {}
    check_lines(&wire);
    let mut lines: Vec<&[u8]> = wire.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.pop(), Some(&b".\r\n"[..]));
    let read: Vec<u8> = lines.iter().flat_map(|line| undoubled(line)).copied().collect();
    assert_eq!(without_newlines(&read), without_newlines(raw));
    let mut top = Vec::new();
    let mut stuffer = Stuffer::new(raw.to_vec().into(), Part::Top(room as u64 - 1));
    while stuffer.write(&mut top, room) == Progress::More {}
    assert!(wire.starts_with(top.strip_suffix(b".\r\n").expect("the top has an end")));
}

fn undoubled<'a>(line: &'a [u8]) -> &'a [u8] {
    assert!(line != b".\r\n", "the end before the end");
    match line.strip_prefix(b".") {
        None => line,
        Some(rest) => {
            assert!(rest.starts_with(b"."), "a dot that is not doubled");
            rest
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b'\r' | b'\n'))
}

fn without_newlines(text: &[u8]) -> Vec<u8> {
    lines(text).collect::<Vec<_>>().concat()
}

fn is_within(word: &[u8], text: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
