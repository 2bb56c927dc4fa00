//! Tokens, for those who run the server.

use hyper::Method;
use serde_json::Value;

use crate::client::{Client, encoded};
use crate::error::Error;
use crate::http::Ask;

impl Client {
    /// The tokens that are good, as the server sends them: `{"items":[…]}`. It takes an admin's token.
    pub async fn list_tokens_json(&self) -> Result<Value, Error> {
        self.call(|| Ask::new(Method::GET, "/api/v2/tokens")).await?.json()
    }

    /// End a token, by its id. It takes an admin's token.
    pub async fn revoke_token(&self, id: &str) -> Result<(), Error> {
        let path = format!("/api/v2/tokens/{}", encoded(id));
        self.call(|| Ask::new(Method::DELETE, &path)).await?.good()?;
        Ok(())
    }
}
