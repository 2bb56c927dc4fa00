//! How the house's words stand in a record: as their texts, and read back by their own readers.

use std::fmt::Display;

use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Mailbox, MessageId};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

/// What has a text that it can be read from.
pub(super) trait Text: Sized + Display {
    fn read(text: &str) -> Option<Self>;
}

impl Text for Address {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text, Charset::Utf8).ok()
    }
}

impl Text for Mailbox {
    fn read(text: &str) -> Option<Self> {
        Some(Self::from_canonical(text))
    }
}

impl Text for MessageId {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Text for Timestamp {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

pub(super) fn serialize<T: Text, S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

pub(super) fn deserialize<'de, T: Text, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    read(&String::deserialize(from)?)
}

fn read<T: Text, E: Error>(text: &str) -> Result<T, E> {
    T::read(text).ok_or_else(|| E::custom("this is no such word"))
}

/// Or nothing.
pub(super) mod perhaps {
    use super::*;

    pub(in super::super) fn serialize<T: Text, S: Serializer>(value: &Option<T>, out: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(out)
    }

    pub(in super::super) fn deserialize<'de, T: Text, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        Option::<String>::deserialize(from)?.as_deref().map(read).transpose()
    }
}

/// Several.
pub(super) mod list {
    use super::*;

    pub(in super::super) fn serialize<T: Text, S: Serializer>(values: &[T], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(values.iter().map(ToString::to_string))
    }

    pub(in super::super) fn deserialize<'de, T: Text, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
        Vec::<String>::deserialize(from)?.iter().map(|text| read(text)).collect()
    }
}
