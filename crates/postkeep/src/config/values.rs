//! Values: how each kind of key reads what was written, and how it is written back. Knows kinds, not keys.

pub(crate) mod brokers;
mod texts;
mod units;

use std::fmt;
use std::time::Duration;

use toml::de::{DeArray, DeInteger, DeValue};

use super::keys::Kind;

pub(crate) use texts::{is_hostname, resolver};
pub(crate) use units::{Size, Time, rate, time};

/// A value that was understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A text or a word.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A number.
    Count(u64),
    /// A number of bytes.
    Size(u64),
    /// A duration.
    Time(Duration),
    /// Texts.
    List(Vec<String>),
    /// Texts of which there is mostly one.
    Some(Vec<String>),
}

/// What everybody may be let do with a mailbox in public mode.
const READS: [&str; 6] = ["list", "read", "wait", "watch", "delete", "purge"];

/// What is wrong with a value, as the rest of a sentence that begins with its key.
pub(crate) type Wrong = String;

impl Kind {
    /// Read a value of the environment or the command line: there the kind decides what a text is.
    pub(crate) fn read_text(self, text: &str) -> Result<Value, Wrong> {
        let text = text.trim();
        match self {
            Self::Flag => match text {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(self.wants(&quoted(text))),
            },
            Self::Count { .. } | Self::Number(_) => match text.parse() {
                Ok(number) => self.bounded(Value::Count(number)),
                Err(_) => Err(self.wants(&quoted(text))),
            },
            _ if self.is_list() => self.list(text.split(',').map(str::trim).filter(|item| !item.is_empty())),
            _ => self.written(text),
        }
    }

    /// Read a value of a file.
    pub(crate) fn read_toml(self, value: &DeValue<'_>) -> Result<Value, Wrong> {
        match (self, value) {
            (Self::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
            (Self::Count { .. } | Self::Number(_), DeValue::Integer(number)) => match unsigned(number) {
                Some(number) => self.bounded(Value::Count(number)),
                None => Err(self.wants(&number.to_string())),
            },
            (Self::Size { .. }, DeValue::Integer(number)) => match unsigned(number) {
                Some(bytes) => self.bounded(Value::Size(bytes)),
                None => Err(self.wants(&number.to_string())),
            },
            (Self::Time { .. }, DeValue::Integer(number)) => match unsigned(number) {
                Some(0) => self.bounded(Value::Time(Duration::ZERO)),
                _ => Err(self.wants(&format!("{number} without a unit"))),
            },
            (_, DeValue::Array(items)) if self.is_list() => self.list_toml(items),
            (Self::Addrs, DeValue::String(text)) => self.read_text(text),
            (_, DeValue::String(text)) if self.is_list() => {
                Err(self.wants(&format!("{} without brackets", self.quoted(text))))
            }
            (Self::Flag | Self::Count { .. } | Self::Number(_), _) => Err(self.wants(&described(value))),
            (_, DeValue::String(text)) => self.written(text),
            _ => Err(self.wants(&described(value))),
        }
    }

    fn is_list(self) -> bool {
        use Kind::{Addrs, Brokers, Domains, Hosts, Names, Networks, Origins, Recipients, Resolvers, Scopes, Verbs};
        matches!(self, Addrs | Brokers | Domains | Hosts | Names | Networks | Origins | Resolvers | Scopes | Verbs)
            || matches!(self, Recipients)
    }

    fn list_toml(self, items: &DeArray<'_>) -> Result<Value, Wrong> {
        let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
        match texts {
            Some(texts) => self.list(texts.into_iter()),
            None => Err(self.wants("a list that holds something else than texts")),
        }
    }

    fn list<'a>(self, items: impl Iterator<Item = &'a str>) -> Result<Value, Wrong> {
        let items: Vec<String> = items.map(|item| self.text(item)).collect::<Result<_, _>>()?;
        match self {
            Self::Brokers if items.is_empty() => Err(self.wants("an empty list")),
            Self::Addrs => Ok(Value::Some(items)),
            _ => Ok(Value::List(items)),
        }
    }

