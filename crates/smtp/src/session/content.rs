//! The content of a message: by DATA up to its dot, or by BDAT in chunks; then the question whether it is kept.

use jiff::Timestamp;
use mailroom::Stage;

use super::commands::{NOBODY, RCPT_FIRST};
use super::intake::{self, Intake};
use super::{Asked, Chunk, Dialect, Mode, Question, Say, Session, Step, Want};
use crate::command::Then;
use crate::data::Progress;
use crate::reply::Reply;

const BARE_NEWLINE: Reply =
    Reply::new(521, (5, 5, 2), "A line ends in CRLF; the message holds a CR or LF on its own; closing");
const LOOP: Reply = Reply::new(554, (5, 4, 6), "The message has gone round too often: too many Received fields");
const CHUNK_OK: Reply = Reply::new(250, (2, 0, 0), "Ok, chunk taken");
const NO_CHUNKS: Reply = Reply::new(502, (5, 5, 1), "BDAT is not offered over LMTP; use DATA; closing");
const CHUNK_SEQUENCE: Reply = Reply::new(503, (5, 5, 1), "BDAT needs EHLO, MAIL FROM and RCPT TO first");
const CHUNK_FAILED: Reply = Reply::new(503, (5, 5, 1), "A chunk of this message was refused; RSET begins anew");

impl Session {
    /// Trace fields are written now: all recipients are known.
    pub(super) fn open_intake(&mut self, now: Timestamp) {
        if let Some(transaction) = &mut self.transaction {
            let intake = Intake::new(&self.settings, &transaction.envelope, transaction.announced, now);
            transaction.intake = Some(intake);
        }
    }

    pub(super) fn data(&mut self, input: &[u8], now: Timestamp) -> (usize, Step<'_>) {
        let intake = self.transaction.as_mut().and_then(|transaction| transaction.intake.as_mut());
        let (Mode::Data(unstuffer), Some(intake)) = (&mut self.mode, intake) else {
            unreachable!("DATA has opened the intake")
        };
        match unstuffer.read(input, |run| intake.keep(run)) {
            Progress::More if intake.dropped() > self.settings.oversize_drain_max => {
                let reply = intake.fault().unwrap_or(intake::too_large());
                (input.len(), self.refuse_content(reply, Then::Close, now))
            }
            Progress::More => (input.len(), Step::Read(Want::Content)),
            Progress::End(used) => (used, self.finish(now)),
            Progress::BareNewline => (input.len(), self.refuse_content(BARE_NEWLINE, Then::Close, now)),
        }
    }

