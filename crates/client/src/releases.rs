//! Messages released to real people, and what became of them.

use hyper::Method;
use serde_json::{Value, json};

use crate::client::{Client, encoded, message_path};
use crate::error::Error;
use crate::http::Ask;

impl Client {
    /// Release a message, by its id or `latest`, to these recipients: as the server answers it.
    ///
    /// It is asked for once, also when no answer comes: [`Client::list_releases_json`] tells whether it was.
    pub async fn release_json(
        &self,
        mailbox: &str,
        id: &str,
        to: &[String],
        from: Option<&str>,
    ) -> Result<Value, Error> {
        let (path, body) = (message_path(mailbox, id, "/release"), json!({ "to": to, "from": from }));
        self.call_once(Ask::new(Method::POST, path).json(&body)).await?.json()
    }

    /// Releases, newest first, as the server sends them: `{"items":[…]}`.
    pub async fn list_releases_json(&self, mailbox: Option<&str>, limit: Option<u32>) -> Result<Value, Error> {
        let mut words: Vec<String> = mailbox.map(|name| format!("mailbox={}", encoded(name))).into_iter().collect();
        words.extend(limit.map(|limit| format!("limit={limit}")));
        let query = if words.is_empty() { String::new() } else { format!("?{}", words.join("&")) };
        self.call(|| Ask::get(format!("/api/v2/releases{query}"))).await?.json()
    }

    /// What became of one, as the server sends it.
    pub async fn read_release_json(&self, id: &str) -> Result<Value, Error> {
        self.call(|| Ask::get(format!("/api/v2/releases/{}", encoded(id)))).await?.json()
    }
}
