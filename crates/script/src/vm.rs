//! One VM with the scripts in it, which answers one event after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mailroom::Verdict;
use mailroom::hooks::{Moment, Opinion};
use mlua::{AnyUserData, Error, Function, IntoLua, Table, Value};

use crate::api::answer::Answer;
use crate::api::inbucket::{InboundMessage, MessageMetadata, SmtpSession};
use crate::api::kept::KeptMessage;
use crate::api::message::{Draft, Message};
use crate::api::session::Session;
use crate::desk::Desk;
use crate::event::{Event, Kept, Paper, Said, Transaction};
use crate::failure::Failure;
use crate::program::{Handler, Program};
use crate::sandbox::Sandbox;

/// The VM.
pub(crate) struct Vm {
    sandbox: Sandbox,
    desk: Arc<Desk>,
    pub(crate) program: Arc<Program>,
    mains: Vec<Function>,
}

/// What a handler has made of its event.
enum Outcome {
    /// The next one is asked.
    Next,
    Decided(Verdict),
}

/// How far an event has come.
struct Round<'a> {
    event: &'a Event,
    draft: Draft,
    /// Told of each handler.
    tell: &'a mut dyn FnMut(Step),
}

/// One handler that ran, for whoever watches.
pub(crate) struct Step {
    pub(crate) file: Arc<str>,
    pub(crate) handler: Handler,
    pub(crate) took: Duration,
}

impl Vm {
    /// A VM that has the scripts loaded, and has not run any.
    pub(crate) fn new(program: &Arc<Program>, desk: &Arc<Desk>) -> mlua::Result<Self> {
        let sandbox = Sandbox::open(desk)?;
        let mains = program.modules.iter().map(|module| module.load(&sandbox.lua)).collect::<mlua::Result<_>>()?;
        Ok(Self { sandbox, desk: Arc::clone(desk), program: Arc::clone(program), mains })
    }

    /// What the scripts make of an event, within its time. After a failure the VM is to be thrown away.
    pub(crate) fn run(&self, event: &Event, until: Instant, tell: &mut dyn FnMut(Step)) -> Result<Said, Failure> {
        self.desk.leash.begin(until);
        let mut round = Round { event, draft: Draft::default(), tell };
        let mut decided = None;
        for (module, main) in self.program.modules.iter().zip(&self.mains) {
            let handlers = module.handlers.iter().filter(|handler| handler.moment == event.moment());
            let mut env = None;
            for handler in handlers {
                let outcome = self.one(&mut round, &module.name, main, &mut env, *handler);
                // A script may have swallowed that its time was up, but it was.
                if self.desk.leash.is_up() {
                    return Err(self.late(&module.name, event));
                }
                match outcome.map_err(|error| Failure::of(&module.name, &error))? {
                    Outcome::Next => (),
                    Outcome::Decided(verdict) => {
                        decided = Some(verdict);
                        break;
                    }
                }
            }
            if decided.is_some() {
                break;
            }
        }
        self.said(event, round.draft, decided)
    }

    /// Let go what the last event has left behind, when it is much: the VM fails at its limit without looking for waste.
    pub(crate) fn sweep(&self) {
        if self.sandbox.lua.used_memory() > self.desk.settings.memory_max / 4 {
            // It cannot fail: there is nothing of a script's in it that could.
            let _ = self.sandbox.lua.gc_collect();
        }
    }

    /// One handler, in the environment of its file.
    fn one(
        &self,
        round: &mut Round<'_>,
        file: &Arc<str>,
        main: &Function,
        env: &mut Option<Table>,
        handler: Handler,
    ) -> mlua::Result<Outcome> {
        let began = Instant::now();
        let function = match env {
            Some(env) => self.sandbox.pick.call((&*env, handler.number()))?,
            None => {
                let (made, function) = self.prepare(file, main, handler)?;
                *env = Some(made);
                function
            }
        };
        let Some(function) = function else { return Ok(Outcome::Next) };
        let outcome = self.call(round, &function, handler)?;
        (round.tell)(Step { file: Arc::clone(file), handler, took: began.elapsed() });
        Ok(outcome)
    }

    /// The script as if it had just been read. It has said already what it says then.
    fn prepare(&self, file: &Arc<str>, main: &Function, handler: Handler) -> mlua::Result<(Table, Option<Function>)> {
        self.desk.turn(file, true);
        let made = self.sandbox.prepare.call((main, handler.number()));
        self.desk.turn(file, false);
        made
    }

    fn call(&self, round: &mut Round<'_>, function: &Function, handler: Handler) -> mlua::Result<Outcome> {
        match round.event {
            Event::MailFrom(transaction) if handler.is_stale() => self.ask_stale(function, transaction),
            Event::MailFrom(transaction) | Event::RcptTo(transaction) => self.ask(function, transaction, handler),
            Event::Message(paper) if handler.is_house() => self.show(function, paper, &mut round.draft),
            Event::Message(paper) => self.show_inbound(function, paper, &mut round.draft),
            Event::Delivered(kept) | Event::Deleted(kept) => self.tell(function, kept, handler),
        }
    }

