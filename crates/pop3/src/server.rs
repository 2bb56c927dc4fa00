//! The session with a socket: deadlines, the budget for what is being sent, and the mailroom's answers. The only file
//! here that waits for anything.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use mail::Mailbox;
use mailroom::access::Verb;
use mailroom::{Caller, Desk, Error, Mailroom, Order, Page, Secret, SignInError, StoreError, Which};
use net::{Accepted, Budget, Filled, Hall, Listener, Phase, Reservation, Secured, Stop, Stream, Tls, Wire};
use tokio::time::Instant;

use crate::reply::{Code, Reply};
use crate::session::{Answer, Cover, Entry, Failure, HELD_BYTES, Link, Question, Refused, Say, Session, Step, Then};
use crate::settings::{Settings, TlsUse};

/// So much of an answer is made and sent at a time. Replies to pipelined commands are gathered up to it.
const PIECE_BYTES: usize = 64 * 1024;
/// A read of commands.
const COMMAND_BYTES: usize = 2 * 1024;
/// A session that waits keeps no more output buffer than this.
const IDLE_BYTES: usize = 4 * 1024;
/// Messages that are listed at a time.
const PAGE: usize = 1000;

const TURNED_AWAY: Reply = Reply::coded(Code::SysTemp, "Too many connections; try again soon");
const TOO_SLOW: Reply = Reply::err("Too slow; closing");
const STOPPING: Reply = Reply::coded(Code::SysTemp, "This server is being stopped; try again soon");
const BROKEN: Reply = Reply::coded(Code::SysTemp, "This server made a mistake; the session ends, try again");

/// Serve POP3 until the stop. Whoever is being answered then is answered.
pub async fn serve(listener: Listener, server: Arc<Server>, hall: Arc<Hall>) {
    let mut turned_away = Vec::new();
    TURNED_AWAY.write(&mut turned_away);
    let sessions = hall.stop.clone();
    net::serve(listener, hall, &turned_away, move |Accepted { stream, peer, secured, slot }| {
        let (server, stop) = (Arc::clone(&server), sessions.clone());
        async move {
            server.converse(stream, peer, secured, stop).await;
            drop(slot);
        }
    })
    .await;
}

/// What all sessions share. Nothing in it changes with one of them (T087).
pub struct Server {
    settings: Arc<Settings>,
    mailroom: Arc<Mailroom>,
    tls: Option<Arc<Tls>>,
    /// For messages that are being sent.
    answers: Arc<Budget>,
    /// For what sessions remember of their maildrops; as much again.
    lists: Arc<Budget>,
}

impl Server {
    /// A server in front of a mailroom, with the TLS that STLS begins.
    pub fn new(settings: Arc<Settings>, mailroom: Arc<Mailroom>, tls: Option<Arc<Tls>>) -> Self {
        let budget = || Budget::new(settings.answers_max);
        Self { answers: budget(), lists: budget(), settings, mailroom, tls }
    }

    /// Hold a session to its end. A mistake of ours ends this session and no other.
    pub async fn converse(&self, stream: Stream, peer: Option<IpAddr>, secured: Option<Secured>, stop: Stop) {
        let mut wire = Wire::new(stream, stop);
        let cover = if secured.is_some() { Cover::Tls } else { self.cover() };
        let mut talk = Talk::new(self, &mut wire, Link { peer, cover });
        let ended = AssertUnwindSafe(talk.run()).catch_unwind().await;
        if ended.is_err() {
            tracing::error!("a session panicked; it was ended, the server goes on");
            talk.last_word(&BROKEN);
        }
        wire.close(Instant::now() + self.settings.write_timeout).await;
    }

    /// What a client in the clear can have.
    fn cover(&self) -> Cover {
        let is_ready = self.tls.as_ref().is_some_and(|tls| tls.is_ready());
        if is_ready && self.settings.tls != TlsUse::Off { Cover::Offered } else { Cover::None }
    }

    /// The newest messages of a mailbox, the oldest of them first. What arrives meanwhile is in no page.
    async fn entries(&self, caller: &Caller, mailbox: &Mailbox) -> mailroom::Result<Vec<Entry>> {
        let messages_max = self.settings.messages_max;
        let (mut entries, mut after) = (Vec::new(), None);
        loop {
            let limit = PAGE.min(messages_max - entries.len());
            let page = Page { after, limit, order: Order::Newest };
            let listing = self.mailroom.list(caller, mailbox, page).await?;
            entries.extend(listing.items.iter().map(|summary| Entry { id: summary.id, size: summary.size }));
            entries.truncate(messages_max);
            if !listing.more || listing.items.is_empty() || entries.len() == messages_max {
                break;
            }
            after = entries.last().map(|entry| entry.id.into());
        }
        entries.reverse();
        entries.shrink_to_fit();
        Ok(entries)
    }
}

