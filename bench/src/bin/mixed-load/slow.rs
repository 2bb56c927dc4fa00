//! Clients that send a byte now and then, each stuck at another place: in a handshake, in a command, in a message, in the
//! head of a request. The server may close them; it must be there for them to come again.

use std::time::Duration;

use anyhow::Result;
use postkeep_bench::chance::Chance;
use postkeep_bench::{Mode, Wire, pop3, smtp};

use crate::breaker::hello;
use crate::site::Site;

const ONE_BYTE_EVERY: Duration = Duration::from_secs(1);
const BYTES_MAX: usize = 40;

pub(crate) async fn run(site: &Site, number: usize) {
    let mut chance = site.chance(3, number);
    while !site.over() {
        match stuck(site, number, &mut chance).await {
            Ok((wire, rest)) => drip(site, wire, &rest).await,
            Err(error) => site.failed(format!("a slow client: {error:#}")),
        }
        site.count("slow clients");
        site.pause(Duration::from_millis(100)).await;
    }
}

/// A connection that got so far, and what it goes on with.
async fn stuck(site: &Site, number: usize, chance: &mut Chance) -> Result<(Wire, Vec<u8>)> {
    let [smtp, pop3, http] = [&site.smtp, &site.pop3, &site.http].map(|doors| chance.of(doors).clone());
    let drips = vec![b'x'; BYTES_MAX];
    match number % 5 {
        0 => {
            let door = site.smtp.iter().find(|door| door.mode == Mode::Tls).unwrap_or(&smtp);
            let hello = hello(door)?;
            let mut wire = Wire::plain(door.dial(None).await?);
            wire.send(&hello[..5]).await?;
            Ok((wire, hello[5..].to_vec()))
        }
        1 => Ok((smtp::Client::open(&smtp).await?.wire, drips)),
        2 => {
            let mut client = smtp::Client::open(&smtp).await?;
            client.envelope("slow@client.test").await?;
            Ok((client.wire, drips))
        }
        3 => Ok((pop3::Client::open(&pop3, "slow").await?.wire, drips)),
        _ => Ok((http.open().await?, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ".to_vec())),
    }
}

async fn drip(site: &Site, mut wire: Wire, rest: &[u8]) {
    for byte in rest.iter().take(BYTES_MAX) {
        if site.over() || wire.send(&[*byte]).await.is_err() {
            return;
        }
        site.pause(ONE_BYTE_EVERY).await;
    }
}
