//! A network that swallows everything, answers that never come, and brokers without a majority: nothing is acknowledged
//! that is not stored, nothing refused that is, and everything goes on by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use brokers::{Cluster, Plan};
use store::conformance::Letter;
use store::{Clock as _, Error, Store, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::rig::{self, open, send, settings_on, subjects, until};
use crate::Settings;

/// Between a process and its broker. What it is told to swallow is read and goes nowhere.
struct Proxy {
    address: String,
    there: Arc<AtomicBool>,
    back: Arc<AtomicBool>,
}

impl Proxy {
    async fn before(broker: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let (there, back) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (broker, swallow) = (broker.to_owned(), (Arc::clone(&there), Arc::clone(&back)));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&broker).await else { continue };
                let (client, server) = (client.into_split(), server.into_split());
                tokio::spawn(pass(client.0, server.1, Arc::clone(&swallow.0)));
                tokio::spawn(pass(server.0, client.1, Arc::clone(&swallow.1)));
            }
        });
        Self { address, there, back }
    }

    fn swallow(&self, there: bool, back: bool) {
        self.there.store(there, Ordering::SeqCst);
        self.back.store(back, Ordering::SeqCst);
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    swallow: Arc<AtomicBool>,
) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if swallow.load(Ordering::SeqCst) {
            // A connection that lost bytes is never whole again: from now on it is silent.
            while let Ok(1..) = from.read(&mut bytes).await {}
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

/// A store on one broker behind a proxy.
async fn behind_proxy() -> Option<(Cluster, Proxy, Settings)> {
    drop(rig::cluster()?);
    let cluster = Cluster::start(Plan::of(1)).expect("a broker starts");
    let url = cluster.url(0);
    let (said, broker) = url.rsplit_once('@').expect("the URL names a user");
    let proxy = Proxy::before(broker).await;
    let settings = Settings { urls: vec![format!("{said}@{}", proxy.address)], ..settings_on(&cluster) };
    Some((cluster, proxy, Settings { wait_max: Duration::from_secs(4), ..settings }))
}

/// While nothing passes no delivery is acknowledged, readiness says so within five seconds, and both come back alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f15_a_silent_network_acknowledges_nothing() {
    let Some((_cluster, proxy, settings)) = behind_proxy().await else { return };
    let store = open(&settings).await;
    send(&store, "before", "ann").await;
    until(Duration::from_secs(5), "it is ready", async || store.ready().await.is_ok()).await;
    proxy.swallow(true, true);
    until(Duration::from_secs(15), "it is not ready", async || store.ready().await.is_err()).await;
    let during = store.append(Letter::new("during", &["ann", "dan", "eve"]).delivery(SystemClock.now())).await;
    let Err(during) = during else { panic!("a delivery was acknowledged that no broker saw") };
    proxy.swallow(false, false);
    until(Duration::from_secs(30), "it is ready again", async || store.ready().await.is_ok()).await;
    send(&store, "after", "ann").await;
    let listed = subjects(&store, "ann").await;
    assert_eq!(listed, ["before", "after"], "{during}");
}

/// When the answer is lost and not the delivery, that is not told as a refusal; what was stored is stored once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f19_an_answer_that_is_lost_is_no_refusal() {
    let Some((_cluster, proxy, settings)) = behind_proxy().await else { return };
    let store = open(&settings).await;
    for round in 0..5 {
        let name = format!("box{round}");
        let letter = Letter::new("once", &[&name]);
        let sending = tokio::spawn({
            let (store, delivery) = (Arc::clone(&store), letter.delivery(SystemClock.now()));
            async move { store.append(delivery).await }
        });
        tokio::time::sleep(Duration::from_micros(300 * round)).await;
        proxy.swallow(false, true);
        tokio::time::sleep(Duration::from_millis(50)).await;
        proxy.swallow(false, false);
        let outcome = sending.await.expect("no append panics");
        until(Duration::from_secs(30), "the connection is back", async || store.ready().await.is_ok()).await;
        let copies = subjects(&store, &name).await.len();
        match outcome {
            Ok(_) => assert_eq!(copies, 1),
            Err(Error::UnknownOutcome { .. }) => assert!(copies <= 1, "{copies} copies"),
            Err(refused) => assert_eq!(copies, 0, "{refused}"),
        }
    }
}

/// One broker of three acknowledges nothing, and the three together lose nothing that was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f16_without_a_majority_nothing_is_acknowledged() {
    if rig::cluster().is_none() {
        return;
    }
    let cluster = Cluster::start(Plan::of(3)).expect("three brokers start");
    let settings = Settings { wait_max: Duration::from_secs(6), ..settings_on(&cluster) };
    let store = open(&settings).await;
    send(&store, "before", "ann").await;
    let alone =
        settings.urls.iter().position(|url| url.contains(&store.parts.office.link.port())).expect("one of them");
    let others: Vec<_> = (0..3).filter(|server| *server != alone).collect();
    others.iter().for_each(|server| cluster.pause(*server).expect("a broker is paused"));
    let during = store.append(Letter::new("during", &["ann"]).delivery(SystemClock.now())).await;
    assert!(during.is_err(), "one of three acknowledged");
    until(Duration::from_secs(10), "it is not ready", async || store.ready().await.is_err()).await;
    others.iter().for_each(|server| cluster.resume(*server).expect("a broker goes on"));
    until(Duration::from_secs(60), "it is ready again", async || store.ready().await.is_ok()).await;
    send(&store, "after", "ann").await;
    let listed = subjects(&store, "ann").await;
    let refused = matches!(during, Err(Error::TryLater { .. }));
    assert!(listed == ["before", "after"] || (!refused && listed == ["before", "during", "after"]), "{listed:?}");
}