/// A session under way.
struct Talk<'a> {
    server: &'a Server,
    wire: &'a mut Wire,
    session: Session,
    peer: Option<IpAddr>,
    /// Who signed in, and where.
    user: Option<(Caller, Mailbox)>,
    maildrop_held: Reservation,
    answer_held: Reservation,
    /// When the first octet of the command line under way came.
    line_began: Option<Instant>,
    answer_began: Option<Instant>,
}

/// Why a session ends without a word of its own.
struct Over;

impl<'a> Talk<'a> {
    fn new(server: &'a Server, wire: &'a mut Wire, link: Link) -> Self {
        Self {
            session: Session::new(Arc::clone(&server.settings), link),
            wire,
            peer: link.peer,
            user: None,
            maildrop_held: server.lists.reserve(),
            answer_held: server.answers.reserve(),
            line_began: None,
            answer_began: None,
            server,
        }
    }

    async fn run(&mut self) {
        self.session.greeting().write(self.wire.output());
        while let Ok(Then::GoOn) = self.turn().await {}
    }

    /// One step of the session, and what it asks for.
    async fn turn(&mut self) -> Result<Then, Over> {
        let (used, step) = self.session.step(self.wire.input());
        self.wire.consume(used);
        match step {
            Step::Read if used > 0 && !self.wire.input().is_empty() => Ok(Then::GoOn),
            Step::Read => self.read().await,
            Step::Say(say) => self.say(say).await,
            Step::Ask(question) => {
                let answer = self.put(question).await;
                let say = self.session.answer(answer);
                self.say(say).await
            }
            Step::Send => self.send().await,
        }
    }

    async fn say(&mut self, say: Say) -> Result<Then, Over> {
        say.reply.write(self.wire.output());
        if say.then == Then::Secure {
            return self.secure().await;
        }
        if self.wire.output().len() >= PIECE_BYTES {
            self.flush().await?;
        }
        Ok(say.then)
    }

    /// Begin TLS. Nothing of what was said before it counts behind it.
    async fn secure(&mut self) -> Result<Then, Over> {
        self.flush().await?;
        let tls = self.server.tls.as_ref().ok_or(Over)?;
        self.wire.secure(tls).await.map_err(|error| {
            tracing::debug!(peer = ?self.peer, %error, "a handshake failed");
            Over
        })?;
        let link = Link { peer: self.peer, cover: Cover::Tls };
        self.session = Session::new(Arc::clone(&self.server.settings), link);
        Ok(Then::GoOn)
    }

    /// A piece of an answer. A short one waits in the buffer for those to the commands behind it, and leaves in one write.
    async fn send(&mut self) -> Result<Then, Over> {
        self.answer_began.get_or_insert_with(Instant::now);
        self.session.write(self.wire.output(), PIECE_BYTES);
        let goes_on = self.session.is_sending();
        if goes_on || self.wire.output().len() >= PIECE_BYTES {
            self.flush().await?;
        }
        if goes_on && self.wire.phase() == Phase::Ending { Err(Over) } else { Ok(Then::GoOn) }
    }

    /// Send what was said and wait for more.
    async fn read(&mut self) -> Result<Then, Over> {
        self.flush().await?;
        if self.wire.output().capacity() > IDLE_BYTES {
            *self.wire.output() = Vec::new();
        }
        let until = self.deadline();
        match self.wire.fill(COMMAND_BYTES, until, Phase::Draining).await {
            Filled::More => return Ok(Then::GoOn),
            Filled::Closed => return Err(Over),
            // Who says nothing is told nothing: it would be read as the reply to the next command (RFC 1939 §3).
            Filled::TimedOut if self.line_began.is_none() => {}
            Filled::TimedOut => TOO_SLOW.write(self.wire.output()),
            Filled::Stopping => STOPPING.write(self.wire.output()),
        }
        Ok(Then::Close)
    }

