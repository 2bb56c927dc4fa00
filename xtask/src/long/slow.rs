//! T009: thousands of clients that send a byte now and then, each stuck at another place of its dialogue, must not be
//! felt by those that behave.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::load::figures::{megabytes, percentile};
use crate::load::process::{allow_files, memory};
use crate::load::server::Server;
use crate::load::smtp::{Client, connect, message, source};

const SLOW: usize = 5_000;
const GOOD: usize = 50;
const ONE_BYTE_EVERY: Duration = Duration::from_secs(9);
const PAUSE: Duration = Duration::from_millis(50);
const P99_MAX: Duration = Duration::from_secs(1);
const PER_ADDRESS: usize = 400;

/// What a slow client says at once; from there on it drips.
const STUCK_IN: [&str; 4] = [
    "",
    "EHLO slow.test\r\n",
    "EHLO slow.test\r\nMAIL FROM:<a@slow.test>\r\nRCPT TO:<slow@client.test>\r\n",
    "EHLO slow.test\r\nMAIL FROM:<a@slow.test>\r\nRCPT TO:<slow@client.test>\r\nDATA\r\nSubject: slow\r\n\r\n",
];

pub(super) fn run(binary: &Path, time: Duration) -> Result<()> {
    allow_files(20_000)?;
    let server = Server::postkeep(binary, &[])?;
    let smtp = server.address("smtp")?;
    let mut slow: Vec<_> = (0..SLOW).map(|number| Slow::open(number, smtp)).collect::<Result<_>>()?;
    println!("{SLOW} slow clients are there: {}", megabytes(memory(server.pid())?.now));

    let (over, reopened) = (AtomicBool::new(false), AtomicUsize::new(0));
    let outcome = scope(|threads| {
        threads.spawn(|| drip(&mut slow, smtp, &over, &reopened));
        let good: Vec<_> = (0..GOOD).map(|number| threads.spawn(move || good(number, smtp, time))).collect();
        let times = good.into_iter().map(|client| client.join().expect("a client does not panic"));
        let outcome: Result<Vec<Vec<Duration>>> = times.collect();
        over.store(true, Ordering::Relaxed);
        outcome
    });
    let mut times = outcome?.concat();
    let used = memory(server.pid())?;
    drop(slow);
    server.stop()?;

    let [p50, p99, worst] = [0.5, 0.99, 1.0].map(|share| percentile(&mut times, share));
    println!(
        "{GOOD} good clients delivered {} messages without an error, each on a connection of its own",
        times.len()
    );
    println!("connect to 250: p50 {p50:.1?}, p99 {p99:.1?}, worst {worst:.1?}");
    println!("slow clients that were closed and came again: {}", reopened.into_inner());
    println!("memory at most: {}", megabytes(used.peak));
    ensure!(p99 < P99_MAX, "p99 is {p99:.1?}, not under {P99_MAX:?}");
    Ok(())
}

/// A client that behaves: times from connecting to the 250 of its message.
fn good(number: usize, smtp: SocketAddr, time: Duration) -> Result<Vec<Duration>> {
    let mail = message("good", 2_000);
    let mut times = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < time {
        let start = Instant::now();
        let mut client = Client::open(Ipv4Addr::LOCALHOST, smtp)?;
        client.deliver(&format!("good-{number}@client.test"), &mail)?;
        times.push(start.elapsed());
        client.command("QUIT", "221")?;
        sleep(PAUSE);
    }
    Ok(times)
}

/// Let all of them drip in turn, until it is over.
fn drip(slow: &mut [Slow], smtp: SocketAddr, over: &AtomicBool, reopened: &AtomicUsize) {
    let step = ONE_BYTE_EVERY / SLOW as u32;
    let mut due = Instant::now();
    for number in (0..slow.len()).cycle() {
        if over.load(Ordering::Relaxed) {
            return;
        }
        due += step;
        sleep(due.saturating_duration_since(Instant::now()));
        if slow[number].drip().is_err() {
            // The server was right to close it. Whether it may come back is told by the good clients' fate.
            reopened.fetch_add(1, Ordering::Relaxed);
            if let Ok(client) = Slow::open(number, smtp) {
                slow[number] = client;
            }
        }
    }
}

/// One slow client.
struct Slow(TcpStream);

impl Slow {
    fn open(number: usize, smtp: SocketAddr) -> Result<Self> {
        let place = source(number, PER_ADDRESS);
        let mut stream = connect(place, smtp).with_context(|| format!("slow client {}", number + 1))?;
        stream.write_all(STUCK_IN[number % STUCK_IN.len()].as_bytes())?;
        stream.set_nonblocking(true)?;
        Ok(Self(stream))
    }

    /// Send one byte and read whatever came; an error when the server closed.
    fn drip(&mut self) -> std::io::Result<()> {
        let mut replies = [0; 1024];
        match self.0.read(&mut replies) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        match self.0.write(b"x") {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }
}
