//! For tests: an engine small enough to be seen through, and with handles to make it fail; and words to speak to it.
//!
//! It keeps no jobs, and searches nothing.

mod tests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Door, Envelope, Mailbox, MessageId, Recipient, ReversePath, Summary, Transport};
use store::list::{Item, Listing, MailboxPage, MailboxState, Order, Page, RecentPage};
use store::outbox::{NewJob, Outbox};
use store::peers::{Alone, Peers};
use store::registry::Registry;
use store::{Abilities, Change, Changes, Delivery, Error, Filed, News, Position, Result, Scope, Store, Stored};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{Caller, Event, Mailroom, Parcel, Settings, Watch};

/// Somebody without a credential.
pub(crate) const ANYBODY: Caller = Caller::Anonymous { peer: None };

/// The engine.
#[derive(Default)]
pub(crate) struct Stub {
    kept: Mutex<Kept>,
    /// Keeps the records.
    records: OnceLock<Box<dyn Store>>,
    /// What the next appends fail with.
    pub(crate) append_errors: Mutex<VecDeque<Error>>,
    /// So many of the next reads and deletes find nothing, as if somebody had been faster.
    pub(crate) vanish: AtomicUsize,
    /// A message that arrives between the question for a position and the purge.
    pub(crate) arrives_before_purge: Mutex<Option<Delivery>>,
    /// Whether everything but an append fails.
    pub(crate) down: AtomicBool,
    /// Whether it has an order of changes for each mailbox, and none of all.
    narrow: bool,
    /// Whether a question for a stream waits until this is false again, and how many do.
    pub(crate) slow: AtomicBool,
    pub(crate) asking: AtomicUsize,
    /// Every stream that was ever opened: of what, from where on.
    pub(crate) opened: Mutex<Vec<(Scope, Position)>>,
}

#[derive(Default)]
struct Kept {
    last: u64,
    messages: Vec<(Mailbox, Stored)>,
    /// Everything that changed.
    changes: Vec<Change>,
    /// The last change that is not told anew.
    forgotten: Position,
    streams: Vec<(Scope, UnboundedSender<News>)>,
}

impl Stub {
    /// Tell every open stream that it lost changes.
    pub(crate) fn lose(&self, position: Position) {
        self.kept.lock().unwrap().streams.retain(|(_, stream)| stream.send(News::Lost { position }).is_ok());
    }

    /// Forget what changed: who asks for it is told so.
    pub(crate) fn forget(&self) {
        let mut kept = self.kept.lock().unwrap();
        kept.forgotten = Position(kept.last);
    }

    /// End every stream.
    pub(crate) fn end_streams(&self) {
        self.kept.lock().unwrap().streams.clear();
    }

    /// How many streams are held by somebody.
    pub(crate) fn streams(&self) -> usize {
        self.kept.lock().unwrap().streams.iter().filter(|(_, stream)| !stream.is_closed()).count()
    }

    /// How many messages lie there.
    pub(crate) fn messages(&self) -> usize {
        self.kept.lock().unwrap().messages.len()
    }

    fn up(&self) -> Result<()> {
        if self.down.load(SeqCst) { Err(Error::try_later("down")) } else { Ok(()) }
    }

