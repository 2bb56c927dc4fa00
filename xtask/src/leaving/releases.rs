//! Mail that a rule sends on while the server is killed: whatever was acknowledged gets to the smart host, at least once, and
//! in the end the server tells of each that it was sent. The smart host is a second server of ours, which is not killed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::senders::{self, Sent};
use super::site::{Engine, Site};
use crate::load::http::Connection;
use crate::load::server::Server;

/// How often it is killed.
const KILLS: usize = 30;
/// How long it runs between two kills, at least; each time a little longer, and then from the beginning.
const LIFE: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(60);
const RULE: &str = "[[relay.rule]]\nname = \"all\"\n";

/// Kill it on one engine.
pub(super) fn run(binary: &Path, engine: Engine) -> Result<()> {
    let host = Server::postkeep(binary, &["mailbox.messages_max=0", "mailbox.retention=0", "log.level=error"])?;
    let port = format!("relay.port={}", host.address("smtp")?.port());
    let settings = [
        "relay.host=127.0.0.1",
        &port,
        "relay.allow=*@example.com",
        "relay.rate=off",
        "relay.retry_after=100ms",
        "relay.retry_max=1s",
        "relay.attempt_max=3s",
        "relay.kept_max=100000",
    ];
    let mut site = Site::start_with(binary, engine, "releases", RULE, &settings)?;
    let sent = killed(&mut site)?;
    ensure!(sent.refused.is_empty(), "mail was refused: {}", sent.refused[0]);
    let begun = Instant::now();
    let copies = loop {
        let copies = arrived(host.address("http")?)?;
        let is_there = |number: &u32| copies.contains_key(number);
        if sent.acknowledged.iter().all(is_there) && all_done(site.http()?)? {
            break copies;
        }
        let missing = sent.acknowledged.iter().filter(|number| !is_there(number)).count();
        ensure!(begun.elapsed() < PATIENCE, "{missing} messages are missing, or not known to be sent: {}", site.said());
        sleep(Duration::from_millis(100));
    };
    println!(
        "{}: killed {KILLS} times; {} acknowledged, 0 missing, {} came more than once; all known to be sent {:.1} s after",
        engine.name(),
        sent.acknowledged.len(),
        copies.values().filter(|count| **count > 1).count(),
        begun.elapsed().as_secs_f64()
    );
    site.stop()?;
    host.stop()
}

/// Somebody sends, and somebody kills.
fn killed(site: &mut Site) -> Result<Sent> {
    let (doors, over) = (Arc::clone(&site.doors), AtomicBool::new(false));
    thread::scope(|scope| {
        let sender = scope.spawn(|| senders::send("ann".into(), &doors, PAUSE, &over));
        let killed = (0..KILLS).try_for_each(|number| {
            sleep(LIFE + LIFE * (number % 5) as u32);
            site.kill(number)
        });
        over.store(true, Ordering::Relaxed);
        let sent = sender.join().ok().context("the sender panicked");
        killed.and(sent)
    })
}

/// How often each message came.
fn arrived(http: SocketAddr) -> Result<BTreeMap<u32, usize>> {
    let list = ask(http, "/api/v1/mailbox/ann")?;
    let mut copies = BTreeMap::new();
    for message in list.as_array().context("the list of a mailbox is no list")? {
        let number = message["subject"].as_str().and_then(|subject| subject.parse().ok());
        *copies.entry(number.context("a message has another subject")?).or_default() += 1;
    }
    Ok(copies)
}

/// Whether the newest releases have all succeeded.
fn all_done(http: SocketAddr) -> Result<bool> {
    let told = ask(http, "/api/v2/releases?limit=500")?;
    let items = told["items"].as_array().context("no releases are listed")?;
    Ok(items.iter().all(|release| release["state"] == "done"))
}

fn ask(http: SocketAddr, path: &str) -> Result<Value> {
    let mut rest = Connection::open(http)?;
    rest.send("GET", path)?;
    let (status, body) = rest.receive()?;
    ensure!(status == 200, "{path} answered {status}");
    Ok(serde_json::from_slice(&body)?)
}