    /// Until when the client must have sent something: its next command, or the rest of its line.
    fn deadline(&mut self) -> Instant {
        let (now, settings) = (Instant::now(), &self.server.settings);
        let is_mid_line = !self.wire.input().is_empty();
        self.line_began = is_mid_line.then(|| self.line_began.unwrap_or(now));
        self.line_began.map_or(now + settings.idle_timeout, |began| began + settings.line_timeout)
    }

    /// Send what was gathered, by the deadline of this piece and by that of the whole answer.
    async fn flush(&mut self) -> Result<(), Over> {
        let (now, settings) = (Instant::now(), &self.server.settings);
        let whole = self.answer_began.unwrap_or(now) + settings.answer_timeout;
        let until = whole.min(now + settings.write_timeout);
        let sent = self.wire.flush(until).await;
        if !self.session.is_sending() {
            self.answer_began = None;
            self.answer_held.release();
        }
        sent.map_err(|_| Over)
    }

    /// Say something behind everything else, unless it would be read as part of a message.
    fn last_word(&mut self, reply: &Reply) {
        if self.session.is_sending() {
            self.wire.output().clear();
        } else {
            reply.write(self.wire.output());
        }
    }

    /// Put a question to the mailroom.
    async fn put(&mut self, question: Question) -> Answer {
        let mailroom = &self.server.mailroom;
        match (question, &self.user) {
            (Question::SignIn { user, secret }, _) => self.sign_in(user, secret).await.unwrap_or_else(|answer| answer),
            (Question::Read(entry), Some(_)) => self.fetch(entry).await,
            (Question::MayDelete, Some((caller, mailbox))) => {
                Answer::MayDelete(mailroom.may(caller, Verb::Delete, mailbox))
            }
            (Question::Delete(ids), Some((caller, mailbox))) => {
                let gone = mailroom.delete_all(caller, mailbox, &ids).await;
                gone.map_or_else(|error| told(&error), |gone| Answer::Deleted(gone.len() as u64))
            }
            // The session asks for no mail before somebody signed in.
            (_, None) => Answer::Failed(Failure::Denied),
        }
    }

    async fn sign_in(&mut self, user: String, secret: Secret) -> Result<Answer, Answer> {
        let mailroom = &self.server.mailroom;
        let caller = mailroom.sign_in(Desk::Pop3, self.peer, &user, &secret.text()).await.map_err(refused)?;
        let mailbox = mailroom.named(&user).map_err(|bad| Answer::Refused(Refused::Name(bad)))?;
        let entries = self.server.entries(&caller, &mailbox).await.map_err(|error| told(&error))?;
        if !self.maildrop_held.resize(entries.len() as u64 * HELD_BYTES) {
            return Err(Answer::Failed(Failure::Busy));
        }
        self.user = Some((caller, mailbox));
        Ok(Answer::SignedIn(entries))
    }

    /// A message, once there is room for it among what is being sent. One that is larger than all the room comes alone.
    async fn fetch(&mut self, entry: Entry) -> Answer {
        let Some((caller, mailbox)) = &self.user else { return Answer::Failed(Failure::Denied) };
        let room = (entry.size + self.wire.output().len() as u64).min(self.server.settings.answers_max);
        if !self.answer_held.resize(room) {
            return Answer::Failed(Failure::Busy);
        }
        match self.server.mailroom.read(caller, mailbox, Which::Id(entry.id)).await {
            Ok(Some(message)) => Answer::Message(message.raw),
            Ok(None) => Answer::Gone,
            Err(error) => told(&error),
        }
    }
}

fn refused(error: SignInError) -> Answer {
    Answer::Refused(match error {
        SignInError::Wrong => Refused::Wrong,
        SignInError::TooMany => Refused::TooMany,
        SignInError::Off => Refused::Off,
        SignInError::Unavailable => return Answer::Failed(Failure::Later),
    })
}

/// How a failure is told: a calm text to the client, the whole chain in the log.
fn told(error: &Error) -> Answer {
    if let Error::Denied { .. } = error {
        return Answer::Failed(Failure::Denied);
    }
    tracing::warn!(error = error as &dyn std::error::Error, "mail could not be handed out or deleted");
    Answer::Failed(match error {
        Error::Store(StoreError::UnknownOutcome { .. }) => Failure::Unknown,
        Error::Store(StoreError::Damaged { .. } | StoreError::Unsupported { .. }) => Failure::Lasting,
        _ => Failure::Later,
    })
}
