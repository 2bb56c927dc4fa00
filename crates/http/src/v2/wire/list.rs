//! Lists and their pages.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A page of messages. What an item has beside a summary, or lacks of one, `fields` says.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageList {
    /// The messages.
    #[schema(value_type = Vec<serde_json::Map<String, Value>>)]
    pub(crate) items: Vec<Value>,
    /// How many there are in all; null where counting would read more than the page.
    pub(crate) total: Option<u64>,
    /// The next page, for `page`; null when this is the last.
    pub(crate) next: Option<String>,
    /// The place behind all that is there now, for `since`.
    pub(crate) cursor: String,
}
