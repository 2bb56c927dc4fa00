//! The session alone: what it answers does not depend on how its input is cut.

use std::sync::Arc;

use jiff::Timestamp;
use mail::{Mailbox, TransactionId};
use mailroom::{ByFault, Verdict};
use proptest::prelude::*;

use super::*;
use crate::settings::BareNewlines;

/// A session with a mailroom of one rule: `bad…` is refused, `gone…` is discarded. It counts what was delivered.
struct Rig {
    session: Session,
    replies: Vec<u16>,
    delivered: Vec<Parcel>,
    refusals: Vec<Refusal>,
    input: Vec<u8>,
    closed: bool,
}

fn settings() -> Settings {
    Settings { message_max: 1000, oversize_drain_max: 5000, recipients_max: 5, ..Settings::default() }
}

impl Rig {
    fn new(settings: Settings) -> Self {
        let session = Session::new(Arc::new(settings), Link::default());
        Self {
            session,
            replies: Vec::new(),
            delivered: Vec::new(),
            refusals: Vec::new(),
            input: Vec::new(),
            closed: false,
        }
    }

    fn greeted(settings: Settings) -> Self {
        let mut rig = Self::new(settings);
        rig.feed(b"EHLO client.test\r\n");
        rig.replies.clear();
        rig
    }

    /// More input, and all the steps that follow from it.
    fn feed(&mut self, input: &[u8]) {
        if !self.closed {
            self.input.extend_from_slice(input);
        }
        while !self.closed {
            let (used, step) = self.session.step(&self.input, Timestamp::UNIX_EPOCH);
            let say = match step {
                Step::Read(_) if used == 0 || used == self.input.len() => {
                    self.input.drain(..used);
                    return;
                }
                Step::Read(_) => {
                    self.input.drain(..used);
                    continue;
                }
                Step::Say(say) => say,
                Step::Ask(question) => {
                    let answer = answer(question, &mut self.delivered);
                    self.session.answer(answer, Timestamp::UNIX_EPOCH)
                }
            };
            self.input.drain(..used);
            self.hear(say);
        }
    }

    fn hear(&mut self, say: Say) {
        self.replies.extend(say.reply.map(|reply| reply.code));
        self.refusals.extend(say.refusal.map(|refusal| *refusal));
        self.closed = say.then == Then::Close;
    }
}

fn answer(question: Question<'_>, delivered: &mut Vec<Parcel>) -> Answer {
    match question {
        Question::Sender(_, sender) => {
            let local = sender.0.as_ref().map_or("", |address| address.local());
            Answer::Sender(judge(local), TransactionId::new(7))
        }
        Question::Recipient(_, _, address) => {
            Answer::Recipient(judge(address.local()), Some(Mailbox::from_canonical(address.local())))
        }
        Question::Deliver(parcel) if parcel.raw.ends_with(b"unknown\r\n") => {
            drop(parcel);
            Answer::Unknown
        }
        Question::Deliver(parcel) if parcel.raw.ends_with(b"full\r\n") => {
            drop(parcel);
            Answer::Refused(Verdict::refuse(452, (4, 3, 1), "full"))
        }
        Question::Deliver(parcel) => {
            delivered.push(parcel);
            Answer::Delivered(None)
        }
        Question::SignIn(..) => Answer::SignedIn,
    }
}

fn judge(local: &str) -> Verdict {
    match local {
        bad if bad.starts_with("bad") => Verdict::refuse(550, (5, 7, 1), "not you"),
        gone if gone.starts_with("gone") => Verdict::DISCARD,
        drop if drop.starts_with("drop") => Verdict { hang_up: true, ..Verdict::ACCEPT },
        fault if fault.starts_with("fault") => faulty(Verdict::refuse(550, (5, 7, 1), "as asked")),
        cut if cut.starts_with("cut") => {
            Verdict { hang_up: true, silent: true, ..faulty(Verdict::refuse(421, (4, 4, 2), "cut")) }
        }
        slow if slow.starts_with("slow") => Verdict { slow: slow[4..].parse().ok(), ..Verdict::ACCEPT },
        _ => Verdict::ACCEPT,
    }
}

fn faulty(verdict: Verdict) -> Verdict {
    Verdict { fault: Some(Box::new(ByFault::Address("fault".into()))), ..verdict }
}

