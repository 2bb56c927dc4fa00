//! Those who send the mail: one for each mailbox, one message after the other, numbered. Each waits for the answer before
//! the next, so that the order of its mailbox is known.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::load::smtp::{Client, message};

/// Where mail is taken now; none while the server is down. A cluster has several.
pub(super) type Doors = Mutex<Vec<Option<SocketAddr>>>;

/// After an attempt that found nobody.
const LATER: Duration = Duration::from_millis(30);

/// What became of the mail of one mailbox.
#[derive(Default)]
pub(super) struct Sent {
    pub(super) mailbox: String,
    /// Acknowledged, in this order.
    pub(super) acknowledged: Vec<u32>,
    /// Nobody knows.
    pub(super) unknown: Vec<u32>,
    /// Refused, which never happens, with what was said.
    pub(super) refused: Vec<String>,
    /// From the final dot's sending to its reply.
    pub(super) slowest: Duration,
}

/// Send to a mailbox until told to stop, with such a pause between two.
pub(super) fn send(mailbox: String, doors: &Doors, pause: Duration, over: &AtomicBool) -> Sent {
    let mut sent = Sent { mailbox, ..Sent::default() };
    let mut client: Option<(usize, Client)> = None;
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        sleep(pause);
        let Some((door, mut there)) = client.take().or_else(|| enter(doors, number as usize)) else {
            sleep(LATER);
            continue;
        };
        number += 1;
        let (begun, recipient) = (Instant::now(), format!("{}@example.com", sent.mailbox));
        match there.deliver(&recipient, &message(&number.to_string(), 500)) {
            Ok(()) => {
                sent.acknowledged.push(number);
                sent.slowest = sent.slowest.max(begun.elapsed());
                // The next one goes to the next node.
                client = is_alone(doors).then_some((door, there));
            }
            Err(error) if format!("{error:#}").contains("the reply was") => sent.refused.push(format!("{error:#}")),
            Err(_) => sent.unknown.push(number),
        }
    }
    sent
}

fn is_alone(doors: &Doors) -> bool {
    doors.lock().expect("no sender panics").len() == 1
}

fn enter(doors: &Doors, number: usize) -> Option<(usize, Client)> {
    let doors: Vec<_> = doors.lock().expect("no sender panics").clone();
    let place = number % doors.len();
    let (place, address) = (place..doors.len()).chain(0..place).find_map(|door| Some((door, doors[door]?)))?;
    Client::open(Ipv4Addr::LOCALHOST, address).ok().map(|client| (place, client))
}
