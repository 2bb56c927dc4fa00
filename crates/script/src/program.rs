//! Scripts as they were read: compiled, run once to see which events they want.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mailroom::hooks::Moment;
use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, Table};

use crate::desk::{Desk, Sink, Web};
use crate::failure::told;
use crate::leash::Leash;
use crate::notes::Notes;
use crate::sandbox::Sandbox;
use crate::settings::Settings;
use crate::source::{self, Source};

/// So long may a script take to be read, which it does again for each event.
const READ_MAX: Duration = Duration::from_secs(1);

/// All scripts, in the order in which they are asked.
#[derive(Debug)]
pub struct Program {
    /// One for each file.
    pub modules: Vec<Module>,
}

/// One file.
#[derive(Debug)]
pub struct Module {
    /// What it is called in messages: the name of its file.
    pub name: Arc<str>,
    /// What it wants to be asked and told.
    pub handlers: Vec<Handler>,
    text: String,
}

/// A function of a script for an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    /// When it is called.
    pub moment: Moment,
    dialect: Dialect,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dialect {
    House,
    Inbucket,
    /// A name that it had once.
    Stale,
}

/// Why scripts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadScript {
    /// A file or folder that cannot be read.
    #[error("cannot read {}: {source}; check that it is there and that this user may read it", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder without scripts.
    #[error("{} holds no script: put a file that ends in .lua into it", path.display())]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// A folder with too many.
    #[error("{} holds more than {max} scripts: join some of them", path.display())]
    TooMany {
        /// Which.
        path: PathBuf,
        /// So many are taken.
        max: usize,
    },
    /// A file that is too large.
    #[error("{} is larger than 1MiB, so it is hardly a script", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
    },
    /// A file that is no text.
    #[error("{} is no text: a script is Lua as you write it, not compiled, in UTF-8", path.display())]
    NoText {
        /// Which.
        path: PathBuf,
    },
    /// A mistake in a script: the file, the line and what is wrong.
    #[error("{0}")]
    Wrong(String),
    /// No function for any event in any of them.
    #[error("{}: no handler for any event: write function postkeep.before.message(message) … end, for example", path.display())]
    Idle {
        /// Which.
        path: PathBuf,
    },
}

impl Program {
    /// Read a file or a folder.
    pub fn read(path: &Path, settings: &Settings) -> Result<Self, BadScript> {
        let modules = source::read(path)?.into_iter().map(|source| Module::of(source, settings));
        let modules = modules.collect::<Result<Vec<_>, _>>()?;
        match modules.iter().all(|module| module.handlers.is_empty()) {
            true => Err(BadScript::Idle { path: path.to_owned() }),
            false => Ok(Self { modules }),
        }
    }

    /// Scripts that are texts already, each with its name.
    #[cfg(test)]
    pub(crate) fn of(texts: &[(&str, &str)], settings: &Settings) -> Result<Self, BadScript> {
        let source = |(name, text): &(&str, &str)| Source { name: (*name).to_owned(), text: (*text).to_owned() };
        let modules = texts.iter().map(|text| Module::of(source(text), settings)).collect::<Result<_, _>>()?;
        Ok(Self { modules })
    }

    /// Whether any of them wants to be asked or told then.
    pub fn wants(&self, moment: Moment) -> bool {
        self.wanted() & bit(moment) != 0
    }

    /// The moments that any of them wants, a bit for each.
    pub(crate) fn wanted(&self) -> u8 {
        let handlers = self.modules.iter().flat_map(|module| &module.handlers);
        handlers.fold(0, |wanted, handler| wanted | bit(handler.moment))
    }
}

pub(crate) fn bit(moment: Moment) -> u8 {
    1 << moment as u8
}

impl Module {
    /// Compile a text, and run it once in an environment that knows the names of events.
    fn of(source: Source, settings: &Settings) -> Result<Self, BadScript> {
        let mut module = Self { name: Arc::from(&*source.name), handlers: Vec::new(), text: source.text };
        let desk =
            Desk::new(Leash::new(|| ()), Arc::new(Notes::new(1)), Web::Shown, Sink::Log, Arc::new(settings.clone()));
        let wrong = |error: mlua::Error| {
            BadScript::Wrong(match told(&error) {
                text if text.starts_with(&*module.name) => text,
                text => format!("{}: {text}", module.name),
            })
        };
        let handlers = module.find(&desk);
        if desk.leash.is_up() {
            return Err(BadScript::Wrong(format!("{}: it takes longer than {READ_MAX:?} to be read", module.name)));
        }
        let handlers = handlers.map_err(wrong)?;
        module.handlers = handlers;
        Ok(module)
    }

