//! For the tests of records, jobs and nodes: one broker for all of them, a store for each, processes over it, and a wire
//! between a process and the broker that loses what it is told to lose.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use brokers::{Cluster, Plan};
use jiff::{SignedDuration, Timestamp};
use store::{Clock, ManualClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::Settings;
use crate::names::Names;
use crate::office::Office;
use crate::streams;
use crate::wire::Link;

static BROKER: OnceLock<Option<Cluster>> = OnceLock::new();

/// A store of its own on the shared broker, and the time there.
pub(crate) struct Rig {
    pub(crate) settings: Settings,
    clock: Arc<ManualClock>,
}

impl Rig {
    /// None when tests with brokers are to be passed over.
    pub(crate) fn new() -> Option<Self> {
        let broker = BROKER.get_or_init(|| {
            let server = brokers::nats_server().unwrap_or_else(|error| panic!("{error:#}"));
            server.map(|_| Cluster::start(Plan::of(1)).expect("a broker starts"))
        });
        let broker = broker.as_ref()?;
        let start = Timestamp::from_second(1_800_000_000).expect("a time in 2027");
        let settings = Settings::new(broker.urls(), broker.prefix());
        Some(Self { settings, clock: Arc::new(ManualClock::at(start)) })
    }

    /// A process over the store.
    pub(crate) async fn node(&self) -> Arc<Office> {
        self.node_at(self.settings.clone()).await
    }

    /// A process that reaches the broker over a wire.
    pub(crate) async fn node_over(&self, wire: &Wire) -> Arc<Office> {
        let (_, broker) = self.settings.urls[0].rsplit_once('@').expect("the URL names a user");
        let url = self.settings.urls[0].replace(broker, &wire.address.to_string());
        self.node_at(Settings { urls: vec![url], ..self.settings.clone() }).await
    }

    async fn node_at(&self, settings: Settings) -> Arc<Office> {
        let link = Link::open(&settings).await.unwrap_or_else(|error| panic!("{error}"));
        let names = Names::new(&settings.prefix, settings.shards);
        streams::ensure(&link, &names, &settings).await.unwrap_or_else(|error| panic!("{error}"));
        Office::new(link, names, settings, Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    /// A wire to the broker.
    pub(crate) async fn wire(&self) -> Wire {
        let (_, broker) = self.settings.urls[0].rsplit_once('@').expect("the URL names a user");
        Wire::to(broker.parse().expect("an address")).await
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub(crate) fn in_seconds(&self, seconds: i64) -> Timestamp {
        self.clock.now() + SignedDuration::from_secs(seconds)
    }
}

/// Wait for what must come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("what must come comes in time")
}

/// Passes bytes between processes and a broker, but for what it loses.
pub(crate) struct Wire {
    address: SocketAddr,
    order: Arc<Mutex<Option<Order>>>,
    /// How often the connections were cut.
    cut: watch::Sender<u64>,
}

enum Order {
    /// When this has gone to the broker, lose the answer, and then the connection.
    LoseAnswerTo(String),
    /// It went.
    LoseNext,
    /// Lose this when it comes from the broker.
    Lose(String),
    /// Let nobody through.
    Closed,
}

impl Wire {
    async fn to(broker: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let wire = Self { address, order: Arc::default(), cut: watch::Sender::new(0) };
        let (order, cut) = (Arc::clone(&wire.order), wire.cut.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass_on(client, broker, Arc::clone(&order), cut.subscribe()));
            }
        });
        wire
    }

    pub(crate) fn lose_answer_to(&self, request: impl Into<String>) {
        self.give(Order::LoseAnswerTo(request.into()));
    }

    pub(crate) fn lose(&self, what: impl Into<String>) {
        self.give(Order::Lose(what.into()));
    }

    /// Break the connections.
    pub(crate) fn cut(&self) {
        self.cut.send_modify(|times| *times += 1);
    }

    /// Break them, and let no new one through.
    pub(crate) fn close(&self) {
        self.give(Order::Closed);
        self.cut();
    }

    /// Whether what was ordered has happened.
    pub(crate) fn is_done(&self) -> bool {
        self.order.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn give(&self, order: Order) {
        *self.order.lock().unwrap_or_else(PoisonError::into_inner) = Some(order);
    }
}

/// What becomes of some bytes.
enum Fate {
    Through,
    Lost,
    LostWithConnection,
}

async fn pass_on(
    mut client: TcpStream,
    broker: SocketAddr,
    order: Arc<Mutex<Option<Order>>>,
    mut cut: watch::Receiver<u64>,
) {
    let fate = |to_broker: bool, bytes: &[u8]| {
        let mut order = order.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, fate) = judge(order.take(), to_broker, bytes);
        *order = now;
        fate
    };
    if matches!(fate(true, b""), Fate::LostWithConnection) {
        return;
    }
    let Ok(mut broker) = TcpStream::connect(broker).await else { return };
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let (read, is_up) = tokio::select! {
            _ = cut.changed() => return,
            read = client.read(&mut up) => (read, true),
            read = broker.read(&mut down) => (read, false),
        };
        let Ok(read @ 1..) = read else { return };
        let bytes = if is_up { &up[..read] } else { &down[..read] };
        match fate(is_up, bytes) {
            Fate::Through if is_up => broker.write_all(bytes).await.expect("the broker takes it"),
            Fate::Through if client.write_all(bytes).await.is_err() => return,
            Fate::Through | Fate::Lost => (),
            Fate::LostWithConnection => return,
        }
    }
}

fn judge(order: Option<Order>, to_broker: bool, bytes: &[u8]) -> (Option<Order>, Fate) {
    let holds = |what: &str| bytes.windows(what.len()).any(|part| part == what.as_bytes());
    match order {
        Some(Order::Closed) => (Some(Order::Closed), Fate::LostWithConnection),
        Some(Order::LoseAnswerTo(request)) if to_broker && holds(&request) => (Some(Order::LoseNext), Fate::Through),
        Some(Order::LoseNext) if !to_broker && holds("MSG ") => (None, Fate::LostWithConnection),
        Some(Order::Lose(what)) if !to_broker && holds(&what) => (None, Fate::Lost),
        order => (order, Fate::Through),
    }
}