    /// A value that is written as text in a file as well.
    fn written(self, text: &str) -> Result<Value, Wrong> {
        match self {
            Self::Size { .. } => match units::size(text) {
                Some(bytes) => self.bounded(Value::Size(bytes)),
                None => Err(self.wants(&quoted(text))),
            },
            Self::Time { .. } => match units::time(text) {
                Some(time) => self.bounded(Value::Time(time)),
                None => Err(self.wants(&quoted(text))),
            },
            _ => self.text(text).map(Value::Text),
        }
    }

    /// A text of this kind, or one item of a list of this kind.
    fn text(self, text: &str) -> Result<String, Wrong> {
        let understood = match self {
            Self::Addrs => texts::place(text),
            Self::Hostname => texts::hostname(text),
            Self::Host => texts::dialled(text),
            Self::User => texts::user(text),
            Self::Recipients => return self.parsed(text, mailroom::outgoing::relay::Allowed::parse),
            Self::Path => texts::path(text).filter(|path| !path.is_empty()),
            Self::File => texts::path(text),
            Self::Brokers => brokers::url(text),
            Self::Prefix => texts::prefix(text),
            Self::Label => texts::label(text),
            Self::Hosts => texts::host(text),
            Self::Networks => net::Network::parse(text).map(|_| text.to_owned()),
            Self::Names => texts::subject(text),
            Self::Resolvers => texts::resolver(text).map(|_| text.to_owned()),
            Self::Email => texts::email(text),
            Self::Rate => units::rate(text).map(|_| text.to_owned()),
            Self::Choice(words) => words.contains(&text).then(|| text.to_owned()),
            Self::Origins => texts::origin(text),
            Self::Verbs => READS.contains(&text).then(|| text.to_owned()),
            Self::Scopes => Some(text.to_owned()).filter(|text| text.contains(':')),
            Self::Field => texts::field(text),
            Self::Domain => texts::hostname(text).filter(|name| !name.is_empty()),
            Self::Url if text.is_empty() => Some(String::new()),
            Self::Url => return self.parsed(text, web::PublicUrl::parse),
            Self::Domains => return self.parsed(text, str::parse::<mailroom::policy::Pattern>),
            Self::Flag | Self::Size { .. } | Self::Count { .. } | Self::Number(_) | Self::Time { .. } => None,
        };
        understood.ok_or_else(|| self.wants(&self.quoted(text)))
    }

    /// What somebody wrote, fit for a terminal and for a log.
    fn quoted(self, text: &str) -> String {
        match self {
            Self::Brokers => quoted(&brokers::hidden(text)),
            _ => quoted(text),
        }
    }

    /// A value of this kind without what is secret in it.
    pub(crate) fn hidden(self, value: &Value) -> Value {
        match (self, value) {
            (Self::Brokers, Value::List(urls)) => Value::List(urls.iter().map(|url| brokers::hidden(url)).collect()),
            _ => value.clone(),
        }
    }

