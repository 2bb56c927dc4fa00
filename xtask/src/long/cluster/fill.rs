//! Filling very many mailboxes: one message for each, a hundred of them in one transaction, so that it takes minutes and
//! not hours.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::load::crowd::mailbox;
use crate::load::smtp::Client;

/// Recipients of one message.
const TOGETHER: usize = 100;
const FILLERS: usize = 8;

/// Deliver a message to each of these mailboxes; the messages are taken in turn.
pub(super) fn fill(smtp: SocketAddr, mailboxes: Range<usize>, letters: &[Vec<u8>]) -> Result<Duration> {
    let (begin, next) = (Instant::now(), AtomicUsize::new(mailboxes.start));
    scope(|threads| {
        let work = || -> Result<()> {
            let mut client = Client::open(Ipv4Addr::LOCALHOST, smtp)?;
            loop {
                let first = next.fetch_add(TOGETHER, Ordering::Relaxed);
                if first >= mailboxes.end {
                    return client.command("QUIT", "221");
                }
                let letter = &letters[first / TOGETHER % letters.len()];
                deliver(&mut client, first..(first + TOGETHER).min(mailboxes.end), letter)?;
            }
        };
        let fillers: Vec<_> = (0..FILLERS).map(|_| threads.spawn(work)).collect();
        fillers.into_iter().try_for_each(|filler| filler.join().expect("a client does not panic"))
    })?;
    Ok(begin.elapsed())
}

/// One message to all of these, its envelope sent at once (RFC 2920).
fn deliver(client: &mut Client, to: Range<usize>, letter: &[u8]) -> Result<()> {
    let recipients = to.clone().map(|number| format!("RCPT TO:<{}@client.test>\r\n", mailbox(number)));
    let envelope = format!("MAIL FROM:<orders@shop.test>\r\n{}DATA\r\n", recipients.collect::<String>());
    client.send(envelope.as_bytes())?;
    for _ in 0..=to.len() {
        positive(client, "250")?;
    }
    positive(client, "354")?;
    client.send(&[letter, b".\r\n"].concat())?;
    positive(client, "250")
}

fn positive(client: &mut Client, code: &str) -> Result<()> {
    let reply = client.reply()?;
    ensure!(reply.starts_with(code), "the reply was {reply:?} instead of {code}");
    Ok(())
}
