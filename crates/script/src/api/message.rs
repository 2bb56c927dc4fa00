//! `message` of `before.message`: what it says, and where it goes.

use std::sync::Arc;

use mail::header::{decode_words, fields, unfold};
use mail::{Author, Mailbox};
use mailroom::Verdict;
use mailroom::hooks::Handling;
use mlua::{Error, Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods, Value};

use crate::event::{Paper, written};
use crate::settings::Settings;

/// Tags of one message, and bytes of one.
const TAGS_MAX: usize = 16;
const TAG_MAX: usize = 64;
/// Mailboxes that a script may name for one message.
const MAILBOXES_MAX: usize = 1000;
/// Bytes of a subject or a name that a script writes.
const TEXT_MAX: usize = 1000;

/// What scripts have made of a message so far: each goes on where the one before it has stopped.
#[derive(Clone, Default)]
pub(crate) struct Draft {
    /// Where it goes, in the spelling that people see; none: where it would.
    pub(crate) mailboxes: Option<Vec<String>>,
    pub(crate) tags: Vec<String>,
    pub(crate) from: Option<Author>,
    pub(crate) subject: Option<String>,
}

/// The object of one handler.
pub(crate) struct Message {
    paper: Arc<Paper>,
    settings: Arc<Settings>,
    draft: Draft,
    /// The list that the script holds in its hands, once it has asked for it.
    list: Option<Table>,
}

impl Message {
    pub(crate) fn new(paper: &Arc<Paper>, settings: &Arc<Settings>, draft: Draft) -> Self {
        Self { paper: Arc::clone(paper), settings: Arc::clone(settings), draft, list: None }
    }

    /// What the script has made of it.
    pub(crate) fn finish(mut self) -> mlua::Result<Draft> {
        if let Some(list) = self.list.take() {
            let wanted = names(&list)?;
            if wanted != usual(&self.paper, &self.settings) || self.draft.mailboxes.is_some() {
                self.draft.mailboxes = Some(wanted);
            }
        }
        Ok(self.draft)
    }

    fn author(&self) -> Author {
        self.draft.from.clone().unwrap_or_else(|| self.paper.author())
    }

    fn mailboxes(&mut self, lua: &Lua) -> mlua::Result<Table> {
        if let Some(list) = &self.list {
            return Ok(list.clone());
        }
        let names = self.draft.mailboxes.clone().unwrap_or_else(|| usual(&self.paper, &self.settings));
        let list = lua.create_sequence_from(names)?;
        self.list = Some(list.clone());
        Ok(list)
    }

    fn tag(&mut self, tag: &str) -> mlua::Result<()> {
        let tag = tag.trim();
        if tag.is_empty() || tag.len() > TAG_MAX || tag.contains(char::is_control) {
            return Err(Error::runtime(format!("a tag is one line of 1 to {TAG_MAX} bytes")));
        }
        if !self.draft.tags.iter().any(|known| known == tag) {
            if self.draft.tags.len() == TAGS_MAX {
                return Err(Error::runtime(format!("a message has at most {TAGS_MAX} tags")));
            }
            self.draft.tags.push(tag.to_owned());
        }
        Ok(())
    }
}

impl UserData for Message {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("from", |_, message| Ok(message.author().email));
        fields.add_field_method_set("from", |_, message, text: String| {
            let name = message.author().name;
            message.draft.from = Some(Author { name, email: clean(&text)? });
            Ok(())
        });
        fields.add_field_method_get("from_name", |_, message| Ok(message.author().name));
        fields.add_field_method_set("from_name", |_, message, text: String| {
            let email = message.author().email;
            message.draft.from = Some(Author { name: clean(&text)?, email });
            Ok(())
        });
        fields.add_field_method_get("subject", |_, message| {
            Ok(message.draft.subject.clone().unwrap_or_else(|| message.paper.arriving.digest.subject.clone()))
        });
        fields.add_field_method_set("subject", |_, message, text: String| {
            message.draft.subject = Some(clean(&text)?);
            Ok(())
        });
        fields.add_field_method_get("size", |_, message| Ok(message.paper.arriving.raw.len() as f64));
        fields.add_field_method_get("to", |_, message| {
            let letter = message.paper.letter(&message.settings);
            Ok(letter.to.iter().map(|person| person.email.clone()).collect::<Vec<_>>())
        });
        fields.add_field_method_set("mailboxes", |_, message, list: Table| {
            message.draft.mailboxes.get_or_insert_default();
            message.list = Some(list);
            Ok(())
        });
        fields.add_field_method_get("tags", |_, message| Ok(message.draft.tags.clone()));
        envelope(fields);
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("tag", |_, message, tag: String| message.tag(&tag));
        methods.add_method("header", |_, message, name: String| {
            let source = message.paper.source(&message.settings).0;
            let field = fields(source).find(|field| field.is(&name));
            Ok(field.map(|field| decode_words(&unfold(field.value))))
        });
        methods.add_method("headers", headers);
        methods.add_method("body", |_, message, ()| {
            let letter = message.paper.letter(&message.settings);
            let is_cut = letter.truncated.contains(&"text") || !message.paper.source(&message.settings).1;
            Ok((letter.text.clone(), is_cut))
        });
        methods.add_method("html", |_, message, ()| Ok(message.paper.letter(&message.settings).html.clone()));
        methods.add_method("source", |lua, message, ()| {
            let (source, whole) = message.paper.source(&message.settings);
            Ok((lua.create_string(source)?, !whole))
        });
        methods.add_method("attachments", attachments);
        methods.add_meta_method_mut(MetaMethod::Index, |lua, message, name: Value| match name.as_string() {
            // Here, and not among the fields, because reading it gives the list away.
            Some(name) if name == "mailboxes" => Ok(Value::Table(message.mailboxes(lua)?)),
            _ => Ok(Value::Nil),
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, _, (name, _): (String, Value)| -> mlua::Result<()> {
            let may = "mailboxes, from, from_name and subject can; see also message:tag()";
            Err(Error::runtime(format!("message.{name} cannot be changed; {may}")))
        });
    }
}

