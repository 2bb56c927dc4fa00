//! Which members of a message a list shows: `fields=id,codes` picks, `*` is all, and none is the summary.

use super::params::{Params, nearest, refuse};
use super::wire::list::MessageItem;
use crate::problem::{Mistake, Problem};

/// The members of a summary, which lie beside the messages.
const SUMMARY: [&str; 10] =
    ["id", "mailbox", "receivedAt", "size", "envelope", "from", "subject", "tags", "transaction", "otherRecipients"];
/// The members for which a message is read.
const FULL: [&str; 22] = [
    "transport",
    "to",
    "cc",
    "bcc",
    "replyTo",
    "messageId",
    "sentAt",
    "text",
    "preview",
    "textSource",
    "html",
    "htmlSize",
    "remoteContent",
    "truncated",
    "headers",
    "parts",
    "attachments",
    "codes",
    "links",
    "unsubscribe",
    "defects",
    "url",
];

/// What was picked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fields {
    /// The summary.
    Summary,
    /// All there is.
    All,
    /// These.
    Picked(Vec<&'static str>),
}

impl Fields {
    /// From the parameter `fields`.
    pub(crate) fn read(params: &Params<'_>) -> Result<Self, Problem> {
        let Some(text) = params.exact("fields") else { return Ok(Self::Summary) };
        if text == "*" {
            return Ok(Self::All);
        }
        if text.is_empty() {
            return Err(refuse("fields", "It is empty. Name members with commas between, or leave it out."));
        }
        text.split(',').map(known).collect::<Result<_, _>>().map(Self::Picked)
    }

    /// Whether more is shown than the summary has.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Self::Summary => false,
            Self::All => true,
            Self::Picked(names) => names.iter().any(|name| !SUMMARY.contains(name)),
        }
    }

    /// Leave out what was not picked.
    pub(crate) fn pick(&self, item: MessageItem) -> MessageItem {
        let Self::Picked(names) = self else { return item };
        let mut picked = serde_json::to_value(item).unwrap_or_default();
        if let Some(members) = picked.as_object_mut() {
            members.retain(|name, _| names.contains(&name.as_str()));
        }
        MessageItem::Picked(picked)
    }
}

fn known(name: &str) -> Result<&'static str, Problem> {
    let all = || SUMMARY.into_iter().chain(FULL);
    let name = name.trim();
    all().find(|known| *known == name).ok_or_else(|| {
        let nearest = nearest(name, all());
        let hint =
            nearest.map_or_else(|| "Take members of a message.".to_owned(), |meant| format!("Did you mean {meant}?"));
        let shown: String = name.chars().take(64).collect();
        let detail = format!("A message has no member {shown:?}. {hint}");
        Problem::mistakes(&[Mistake {
            place: "query",
            name: "fields".to_owned(),
            detail,
            nearest: nearest.map(str::to_owned),
        }])
    })
}