    fn find(&self, desk: &Arc<Desk>) -> mlua::Result<Vec<Handler>> {
        let sandbox = Sandbox::open(desk)?;
        let main = self.load(&sandbox.lua)?;
        let env: Table = sandbox.strict.call(())?;
        main.set_environment(env.clone())?;
        desk.turn(&self.name, false);
        desk.leash.begin(Instant::now() + READ_MAX);
        main.call::<()>(())?;
        let mut found = Vec::new();
        for handler in Handler::ALL {
            if sandbox.pick.call::<Option<Function>>((&env, handler.number()))?.is_some() {
                found.push(handler);
            }
        }
        Ok(found)
    }

    /// The script as a function of a VM: text only, never what somebody else compiled (T093).
    pub(crate) fn load(&self, lua: &Lua) -> mlua::Result<Function> {
        lua.load(&*self.text).set_name(format!("={}", self.name)).set_mode(ChunkMode::Text).into_function()
    }
}

impl Handler {
    pub(crate) const MESSAGE: Self = Self { moment: Moment::Message, dialect: Dialect::House };

    /// All there are, ours before others' for each event.
    pub(crate) const ALL: [Self; 11] = {
        const fn handler(moment: Moment, dialect: Dialect) -> Handler {
            Handler { moment, dialect }
        }
        [
            handler(Moment::MailFrom, Dialect::House),
            handler(Moment::MailFrom, Dialect::Inbucket),
            handler(Moment::MailFrom, Dialect::Stale),
            handler(Moment::RcptTo, Dialect::House),
            handler(Moment::RcptTo, Dialect::Inbucket),
            handler(Moment::Message, Dialect::House),
            handler(Moment::Message, Dialect::Inbucket),
            handler(Moment::Delivered, Dialect::House),
            handler(Moment::Delivered, Dialect::Inbucket),
            handler(Moment::Deleted, Dialect::House),
            handler(Moment::Deleted, Dialect::Inbucket),
        ]
    };

    /// Where a script puts it.
    pub(crate) fn path(self) -> (&'static str, &'static str, &'static str) {
        match (self.dialect, self.moment) {
            (Dialect::House, Moment::MailFrom) => ("postkeep", "before", "mail_from"),
            (Dialect::House, Moment::RcptTo) => ("postkeep", "before", "rcpt_to"),
            (Dialect::House, Moment::Message) => ("postkeep", "before", "message"),
            (Dialect::House, Moment::Delivered) => ("postkeep", "after", "message"),
            (Dialect::House, Moment::Deleted) => ("postkeep", "after", "delete"),
            (Dialect::Inbucket, Moment::MailFrom) => ("inbucket", "before", "mail_from_accepted"),
            (Dialect::Inbucket, Moment::RcptTo) => ("inbucket", "before", "rcpt_to_accepted"),
            (Dialect::Inbucket, Moment::Message) => ("inbucket", "before", "message_stored"),
            (Dialect::Inbucket, Moment::Delivered) => ("inbucket", "after", "message_stored"),
            (Dialect::Inbucket, Moment::Deleted) => ("inbucket", "after", "message_deleted"),
            (Dialect::Stale, _) => ("inbucket", "before", "mail_accepted"),
        }
    }

    /// Its place among all, counted from 1 as the VM does.
    pub(crate) fn number(self) -> usize {
        Self::ALL.iter().position(|handler| *handler == self).map_or(0, |place| place + 1)
    }

    pub(crate) fn is_house(self) -> bool {
        self.dialect == Dialect::House
    }

    pub(crate) fn is_stale(self) -> bool {
        self.dialect == Dialect::Stale
    }
}

impl fmt::Display for Handler {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (root, side, name) = self.path();
        write!(out, "{root}.{side}.{name}")
    }
}
