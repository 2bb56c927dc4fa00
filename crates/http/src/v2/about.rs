//! What the API's description says of one operation. Its parameters are also those that it takes: another one is refused.

use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// One operation.
pub(crate) struct About {
    /// `listMessages`.
    pub(crate) id: &'static str,
    /// Some words.
    pub(crate) summary: &'static str,
    /// Some sentences.
    pub(crate) detail: &'static str,
    /// What the query may say.
    pub(crate) params: &'static [Param],
    /// The bodies it takes, by their types.
    pub(crate) bodies: &'static [(&'static str, Shape)],
    /// What it says when all is well.
    pub(crate) answers: &'static [Answer],
    /// The slugs of its own problems, beside those of every operation.
    pub(crate) problems: &'static [&'static str],
}

/// A parameter of the query.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// One sentence.
    pub(crate) about: &'static str,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A text that may be there several times.
    Texts,
    /// One of these.
    Word(&'static [&'static str]),
    /// A whole number.
    Number,
    /// `true` or `false`.
    Flag,
    /// As `10s`.
    #[allow(dead_code, reason = "for the operations that wait")]
    Duration,
}

/// One answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) about: &'static str,
    /// `application/json` or what else it is.
    pub(crate) media_type: &'static str,
    pub(crate) shape: Shape,
}

/// The form of a body.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// None at all.
    Nothing,
    /// Bytes of no told form.
    Bytes,
    /// A text.
    Text,
    /// JSON of no told form.
    Object,
    /// JSON of this form, with an example.
    Json {
        schema: fn() -> (String, RefOr<Schema>),
        others: fn(&mut Vec<(String, RefOr<Schema>)>),
        example: &'static str,
    },
}

impl Shape {
    /// JSON that is made from, or into, this type.
    pub(crate) const fn of<T: ToSchema>(example: &'static str) -> Self {
        Self::Json { schema: || (T::name().into_owned(), T::schema()), others: T::schemas, example }
    }
}

impl Param {
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about }
    }
}
