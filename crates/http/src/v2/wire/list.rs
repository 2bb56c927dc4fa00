//! Lists and their pages.

use mailroom::Nodes;
use mailroom::search::Told;
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
    /// How the search went; not there when nothing was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) search: Option<Search>,
}

/// A page of messages of all mailboxes.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecentList {
    /// The messages, newest first.
    pub(crate) items: Vec<MessageItem>,
    /// How many there are in all; null where that is not known.
    pub(crate) total: Option<u64>,
    /// The next page, for `page`; null when this is the last.
    pub(crate) next: Option<String>,
    /// The place behind all that is there now, for `since`; null where there is none among all mailboxes.
    pub(crate) cursor: Option<String>,
    /// Who told it.
    pub(crate) scope: Reach,
    /// How the search went; not there when nothing was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) search: Option<Search>,
}

/// Who was asked for what lies in all mailboxes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reach {
    /// Whether nothing can be missing.
    complete: bool,
    /// How many nodes were asked.
    nodes_asked: usize,
    /// How many answered in time.
    nodes_answered: usize,
}

/// How a search went.
#[derive(Serialize, ToSchema)]
pub(crate) struct Search {
    /// `index`, `scan`, or `rings`: what the nodes remember.
    engine: &'static str,
    /// `mailbox`, `all`, or `recent`: what was delivered lately.
    scope: &'static str,
    /// How many messages were looked at.
    scanned: u64,
    /// Whether all that was asked for was looked at.
    complete: bool,
    /// What kept it from that, and what to do.
    reason: Option<&'static str>,
}

impl From<Nodes> for Reach {
    fn from(nodes: Nodes) -> Self {
        Self { complete: nodes.complete, nodes_asked: nodes.asked, nodes_answered: nodes.answered }
    }
}

impl From<Told> for Search {
    fn from(told: Told) -> Self {
        let Told { engine, scope, scanned, complete, reason } = told;
        Self { engine, scope, scanned, complete, reason }
    }
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
