//! The session with a socket: deadlines, the budget for bytes in flight, and the mailroom's answers. The only file here
//! that waits for anything.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::FutureExt;
use mailroom::access::Denial;
use mailroom::{Caller, Desk, Error, Mailroom, Parcel, Secret, SignInError, Stage, StoreError, Verdict, Visit};
use net::{Accepted, Budget, Filled, Hall, Listener, Phase, Reservation, Stop, Stream, Tls, Wire};
use tokio::time::{Instant, sleep, sleep_until};

use crate::command::Then;
use crate::counters::{COUNTERS, Kind};
use crate::limits::{Conduct, Limits};
use crate::reply::{Enhanced, Reply};
use crate::session::{Answer, Dialect, Link, Question, Say, Session, Step, Want};
use crate::settings::Settings;

/// Replies to pipelined commands are gathered up to this size before they are sent.
const OUTPUT_BYTES: usize = 16 * 1024;
/// A read of commands, and of content.
const COMMAND_BYTES: usize = 2 * 1024;
const CONTENT_BYTES: usize = 64 * 1024;

const TIMED_OUT: Reply = Reply::new(421, (4, 4, 2), "Too slow; closing");
const STOPPING: Reply = Reply::new(421, (4, 3, 2), "This server is being stopped; try again soon");
const BROKEN: Reply = Reply::new(421, (4, 3, 0), "This server made a mistake; the session ends, try again");
const EARLY: Reply = Reply::new(554, (5, 5, 1), "Wait for the greeting before you speak; closing");

/// Serve SMTP or LMTP until the stop. Connections that run then finish what they are at.
pub async fn serve(listener: Listener, dialect: Dialect, server: Arc<Server>, hall: Arc<Hall>) {
    let turned_away = format!("421 {} Too many connections; try again soon\r\n", server.settings.hostname);
    let sessions = hall.stop.clone();
    net::serve(listener, hall, turned_away.as_bytes(), move |accepted| {
        let (server, stop) = (Arc::clone(&server), sessions.clone());
        async move {
            let Accepted { stream, peer, secured, slot } = accepted;
            server.mailroom.connected();
            let link = Link { dialect, peer, secured, has_certificate: server.has_certificate() };
            server.converse(stream, link, stop).await;
            drop(slot);
        }
    })
    .await;
}

/// What all sessions share.
pub struct Server {
    settings: Arc<Settings>,
    mailroom: Arc<Mailroom>,
    tls: Option<Arc<Tls>>,
    limits: Limits,
    budget: Arc<Budget>,
}

impl Server {
    /// A server in front of a mailroom, which offers STARTTLS when it has what that takes.
    pub fn new(settings: Arc<Settings>, mailroom: Arc<Mailroom>, tls: Option<Arc<Tls>>) -> Self {
        // All of them are there to be read from the start.
        LazyLock::force(&COUNTERS);
        let budget = Budget::new(settings.in_flight_max);
        Self { settings, mailroom, tls, limits: Limits::default(), budget }
    }

    /// The same with limits for each address.
    pub fn limited(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Whether STARTTLS could succeed now.
    pub fn has_certificate(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_ready())
    }

    /// Hold a session to its end. A mistake of ours ends this session and no other.
    pub async fn converse(&self, stream: Stream, link: Link, stop: Stop) {
        let mut wire = Wire::new(stream, stop);
        let mut talk = Talk {
            server: self,
            wire: &mut wire,
            caller: Caller::Sender { user: None, peer: link.peer },
            peer: link.peer,
            conduct: Conduct::new(&self.limits, link.peer),
            reservation: self.budget.reserve(),
            line_began: None,
            transaction_began: None,
        };
        let session = Session::new(Arc::clone(&self.settings), link);
        let ended = AssertUnwindSafe(talk.run(session)).catch_unwind().await;
        drop(talk);
        if ended.is_err() {
            tracing::error!("a session panicked; it was ended, the server goes on");
            BROKEN.write(wire.output(), Enhanced::Hidden);
        }
        wire.close(Instant::now() + self.settings.write_timeout).await;
    }
}

/// A session under way.
struct Talk<'a> {
    server: &'a Server,
    wire: &'a mut Wire,
    caller: Caller,
    peer: Option<IpAddr>,
    conduct: Conduct<'a>,
    reservation: Reservation,
    /// When the first octet of the command line under way came.
    line_began: Option<Instant>,
    transaction_began: Option<Instant>,
}

/// Why a session ends without a word of its own.
struct Over;

