//! The frames as Inbucket's clients read them. Nothing is looked up here.

use std::collections::HashSet;

use mail::{Mailbox, MessageId, Summary};
use mailroom::Change;

use super::Dialect;
use crate::json::Json;

/// The messages that were told at the beginning.
pub(super) type Told = HashSet<(Mailbox, MessageId)>;

/// What happened, if there is a word for it and it was not told yet. Of a mailbox that was emptied Inbucket tells message
/// by message, and whose ids they were is known to nobody by then.
pub(super) fn of(dialect: Dialect, name: &str, change: &Change, told: &Told) -> Option<String> {
    match change {
        Change::Delivered { mailbox, summary } if told.contains(&(mailbox.clone(), summary.id)) => None,
        Change::Delivered { summary, .. } => Some(stored(dialect, name, summary)),
        Change::Deleted { id, .. } => deleted(dialect, name, *id),
        Change::Purged { .. } => None,
    }
}

/// A message came.
pub(super) fn stored(dialect: Dialect, mailbox: &str, summary: &Summary) -> String {
    let mut json = Json::with_capacity(320 + mailbox.len() + summary.subject.len());
    if dialect == Dialect::V1 {
        header(&mut json, mailbox, summary);
        return text(json);
    }
    json.raw(r#"{"variant":"message-stored","identifier":null,"header":"#);
    header(&mut json, mailbox, summary);
    json.raw("}");
    text(json)
}

/// A message was deleted; the first dialect has no word for it.
fn deleted(dialect: Dialect, mailbox: &str, id: MessageId) -> Option<String> {
    if dialect == Dialect::V1 {
        return None;
    }
    let mut json = Json::with_capacity(112 + mailbox.len());
    json.raw(r#"{"variant":"message-deleted","identifier":{"mailbox":"#).string(mailbox);
    json.raw(r#","id":""#).plain(&id.digits()).raw(r#""},"header":null}"#);
    Some(text(json))
}

/// The header of a message in Inbucket's lists. Who it is to is what led it here: a summary does not have the field To,
/// and Inbucket takes the recipients as well where that is missing.
fn header(json: &mut Json, mailbox: &str, summary: &Summary) {
    json.raw(r#"{"mailbox":"#).string(mailbox).raw(r#","id":""#).plain(&summary.id.digits());
    json.raw(r#"","from":""#);
    if !summary.from.name.is_empty() {
        json.escaped(&summary.from.name).raw(" ");
    }
    json.raw("<").escaped(&summary.from.email).raw(r#">","to":["#);
    json.list(&summary.rcpt_to, |json, address| {
        json.raw("\"<").escaped(&address.to_string()).raw(">\"");
    });
    json.raw(r#"],"subject":"#).string(&summary.subject);
    json.raw(r#","date":""#).plain(&mail::time::rfc3339(summary.received_at)).raw(r#"","posix-millis":"#);
    json.number(u64::try_from(summary.received_at.as_millisecond()).unwrap_or(0));
    json.raw(r#","size":"#).number(summary.size).raw(r#","seen":false}"#);
}

fn text(json: Json) -> String {
    String::from_utf8(json.into_bytes()).expect("the writer writes UTF-8")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mail::{Author, ReversePath, TransactionId};
    use mailroom::Position;

    use super::*;

    fn summary(id: u64) -> Arc<Summary> {
        Arc::new(Summary {
            id: MessageId::new(id),
            received_at: jiff::Timestamp::UNIX_EPOCH,
            size: 7,
            from: Author { name: String::new(), email: "a@b.test".into() },
            subject: "\"hi\"\n".into(),
            mail_from: ReversePath(None),
            rcpt_to: Vec::new(),
            transaction: TransactionId::new(1),
            other_recipients: 0,
            expires: None,
            tags: Vec::new(),
        })
    }

    #[test]
    fn what_was_told_at_the_beginning_is_not_told_again() {
        let mailbox = Mailbox::from_canonical("box");
        let told = Told::from([(mailbox.clone(), MessageId::new(5))]);
        let came = |id| Change::Delivered { mailbox: mailbox.clone(), summary: summary(id) };
        assert_eq!(of(Dialect::V1, "box", &came(5), &told), None);
        assert!(of(Dialect::V1, "box", &came(6), &told).is_some());
        let (id, position) = (MessageId::new(5), Position(7));
        let gone = Change::Deleted { mailbox, id, position };
        assert_eq!(of(Dialect::V1, "box", &gone, &told), None, "there is no word for it");
        assert!(of(Dialect::V2, "box", &gone, &told).is_some());
    }

    #[test]
    fn a_sender_without_a_name_stands_in_brackets() {
        let value: serde_json::Value = serde_json::from_str(&stored(Dialect::V1, "box", &summary(1))).unwrap();
        assert_eq!((&value["from"], &value["subject"]), (&"<a@b.test>".into(), &"\"hi\"\n".into()));
        assert_eq!((&value["posix-millis"], &value["to"]), (&0.into(), &serde_json::json!([])));
    }
}
