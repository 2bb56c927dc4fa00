//! Many clients at once over kept SMTP connections: to fill a store as fast as it takes mail, or to deliver for a while
//! and to tell how long each delivery took. The first reply that is not positive ends it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::chance::Chance;
use super::smtp::Client;

/// Enough to keep every group commit well filled.
const FILLERS: usize = 100;

/// The mailbox of this number.
pub(crate) fn mailbox(number: usize) -> String {
    format!("box{number}")
}

/// A message that was taken.
#[derive(Clone, Copy)]
pub(crate) struct Delivered {
    pub(crate) at: Instant,
    /// From the first byte of the message to its 250.
    pub(crate) took: Duration,
    pub(crate) bytes: usize,
}

/// Deliver one message to each of these mailboxes, in about this order, each in a transaction of its own; the messages
/// are taken in turn. The next envelope is sent with each message (RFC 2920), so that a message costs one round trip.
pub(crate) fn fill(smtp: SocketAddr, mailboxes: &[u32], letters: &[Vec<u8>]) -> Result<Duration> {
    let (begin, next) = (Instant::now(), AtomicUsize::new(0));
    let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < mailboxes.len());
    scope(|threads| {
        let work = || -> Result<()> {
            let mut client = Client::open(Ipv4Addr::LOCALHOST, smtp)?;
            let mut claimed = claim();
            if let Some(number) = claimed {
                client.send(envelope(mailboxes[number] as usize).as_bytes())?;
                invited(&mut client)?;
            }
            while let Some(number) = claimed {
                claimed = claim();
                let envelope = claimed.map(|number| envelope(mailboxes[number] as usize)).unwrap_or_default();
                client.send(&[&letters[number % letters.len()], &b".\r\n"[..], envelope.as_bytes()].concat())?;
                positive(&mut client, "250")?;
                if claimed.is_some() {
                    invited(&mut client)?;
                }
            }
            client.command("QUIT", "221")
        };
        let fillers: Vec<_> = (0..FILLERS).map(|_| threads.spawn(work)).collect();
        fillers.into_iter().try_for_each(|filler| filler.join().expect("a client does not panic"))
    })?;
    let time = begin.elapsed();
    let rate = mailboxes.len() as f64 / time.as_secs_f64();
    println!("filled with {} messages in {time:.1?}, {rate:.0} msg/s", mailboxes.len());
    Ok(time)
}

/// Clients that deliver to mailboxes drawn by chance.
pub(crate) struct Crowd<'a> {
    pub(crate) smtp: SocketAddr,
    pub(crate) clients: usize,
    pub(crate) letters: &'a [Vec<u8>],
    /// Numbers of the mailboxes.
    pub(crate) mailboxes: std::ops::Range<usize>,
    /// Each begins a message so often, or as soon as the last one was taken.
    pub(crate) every: Option<Duration>,
    pub(crate) seed: u64,
}

impl Crowd<'_> {
    /// Deliver until it is over. A client asks whether it is before each message.
    pub(crate) fn deliver(&self, over: &(impl Fn(usize) -> bool + Sync)) -> Result<Vec<Delivered>> {
        scope(|threads| {
            let clients: Vec<_> =
                (0..self.clients).map(|number| threads.spawn(move || self.client(number, over))).collect();
            let delivered = clients.into_iter().map(|client| client.join().expect("a client does not panic"));
            Ok(delivered.collect::<Result<Vec<_>>>()?.concat())
        })
    }

    /// Deliver for so long.
    pub(crate) fn deliver_for(&self, time: Duration) -> Result<Vec<Delivered>> {
        let begin = Instant::now();
        self.deliver(&|_| begin.elapsed() >= time)
    }

    /// Deliver so many each.
    pub(crate) fn deliver_each(&self, count: usize) -> Result<Vec<Delivered>> {
        self.deliver(&|sent| sent >= count)
    }

    fn client(&self, number: usize, over: &impl Fn(usize) -> bool) -> Result<Vec<Delivered>> {
        let mut chance = Chance::new(&[self.seed, number as u64]);
        let mut client = Client::open(Ipv4Addr::LOCALHOST, self.smtp)?;
        let mut delivered = Vec::new();
        let mut due = Instant::now() + self.every.map_or(Duration::ZERO, |every| chance.time(every));
        while !over(delivered.len()) {
            if let Some(every) = self.every {
                sleep(due.saturating_duration_since(Instant::now()));
                due += every;
            }
            let target = self.mailboxes.start + chance.below(self.mailboxes.len());
            let letter = &self.letters[chance.below(self.letters.len())];
            client.send(envelope(target).as_bytes())?;
            invited(&mut client)?;
            let message = [letter, &b".\r\n"[..]].concat();
            let begin = Instant::now();
            client.send(&message)?;
            positive(&mut client, "250")?;
            let at = Instant::now();
            delivered.push(Delivered { at, took: at - begin, bytes: letter.len() });
        }
        client.command("QUIT", "221")?;
        Ok(delivered)
    }
}

fn envelope(number: usize) -> String {
    format!("MAIL FROM:<orders@shop.test>\r\nRCPT TO:<{}@client.test>\r\nDATA\r\n", mailbox(number))
}

/// The three replies to an envelope.
fn invited(client: &mut Client) -> Result<()> {
    ["250", "250", "354"].iter().try_for_each(|code| positive(client, code))
}

fn positive(client: &mut Client, code: &str) -> Result<()> {
    let reply = client.reply()?;
    ensure!(reply.starts_with(code), "the reply was {reply:?} instead of {code}");
    Ok(())
}