impl Talk<'_> {
    async fn run(&mut self, mut session: Session) {
        if !self.greet(&session).await {
            return;
        }
        loop {
            let ended = match self.turn(&mut session).await {
                Ok(Then::GoOn) => Ok(()),
                Ok(Then::Secure) => self.secure(&mut session).await,
                Ok(Then::Close) | Err(Over) => Err(Over),
            };
            if ended.is_err() {
                return;
            }
        }
    }

    /// STARTTLS was agreed on. Whoever sent ahead of the handshake is cut off: what came in the clear may be anybody's
    /// (T003).
    async fn secure(&mut self, session: &mut Session) -> Result<(), Over> {
        let Some(tls) = &self.server.tls else { return Err(Over) };
        if !self.wire.input().is_empty() {
            return Err(Over);
        }
        self.flush().await?;
        let secured = self.wire.secure(tls).await.map_err(|error| {
            tracing::debug!(peer = ?self.peer, %error, "a handshake failed");
            Over
        })?;
        self.caller = Caller::Sender { user: None, peer: self.peer };
        session.secured(secured);
        Ok(())
    }

    /// Greet; a client that talks into a greeting that is held back has not waited for it.
    async fn greet(&mut self, session: &Session) -> bool {
        let delay = self.server.settings.greeting_delay;
        if !delay.is_zero() {
            let filled = self.wire.fill(COMMAND_BYTES, Instant::now() + delay, Phase::Draining).await;
            if filled != Filled::TimedOut {
                let is_early = filled == Filled::More;
                if is_early {
                    COUNTERS.refused(Kind::EarlyTalker);
                }
                let reply = if is_early { EARLY } else { STOPPING };
                reply.write(self.wire.output(), Enhanced::Hidden);
                return false;
            }
        }
        session.greeting().write(self.wire.output(), Enhanced::Hidden);
        true
    }

    /// One step of the session, and what it asks for.
    async fn turn(&mut self, session: &mut Session) -> Result<Then, Over> {
        let now = self.server.mailroom.now();
        let (used, step) = session.step(self.wire.input(), now);
        let mut say = match step {
            Step::Read(want) => {
                self.wire.consume(used);
                if used > 0 && !self.wire.input().is_empty() {
                    return Ok(Then::GoOn);
                }
                return self.read(session, want).await;
            }
            Step::Say(say) => say,
            Step::Ask(question) => {
                let answer = match question {
                    Question::SignIn(user, secret) => self.sign_in(&user, &secret).await,
                    question => self.server.put(&self.caller, &self.conduct, question).await,
                };
                session.answer(answer, self.server.mailroom.now())
            }
        };
        self.wire.consume(used);
        if let Some(refusal) = &mut say.refusal {
            (refusal.helo, refusal.peer) = (session.client_name().map(str::to_owned), self.peer);
        }
        self.say(say, session.enhanced()).await
    }

    async fn sign_in(&mut self, user: &str, secret: &Secret) -> Answer {
        match self.server.mailroom.sign_in(Desk::Smtp, self.peer, user, &secret.text()).await {
            Ok(caller) => {
                self.caller = caller;
                Answer::SignedIn
            }
            Err(why) => Answer::NotSignedIn(why),
        }
    }

    async fn say(&mut self, say: Say, enhanced: Enhanced) -> Result<Then, Over> {
        if let Some(delay) = self.delay(&say) {
            self.flush().await?;
            sleep(delay).await;
        }
        if let Some(refusal) = say.refusal {
            if refusal.stage == Stage::Data {
                COUNTERS.refused(Kind::Content);
            }
            self.server.mailroom.refused(&self.caller, *refusal);
        }
        if let Some(reply) = say.reply {
            for _ in 0..say.times {
                reply.write(self.wire.output(), enhanced);
            }
        }
        if self.wire.output().len() >= OUTPUT_BYTES {
            self.flush().await?;
        }
        Ok(say.then)
    }

    /// How long this is held back: a refusal for `smtp.tarpit` at least, so that trying again and again takes time. When
    /// the program stops nobody is made to wait.
    fn delay(&self, say: &Say) -> Option<Duration> {
        let tarpit = self.server.settings.tarpit;
        let is_refusal = say.reply.as_ref().is_some_and(Reply::is_negative);
        if !is_refusal || tarpit.is_zero() || self.wire.phase() > Phase::Running {
            return say.delay;
        }
        COUNTERS.tarpitted.increment(1);
        Some(say.delay.unwrap_or_default().max(tarpit))
    }

    /// Send what was said and wait for more.
    async fn read(&mut self, session: &mut Session, want: Want) -> Result<Then, Over> {
        if !self.reservation.resize(session.held() as u64) {
            session.no_room();
            self.reservation.release();
        }
        self.flush().await?;
        let slow = session.slow().filter(|_| want == Want::Content);
        let bytes = match (want, slow) {
            (Want::Command, _) => COMMAND_BYTES,
            (Want::Content, None) => CONTENT_BYTES,
            (Want::Content, Some(octets)) => piece(octets),
        };
        let until = self.deadline(session, want);
        let hear = if session.in_transaction() { Phase::Ending } else { Phase::Draining };
        let before = self.wire.input().len();
        let reply = match self.wire.fill(bytes, until, hear).await {
            Filled::More => {
                let read = self.wire.input().len() - before;
                self.conduct.read(read);
                match slow {
                    Some(octets) if !self.held_back(read, octets).await => TIMED_OUT,
                    _ => return Ok(Then::GoOn),
                }
            }
            Filled::Closed => return Err(Over),
            Filled::TimedOut => TIMED_OUT,
            Filled::Stopping => STOPPING,
        };
        reply.write(self.wire.output(), session.enhanced());
        Ok(Then::Close)
    }

    /// Wait as long as so much takes at so many octets a second; false when the message's whole time is over by then. Its
    /// end must be looked at here: content that lies ready is never waited for.
    async fn held_back(&mut self, read: usize, octets: u64) -> bool {
        let until = Instant::now() + Duration::from_secs_f64(read as f64 / octets as f64);
        let end = self.transaction_began.map_or(until, |began| began + self.server.settings.transaction_timeout);
        sleep_until(until.min(end)).await;
        until <= end
    }

    /// Until when the client must have sent something: its next command, the rest of its line, more of its message.
    fn deadline(&mut self, session: &Session, want: Want) -> Instant {
        let (now, settings) = (Instant::now(), &self.server.settings);
        let is_mid_line = want == Want::Command && !self.wire.input().is_empty();
        self.line_began = is_mid_line.then(|| self.line_began.unwrap_or(now));
        self.transaction_began = session.in_transaction().then(|| self.transaction_began.unwrap_or(now));
        let step = match (want, self.line_began) {
            (Want::Content, _) => now + settings.data_timeout,
            (Want::Command, Some(began)) => began + settings.line_timeout,
            (Want::Command, None) => now + settings.idle_timeout,
        };
        let whole = self.transaction_began.map(|began| began + settings.transaction_timeout);
        whole.map_or(step, |whole| whole.min(step))
    }

    async fn flush(&mut self) -> Result<(), Over> {
        self.wire.flush(Instant::now() + self.server.settings.write_timeout).await.map_err(|_| Over)
    }
}

