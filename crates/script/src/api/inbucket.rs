//! What scripts for Inbucket find: `smtp`, `address`, `smtp_session`, `inbound_message`, `message_metadata`. Fields, answers
//! and what is read-only are theirs; reading a field that is not there gives nil, writing one is an error.

use std::net::IpAddr;
use std::sync::Arc;

use mail::{Author, Naming};
use mlua::{Error, Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods, Value, Variadic};

use super::address::Person;
use super::answer::Answer;
use super::message::{Draft, clean, names, usual};
use crate::event::{Kept, Paper, Transaction, written};
use crate::settings::Settings;

/// `smtp_session`.
#[derive(Default)]
pub(crate) struct SmtpSession {
    from: Person,
    to: Vec<Person>,
    remote: Option<IpAddr>,
}

/// `inbound_message`.
#[derive(Clone, Default)]
pub(crate) struct InboundMessage {
    mailboxes: Vec<String>,
    from: Person,
    to: Vec<Person>,
    subject: String,
    size: f64,
}

/// `message_metadata`.
#[derive(Default)]
pub(crate) struct MessageMetadata {
    mailbox: String,
    id: String,
    from: Person,
    to: Vec<Person>,
    date: f64,
    subject: String,
    size: f64,
}

pub(super) fn install(lua: &Lua, globals: &Table) -> mlua::Result<()> {
    let smtp = lua.create_table()?;
    smtp.raw_set("allow", lua.create_function(|_, _: Variadic<Value>| Ok(Answer::Accept))?)?;
    smtp.raw_set("defer", lua.create_function(|_, _: Variadic<Value>| Ok(Answer::Defer))?)?;
    smtp.raw_set("deny", lua.create_function(|_, (code, text)| Answer::refuse(code, text))?)?;
    globals.raw_set("smtp", smtp)?;
    let address = lua.create_table()?;
    let new = |_: &Lua, (name, address): (Option<String>, Option<String>)| {
        Ok(Person::new(name.as_deref().unwrap_or_default(), address.as_deref().unwrap_or_default()))
    };
    address.raw_set("new", lua.create_function(new)?)?;
    globals.raw_set("address", address)?;
    let made = |name: &str, new| globals.raw_set(name, lua.create_table_from([("new", new)])?);
    made("smtp_session", lua.create_function(|_, _: Variadic<Value>| Ok(SmtpSession::default()))?)?;
    made("inbound_message", lua.create_function(|_, _: Variadic<Value>| Ok(InboundMessage::default()))?)?;
    made("message_metadata", lua.create_function(|_, _: Variadic<Value>| Ok(MessageMetadata::default()))?)
}

impl SmtpSession {
    /// A candidate stands last among the recipients.
    pub(crate) fn of(transaction: &Transaction) -> Self {
        let person = |address: &mail::Address| Person::new("", &address.to_string());
        Self {
            from: Person::new("", &written(&transaction.sender)),
            to: transaction.accepted.iter().chain(&transaction.recipient).map(person).collect(),
            remote: transaction.client.peer,
        }
    }
}

impl UserData for SmtpSession {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("from", |_, session| Ok(session.from.clone()));
        fields.add_field_method_get("to", |_, session| Ok(session.to.clone()));
        fields.add_field_method_get("remote_addr", |_, session| {
            Ok(session.remote.map(|remote| remote.to_string()).unwrap_or_default())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        strict(methods, "smtp_session");
    }
}

impl InboundMessage {
    pub(crate) fn of(paper: &Paper, settings: &Settings, draft: &Draft) -> Self {
        let letter = || paper.letter(settings).to.iter().cloned().map(Person::of).collect();
        Self {
            mailboxes: draft.mailboxes.clone().unwrap_or_else(|| usual(paper, settings)),
            from: Person::of(draft.from.clone().unwrap_or_else(|| paper.author())),
            to: letter(),
            subject: draft.subject.clone().unwrap_or_else(|| paper.arriving.digest.subject.clone()),
            size: paper.arriving.raw.len() as f64,
        }
    }