    /// `mail_from` and `rcpt_to`.
    fn ask(&self, function: &Function, transaction: &Arc<Transaction>, handler: Handler) -> mlua::Result<Outcome> {
        let lua = &self.sandbox.lua;
        let session = match handler.is_house() {
            true => Session(Arc::clone(transaction)).into_lua(lua)?,
            false => SmtpSession::of(transaction).into_lua(lua)?,
        };
        let answer = self.answer(&function.call(session)?, handler)?;
        if answer == Answer::Discard && handler.moment == Moment::MailFrom {
            return Err(Error::runtime("postkeep.discard() is for rcpt_to and message; refuse the sender instead"));
        }
        Ok(answer.verdict().map_or(Outcome::Next, Outcome::Decided))
    }

    /// The name that `mail_from_accepted` had once: local part and domain, and a flag as answer.
    fn ask_stale(&self, function: &Function, transaction: &Transaction) -> mlua::Result<Outcome> {
        let sender = transaction.sender.0.as_ref();
        let [local, domain] = [sender.map_or("", |sender| sender.local()), sender.map_or("", |sender| sender.domain())];
        Ok(match function.call((local, domain))? {
            Value::Boolean(true) => Outcome::Decided(Verdict::ACCEPT),
            Value::Boolean(false) => Answer::refuse(None, None)?.verdict().map_or(Outcome::Next, Outcome::Decided),
            other => Answer::read(&other).and_then(Answer::verdict).map_or(Outcome::Next, Outcome::Decided),
        })
    }

    /// `postkeep.before.message`.
    fn show(&self, function: &Function, paper: &Arc<Paper>, draft: &mut Draft) -> mlua::Result<Outcome> {
        let message = Message::new(paper, &self.desk.settings, draft.clone());
        let message: AnyUserData = self.sandbox.lua.create_userdata(message)?;
        let answer = function.call::<Value>(&message);
        // Taken back in any case: what it holds must not stay in the VM.
        let made = message.take::<Message>()?.finish();
        let answer = match answer? {
            // A habit from elsewhere: to hand the message back is to have changed it.
            Value::UserData(same) if same == message => Answer::Defer,
            other => self.answer(&other, Handler::MESSAGE)?,
        };
        *draft = made?;
        Ok(answer.verdict().map_or(Outcome::Next, Outcome::Decided))
    }

    /// `inbucket.before.message_stored`.
    fn show_inbound(&self, function: &Function, paper: &Arc<Paper>, draft: &mut Draft) -> mlua::Result<Outcome> {
        let inbound = InboundMessage::of(paper, &self.desk.settings, draft);
        match function.call(inbound)? {
            Value::Nil | Value::Boolean(false) => Ok(Outcome::Next),
            Value::UserData(message) if message.is::<InboundMessage>() => {
                message.borrow::<InboundMessage>()?.write(paper, &self.desk.settings, draft)?;
                Ok(Outcome::Next)
            }
            other => Err(Error::runtime(format!(
                "message_stored returns an inbound_message or nil, not a {}",
                other.type_name()
            ))),
        }
    }

    /// `after.…`: what it returns does not matter.
    fn tell(&self, function: &Function, kept: &Arc<Kept>, handler: Handler) -> mlua::Result<Outcome> {
        let (lua, naming) = (&self.sandbox.lua, self.desk.settings.naming);
        let message = match handler.is_house() {
            true => KeptMessage(Arc::clone(kept), naming).into_lua(lua)?,
            false => MessageMetadata::of(kept, naming).into_lua(lua)?,
        };
        function.call::<()>(message).map(|()| Outcome::Next)
    }

    /// What a handler has answered. Those for Inbucket may answer nonsense, which counts as no answer.
    fn answer(&self, value: &Value, handler: Handler) -> mlua::Result<Answer> {
        match Answer::read(value) {
            Some(answer) => Ok(answer),
            None if !handler.is_house() => {
                let text = format!("{handler} returned a {} instead of an answer of smtp", value.type_name());
                self.desk.say(crate::desk::Level::Error, text);
                Ok(Answer::Defer)
            }
            None => {
                let text = format!(
                    "{handler} returns postkeep.accept(), refuse(), discard(), defer() or nothing, not a {}",
                    value.type_name()
                );
                Err(Error::runtime(text))
            }
        }
    }

    fn said(&self, event: &Event, draft: Draft, decided: Option<Verdict>) -> Result<Said, Failure> {
        match (event, decided) {
            (Event::MailFrom(_) | Event::RcptTo(_), None) => Ok(event.usual()),
            (Event::MailFrom(_) | Event::RcptTo(_), Some(verdict)) if verdict == Verdict::ACCEPT => {
                Ok(Said::Opinion(Opinion::Allow))
            }
            (Event::MailFrom(_) | Event::RcptTo(_), Some(verdict)) => Ok(Said::Opinion(Opinion::Judge(verdict))),
            (Event::Message(_), decided) => {
                let handling = draft.handling(decided.unwrap_or(Verdict::ACCEPT), &self.desk.settings);
                handling.map(|handling| Said::Handling(Box::new(handling))).map_err(Failure::Error)
            }
            (Event::Delivered(_) | Event::Deleted(_), _) => Ok(Said::Nothing),
        }
    }

    fn late(&self, file: &Arc<str>, event: &Event) -> Failure {
        let settings = &self.desk.settings;
        let (deadline, key) = match event.is_over() {
            true => (settings.after_deadline, "script.after_deadline"),
            false => (settings.deadline, "script.deadline"),
        };
        Failure::Late { file: file.to_string(), deadline, key }
    }
}
