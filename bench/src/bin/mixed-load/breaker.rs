//! Clients that break off anywhere: before a word, in the middle of a handshake, with noise instead of one, between two
//! commands, while an answer is on its way to them. Nothing of it may be felt by others; that is for the others to tell.

use std::time::Duration;

use anyhow::{Context, Result};
use postkeep_bench::chance::Chance;
use postkeep_bench::{Door, Mode, Wire, pop3, smtp};
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;

use crate::site::Site;

const PAUSE: Duration = Duration::from_millis(60);

pub(crate) async fn run(site: &Site, number: usize) {
    let mut chance = site.chance(2, number);
    while !site.over() {
        let doors = [&site.smtp, &site.pop3, &site.http][chance.below(3)];
        let door = chance.of(doors).clone();
        // A server may close first, as it should; that it cannot be reached is what must not be.
        match door.dial(None).await {
            Ok(stream) => {
                let _ = break_off(site, &door, stream, &mut chance).await;
            }
            Err(error) => site.failed(format!("a breaker cannot connect: {error:#}")),
        }
        site.count("broken off");
        let pause = chance.time(PAUSE * 2);
        site.pause(pause).await;
    }
}

async fn break_off(site: &Site, door: &Door, stream: TcpStream, chance: &mut Chance) -> Result<()> {
    if chance.percent(50) {
        stream.set_zero_linger()?;
    }
    let of_http = site.http.iter().any(|other| other.to == door.to);
    match (door.mode, chance.below(4)) {
        // Before a word.
        (_, 0) => Ok(()),
        (Mode::Tls, 1 | 2) => half_handshake(door, Wire::plain(stream), chance).await,
        (Mode::Upgrade, 1) => after_starttls(site, door, Wire::plain(stream), chance).await,
        _ if of_http => half_request(door.enter(stream).await?, chance).await,
        _ => half_session(site, door, stream, chance).await,
    }
}

/// A part of a ClientHello, the whole of it and then nothing, or noise.
async fn half_handshake(door: &Door, mut wire: Wire, chance: &mut Chance) -> Result<()> {
    let mut hello = hello(door)?;
    match chance.below(3) {
        0 => hello.truncate(chance.below(hello.len())),
        1 => hello.iter_mut().for_each(|byte| *byte = chance.below(256) as u8),
        _ => {}
    }
    wire.send(&hello).await?;
    let wait = chance.time(Duration::from_millis(200));
    wire.closed_within(wait).await;
    Ok(())
}

/// The bytes that a client says first.
pub(crate) fn hello(door: &Door) -> Result<Vec<u8>> {
    let mut client = ClientConnection::new(door.tls.clone(), ServerName::try_from("localhost")?)?;
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).context("a ClientHello")?;
    Ok(bytes)
}

/// Asked for TLS, and then half of what belongs there.
async fn after_starttls(site: &Site, door: &Door, mut wire: Wire, chance: &mut Chance) -> Result<()> {
    let of_smtp = site.smtp.iter().any(|other| other.to == door.to);
    wire.line().await?;
    let words: &[u8] = if of_smtp { b"EHLO breaker.test\r\n" } else { b"NOOP\r\n" };
    wire.send(words).await?;
    while of_smtp && wire.line().await?.as_bytes().get(3) == Some(&b'-') {}
    wire.send(if of_smtp { b"STARTTLS\r\n" } else { b"STLS\r\n" }).await?;
    wire.line().await?;
    half_handshake(door, wire, chance).await
}

async fn half_request(mut wire: Wire, chance: &mut Chance) -> Result<()> {
    let request = b"GET /api/v1/mailbox/mixed-0 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    wire.send(&request[..chance.below(request.len() + 1)]).await
}

/// A session that ends between two commands, in the middle of one, or while an answer is on its way.
async fn half_session(site: &Site, door: &Door, stream: TcpStream, chance: &mut Chance) -> Result<()> {
    let wire = door.enter(stream).await?;
    if site.smtp.iter().any(|other| other.to == door.to) {
        let mut client = smtp::Client::greet(door, wire).await?;
        let words = "MAIL FROM:<sender@client.test>\r\nRCPT TO:<broken@client.test>\r\nRSET\r\nNOOP\r\n";
        return client.wire.send(&words.as_bytes()[..chance.below(words.len() + 1)]).await;
    }
    let mut client = pop3::Client::greet(door, wire, "mixed-0").await?;
    let words = "STAT\r\nLIST\r\nUIDL\r\nRETR 1\r\nRETR 2\r\nTOP 1 3\r\nRETR 3\r\n";
    client.wire.send(&words.as_bytes()[..chance.below(words.len() + 1)]).await?;
    let wait = chance.time(Duration::from_millis(20));
    client.wire.closed_within(wait).await;
    Ok(())
}
