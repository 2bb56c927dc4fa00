//! The layers, one laid over the other: embedded defaults, those of public mode, file, environment, command line. A later one wins key by
//! key; mistakes are noted in all of them, also where another layer covers them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Key, is_section};
use super::relay;
use super::report::{Mistake, Origin, shown, unknown, unknown_variable};
use super::routes;
use super::tokens;
use super::values::{Value, quoted};
use super::webhooks;
use super::{DEFAULTS, PUBLIC};

/// No configuration file is larger.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Behind `POSTKEEP_`: variables of the program's other verbs, which set no key.
const OTHERS: [&str; 7] = ["ADDRESS", "CONFIG", "MAILBOX", "SENDMAIL_SERVER", "SENDMAIL_TIMEOUT", "TOKEN", "URL"];

/// What a user gives.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// `--config`, or `POSTKEEP_CONFIG`.
    pub(crate) file: Option<PathBuf>,
    /// All variables of the environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Each `--set`, as `key=value`.
    pub(crate) set: Vec<String>,
}

/// The value of each key by the layers laid so far, in the order of [`KEYS`].
#[derive(Debug, Default)]
pub(crate) struct Layers {
    values: Vec<Option<(Value, Origin)>>,
    tables: Tables,
    mistakes: Vec<Mistake>,
}

/// What stands in the file as tables of its own, as often as one likes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) tokens: Vec<tokens::Written>,
    pub(crate) routes: Vec<routes::Written>,
    pub(crate) relay_rules: Vec<relay::Written>,
    pub(crate) webhooks: Vec<webhooks::Webhook>,
}

/// What came of all layers.
#[derive(Debug)]
pub(crate) struct Laid {
    pub(crate) values: Vec<(Value, Origin)>,
    pub(crate) tables: Tables,
    pub(crate) mistakes: Vec<Mistake>,
}

impl Layers {
    /// Lay all layers. Whether the one of public mode is among them the others say.
    pub(crate) fn lay(sources: &Sources) -> Laid {
        let laid = Self::laid(sources, &[(DEFAULTS, Origin::Default)]);
        let is_public = |(key, (value, _)): (&Key, &(Value, Origin))| {
            key.name == "access.mode" && *value == Value::Text("public".to_owned())
        };
        match KEYS.iter().zip(&laid.values).any(is_public) {
            true => Self::laid(sources, &[(DEFAULTS, Origin::Default), (PUBLIC, Origin::Public)]),
            false => laid,
        }
    }

    fn laid(sources: &Sources, embedded: &[(&str, Origin)]) -> Laid {
        let mut layers = Self { values: vec![None; KEYS.len()], ..Self::default() };
        for (text, origin) in embedded {
            layers.text(text, &|_| origin.clone());
        }
        if let Some(path) = &sources.file {
            layers.file(path);
        }
        for (name, value) in &sources.variables {
            layers.variable(name, value);
        }
        for setting in &sources.set {
            layers.setting(setting);
        }
        let values = layers.values.into_iter().map(|value| value.expect("config.default.toml holds every key"));
        Laid { values: values.collect(), tables: layers.tables, mistakes: layers.mistakes }
    }

    fn file(&mut self, path: &Path) {
        let name: Rc<str> = path.display().to_string().into();
        match read(path) {
            Ok(text) => self.text(&text, &|at| Origin::File(Rc::clone(&name), line(&text, at))),
            Err(why) => {
                let text = format!("cannot read the configuration file {}: {why}", quoted(&name));
                self.mistakes.push(Mistake { origin: None, text });
            }
        }
    }

