//! Who may ask for what: every route and every kind of caller, inboxes, tokens, logins, and who calls from elsewhere.

mod inboxes;
mod logins;
mod matrix;
mod origins;
mod server;
mod streams;
mod tokens;

use mailroom::access::rules::Configured;
use mailroom::access::{Keys, Mode, Rules, Scopes, Token};
use serde_json::Value;

use super::{Answer, House};
use crate::Settings;

/// Tokens of the configuration, by what they are good for.
struct Bunch(Vec<(&'static str, Token)>);

impl Bunch {
    fn new() -> Self {
        let scopes = ["admin:*", "ro:box", "ro:other", "rw:box", "rw,deliver:*"];
        Self(scopes.into_iter().map(|scope| (scope, Token::make().unwrap())).collect())
    }

    /// The token that is good for this.
    fn of(&self, scope: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == scope).unwrap().1.text()
    }

    fn rules(&self, mode: Mode) -> Rules {
        let configured = |(scope, token): &(&'static str, Token)| Configured {
            name: (*scope).to_owned(),
            digest: token.digest(),
            scopes: Scopes::parse([*scope], mail::Naming::Local).unwrap(),
            expires: None,
        };
        let tokens = self.0.iter().map(configured).collect();
        Rules { tokens, keys: Keys::make().ok(), failures_per_ip: None, ..mode.into() }
    }
}

async fn house(mode: Mode) -> (House, Bunch) {
    let bunch = Bunch::new();
    (House::ruled(bunch.rules(mode), Settings::default()).await, bunch)
}

fn bearer(secret: &str) -> String {
    format!("Authorization: Bearer {secret}\r\n")
}

impl House {
    /// One request with a body of JSON and these further fields.
    async fn send_json(&self, method: &str, path: &str, fields: &str, body: &str) -> Answer {
        let json = "Content-Type: application/json\r\n";
        let raw = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{json}Content-Length: {}\r\n{fields}\r\n{body}",
            self.addr,
            body.len()
        );
        Answer::read(&self.exchange(raw).await)
    }
}

fn value(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.text()))
}
