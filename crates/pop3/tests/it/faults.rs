//! What breaks around a session: a store that fails, a mistake of our own, an UPDATE that a stop or a client walks into.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mail::{Mailbox, MessageId};
use net::Phase;
use store::{
    Abilities, Changes, Delivery, Error, Filed, Item, Listing, MailboxPage, MailboxState, Memory, NewJob, Outbox, Page,
    Peers, Position, RecentPage, Registry, Result, Scope, Store, Stored,
};
use tokio::sync::Semaphore;

use crate::rig::{Pop3, Rig, memory, settings};

/// A memory engine that goes wrong by the name of the mailbox, and deletes only when it is let.
struct Faulty {
    memory: Memory,
    /// A delete takes one of these.
    turns: Semaphore,
    deleting: AtomicBool,
}

impl Faulty {
    fn new() -> Arc<Self> {
        Arc::new(Self { memory: memory(), turns: Semaphore::new(0), deleting: AtomicBool::new(false) })
    }
}

/// What goes wrong with mailboxes of this name.
fn fault(mailbox: &Mailbox, id: MessageId) -> Result<()> {
    match mailbox.as_str() {
        "later" => Err(Error::try_later("the disk sleeps")),
        "full" => Err(Error::Full { what: "the disk".into() }),
        "damaged" => Err(Error::Damaged { mailbox: mailbox.clone(), id }),
        "unknown" => Err(Error::UnknownOutcome { why: "no answer".into() }),
        "panic" => panic!("a mistake of ours"),
        _ => Ok(()),
    }
}

#[async_trait]
impl Store for Faulty {
    fn abilities(&self) -> Abilities {
        self.memory.abilities()
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        self.memory.append(delivery).await
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        if mailbox.as_str() == "unlisted" {
            return Err(Error::try_later("the disk sleeps"));
        }
        self.memory.list(mailbox, page).await
    }

    async fn recent(&self, page: RecentPage) -> Result<Listing<Item>> {
        self.memory.recent(page).await
    }

    async fn mailboxes(&self, page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        self.memory.mailboxes(page).await
    }

    async fn position(&self, mailbox: &Mailbox) -> Result<Position> {
        self.memory.position(mailbox).await
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        fault(mailbox, id)?;
        self.memory.read(mailbox, id).await
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        fault(mailbox, ids[0])?;
        self.deleting.store(true, Ordering::SeqCst);
        self.turns.acquire().await.unwrap().forget();
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
        self.memory.peers()
    }
}

#[tokio::test]
async fn each_failure_of_the_store_is_told_honestly() {
    let store = Faulty::new();
    store.turns.add_permits(100);
    let rig = Rig::over(store, settings());
    for (mailbox, read, quit) in [
        ("later", "-ERR [SYS/TEMP] This cannot be done now", "-ERR [SYS/TEMP] This cannot be done now"),
        ("full", "-ERR [SYS/TEMP] This cannot be done now", "-ERR [SYS/TEMP] This cannot be done now"),
        ("damaged", "-ERR [SYS/PERM] This cannot be done", "-ERR [SYS/PERM] This cannot be done"),
        ("unknown", "-ERR [SYS/TEMP] This cannot be done now", "-ERR [SYS/TEMP] It is not known"),
        ("fine", "+OK", "+OK Bye; 1 message deleted"),
    ] {
        rig.put(mailbox, &b"Subject: x\r\n\r\n"[..]).await;
        let mut client = rig.pipe();
        client.sign_in(mailbox).await;
        let reply = client.ask("RETR 1").await;
        assert!(reply.starts_with(read), "{mailbox}: {reply}");
        if reply.starts_with("+OK") {
            client.body().await;
        }
        assert!(client.ok("DELE 1").await);
        let reply = client.ask("QUIT").await;
        assert!(reply.starts_with(quit), "{mailbox}: {reply}");
        assert_eq!(client.line().await, None, "{mailbox}: QUIT is the end");
        assert_eq!(rig.kept(mailbox).await, usize::from(mailbox != "fine"));
    }
}

#[tokio::test]
async fn a_mailbox_that_cannot_be_listed_lets_nobody_in() {
    let rig = Rig::over(Faulty::new(), settings());
    let mut client = rig.pipe();
    assert!(client.line().await.unwrap().starts_with("+OK"));
    assert!(client.ok("USER unlisted").await);
    assert!(client.ask("PASS x").await.starts_with("-ERR [SYS/TEMP] This cannot be done now"));
    assert!(client.ask("STAT").await.starts_with("-ERR Sign in first"));
    assert!(client.ok("USER box").await && client.ok("PASS x").await, "another one may do");
}

#[tokio::test]
async fn f26_a_panic_ends_one_session_and_nothing_else() {
    let rig = Rig::over(Faulty::new(), settings());
    rig.put("panic", &b"Subject: x\r\n\r\n"[..]).await;
    let mut bystander = rig.pipe();
    bystander.sign_in("box").await;
    let mut client = rig.pipe();
    client.sign_in("panic").await;
    assert!(client.ask("RETR 1").await.starts_with("-ERR [SYS/TEMP] This server made a mistake"));
    assert_eq!(client.line().await, None);
    assert!(bystander.ok("STAT").await);
    let mut next = rig.pipe();
    next.sign_in("box").await;
}

async fn until_deleting(store: &Faulty) {
    let begun = async {
        while !store.deleting.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::rig::PATIENCE, begun).await.expect("the delete begins");
}

#[tokio::test]
async fn t090_an_update_under_way_is_finished_when_the_program_stops() {
    let store = Faulty::new();
    let rig = Rig::over(Arc::clone(&store) as Arc<dyn Store>, settings());
    rig.put("box", &b"Subject: x\r\n\r\n"[..]).await;
    let mut client = rig.pipe();
    client.sign_in("box").await;
    assert!(client.ok("DELE 1").await);
    client.send(b"QUIT\r\n").await;
    until_deleting(&store).await;
    rig.stopper.advance(Phase::Draining);
    rig.stopper.advance(Phase::Ending);
    store.turns.add_permits(1);
    assert_eq!(client.lines().await, ["+OK Bye; 1 message deleted"]);
    assert_eq!(rig.kept("box").await, 0);
}

#[tokio::test]
async fn t090_an_update_under_way_is_finished_when_the_client_vanishes() {
    let store = Faulty::new();
    let mut rig = Rig::over(Arc::clone(&store) as Arc<dyn Store>, settings());
    for _ in 0..2 {
        rig.put("box", &b"Subject: x\r\n\r\n"[..]).await;
    }
    let mut client = rig.pipe();
    client.sign_in("box").await;
    client.send(b"DELE 1\r\nDELE 2\r\nQUIT\r\n").await;
    until_deleting(&store).await;
    drop(client);
    store.turns.add_permits(1);
    rig.all_ended().await;
    assert_eq!(rig.kept("box").await, 0, "all of it");
}
