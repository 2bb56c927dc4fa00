//! What breaks around a session: clients that vanish at any byte, a store that fails, a mistake of our own.

use std::sync::Arc;

use async_trait::async_trait;
use mail::{Mailbox, MessageId};
use store::{
    Abilities, Changes, Delivery, Error, Filed, Item, Listing, MailboxPage, MailboxState, Memory, NewJob, Outbox, Page,
    Peers, Position, RecentPage, Registry, Result, Scope, Store, Stored, SystemClock,
};

use crate::rig::{Rig, Smtp, dial, settings};

const DIALOGUE: &[u8] = b"EHLO client.test\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<one@x.test>\r\nRCPT TO:<two@x.test>\r\n\
    DATA\r\nSubject: cut\r\n\r\nbody\r\n.\r\n";

#[tokio::test]
async fn f13_a_client_that_vanishes_at_any_byte_leaves_all_or_nothing() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    for sent in 0..=DIALOGUE.len() {
        let before = (rig.kept("one").await, rig.kept("two").await);
        let mut client = dial(port).await;
        client.send(&DIALOGUE[..sent]).await;
        client.end().await;
        let saw_250 = client.codes().await.len() == 7;
        let after = (rig.kept("one").await, rig.kept("two").await);
        assert_eq!(after.0 - before.0, after.1 - before.1, "{sent} bytes: both or none");
        assert_eq!(saw_250, sent == DIALOGUE.len(), "{sent} bytes");
        assert_eq!(after.0 - before.0, usize::from(saw_250), "{sent} bytes");
    }
}

/// A memory engine whose appends go wrong by the subject of the message.
struct Faulty(Memory);

#[async_trait]
impl Store for Faulty {
    fn abilities(&self) -> Abilities {
        self.0.abilities()
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        match delivery.digest.subject.as_str() {
            "later" => Err(Error::try_later("the disk sleeps")),
            "full" => Err(Error::Full { what: "the disk".into() }),
            "unknown" => Err(Error::UnknownOutcome { why: "no answer".into() }),
            "panic" => panic!("a mistake of ours"),
            _ => self.0.append(delivery).await,
        }
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        self.0.list(mailbox, page).await
    }

    async fn recent(&self, page: RecentPage) -> Result<Listing<Item>> {
        self.0.recent(page).await
    }

    async fn mailboxes(&self, page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        self.0.mailboxes(page).await
    }

    async fn position(&self, mailbox: &Mailbox) -> Result<Position> {
        self.0.position(mailbox).await
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        self.0.read(mailbox, id).await
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        self.0.delete(mailbox, ids, jobs).await
    }

    async fn purge(&self, mailbox: &Mailbox, up_to: Position, jobs: Vec<NewJob>) -> Result<u64> {
        self.0.purge(mailbox, up_to, jobs).await
    }

    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes> {
        self.0.changes(scope, after).await
    }

    fn outbox(&self) -> &dyn Outbox {
        self.0.outbox()
    }

    fn registry(&self) -> &dyn Registry {
        self.0.registry()
    }

    fn peers(&self) -> &dyn Peers {
        self.0.peers()
    }
}

#[tokio::test]
async fn each_failure_of_the_store_is_told_honestly() {
    let memory = Memory::new(store::memory::Settings::default(), Arc::new(SystemClock));
    let rig = Rig::over(Arc::new(Faulty(memory)), settings());
    for (subject, codes) in [
        ("later", vec![451, 250]),
        ("full", vec![452, 250]),
        ("unknown", vec![]),
        ("panic", vec![421]),
        ("fine", vec![250, 250]),
    ] {
        let mut client = rig.pipe();
        client.begin("box").await;
        assert_eq!(client.ask("DATA").await, Some(354));
        client.send(format!("Subject: {subject}\r\n\r\n.\r\nNOOP\r\n").as_bytes()).await;
        client.end().await;
        assert_eq!(client.codes().await, codes, "{subject}");
    }
    assert_eq!(rig.kept("box").await, 1, "only the fine one");
}

#[tokio::test]
async fn f26_a_panic_ends_one_session_and_nothing_else() {
    let memory = Memory::new(store::memory::Settings::default(), Arc::new(SystemClock));
    let rig = Rig::over(Arc::new(Faulty(memory)), settings());
    let mut bystander = rig.pipe();
    bystander.begin("bystander").await;
    let mut client = rig.pipe();
    client.begin("box").await;
    assert_eq!(client.ask("DATA").await, Some(354));
    client.send(b"Subject: panic\r\n\r\n.\r\n").await;
    assert_eq!(client.codes().await, [421]);
    assert_eq!(bystander.ask("DATA").await, Some(354));
    assert_eq!(bystander.ask(".").await, Some(250));
    assert_eq!(rig.kept("bystander").await, 1);
}