impl Server {
    /// Put a question to the mailroom, unless the client's address decides it.
    async fn put(&self, caller: &Caller, conduct: &Conduct<'_>, question: Question<'_>) -> Answer {
        match question {
            Question::Sender(helo, sender) => {
                COUNTERS.transactions.increment(1);
                let verdict = conduct.objects_to_mail();
                let verdict = match verdict {
                    Some(verdict) => verdict,
                    None => self.mailroom.judge_sender(&Visit { helo, ..Visit::of(caller, sender) }).await,
                };
                Answer::Sender(verdict, self.mailroom.begin())
            }
            Question::Recipient(helo, envelope, address) => {
                let (verdict, mailbox) = match conduct.objects_to_recipient() {
                    Some(verdict) => (verdict, self.mailroom.named(&address.to_string()).ok()),
                    None => {
                        let (sender, accepted) = (&envelope.reverse_path, envelope.recipients.as_slice());
                        let visit = Visit { caller, helo, sender, accepted };
                        self.mailroom.judge_recipient(&visit, address).await
                    }
                };
                Answer::Recipient(verdict, mailbox)
            }
            Question::Deliver(parcel) => self.deliver(caller, parcel).await,
            Question::SignIn(..) => Answer::NotSignedIn(SignInError::Off),
        }
    }

    async fn deliver(&self, caller: &Caller, parcel: Parcel) -> Answer {
        let transaction = parcel.envelope.transaction;
        match self.mailroom.deliver(caller, parcel).await {
            Ok(delivered) => Answer::Delivered(delivered.delay),
            Err(error) => {
                let answer = told(&error);
                match error {
                    // Somebody wanted it so.
                    Error::Refused(_) => tracing::debug!(%transaction, %error, "a message was refused"),
                    error => {
                        tracing::warn!(%transaction, error = &error as &dyn std::error::Error, "a message was not kept")
                    }
                }
                answer
            }
        }
    }
}

/// What is read at once of content that is read so slowly: a tenth of a second's worth, so that the deadlines of the
/// message and the stop of the program are heard between two pieces.
fn piece(octets: u64) -> usize {
    usize::try_from(octets / 10).unwrap_or(CONTENT_BYTES).clamp(1, CONTENT_BYTES)
}

/// How a failure is told: a calm text to the client, the whole chain in the log.
fn told(error: &Error) -> Answer {
    let refused = |code, enhanced, text: &str| Answer::Refused(Verdict::refuse(code, enhanced, text));
    match error {
        Error::Refused(verdict) => Answer::Refused(Verdict::clone(verdict)),
        Error::Store(StoreError::UnknownOutcome { .. }) => Answer::Unknown,
        Error::Store(StoreError::Full { .. }) => {
            refused(452, (4, 3, 1), "There is no room for more mail; try again later")
        }
        Error::Denied(Denial::InboxExpired { .. } | Denial::NoInbox) => {
            refused(550, (5, 1, 1), "There is no such inbox any more: open another")
        }
        Error::Denied(_) => refused(550, (5, 7, 1), "You may not deliver mail here"),
        // Where a message goes may be known only when it is there.
        Error::TooOften { wait, .. } => {
            let text = format!("Mail for this mailbox comes too often; try again in {} s", wait.as_secs() + 1);
            refused(450, (4, 2, 1), &text)
        }
        _ => refused(451, (4, 3, 0), "The message could not be kept now; try again later"),
    }
}
