//! What each command does, and what each answer of the mailroom makes of it.

use std::fmt::Write;

use jiff::Timestamp;
use mail::address::Path;
use mail::{Address, Door, Envelope, Mailbox, ReversePath, TransactionId, Transport};
use mailroom::{Decision, Refusal, Stage, Verdict};
use net::tls::TlsUse;

use super::intake;
use super::transaction::{self, Transaction};
use super::{Answer, Asked, Dialect, Hello, Mode, Question, Say, Session, Step};
use crate::command::{Command, MailParameters, NEEDS_UTF8, NOT_OFFERED, Then, UNKNOWN};
use crate::data::Unstuffer;
use crate::reply::{Enhanced, Reply};

const OK: Reply = Reply::new(250, (2, 0, 0), "Ok");
const SENDER_OK: Reply = Reply::new(250, (2, 1, 0), "Sender ok");
const RECIPIENT_OK: Reply = Reply::new(250, (2, 1, 5), "Recipient ok");
const GO_ON: Reply = Reply::plain(354, "Send the message; end with a dot on a line of its own");
const KEPT: Reply = Reply::new(250, (2, 0, 0), "Ok, message kept");
const BYE: Reply = Reply::new(221, (2, 0, 0), "Bye");
const CANNOT_VERIFY: Reply = Reply::new(252, (2, 1, 5), "Cannot verify; send mail and see");
const COMMANDS: Reply =
    Reply::new(214, (2, 0, 0), "EHLO HELO STARTTLS AUTH MAIL RCPT DATA BDAT RSET NOOP VRFY HELP QUIT");
const SAY_LHLO: Reply = Reply::new(500, (5, 5, 1), "This is LMTP: say LHLO");
const GO_SECURE: Reply = Reply::new(220, (2, 0, 0), "Go ahead with TLS");
const SECURE_ALREADY: Reply = Reply::new(503, (5, 5, 1), "TLS is in use already");
const IN_TRANSACTION: Reply = Reply::new(503, (5, 5, 1), "A transaction is open; end it or RSET first");
const TLS_FIRST: Reply = Reply::new(530, (5, 7, 0), "Say STARTTLS first: mail is taken under TLS only (smtp.tls)");
const AUTH_FIRST: Reply = Reply::new(530, (5, 7, 0), "Sign in with AUTH first (smtp.auth_required)");
const HELLO_FIRST: Reply = Reply::new(503, (5, 5, 1), "Say EHLO first");
const MAIL_FIRST: Reply = Reply::new(503, (5, 5, 1), "Say MAIL FROM first");
const MAIL_TWICE: Reply = Reply::new(503, (5, 5, 1), "A sender is given already; RSET begins anew");
const IN_CHUNKS: Reply = Reply::new(503, (5, 5, 1), "The message has begun with BDAT; go on with it, or RSET");
pub(super) const RCPT_FIRST: Reply = Reply::new(503, (5, 5, 1), "Say RCPT TO first");
pub(super) const NOBODY: Reply = Reply::new(554, (5, 5, 1), "No recipient was accepted");
const TOO_MANY_RECIPIENTS: Reply = Reply::new(452, (4, 5, 3), "Too many recipients; send those accepted first");
const NO_MAILBOX: Reply = Reply::new(451, (4, 3, 0), "The recipient leads nowhere at this moment; try again");