/// The units of which dialogues are made. In DATA a unit is content.
const UNITS: [&[u8]; 10] = [
    b"MAIL FROM:<a@x.test>\r\n",
    b"RCPT TO:<b@x.test>\r\n",
    b"DATA\r\n",
    b".\r\n",
    b"RSET\r\n",
    b"RCPT TO:<bad@x.test>\r\n",
    b"BDAT 12\r\nA: b\r\n\r\nxy\r\n",
    b"BDAT 6 LAST\r\nNOOP\r\n",
    b"BOGUS\r\n",
    b"EHLO again\r\n",
];

fn replies(pieces: &[&[u8]]) -> (Vec<u16>, usize, bool) {
    let mut rig = Rig::greeted(settings());
    for piece in pieces {
        rig.feed(piece);
    }
    (rig.replies, rig.delivered.len(), rig.closed)
}

#[test]
fn t017_a_pipeline_is_answered_like_lock_step() {
    // Every dialogue of five units, and of six of the four that carry a message.
    let all = (0..10usize.pow(5)).map(|number| (0..5).map(|place| number / 10usize.pow(place) % 10).collect());
    let mail = (0..4usize.pow(6)).map(|number| (0..6).map(|place| number / 4usize.pow(place) % 4).collect());
    for units in all.chain(mail) {
        let units: Vec<usize> = units;
        let pieces: Vec<&[u8]> = units.iter().map(|unit| UNITS[*unit]).collect();
        assert_eq!(replies(&[&pieces.concat()]), replies(&pieces), "{units:?}");
    }
}

proptest! {
    #[test]
    fn t017_cuts_change_nothing(units in proptest::collection::vec(0..UNITS.len(), 0..12), cut in 1usize..40) {
        let whole: Vec<u8> = units.iter().flat_map(|unit| UNITS[*unit]).copied().collect();
        let pieces: Vec<&[u8]> = whole.chunks(cut).collect();
        prop_assert_eq!(replies(&pieces), replies(&[&whole]));
    }

    #[test]
    fn any_bytes_give_an_answer(input in proptest::collection::vec(any::<u8>(), 0..400), normalize: bool) {
        let bare_newlines = if normalize { BareNewlines::Normalize } else { BareNewlines::Reject };
        let mut rig = Rig::greeted(Settings { bare_newlines, ..settings() });
        rig.feed(&input);
        rig.feed(b"\r\n");
        prop_assert!(rig.session.held() <= 4096);
    }

    /// T018: chunks by a model. A message is what was in the chunks up to LAST, or nothing.
    #[test]
    fn t018_chunks_follow_their_model(chunks in proptest::collection::vec((0usize..500, any::<bool>()), 1..6)) {
        let mut rig = Rig::greeted(settings());
        rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\n");
        rig.replies.clear();
        let (mut expected, mut sum, mut open, mut failed, mut kept) = (Vec::new(), 0, true, false, 0);
        for (size, last) in &chunks {
            let word = if *last { " LAST" } else { "" };
            rig.feed(format!("BDAT {size}{word}\r\n").as_bytes());
            rig.feed(&vec![b'\n'; *size]);
            sum += size;
            expected.push(match (open, failed) {
                (false, _) | (_, true) => 503,
                _ if sum > 1000 => { failed = true; 552 }
                _ => { open = !last; kept += usize::from(*last); 250 }
            });
        }
        prop_assert_eq!(rig.replies, expected);
        prop_assert_eq!(rig.delivered.len(), kept);
    }
}

#[test]
fn t007_the_rest_of_an_oversized_message_is_no_command() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n");
    rig.feed(&b"NOOP\r\n".repeat(200));
    assert_eq!(rig.session.held(), 0, "nothing of it is held");
    rig.feed(b".\r\nNOOP\r\n");
    assert_eq!(rig.replies, [250, 250, 354, 552, 250]);
    assert!(rig.delivered.is_empty());
}

#[test]
fn t007_beyond_the_drain_the_connection_ends() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n");
    for _ in 0..100 {
        rig.feed(&b"NOOP\r\n".repeat(20));
    }
    assert_eq!(rig.replies, [250, 250, 354, 552]);
    assert!(rig.closed && rig.delivered.is_empty());
}

#[test]
fn t007_exactly_the_limit_is_taken_dots_and_trace_not_counted() {
    for (content, code) in [(b".\r\n".repeat(333), 250), (b".\r\n".repeat(334), 552)] {
        let mut rig = Rig::greeted(settings());
        rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n");
        for line in content.chunks(3) {
            rig.feed(b".");
            rig.feed(line);
        }
        rig.feed(b".\r\n");
        assert_eq!(rig.replies[3], code, "{} octets", content.len());
    }
}

