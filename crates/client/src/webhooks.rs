//! Webhooks that were given up, for those who run the server.

use hyper::Method;
use serde_json::Value;

use crate::client::{Client, encoded};
use crate::error::Error;
use crate::http::Ask;

impl Client {
    /// The events that no target took, as the server sends them: `{"items":[…]}`. It takes an admin's token.
    pub async fn list_dead_webhooks_json(&self) -> Result<Value, Error> {
        self.call(|| Ask::new(Method::GET, "/api/v2/webhooks/dead")).await?.json()
    }

    /// Have one sent again, by its id. It takes an admin's token.
    pub async fn replay_webhook(&self, id: &str) -> Result<(), Error> {
        let path = format!("/api/v2/webhooks/dead/{}/replay", encoded(id));
        self.call(|| Ask::new(Method::POST, &path)).await?.good()?;
        Ok(())
    }
}