    /// A text that the room it belongs to understands, or says why not.
    fn parsed<T, E: fmt::Display>(self, text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<String, Wrong> {
        match parse(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(why) => Err(format!("{}: {why}", self.wants(&quoted(text)))),
        }
    }

    fn bounded(self, value: Value) -> Result<Value, Wrong> {
        let (sound, min, max) = match (self, &value) {
            (Self::Size { min, max }, Value::Size(size)) => {
                ((min..=max).contains(size), Size(min).to_string(), Size(max).to_string())
            }
            (Self::Count { min, max }, Value::Count(count)) => {
                ((min..=max).contains(count), min.to_string(), max.to_string())
            }
            (Self::Number(numbers), Value::Count(count)) => {
                let sound = numbers.contains(count);
                return if sound { Ok(value) } else { Err(self.wants(&value.plain())) };
            }
            (Self::Time { min, max }, Value::Time(time)) => {
                ((min..=max).contains(time), Time(min).to_string(), Time(max).to_string())
            }
            _ => return Ok(value),
        };
        if sound { Ok(value) } else { Err(format!("takes {min} to {max}, not {}", value.plain())) }
    }

    /// What this kind takes, and that this was something else.
    fn wants(self, given: &str) -> Wrong {
        match self {
            Self::Addrs => {
                format!(
                    "takes an address such as \"127.0.0.1:1025\", \"[::1]:0\" or \"unix:/run/mail.sock\", not {given}"
                )
            }
            Self::Hostname => format!("takes a host name such as \"mail.example.com\", not {given}"),
            Self::Host => format!("takes a host such as \"smtp.example.com\" or \"192.0.2.1\", not {given}"),
            Self::User => format!("takes a name of up to 255 bytes on one line such as \"postkeep\", not {given}"),
            Self::Recipients => {
                format!("takes a list of addresses such as \"alice@example.com\" or \"*@example.com\", not {given}")
            }
            Self::Path => format!("takes a path such as \"/var/lib/postkeep\", not {given}"),
            Self::File => format!("takes the path of a file such as \"/etc/postkeep/user.creds\", not {given}"),
            Self::Url => format!("takes a URL such as \"https://mail.example.com/prefix\", not {given}"),
            Self::Label => {
                format!("takes a name of up to 40 characters on one line such as \"staging-eu\", not {given}")
            }
            Self::Hosts => {
                format!("takes a list of names such as \"mail.example.com\" or \"*.example.com\", not {given}")
            }
            Self::Networks => format!("takes a list of networks such as \"10.0.0.0/8\" or \"::1\", not {given}"),
            Self::Names => format!("takes a list of names such as \"mail.example.com\" or \"192.0.2.1\", not {given}"),
            Self::Resolvers => format!("takes a list of servers such as \"192.0.2.53\" or \"[::1]:5353\", not {given}"),
            Self::Email => format!("takes an address such as \"postmaster@example.com\", not {given}"),
            Self::Rate => format!("takes a rate such as \"100/1m\" or \"100MiB/1h\", or \"off\", not {given}"),
            Self::Domains => format!("takes a list of domains such as \"example.com\" or \"*.test\", not {given}"),
            Self::Brokers => format!(
                "takes a list of brokers such as \"nats://127.0.0.1:4222\" or \"tls://user:password@nats.example.com\", not {given}"
            ),
            Self::Prefix => format!("takes up to 32 lower-case letters, digits and hyphens, not {given}"),
            Self::Origins => format!("takes a list of origins such as \"https://app.example.com:8443\", not {given}"),
            Self::Verbs => format!("takes a list of \"{}\", not {given}", READS.join("\", \"")),
            Self::Scopes => format!("takes a list of scopes such as \"ro:ci-*\", not {given}"),
            Self::Field => format!("takes the name of a field such as \"X-Forwarded-User\", not {given}"),
            Self::Domain => format!("takes a domain such as \"inbox.example.com\", not {given}"),
            Self::Choice([only]) => format!("knows only \"{only}\" in this version, not {given}"),
            Self::Choice(words) => format!("takes one of \"{}\", not {given}", words.join("\", \"")),
            Self::Flag => format!("takes true or false, not {given}"),
            Self::Size { .. } => format!("takes a size such as \"25MiB\" or 1000000, not {given}"),
            Self::Count { .. } => format!("takes a whole number, not {given}"),
            Self::Number(numbers) => {
                let words: Vec<_> = numbers.iter().map(u64::to_string).collect();
                format!("takes one of {}, not {given}", words.join(", "))
            }
            Self::Time { .. } => format!("takes a duration such as \"5m\" or \"1h30m\", not {given}"),
        }
    }
}

impl Value {
    /// As a person writes it, without quotes.
    fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => flag.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Size(bytes) => Size(*bytes).to_string(),
            Self::Time(time) => Time(*time).to_string(),
            Self::List(items) | Self::Some(items) => items.join(", "),
        }
    }
}

/// As TOML.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self {
            Self::Flag(flag) => toml::Value::from(*flag),
            Self::Count(count) => return count.fmt(out),
            Self::List(items) => toml::Value::from(items.clone()),
            Self::Some(items) if items.len() > 1 => toml::Value::from(items.clone()),
            _ => toml::Value::from(self.plain()),
        };
        value.fmt(out)
    }
}

fn unsigned(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// What somebody wrote, fit for a terminal.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_MAX: usize = 80;
    let cut = text.char_indices().nth(SHOWN_MAX).map_or(text, |(at, _)| &text[..at]);
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("\"{}{dots}\"", cut.escape_debug())
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}
