//! What a server says when it says no: a problem document (RFC 9457).

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::text::plain;

const PREFIX: &str = "urn:postkeep:problem:";

/// Why a server did not do what it was asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The status of the answer, such as 403.
    pub status: u16,
    /// Which problem it is, such as `inbox-expired`; empty when the server does not say.
    pub slug: String,
    /// The problem in a few words.
    pub title: String,
    /// What happened and what to do next.
    pub detail: String,
    json: Value,
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    detail: String,
}

impl Problem {
    /// Read one; none when this is no problem document.
    pub(crate) fn read(status: u16, body: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(body).ok()?;
        let wire = Wire::deserialize(&json).ok()?;
        let slug = wire.r#type.strip_prefix(PREFIX).unwrap_or_default().to_owned();
        (!wire.title.is_empty()).then_some(Self { status, slug, title: wire.title, detail: wire.detail, json })
    }

    /// The whole document.
    pub fn json(&self) -> &Value {
        &self.json
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = if self.detail.is_empty() { &self.title } else { &self.detail };
        write!(out, "the server says {}: {}", self.status, plain(detail))?;
        // Which parameter is wrong, where the server tells them one by one.
        for error in self.json["errors"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let word = |name: &str| error[name].as_str().unwrap_or_default();
            if !detail.contains(word("detail")) {
                write!(out, "\n  {}: {}", plain(word("name")), plain(word("detail")))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_with_what_to_do() {
        let body = br#"{"type":"urn:postkeep:problem:bad-request","title":"Bad request","status":400,
            "detail":"2 parameters are wrong.","errors":[{"in":"query","name":"subjct","detail":"did you mean subject?"}]}"#;
        let problem = Problem::read(400, body).unwrap();
        assert_eq!(problem.slug, "bad-request");
        assert_eq!(
            problem.to_string(),
            "the server says 400: 2 parameters are wrong.\n  subjct: did you mean subject?"
        );
    }

    #[test]
    fn nothing_is_told_twice() {
        let body = br#"{"title":"T","detail":"No such word.","errors":[{"name":"has","detail":"No such word."}]}"#;
        assert_eq!(Problem::read(400, body).unwrap().to_string(), "the server says 400: No such word.");
    }

    #[test]
    fn what_is_no_problem_document_is_none() {
        for body in ["", "<html>", "[]", "{}", "3"] {
            assert!(Problem::read(500, body.as_bytes()).is_none(), "{body}");
        }
    }
}
