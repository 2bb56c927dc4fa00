//! Lists and their pages.

use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::message::Message;
use super::summary::Summary;

/// A page of messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageList {
    /// The messages.
    pub(crate) items: Vec<MessageItem>,
    /// How many there are in all; null where counting would read more than the page.
    pub(crate) total: Option<u64>,
    /// The next page, for `page`; null when this is the last.
    pub(crate) next: Option<String>,
    /// The place behind all that is there now, for `since`.
    pub(crate) cursor: String,
}

/// A message in a list.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum MessageItem {
    /// Its summary.
    Summary(Summary),
    /// All of it.
    Whole(Box<Message>),
    /// What was picked of either.
    Picked(Value),
}

/// `fields` says which members there are, so any may be missing.
impl PartialSchema for MessageItem {
    fn schema() -> RefOr<Schema> {
        let about = "A message in a list: its summary, or the members that `fields` names.";
        let members = properties(Summary::schema()).into_iter().chain(properties(Message::schema()));
        let item = ObjectBuilder::new().description(Some(about));
        members.fold(item, |item, (name, schema)| item.property(name, schema)).into()
    }
}

impl ToSchema for MessageItem {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Message::schemas(schemas);
    }
}

/// The members of an object, those of its parts among them; references are to what was told already.
fn properties(schema: RefOr<Schema>) -> Vec<(String, RefOr<Schema>)> {
    match schema {
        RefOr::T(Schema::Object(object)) => object.properties.into_iter().collect(),
        RefOr::T(Schema::AllOf(all)) => all.items.into_iter().flat_map(properties).collect(),
        _ => Vec::new(),
    }
}