    pub(super) fn begin_chunk(&mut self, octets: u64, last: bool, now: Timestamp) -> Step<'_> {
        if self.link.dialect == Dialect::Lmtp {
            // Its octets would be read as commands.
            return self.refuse_content(NO_CHUNKS, Then::Close, now);
        }
        let refused = self.chunk_refused(octets);
        if let Some(reply) = &refused
            && octets > self.settings.oversize_drain_max
        {
            // So much is not swallowed for the sake of one reply.
            let reply = reply.clone();
            return self.refuse_content(reply, Then::Close, now);
        }
        let is_first = self.transaction.as_ref().is_some_and(|transaction| transaction.intake.is_none());
        if refused.is_none() && is_first {
            self.open_intake(now);
        }
        self.mode = Mode::Chunk(Chunk { left: octets, last, refused });
        if octets == 0 { self.chunk_ended(now) } else { Step::Read(Want::Content) }
    }

    /// Why a chunk of this size is not taken, if it is not.
    fn chunk_refused(&mut self, octets: u64) -> Option<Reply> {
        let content_max = self.settings.message_max;
        let transaction = match &mut self.transaction {
            Some(transaction) if self.hello.is_some() => transaction,
            _ => return Some(CHUNK_SEQUENCE),
        };
        if transaction.chunk_failed {
            return Some(CHUNK_FAILED);
        }
        if transaction.recipients() == 0 {
            return Some(if transaction.refused { NOBODY } else { RCPT_FIRST });
        }
        let before = transaction.intake.as_ref().map_or(0, Intake::content_len) as u64;
        if before.saturating_add(octets) <= content_max {
            return None;
        }
        transaction.fail_chunks();
        Some(intake::too_large())
    }

    pub(super) fn chunk(&mut self, input: &[u8], now: Timestamp) -> (usize, Step<'_>) {
        let Mode::Chunk(chunk) = &mut self.mode else { unreachable!("BDAT has set the mode") };
        let used = usize::try_from(chunk.left).unwrap_or(usize::MAX).min(input.len());
        chunk.left -= used as u64;
        let intake = self.transaction.as_mut().and_then(|transaction| transaction.intake.as_mut());
        if let (None, Some(intake)) = (&chunk.refused, intake) {
            intake.keep(&input[..used]);
        }
        if chunk.left > 0 {
            return (used, Step::Read(Want::Content));
        }
        (used, self.chunk_ended(now))
    }

    fn chunk_ended(&mut self, now: Timestamp) -> Step<'_> {
        let Mode::Chunk(chunk) = std::mem::replace(&mut self.mode, Mode::Command) else {
            unreachable!("a chunk has just ended")
        };
        if let Some(reply) = chunk.refused {
            let refusal = self.refusal(Stage::Data, None, &reply, now);
            return Step::Say(self.tally(reply).noting(refusal));
        }
        let fault = self.transaction.as_ref().and_then(|transaction| transaction.intake.as_ref()?.fault());
        match fault {
            None if chunk.last => self.finish(now),
            None => self.ok(CHUNK_OK),
            Some(reply) => {
                self.transaction.iter_mut().for_each(|transaction| transaction.fail_chunks());
                let refusal = self.refusal(Stage::Data, None, &reply, now);
                Step::Say(self.tally(reply).noting(refusal))
            }
        }
    }

    /// The message is complete.
    fn finish(&mut self, now: Timestamp) -> Step<'_> {
        self.mode = Mode::Command;
        let intake = self.transaction.as_ref().and_then(|transaction| transaction.intake.as_ref());
        let refused = match intake.map(|intake| (intake.fault(), intake)) {
            Some((Some(fault), _)) => Some(fault),
            Some((None, intake)) if self.is_loop(intake.content()) => Some(LOOP),
            _ => None,
        };
        if let Some(reply) = refused {
            return self.refuse_content(reply, Then::GoOn, now);
        }
        let Some(mut transaction) = self.transaction.take() else { unreachable!("a message has ended") };
        let raw = transaction.intake.take().map(Intake::into_raw).unwrap_or_default();
        let (parcel, envelope) = transaction.into_parcel(raw, now);
        self.mode = Mode::Asked(Asked::Deliver(envelope));
        Step::Ask(Question::Deliver(parcel))
    }

    /// How often the fate of a message is told: over LMTP once for each recipient (RFC 2033 §4.2). It is the same for
    /// all of them, as one message is put into all its mailboxes or into none.
    pub(super) fn replies(&self, recipients: usize) -> usize {
        match self.link.dialect {
            Dialect::Smtp => 1,
            Dialect::Lmtp => recipients.max(1),
        }
    }

    fn is_loop(&self, content: &[u8]) -> bool {
        mail::header::received_count(content) > self.settings.received_max
    }

    /// The message is refused, and its transaction over.
    fn refuse_content(&mut self, reply: Reply, then: Then, now: Timestamp) -> Step<'_> {
        self.mode = Mode::Command;
        let refusal = self.refusal(Stage::Data, None, &reply, now);
        let recipients = self.transaction.take().map_or(0, |transaction| transaction.recipients());
        let say: Say = self.tally(reply).noting(refusal).times(self.replies(recipients));
        Step::Say(if then == Then::Close { Say { then, ..say } } else { say })
    }
}
