//! The other nodes over the same store, and how to ask them what only they know.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;

/// Answers a question of another node.
pub type Answerer = Arc<dyn Fn(Bytes) -> Bytes + Send + Sync>;

/// What the others said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gathered {
    /// How many other nodes were asked.
    pub asked: usize,
    /// The answers of those that answered in time.
    pub answers: Vec<Bytes>,
}

/// The other nodes. An engine of a single node has none, and says so by `asked: 0`.
#[async_trait]
pub trait Peers: Send + Sync {
    /// Put a question to all others and gather what comes within a time.
    async fn ask(&self, topic: &str, question: Bytes, within: Duration) -> Result<Gathered>;

    /// Answer questions of others about a topic from now on.
    async fn answer(&self, topic: &str, answerer: Answerer) -> Result<()>;
}

/// No other nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

#[async_trait]
impl Peers for Alone {
    async fn ask(&self, _topic: &str, _question: Bytes, _within: Duration) -> Result<Gathered> {
        Ok(Gathered::default())
    }

    async fn answer(&self, _topic: &str, _answerer: Answerer) -> Result<()> {
        Ok(())
    }
}
