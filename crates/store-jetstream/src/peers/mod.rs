//! The other nodes over the same store. Each says every second that it is there, and one that comes asks who is; a
//! question goes to all of them and is answered by those who know its topic. Nothing of this is stored.
//!
//! Who is there is a matter of real time, whatever clock the mail goes by.

mod known;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::{Message, Subscriber};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use store::peers::Answerer;
use store::{Error, Gathered, Result};
use tokio::task::AbortHandle;

use crate::names::token_of;
use crate::office::Office;
use crate::record;
use crate::wire::{Failed, Failure};

use known::Known;

/// The other nodes.
pub(crate) struct Peers {
    office: Arc<Office>,
    known: Arc<Known>,
    beating: AbortHandle,
    /// Who answers here, by topic.
    answering: Mutex<HashMap<String, AbortHandle>>,
}

/// What one node wants to know of the others.
#[derive(Serialize, Deserialize)]
struct Question {
    asker: String,
    topic: String,
    question: Vec<u8>,
}

impl Peers {
    pub(crate) fn new(office: Arc<Office>) -> Self {
        let known = Arc::new(Known::default());
        let beating = tokio::spawn(known::beat(Arc::clone(&office), Arc::clone(&known))).abort_handle();
        Self { office, known, beating, answering: Mutex::default() }
    }

    fn subject(&self, topic: &str) -> String {
        self.office.names.below(&["nq", &token_of(topic)])
    }
}

#[async_trait]
impl store::Peers for Peers {
    async fn ask(&self, topic: &str, question: Bytes, within: Duration) -> Result<Gathered> {
        if !self.office.link.stands() || !self.known.settled().await {
            return Err(Error::try_later("there is no connection to a broker, so the other nodes cannot be asked"));
        }
        let asked = self.known.count();
        if asked == 0 {
            return Ok(Gathered::default());
        }
        let question = Question { asker: self.office.node.clone(), topic: topic.to_owned(), question: question.into() };
        let gathering = self.office.link.gather(self.subject(topic), record::write(&question), within, asked);
        let answers = gathering.await.map_err(|failure| Error::try_later(failure.to_string()))?;
        Ok(Gathered { asked, answers })
    }

    async fn answer(&self, topic: &str, answerer: Answerer) -> Result<()> {
        let (link, patience) = (&self.office.link, self.office.patience());
        let following = patience.of(|| link.follow(self.subject(topic))).await;
        let questions = following.map_err(Failed::into_harmless)?;
        // A broker that answers this has heard of that.
        let asking = patience.of(|| link.api::<serde_json::Value>("INFO", &serde_json::Value::Null)).await;
        asking.map_err(Failed::into_harmless)?;
        let answering = answer_all(Arc::clone(&self.office), topic.to_owned(), questions, answerer);
        let answering = tokio::spawn(answering).abort_handle();
        if let Some(before) = hold(&self.answering).insert(topic.to_owned(), answering) {
            before.abort();
        }
        Ok(())
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.beating.abort();
        hold(&self.answering).values().for_each(AbortHandle::abort);
    }
}

async fn answer_all(office: Arc<Office>, topic: String, mut questions: Subscriber, answerer: Answerer) {
    while let Some(message) = questions.next().await {
        if let Err(failure) = answer_one(&office, &topic, message, &answerer).await {
            tracing::warn!(topic, %failure, "a question of another node was not answered");
        }
    }
}

async fn answer_one(office: &Office, topic: &str, message: Message, answerer: &Answerer) -> Result<(), Failure> {
    let Ok(Question { asker, topic: asked, question }) = record::read(&message.payload) else { return Ok(()) };
    match message.reply {
        Some(reply) if asker != office.node && asked == topic => {
            office.link.tell(reply.to_string(), None, answerer(question.into())).await
        }
        _ => Ok(()),
    }
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