    /// What a handler's answer makes of a message: it says all of it anew.
    pub(crate) fn write(&self, paper: &Paper, settings: &Settings, draft: &mut Draft) -> mlua::Result<()> {
        if self.mailboxes != usual(paper, settings) || draft.mailboxes.is_some() {
            draft.mailboxes = Some(self.mailboxes.clone());
        }
        let from = self.from.author();
        if from != paper.author() || draft.from.is_some() {
            draft.from = Some(Author { name: clean(&from.name)?, email: clean(&from.email)? });
        }
        if self.subject != paper.arriving.digest.subject || draft.subject.is_some() {
            draft.subject = Some(clean(&self.subject)?);
        }
        Ok(())
    }
}

impl UserData for InboundMessage {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("mailboxes", |_, message| Ok(message.mailboxes.clone()));
        fields.add_field_method_set("mailboxes", |_, message, list: Table| {
            message.mailboxes = names(&list)?;
            Ok(())
        });
        fields.add_field_method_get("from", |_, message| Ok(message.from.clone()));
        fields.add_field_method_set("from", |_, message, person: Value| {
            message.from = Person::read(&person)?;
            Ok(())
        });
        fields.add_field_method_get("to", |_, message| Ok(message.to.clone()));
        fields.add_field_method_set("to", |_, message, list: Table| {
            message.to = people(&list)?;
            Ok(())
        });
        fields.add_field_method_get("subject", |_, message| Ok(message.subject.clone()));
        fields.add_field_method_set("subject", |_, message, text: String| {
            message.subject = text;
            Ok(())
        });
        fields.add_field_method_get("size", |_, message| Ok(message.size));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        strict(methods, "inbound_message");
    }
}

impl MessageMetadata {
    pub(crate) fn of(kept: &Arc<Kept>, naming: Naming) -> Self {
        let summary = &kept.summary;
        Self {
            mailbox: naming.spelling(&kept.mailbox).into_owned(),
            id: summary.id.to_string(),
            from: Person::of(summary.from.clone()),
            to: summary.rcpt_to.iter().map(|address| Person::new("", &address.to_string())).collect(),
            date: summary.received_at.as_second() as f64,
            subject: summary.subject.clone(),
            size: summary.size as f64,
        }
    }
}

/// A field that can be read and written.
macro_rules! plain {
    ($fields:ident, $($name:ident: $kind:ty),*) => {
        $(
            $fields.add_field_method_get(stringify!($name), |_, message| Ok(message.$name.clone()));
            $fields.add_field_method_set(stringify!($name), |_, message, value: $kind| {
                message.$name = value;
                Ok(())
            });
        )*
    };
}

impl UserData for MessageMetadata {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        plain!(fields, mailbox: String, id: String, date: f64, subject: String, size: f64);
        fields.add_field_method_get("from", |_, message| Ok(message.from.clone()));
        fields.add_field_method_set("from", |_, message, person: Value| {
            message.from = Person::read(&person)?;
            Ok(())
        });
        fields.add_field_method_get("to", |_, message| Ok(message.to.clone()));
        fields.add_field_method_set("to", |_, message, list: Table| {
            message.to = people(&list)?;
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        strict(methods, "message_metadata");
    }
}

fn people(list: &Table) -> mlua::Result<Vec<Person>> {
    (1..=list.raw_len()).map(|place| Person::read(&list.raw_get(place)?)).collect()
}

/// Unknown fields are nil, and cannot be written; nor can those that are only read.
fn strict<T, M: UserDataMethods<T>>(methods: &mut M, kind: &'static str) {
    methods.add_meta_method(MetaMethod::Index, |_, _, _: Value| Ok(Value::Nil));
    methods.add_meta_method(MetaMethod::NewIndex, move |_, _, (name, _): (String, Value)| -> mlua::Result<()> {
        Err(Error::runtime(format!("{kind} has no field {name:?} that can be written")))
    });
}
