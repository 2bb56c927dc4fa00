//! What must hold of a mail: as the API takes it, and as a person reads it.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::text::{plain, quoted};

/// Matchers, all of which must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Criteria {
    json: Map<String, Value>,
    told: Vec<String>,
}

impl Criteria {
    /// A matcher that is one word, such as `from`.
    pub(crate) fn word(&mut self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        self.told.push(format!("{name} {}", plain(&value)));
        self.json.insert(name.to_owned(), json!(value));
    }

    /// A matcher on text, with how it is compared.
    pub(crate) fn text(&mut self, name: &'static str, how: &'static str, value: impl Into<String>) {
        let value = value.into();
        let verb = if how == "regex" { "matches" } else { how };
        self.told.push(format!("{name} {verb} {}", quoted(&value)));
        self.json.insert(name.to_owned(), json!({how: value}));
    }

    pub(crate) fn header(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        self.told.push(format!("{}: {}", plain(&name), plain(&value)));
        self.json.entry("header").or_insert_with(|| json!({}))[name] = json!(value);
    }

    pub(crate) fn has(&mut self, what: impl Into<String>) {
        let what = what.into();
        let told = has(&what);
        if self.told.contains(&told) {
            return;
        }
        self.told.push(told);
        let list = self.json.entry("has").or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(json!(what)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.json.is_empty()
    }

    pub(crate) fn json(&self) -> Value {
        Value::Object(self.json.clone())
    }
}

/// `a code`, `a reset link`.
fn has(what: &str) -> String {
    match what.split_once(':') {
        Some(("link", kind)) => format!("a {} link", plain(kind)),
        _ if what == "attachment" => "an attachment".to_owned(),
        _ => format!("a {}", plain(what)),
    }
}

impl fmt::Display for Criteria {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.told.is_empty() { out.write_str("any mail") } else { out.write_str(&self.told.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_as_json_and_as_words() {
        let mut criteria = Criteria::default();
        assert_eq!((criteria.to_string().as_str(), criteria.is_empty()), ("any mail", true));
        criteria.text("subject", "contains", "Reset");
        criteria.text("body", "regex", "^a");
        criteria.word("from", "@shop.test");
        criteria.header("X-Run", "42");
        criteria.has("code");
        criteria.has("code");
        criteria.has("link:reset");
        let words = "subject contains \"Reset\", body matches \"^a\", from @shop.test, X-Run: 42, a code, a reset link";
        assert_eq!(criteria.to_string(), words);
        let expected = json!({"subject": {"contains": "Reset"}, "body": {"regex": "^a"}, "from": "@shop.test",
            "header": {"X-Run": "42"}, "has": ["code", "link:reset"]});
        assert_eq!(criteria.json(), expected);
    }
}
