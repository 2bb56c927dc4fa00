//! Which code and which link of a message is meant: the best one, if it is good enough and far enough ahead of the next.

use crate::error::Error;
use crate::message::{Code, Kind, Link, Message};
use crate::text::{plain, quoted};

/// From here on a candidate is believed.
const GOOD: f64 = 0.5;
/// So far the best must be ahead of the next.
const AHEAD: f64 = 0.15;

pub(crate) fn code(message: &Message) -> Result<&Code, Error> {
    let all: Vec<(&str, f64, &Code)> =
        message.codes.iter().map(|code| (code.value.as_str(), code.confidence, code)).collect();
    best("code", all, || no("code", message))
}

pub(crate) fn link(message: &Message, kind: Option<Kind>) -> Result<&Link, Error> {
    let wanted = |link: &&Link| kind.map_or(link.action, |kind| link.kind == kind);
    let links = message.links.iter().filter(wanted);
    let all = links.map(|link| (link.href.as_str(), link.confidence, link)).collect();
    best("link", all, || no(&kind.map_or("link".to_owned(), |kind| format!("{} link", kind.as_str())), message))
}

fn best<'a, T>(
    what: &'static str,
    mut all: Vec<(&'a str, f64, &'a T)>,
    none: impl FnOnce() -> String,
) -> Result<&'a T, Error> {
    all.retain(|(_, confidence, _)| *confidence >= GOOD);
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    let Some(&(value, confidence, first)) = all.first() else { return Err(Error::Missing(none())) };
    // The same value twice is no contradiction.
    let near: Vec<&str> =
        all.iter().filter(|next| next.0 != value && confidence - next.1 < AHEAD).map(|next| next.0).collect();
    if near.is_empty() {
        return Ok(first);
    }
    let mut candidates: Vec<String> = std::iter::once(value).chain(near).map(plain).collect();
    candidates.dedup();
    Err(Error::Ambiguous { what, candidates })
}

fn no(what: &str, message: &Message) -> String {
    let begin: String = message.text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    format!("the mail {} has no {what}; its text begins {}", quoted(&message.subject), quoted(&begin))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(codes: &[(&str, f64)], links: &[(&str, f64, &str, bool)]) -> Message {
        let codes: Vec<_> =
            codes.iter().map(|(value, confidence)| json!({"value": value, "confidence": confidence})).collect();
        let links: Vec<_> = links
            .iter()
            .map(|(href, confidence, kind, action)| json!({"href": href, "confidence": confidence, "kind": kind, "action": action}))
            .collect();
        serde_json::from_value(
            json!({"id": "1", "mailbox": "a", "receivedAt": "2026-11-14T09:30:00.123456+00:00", "size": 1,
            "subject": "Hi", "text": "Hello\nyou", "codes": codes, "links": links}),
        )
        .unwrap()
    }

    #[test]
    fn the_best_code_is_believed_when_it_is_ahead() {
        assert_eq!(message(&[("1", 0.99), ("2", 0.8)], &[]).code().unwrap(), "1");
        assert_eq!(message(&[("1", 0.9), ("1", 0.9), ("2", 0.4)], &[]).code().unwrap(), "1");
    }

    #[test]
    fn codes_that_are_close_are_all_told() {
        let error = message(&[("1", 0.9), ("2", 0.8), ("3", 0.3)], &[]).code().unwrap_err();
        assert_eq!(
            error.to_string(),
            "which code is meant is not clear: 1, 2; look at `codes` of the message and choose"
        );
    }

    #[test]
    fn a_mail_without_a_code_says_what_it_has() {
        for codes in [&[][..], &[("1", 0.49)]] {
            let error = message(codes, &[]).code().unwrap_err().to_string();
            assert_eq!(error, "the mail \"Hi\" has no code; its text begins \"Hello you\"");
        }
    }

    #[test]
    fn links_are_picked_by_action_or_kind() {
        let mail = message(&[], &[("https://a", 0.97, "verify", true), ("https://b", 0.9, "unsubscribe", false)]);
        assert_eq!(mail.link().unwrap(), "https://a");
        assert_eq!(mail.link_of(Kind::Unsubscribe).unwrap(), "https://b");
        assert!(mail.link_of(Kind::Reset).unwrap_err().to_string().contains("no reset link"));
    }
}
