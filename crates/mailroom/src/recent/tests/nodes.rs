//! Nodes for tests: mailrooms over one memory engine, each of which sees one mailbox at a time and can ask the others.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use mail::{Mailbox, MessageId};
use store::list::{Item, Listing, MailboxPage, MailboxState, Page, RecentPage};
use store::outbox::{NewJob, Outbox};
use store::peers::{Answerer, Gathered, Peers};
use store::registry::Registry;
use store::{Abilities, Changes, Delivery, Error, Filed, Memory, Position, Result, Scope, Store, Stored};

use crate::{Mailroom, Settings};

/// Who is there, and who answers what.
#[derive(Default)]
pub(super) struct Board {
    answerers: Mutex<HashMap<(usize, String), Answerer>>,
    silent: Mutex<HashSet<usize>>,
}

impl Board {
    /// From now on this one does not answer.
    pub(super) fn silence(&self, number: usize) {
        self.silent.lock().unwrap().insert(number);
    }
}

/// One node's engine.
struct Narrow {
    memory: Arc<Memory>,
    line: Line,
}

struct Line {
    board: Arc<Board>,
    number: usize,
}

/// A node that has joined the others.
pub(super) async fn node(board: &Arc<Board>, memory: &Arc<Memory>, number: usize, settings: Settings) -> Arc<Mailroom> {
    let line = Line { board: Arc::clone(board), number };
    let room = Mailroom::new(Arc::new(Narrow { memory: Arc::clone(memory), line }), settings);
    room.join().await.unwrap();
    room
}

#[async_trait]
impl Peers for Line {
    async fn ask(&self, topic: &str, question: Bytes, _within: Duration) -> Result<Gathered> {
        let answerers = self.board.answerers.lock().unwrap();
        let others: Vec<_> = answerers.iter().filter(|((node, of), _)| *node != self.number && of == topic).collect();
        let silent = self.board.silent.lock().unwrap();
        let heard = others.iter().filter(|((node, _), _)| !silent.contains(node));
        Ok(Gathered { asked: others.len(), answers: heard.map(|(_, answer)| answer(question.clone())).collect() })
    }

    async fn answer(&self, topic: &str, answerer: Answerer) -> Result<()> {
        self.board.answerers.lock().unwrap().insert((self.number, topic.to_owned()), answerer);
        Ok(())
    }
}

#[async_trait]
impl Store for Narrow {
    fn abilities(&self) -> Abilities {
        Abilities { whole_view: false, ..self.memory.abilities() }
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        self.memory.append(delivery).await
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        self.memory.list(mailbox, page).await
    }

    async fn recent(&self, _page: RecentPage) -> Result<Listing<Item>> {
        Err(Error::Unsupported { what: "list all", instead: "list one" })
    }

    async fn mailboxes(&self, _page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        Err(Error::Unsupported { what: "list all", instead: "list one" })
    }

    async fn position(&self, mailbox: &Mailbox) -> Result<Position> {
        self.memory.position(mailbox).await
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        self.memory.read(mailbox, id).await
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        self.memory.delete(mailbox, ids, jobs).await
    }

    async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64> {
        self.memory.purge(mailbox, up_to, jobs).await
    }

    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes> {
        self.memory.changes(scope, after).await
    }

    fn outbox(&self) -> &dyn Outbox {
        self.memory.outbox()
    }

    fn registry(&self) -> &dyn Registry {
        self.memory.registry()
    }

    fn peers(&self) -> &dyn Peers {
        &self.line
    }
}