#[test]
fn t008_a_line_without_end_is_bounded() {
    let mut rig = Rig::greeted(settings());
    for _ in 0..64 {
        rig.feed(&[b'x'; 64 * 1024]);
        assert!(rig.input.is_empty(), "nothing is kept of it");
    }
    assert_eq!(rig.replies, [500, 421]);
    assert!(rig.closed);
}

#[test]
fn t008_one_long_line_gets_one_reply() {
    let mut rig = Rig::greeted(settings());
    rig.feed(&[b'x'; 70_000]);
    rig.feed(b"\r\nNOOP\r\n");
    assert_eq!(rig.replies, [500, 250]);
}

#[test]
fn t011_errors_and_empty_talk_end_a_session() {
    let mut rig = Rig::greeted(settings());
    rig.feed(&b"BOGUS\r\n".repeat(1000));
    assert_eq!(rig.replies.len(), 21);
    assert_eq!(rig.replies.last(), Some(&421));
    let mut rig = Rig::greeted(settings());
    rig.feed(&b"NOOP\r\n".repeat(1000));
    assert_eq!(rig.replies.len(), 101);
    assert_eq!(rig.replies.last(), Some(&421));
}

#[test]
fn t011_delivered_mail_resets_the_counts() {
    let mut rig = Rig::greeted(settings());
    for _ in 0..50 {
        rig.feed(b"BOGUS\r\nNOOP\r\nNOOP\r\nRSET\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n.\r\n");
    }
    assert!(!rig.closed);
    assert_eq!(rig.delivered.len(), 50);
}

#[test]
fn t012_recipients_above_the_limit_are_no_errors_and_the_rest_is_delivered() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\n");
    for number in 0..200 {
        rig.feed(format!("RCPT TO:<b{number}@x.test>\r\n").as_bytes());
    }
    assert_eq!(rig.replies[1..], [[250; 5].as_slice(), &[452; 195]].concat());
    rig.feed(b"DATA\r\n.\r\n");
    assert_eq!(rig.delivered[0].envelope.recipients.len(), 5);
}

#[test]
fn t013_no_byte_in_an_address_makes_a_header() {
    for (byte, place) in (0..=255u8).flat_map(|byte| (0..4).map(move |place| (byte, place))) {
        let mut line = match place {
            0 => b"MAIL FROM:<a".to_vec(),
            1 => b"MAIL FROM:<\"a".to_vec(),
            2 => b"MAIL FROM:<a@x".to_vec(),
            _ => b"MAIL FROM:<a@x.test>".to_vec(),
        };
        line.push(byte);
        line.extend_from_slice([&b"b@x.test>\r\n"[..], b"\"@x.test>\r\n", b"y.test>\r\n", b"\r\n"][place]);
        let mut rig = Rig::greeted(settings());
        rig.feed(&line);
        rig.feed(b"RCPT TO:<b@x.test>\r\nDATA\r\n\r\n.\r\n");
        for parcel in &rig.delivered {
            let text = String::from_utf8_lossy(&parcel.raw);
            let fields = text.split("\r\n").filter(|line| !line.starts_with([' ', '\t']) && !line.is_empty()).count();
            assert_eq!(fields, 2, "byte {byte} at place {place}: {text}");
        }
    }
}

#[test]
fn t014_no_byte_in_a_greeting_reaches_a_header_unprintable() {
    for byte in 0..=255u8 {
        let mut rig = Rig::new(settings());
        rig.feed(&[b"EHLO a".as_slice(), &[byte], b"b.test\r\n"].concat());
        rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n\r\n.\r\n");
        for parcel in &rig.delivered {
            let printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | b'\t');
            assert!(parcel.raw.iter().all(printable), "byte {byte}");
            assert_eq!(memchr::memmem::find_iter(&parcel.raw, b"Received:").count(), 1, "byte {byte}");
        }
    }
}

#[test]
fn t020_a_browser_is_turned_away() {
    let mut rig = Rig::new(settings());
    rig.feed(b"POST / HTTP/1.1\r\nHost: x\r\n\r\nMAIL FROM:<a@x.test>\r\n");
    assert_eq!(rig.replies, [554]);
    assert!(rig.closed);
}