    fn text(&mut self, text: &str, origin: &dyn Fn(usize) -> Origin) {
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return self.table("", table.get_ref(), origin);
        }
        // What could be saved of a broken file may not be what was meant: its keys are not looked at.
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            let why = error.message().trim_end_matches(", expected nothing");
            self.wrong(origin(at), format!("this is not TOML: {why}"));
        }
    }

    fn table(&mut self, section: &str, table: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) {
        for (key, value) in table {
            let name =
                if section.is_empty() { key.get_ref().to_string() } else { format!("{section}.{}", key.get_ref()) };
            let from = origin(key.span().start);
            match (Key::index(&name), value.get_ref()) {
                (Some(index), value) => self.put(index, KEYS[index].kind.read_toml(value), from),
                (None, DeValue::Table(table)) if is_section(&name) => self.table(&name, table, origin),
                (None, _) if is_section(&name) => {
                    self.wrong(from, format!("{name} is a section; write [{name}] and its keys below it"));
                }
                (None, DeValue::Array(items)) if name == tokens::NAME => {
                    self.tables.tokens.extend(tokens::read(items, origin, &mut self.mistakes));
                }
                (None, DeValue::Array(items)) if name == routes::NAME => {
                    self.tables.routes.extend(routes::read(items, origin, &mut self.mistakes));
                }
                (None, DeValue::Array(items)) if name == relay::NAME => {
                    self.tables.relay_rules.extend(relay::read(items, origin, &mut self.mistakes));
                }
                (None, DeValue::Array(items)) if name == webhooks::NAME => {
                    self.tables.webhooks.extend(webhooks::read(items, origin, &mut self.mistakes));
                }
                (None, DeValue::Table(_)) => self.wrong(from, unknown(&name, "section")),
                (None, _) => self.wrong(from, unknown(&name, "key")),
            }
        }
    }

    fn variable(&mut self, name: &OsStr, value: &OsStr) {
        let (name, text) = (name.to_string_lossy(), value.to_string_lossy());
        let Some(key) = name.strip_prefix("POSTKEEP_").filter(|key| !OTHERS.contains(key)) else { return };
        if is_service_link(key, &text) {
            return;
        }
        let origin = Origin::Variable(name.escape_debug().to_string());
        match KEYS.iter().position(|key| key.variable() == name) {
            None => self.wrong(origin, unknown_variable(&name)),
            Some(index) if value.to_str().is_none() => self.wrong(origin, format!("{} is not UTF-8", KEYS[index].name)),
            Some(index) => self.put(index, KEYS[index].kind.read_text(&text), origin),
        }
    }

    fn setting(&mut self, setting: &str) {
        let Some((name, text)) = setting.split_once('=') else {
            let text = format!("{} has no =; write it as --set smtp.addr=127.0.0.1:2525", shown(setting));
            return self.wrong(Origin::Set, text);
        };
        match Key::index(name.trim()) {
            Some(index) => self.put(index, KEYS[index].kind.read_text(text), Origin::Set),
            None => self.wrong(Origin::Set, unknown(name.trim(), "key")),
        }
    }

    fn put(&mut self, index: usize, value: Result<Value, String>, origin: Origin) {
        match value {
            Ok(value) => self.values[index] = Some((value, origin)),
            Err(wrong) => self.wrong(origin, format!("{} {wrong}", KEYS[index].name)),
        }
    }

    fn wrong(&mut self, origin: Origin, text: String) {
        self.mistakes.push(Mistake { origin: Some(origin), text });
    }
}

/// The text of a file, or why not.
fn read(path: &Path) -> Result<String, String> {
    use std::io::ErrorKind::{InvalidData, IsADirectory, NotFound, PermissionDenied};
    use std::io::Read;
    let mut text = String::new();
    let file = std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    match file {
        Ok(_) if text.len() as u64 > FILE_BYTES_MAX => Err("it is larger than 4MiB, so it is hardly one".into()),
        Ok(_) => Ok(text),
        Err(error) => Err(match error.kind() {
            NotFound => "there is no such file; check --config and POSTKEEP_CONFIG".into(),
            PermissionDenied => "this user may not read it; change its permissions".into(),
            IsADirectory => "it is a directory; name the file in it".into(),
            InvalidData => "it is not UTF-8; save it as UTF-8".into(),
            _ => error.to_string(),
        }),
    }
}

/// The line of a byte, from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count()
}

/// Kubernetes and Docker describe a service called `postkeep` to every container beside it in variables that begin as
/// ours do. They are nobody's mistake.
fn is_service_link(key: &str, value: &str) -> bool {
    let behind = |word: &str| key.split_once(word).map(|(_, rest)| rest);
    let of_port = |rest: &str| rest.starts_with('_') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    let is_link = value.starts_with("tcp://") || value.starts_with("udp://");
    key.ends_with("SERVICE_HOST")
        || behind("SERVICE_PORT").is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        || behind("PORT").is_some_and(|rest| of_port(rest) || (rest.is_empty() && is_link))
}