    fn vanished(&self) -> bool {
        self.vanish.try_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

impl Kept {
    fn say(&mut self, change: Change) {
        let is_told = |scope: &Scope| covers(scope, &change);
        self.streams.retain(|(scope, stream)| !is_told(scope) || stream.send(change.clone().into()).is_ok());
        self.changes.push(change);
    }

    /// A stream that begins with what changed since a position.
    fn follow(&mut self, scope: Scope, after: Position) -> UnboundedReceiver<News> {
        let (sender, receiver) = unbounded_channel();
        let mut past = self.changes.iter().filter(|change| change.position() > after && covers(&scope, change));
        if after < self.forgotten {
            sender.send(News::Lost { position: Position(self.last) }).unwrap();
        } else {
            past.try_for_each(|change| sender.send(change.clone().into())).unwrap();
        }
        self.streams.push((scope, sender));
        receiver
    }

    fn next(&mut self) -> Position {
        self.last += 1;
        Position(self.last)
    }

    fn append(&mut self, delivery: Delivery) -> Vec<Filed> {
        let mut filed = Vec::new();
        for copy in &delivery.copies {
            let id = MessageId::new(self.next().0);
            let summary = Arc::new(summary(id, &delivery, copy));
            let message = Stored {
                summary: Arc::clone(&summary),
                envelope: Arc::clone(&delivery.envelope),
                raw: delivery.raw.clone(),
            };
            self.messages.push((copy.mailbox.clone(), message));
            self.say(Change::Delivered { mailbox: copy.mailbox.clone(), summary });
            filed.push(Filed { mailbox: copy.mailbox.clone(), id });
        }
        filed
    }

    /// Take out what a condition names; its ids.
    fn remove(&mut self, mailbox: &Mailbox, condition: impl Fn(MessageId) -> bool) -> Vec<MessageId> {
        let gone = |held: &(Mailbox, Stored)| held.0 == *mailbox && condition(held.1.summary.id);
        let ids = self.messages.iter().filter(|held| gone(held)).map(|held| held.1.summary.id).collect();
        self.messages.retain(|held| !gone(held));
        ids
    }
}

fn covers(scope: &Scope, change: &Change) -> bool {
    match scope {
        Scope::All => true,
        Scope::Mailbox(mailbox) => mailbox == change.mailbox(),
    }
}

fn summary(id: MessageId, delivery: &Delivery, copy: &store::Copy) -> Summary {
    Summary {
        id,
        received_at: delivery.received_at,
        size: delivery.raw.len() as u64,
        from: delivery.digest.from.clone().unwrap_or_default(),
        subject: delivery.digest.subject.clone(),
        mail_from: delivery.envelope.reverse_path.clone(),
        rcpt_to: copy.rcpt_to.clone(),
        transaction: delivery.envelope.transaction,
        other_recipients: copy.other_recipients,
        expires: copy.expires,
        tags: delivery.tags.clone(),
    }
}

#[async_trait]
impl Store for Stub {
    fn abilities(&self) -> Abilities {
        Abilities { engine: "stub", promise: "until the test ends", epoch: 1, whole_view: !self.narrow }
    }

    async fn append(&self, delivery: Delivery) -> Result<Vec<Filed>> {
        match self.append_errors.lock().unwrap().pop_front() {
            Some(error) => Err(error),
            None => Ok(self.kept.lock().unwrap().append(delivery)),
        }
    }

    async fn list(&self, mailbox: &Mailbox, page: Page) -> Result<Listing> {
        self.up()?;
        let kept = self.kept.lock().unwrap();
        let here = kept.messages.iter().filter(|held| held.0 == *mailbox);
        let mut items: Vec<_> = here.map(|held| Arc::clone(&held.1.summary)).collect();
        if page.order == Order::Newest {
            items.reverse();
        }
        items.truncate(page.limit);
        Ok(Listing { items, position: Position(kept.last), more: false, total: None })
    }

    async fn recent(&self, _page: RecentPage) -> Result<Listing<Item>> {
        Ok(Listing::default())
    }

    async fn mailboxes(&self, _page: MailboxPage<'_>) -> Result<Vec<MailboxState>> {
        Ok(Vec::new())
    }

    async fn position(&self, _mailbox: &Mailbox) -> Result<Position> {
        self.up()?;
        Ok(Position(self.kept.lock().unwrap().last))
    }

    async fn read(&self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        self.up()?;
        if self.vanished() {
            return Ok(None);
        }
        let kept = self.kept.lock().unwrap();
        let found = kept.messages.iter().find(|held| held.0 == *mailbox && held.1.summary.id == id);
        Ok(found.map(|held| held.1.clone()))
    }

    async fn delete(&self, mailbox: &Mailbox, ids: &[MessageId], _jobs: Vec<NewJob>) -> Result<Vec<MessageId>> {
        if self.vanished() {
            return Ok(Vec::new());
        }
        let mut kept = self.kept.lock().unwrap();
        let gone = kept.remove(mailbox, |id| ids.contains(&id));
        for id in &gone {
            let position = kept.next();
            kept.say(Change::Deleted { mailbox: mailbox.clone(), id: *id, position });
        }
        Ok(gone)
    }

    async fn purge(&self, mailbox: &Mailbox, up_to: Position, _jobs: Vec<NewJob>) -> Result<u64> {
        let mut kept = self.kept.lock().unwrap();
        if let Some(delivery) = self.arrives_before_purge.lock().unwrap().take() {
            kept.append(delivery);
        }
        let gone = kept.remove(mailbox, |id| Position::from(id) <= up_to).len() as u64;
        let position = kept.next();
        kept.say(Change::Purged { mailbox: mailbox.clone(), up_to: up_to.min(position), position });
        Ok(gone)
    }

    async fn changes(&self, scope: Scope, after: Position) -> Result<Changes> {
        self.up()?;
        self.asking.fetch_add(1, SeqCst);
        // An engine may take its time.
        tokio::task::yield_now().await;
        while self.slow.load(SeqCst) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.asking.fetch_sub(1, SeqCst);
        self.opened.lock().unwrap().push((scope.clone(), after));
        let receiver = self.kept.lock().unwrap().follow(scope, after);
        let next = |mut receiver: UnboundedReceiver<News>| async { receiver.recv().await.map(|news| (news, receiver)) };
        Ok(Box::pin(stream::unfold(receiver, next)))
    }

    fn outbox(&self) -> &dyn Outbox {
        self.records.get_or_init(tests::records).outbox()
    }

    fn registry(&self) -> &dyn Registry {
        self.records.get_or_init(tests::records).registry()
    }

    fn peers(&self) -> &dyn Peers {
        &Alone
    }
}

/// A mailroom over a stub.
pub(crate) fn open(settings: Settings) -> (Arc<Stub>, Arc<Mailroom>) {
    open_stub(Stub::default(), settings)
}

/// A mailroom over a stub that is a node of many.
pub(crate) fn open_narrow(settings: Settings) -> (Arc<Stub>, Arc<Mailroom>) {
    open_stub(Stub { narrow: true, ..Stub::default() }, settings)
}

fn open_stub(stub: Stub, settings: Settings) -> (Arc<Stub>, Arc<Mailroom>) {
    let stub = Arc::new(stub);
    let room = Mailroom::new(Arc::clone(&stub) as Arc<dyn Store>, settings);
    (stub, room)
}

/// An address from its text.
pub(crate) fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).unwrap()
}

/// A mailbox by its canonical name.
pub(crate) fn mailbox(name: &str) -> Mailbox {
    Mailbox::from_canonical(name)
}

/// A message to these addresses, each of which leads to the mailbox of its local part.
pub(crate) fn parcel(room: &Mailroom, recipients: &[&str]) -> Parcel {
    let leads_to = |text: &&str| {
        let address = address(text);
        let mailbox = room.leads_to(&ANYBODY, &address).unwrap();
        Recipient { address, mailbox }
    };
    let transport =
        Transport { door: Door::Esmtp, utf8: false, helo: "client".into(), peer: None, tls: None, auth_user: None };
    let envelope = Arc::new(Envelope {
        transaction: room.begin(),
        reverse_path: ReversePath(None),
        recipients: recipients.iter().map(leads_to).collect(),
        transport,
    });
    let raw = Bytes::from_static(b"Subject: hello\r\n\r\nhello\r\n");
    Parcel { raw, envelope, discarded: Vec::new(), received_at: Timestamp::UNIX_EPOCH }
}

/// The next event, which must come.
pub(crate) async fn next(watch: &mut Watch) -> Option<Event> {
    tokio::time::timeout(Duration::from_secs(20), watch.next()).await.expect("an event was missed")
}