impl Session {
    pub(super) fn obey(&mut self, command: Command, now: Timestamp) -> Step<'_> {
        match command {
            Command::Ehlo(_) | Command::Helo(_) if self.link.dialect == Dialect::Lmtp => self.error(SAY_LHLO),
            Command::Lhlo(_) if self.link.dialect == Dialect::Smtp => self.error(UNKNOWN),
            Command::Ehlo(name) | Command::Lhlo(name) => self.ehlo(name),
            Command::Helo(name) => self.helo(name),
            Command::StartTls => self.start_tls(),
            Command::Auth { mechanism, initial } => self.auth(mechanism, initial),
            Command::Mail { path, parameters } => self.mail(path, parameters, now),
            Command::Rcpt { path } => self.rcpt(path, now),
            Command::Data => self.begin_data(now),
            Command::Bdat { octets, last } => self.begin_chunk(octets, last, now),
            Command::Rset => {
                self.transaction = None;
                self.idle(OK)
            }
            Command::Noop => self.idle(OK),
            Command::Vrfy => self.idle(CANNOT_VERIFY),
            Command::Help => self.idle(COMMANDS),
            Command::Quit => Step::Say(Say::now(BYE, Then::Close)),
        }
    }

    fn ehlo(&mut self, name: String) -> Step<'_> {
        self.greet(name, Enhanced::Shown);
        let mut text = format!("{}\nPIPELINING\n8BITMIME\nSMTPUTF8", self.settings.hostname);
        if self.link.dialect == Dialect::Smtp {
            text.push_str("\nCHUNKING");
        }
        text.push_str("\nENHANCEDSTATUSCODES");
        if self.offers_tls() {
            text.push_str("\nSTARTTLS");
        }
        if self.offers_auth() {
            text.push_str("\nAUTH PLAIN LOGIN");
        }
        // Writing to a String cannot fail.
        let _ = write!(text, "\nSIZE {}\nHELP", self.settings.message_max);
        self.ok(Reply { code: 250, enhanced: None, text: text.into() })
    }

    fn offers_tls(&self) -> bool {
        self.link.has_certificate && self.link.secured.is_none() && self.settings.tls != TlsUse::Off
    }

    /// Whether mail and passwords are taken only once TLS is there. Nobody listens on a Unix socket.
    pub(super) fn needs_tls(&self) -> bool {
        self.settings.tls == TlsUse::Require && self.link.secured.is_none() && self.link.peer.is_some()
    }

    fn start_tls(&mut self) -> Step<'_> {
        match &self.link.secured {
            Some(_) if self.settings.tls != TlsUse::Off => self.error(SECURE_ALREADY),
            _ if !self.offers_tls() => self.error(NOT_OFFERED),
            _ if self.transaction.is_some() => self.error(IN_TRANSACTION),
            _ => Step::Say(Say::now(GO_SECURE, Then::Secure)),
        }
    }

    fn helo(&mut self, name: String) -> Step<'_> {
        self.greet(name, Enhanced::Hidden);
        let text = self.settings.hostname.clone().into();
        self.ok(Reply { code: 250, enhanced: None, text })
    }

    /// A greeting begins anew (RFC 5321 §4.1.4).
    fn greet(&mut self, name: String, enhanced: Enhanced) {
        self.transaction = None;
        self.hello = Some(Hello { name, enhanced });
    }

    fn mail(&mut self, path: Path, parameters: MailParameters, now: Timestamp) -> Step<'_> {
        match &self.transaction {
            _ if self.hello.is_none() => return self.error(HELLO_FIRST),
            _ if self.needs_tls() => return self.error(TLS_FIRST),
            _ if self.needs_auth() => return self.error(AUTH_FIRST),
            Some(transaction) if transaction.in_content() => return self.error(IN_CHUNKS),
            Some(_) => return self.error(MAIL_TWICE),
            None => {}
        }
        let path = ReversePath(self.address(path));
        if parameters.size.is_some_and(|size| size > self.settings.message_max) {
            let reply = intake::too_large();
            let refusal = transaction::refusal(now, Stage::Mail, Some(&path), &[], None, &reply);
            return Step::Say(self.tally(reply).noting(refusal));
        }
        self.mode = Mode::Asked(Asked::Sender { path, announced: parameters.size, utf8: parameters.utf8 });
        match &self.mode {
            Mode::Asked(Asked::Sender { path, .. }) => Step::Ask(Question::Sender(self.client_name(), path)),
            _ => unreachable!("the mode was set in the line above"),
        }
    }

    fn rcpt(&mut self, path: Path, now: Timestamp) -> Step<'_> {
        let reply = match &self.transaction {
            _ if self.hello.is_none() => Some(HELLO_FIRST),
            None => Some(MAIL_FIRST),
            Some(transaction) if transaction.in_content() => Some(IN_CHUNKS),
            Some(_) => None,
        };
        if let Some(reply) = reply {
            return self.error(reply);
        }
        match self.address(path) {
            Some(address) => self.recipient(address, now),
            // The null path was refused when the line was read.
            None => self.error(RCPT_FIRST),
        }
    }

    fn recipient(&mut self, address: Address, now: Timestamp) -> Step<'_> {
        let recipients_max = self.settings.recipients_max;
        let Some(transaction) = &mut self.transaction else { return self.error(MAIL_FIRST) };
        let is_ascii = address.local().is_ascii() && address.domain().is_ascii();
        let refused = if !is_ascii && !transaction.envelope.transport.utf8 {
            Some(NEEDS_UTF8)
        } else if transaction.recipients() >= recipients_max {
            Some(TOO_MANY_RECIPIENTS)
        } else {
            None
        };
        if let Some(reply) = refused {
            transaction.refused = true;
            let refusal = self.refusal(Stage::Rcpt, Some((&address, None)), &reply, now);
            return Step::Say(self.tally(reply).noting(refusal));
        }
        self.mode = Mode::Asked(Asked::Recipient(address));
        match (&self.transaction, &self.mode) {
            (Some(transaction), Mode::Asked(Asked::Recipient(address))) => {
                Step::Ask(Question::Recipient(self.client_name(), &transaction.envelope, address))
            }
            _ => unreachable!("the transaction is open and the mode was set in the line above"),
        }
    }

    /// The address of a path; `<postmaster>` is ours.
    fn address(&self, path: Path) -> Option<Address> {
        match path {
            Path::Null => None,
            Path::Postmaster => Some(Address::postmaster(&self.settings.hostname)),
            Path::Address(address) => Some(address),
        }
    }

    fn begin_data(&mut self, now: Timestamp) -> Step<'_> {
        match &self.transaction {
            _ if self.hello.is_none() => self.error(HELLO_FIRST),
            None => self.error(MAIL_FIRST),
            Some(transaction) if transaction.in_content() => self.error(IN_CHUNKS),
            Some(transaction) if transaction.recipients() == 0 => {
                let told_apart = self.link.dialect == Dialect::Smtp;
                let reply = if transaction.refused && told_apart { NOBODY } else { RCPT_FIRST };
                self.error(reply)
            }
            Some(_) => {
                self.open_intake(now);
                self.mode = Mode::Data(Unstuffer::new(self.settings.bare_newlines));
                self.ok(GO_ON)
            }
        }
    }

    /// The mailroom's answer to the question that is open.
    pub fn answer(&mut self, answer: Answer, now: Timestamp) -> Say {
        match (std::mem::replace(&mut self.mode, Mode::Command), answer) {
            (Mode::Asked(Asked::Sender { path, announced, utf8 }), Answer::Sender(verdict, transaction)) => {
                self.sender_judged(path, announced, utf8, verdict, transaction, now)
            }
            (Mode::Asked(Asked::Recipient(address)), Answer::Recipient(verdict, mailbox)) => {
                self.recipient_judged(address, mailbox, verdict, now)
            }
            (Mode::Asked(Asked::Deliver(envelope)), Answer::Delivered(delay)) => {
                (self.errors, self.idle_commands) = (0, 0);
                let say = Say::now(KEPT, Then::GoOn).times(self.replies(envelope.recipients.len()));
                Say { delay, ..say }
            }
            (Mode::Asked(Asked::Deliver(envelope)), Answer::Refused(verdict)) => {
                let Decision::Refuse(status) = &verdict.decision else {
                    return paced(Say::now(KEPT, Then::GoOn), &verdict);
                };
                let reply = Reply::of(status);
                let sender = Some(&envelope.reverse_path);
                let refusal = transaction::refusal(now, Stage::Data, sender, &envelope.recipients, None, &reply);
                self.refused(reply, refusal, &verdict).times(self.replies(envelope.recipients.len()))
            }
            (Mode::Asked(Asked::SignIn(user)), Answer::SignedIn) => self.signed_in(user),
            (Mode::Asked(Asked::SignIn(_)), Answer::NotSignedIn(why)) => self.not_signed_in(why),
            // Neither yes nor no is known to be true, so nothing is said (RFC 5321 §4.5.3.2.6 lets the client retry).
            _ => Say { reply: None, times: 0, delay: None, then: Then::Close, refusal: None },
        }
    }

    fn sender_judged(
        &mut self,
        path: ReversePath,
        announced: Option<u64>,
        utf8: bool,
        verdict: Verdict,
        id: TransactionId,
        now: Timestamp,
    ) -> Say {
        if let Decision::Refuse(status) = &verdict.decision {
            let reply = Reply::of(status);
            let refusal = transaction::refusal(now, Stage::Mail, Some(&path), &[], None, &reply);
            return self.refused(reply, refusal, &verdict);
        }
        let envelope = Envelope {
            transaction: id,
            reverse_path: path,
            recipients: Vec::with_capacity(1),
            transport: self.transport(utf8),
        };
        self.transaction = Some(Box::new(Transaction::new(envelope, announced, &verdict)));
        paced(Say::now(SENDER_OK, Then::GoOn), &verdict)
    }

    fn transport(&self, utf8: bool) -> Transport {
        let (enhanced, helo) = match &self.hello {
            Some(hello) => (hello.enhanced, hello.name.clone()),
            None => (Enhanced::Hidden, String::new()),
        };
        let door = match (self.link.dialect, enhanced) {
            (Dialect::Lmtp, _) => Door::Lmtp,
            (Dialect::Smtp, Enhanced::Shown) => Door::Esmtp,
            (Dialect::Smtp, Enhanced::Hidden) => Door::Smtp,
        };
        let tls = self.link.secured.as_ref().map(|secured| format!("{} {}", secured.version, secured.cipher));
        Transport { door, utf8, helo, peer: self.link.peer, tls, auth_user: self.user.clone() }
    }

    fn recipient_judged(
        &mut self,
        address: Address,
        mailbox: Option<Mailbox>,
        verdict: Verdict,
        now: Timestamp,
    ) -> Say {
        let refused = match (&verdict.decision, &mailbox) {
            (Decision::Refuse(status), _) => Some(Reply::of(status)),
            (_, None) => Some(NO_MAILBOX),
            _ => None,
        };
        match (refused, &mut self.transaction, mailbox) {
            (None, Some(transaction), Some(mailbox)) => {
                transaction.add(address, mailbox, &verdict);
                paced(Say::now(RECIPIENT_OK, Then::GoOn), &verdict)
            }
            (refused, transaction, mailbox) => {
                let reply = refused.unwrap_or(MAIL_FIRST);
                transaction.iter_mut().for_each(|transaction| transaction.refused = true);
                let refusal = self.refusal(Stage::Rcpt, Some((&address, mailbox.as_ref())), &reply, now);
                self.refused(reply, refusal, &verdict)
            }
        }
    }

    /// A refusal as the verdict has it. What a fault on demand says is said to the letter, however often: it is no error
    /// of the client's.
    fn refused(&mut self, reply: Reply, mut refusal: Box<Refusal>, verdict: &Verdict) -> Say {
        refusal.fault = verdict.fault.as_deref().cloned();
        let say = match verdict.fault {
            Some(_) => Say::now(reply, Then::GoOn),
            None => self.tally(reply),
        };
        paced(say.noting(refusal), verdict)
    }
}

/// Told as the verdict wants it: later, or with the line cut. A cut line says nothing but a refusal, or nothing at all.
fn paced(mut say: Say, verdict: &Verdict) -> Say {
    say.delay = verdict.delay;
    if verdict.hang_up {
        say.then = Then::Close;
        say.reply = say.reply.filter(|reply| reply.is_negative() && !verdict.silent);
    }
    say
}
