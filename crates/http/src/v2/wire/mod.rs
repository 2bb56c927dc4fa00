//! The shapes of v2: what is serialised is what the API's description tells. Nothing is looked up here.

pub(crate) mod fault;
pub(crate) mod list;
pub(crate) mod message;
pub(crate) mod summary;
pub(crate) mod wait;

use jiff::Timestamp;

/// A time as every answer writes it.
pub(crate) fn time(at: Timestamp) -> String {
    String::from_utf8_lossy(&mail::time::rfc3339(at)).into_owned()
}