#[test]
fn t021_verifying_tells_nothing() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"VRFY b\r\nVRFY nobody\r\nEXPN b\r\nEXPN nobody\r\n");
    assert_eq!(rig.replies, [252, 252, 502, 502]);
}

#[test]
fn t022_a_message_that_goes_round_is_refused() {
    for (fields, code) in [(50, 250), (51, 554)] {
        let mut rig = Rig::greeted(Settings { message_max: 10_000, ..settings() });
        rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n");
        rig.feed(&b"receIVED: from here\r\n".repeat(fields));
        rig.feed(b"\r\nReceived: in the body\r\n.\r\n");
        assert_eq!(rig.replies.last(), Some(&code), "{fields} fields");
    }
}

#[test]
fn a_refusal_is_told_with_the_envelope_so_far() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nRCPT TO:<bad@x.test>\r\nDATA\r\nfull\r\n.\r\n");
    rig.feed(b"MAIL FROM:<bad@x.test>\r\nMAIL FROM:<a@x.test> SIZE=1001\r\n");
    assert_eq!(rig.replies, [250, 250, 550, 354, 452, 550, 552]);
    let told: Vec<_> = rig
        .refusals
        .iter()
        .map(|refusal| {
            let rcpt_to: Vec<_> = refusal.rcpt_to.iter().map(ToString::to_string).collect();
            (
                refusal.stage,
                refusal.mail_from.as_ref().and_then(|path| Some(path.0.as_ref()?.to_string())),
                rcpt_to,
                refusal.reply.code,
            )
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        told,
        [
            (Stage::Rcpt, some("a@x.test"), vec!["b@x.test".to_owned(), "bad@x.test".to_owned()], 550),
            (Stage::Data, some("a@x.test"), vec!["b@x.test".to_owned()], 452),
            (Stage::Mail, some("bad@x.test"), vec![], 550),
            (Stage::Mail, some("a@x.test"), vec![], 552),
        ]
    );
}

#[test]
fn discarded_mail_looks_accepted() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nRCPT TO:<gone@x.test>\r\nDATA\r\n.\r\n");
    rig.feed(b"MAIL FROM:<gone@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\n.\r\n");
    assert_eq!(rig.replies, [250, 250, 250, 354, 250, 250, 250, 354, 250]);
    assert_eq!(rig.delivered[0].discarded, [1]);
    assert_eq!(rig.delivered[1].discarded, [0]);
}

#[test]
fn an_unknown_outcome_is_told_by_silence() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\nunknown\r\n.\r\nNOOP\r\n");
    assert_eq!(rig.replies, [250, 250, 354]);
    assert!(rig.closed);
}

#[test]
fn a_verdict_may_hang_up_without_a_word() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<drop@x.test>\r\n");
    assert!(rig.closed && rig.replies.is_empty());
}

#[test]
fn a_fault_is_answered_to_the_letter_however_often() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\n");
    let often = settings().errors_max as usize + 5;
    rig.feed(&b"RCPT TO:<fault@x.test>\r\n".repeat(often));
    assert_eq!(rig.replies[1..], vec![550; often]);
    assert!(!rig.closed && rig.refusals.iter().all(|refusal| refusal.fault.is_some()));
}

#[test]
fn a_line_that_is_cut_is_remembered_as_a_refusal() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<cut@x.test>\r\n");
    assert_eq!(rig.replies, [250]);
    assert!(rig.closed && rig.refusals[0].fault.is_some());
}

#[test]
fn the_slowest_recipient_sets_the_pace() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\n");
    assert_eq!(rig.session.slow(), None);
    rig.feed(b"RCPT TO:<slow500@x.test>\r\nRCPT TO:<slow9@x.test>\r\nRCPT TO:<slow70@x.test>\r\n");
    assert_eq!(rig.session.slow(), Some(9));
    rig.feed(b"RSET\r\nMAIL FROM:<a@x.test>\r\n");
    assert_eq!(rig.session.slow(), None, "it ends with its transaction");
}

#[test]
fn without_room_the_message_is_put_off() {
    let mut rig = Rig::greeted(settings());
    rig.feed(b"MAIL FROM:<a@x.test>\r\nRCPT TO:<b@x.test>\r\nDATA\r\nSubject: x\r\n");
    rig.session.no_room();
    rig.feed(b"\r\nbody\r\n.\r\nNOOP\r\n");
    assert_eq!(rig.replies, [250, 250, 354, 452, 250]);
    assert!(rig.delivered.is_empty());
}