/// What SMTP said.
fn envelope<F: UserDataFields<Message>>(fields: &mut F) {
    fields.add_field_method_get("sender", |_, message| Ok(written(&message.paper.arriving.envelope.reverse_path)));
    fields.add_field_method_get("recipients", |_, message| {
        let recipients = &message.paper.arriving.envelope.recipients;
        Ok(recipients.iter().map(|recipient| recipient.address.to_string()).collect::<Vec<_>>())
    });
    fields.add_field_method_get("helo", |_, message| Ok(message.paper.arriving.envelope.transport.helo.clone()));
    fields.add_field_method_get("peer", |_, message| {
        Ok(message.paper.arriving.envelope.transport.peer.map(|peer| peer.to_string()))
    });
    fields.add_field_method_get("user", |_, message| Ok(message.paper.arriving.envelope.transport.auth_user.clone()));
}

/// All fields, or those of a name, as `{ name = …, value = … }` in order.
fn headers(lua: &Lua, message: &Message, name: Option<String>) -> mlua::Result<Table> {
    let list = lua.create_table()?;
    for field in fields(message.paper.source(&message.settings).0) {
        if name.as_deref().is_none_or(|name| field.is(name)) {
            let entry = lua.create_table_with_capacity(0, 2)?;
            entry.raw_set("name", field.name)?;
            entry.raw_set("value", decode_words(&unfold(field.value)))?;
            list.raw_push(entry)?;
        }
    }
    Ok(list)
}

fn attachments(lua: &Lua, message: &Message, (): ()) -> mlua::Result<Table> {
    let list = lua.create_table()?;
    for attached in &message.paper.letter(&message.settings).attachments {
        let entry = lua.create_table_with_capacity(0, 4)?;
        entry.raw_set("name", &*attached.name)?;
        entry.raw_set("type", &*attached.content_type)?;
        entry.raw_set("size", attached.size as f64)?;
        entry.raw_set("sha256", &*attached.sha256)?;
        list.raw_push(entry)?;
    }
    Ok(list)
}

/// Where a message goes by itself, in the spelling that people see.
pub(crate) fn usual(paper: &Paper, settings: &Settings) -> Vec<String> {
    paper.arriving.mailboxes.iter().map(|mailbox| settings.naming.spelling(mailbox).into_owned()).collect()
}

/// The texts of a list.
pub(crate) fn names(list: &Table) -> mlua::Result<Vec<String>> {
    if list.raw_len() > MAILBOXES_MAX {
        return Err(Error::runtime(format!("a message goes to at most {MAILBOXES_MAX} mailboxes")));
    }
    (1..=list.raw_len())
        .map(|place| match list.raw_get::<Value>(place)? {
            Value::String(name) => Ok(name.to_string_lossy()),
            other => Err(Error::runtime(format!("mailboxes[{place}] is a name, not a {}", other.type_name()))),
        })
        .collect()
}

/// A text that lists will show: one line.
pub(crate) fn clean(text: &str) -> mlua::Result<String> {
    if text.len() > TEXT_MAX {
        return Err(Error::runtime(format!("a subject or a name has at most {TEXT_MAX} bytes")));
    }
    Ok(text.replace(char::is_control, " ").trim().to_owned())
}

impl Draft {
    /// As the mailroom takes it, with its own canonical names (T100).
    pub(crate) fn handling(self, verdict: Verdict, settings: &Settings) -> Result<Handling, String> {
        let named = |name: &String| -> Result<Mailbox, String> {
            settings.naming.named(name).map_err(|bad| {
                let shown: String = name.chars().take(80).collect();
                format!("no mailbox can be called {shown:?}: {bad}")
            })
        };
        let mailboxes: Option<Result<Vec<_>, _>> =
            self.mailboxes.as_ref().map(|names| names.iter().map(named).collect());
        let mailboxes = mailboxes.transpose()?;
        // To go nowhere is to be discarded.
        let verdict = match &mailboxes {
            Some(none) if none.is_empty() && !verdict.is_refusal() => Verdict::DISCARD,
            _ => verdict,
        };
        Ok(Handling { verdict, mailboxes, tags: self.tags, from: self.from, subject: self.subject })
    }
}
