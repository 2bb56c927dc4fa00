//! Somebody who is told of mail over HTTP, well or badly: it answers, fails, hangs, is slow, or is not there at all. It
//! remembers every request that came, in the order in which they came.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

/// How long anything is waited for before it is looked whether something has changed.
const TICK: Duration = Duration::from_millis(20);
/// How long a slow one takes to answer.
const SLOWNESS: Duration = Duration::from_millis(300);

/// How it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mood {
    /// Answers 200.
    Well,
    /// Answers 500.
    Failing,
    /// Reads, and never answers.
    Hanging,
    /// Answers 200 after a while.
    Slow,
    /// Nobody listens.
    Gone,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    /// The event's, by the header `webhook-id`.
    pub(super) id: String,
    pub(super) mailbox: String,
    pub(super) subject: String,
    /// Whether it is answered 200.
    pub(super) taken: bool,
    pub(super) at: Instant,
}

/// A receiver; gone when dropped.
pub(super) struct Receiver {
    shared: Arc<Shared>,
    pub(super) address: SocketAddr,
    door: Option<JoinHandle<()>>,
}

struct Shared {
    mood: Mutex<Mood>,
    arrivals: Mutex<Vec<Arrival>>,
    over: AtomicBool,
}

impl Receiver {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let mood = Mutex::new(Mood::Well);
        let shared = Arc::new(Shared { mood, arrivals: Mutex::default(), over: AtomicBool::new(false) });
        let own = Arc::clone(&shared);
        let door = thread::spawn(move || open(&own, listener, address));
        Ok(Self { shared, address, door: Some(door) })
    }

    pub(super) fn set(&self, mood: Mood) {
        *hold(&self.shared.mood) = mood;
    }

    /// Everything that came so far.
    pub(super) fn arrivals(&self) -> Vec<Arrival> {
        hold(&self.shared.arrivals).clone()
    }

    pub(super) fn count(&self) -> usize {
        hold(&self.shared.arrivals).len()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        if let Some(door) = self.door.take() {
            let _ = door.join();
        }
    }
}

impl Shared {
    fn mood(&self) -> Mood {
        *hold(&self.mood)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Let everybody in, and close the door while it is gone.
fn open(shared: &Arc<Shared>, listener: TcpListener, address: SocketAddr) {
    let mut listener = Some(listener);
    while !shared.is_over() {
        if shared.mood() == Mood::Gone {
            listener = None;
        } else if listener.is_none() {
            listener = TcpListener::bind(address).ok();
        }
        let Some(there) = &listener else {
            sleep(TICK);
            continue;
        };
        // So that a change of mood is noticed.
        let _ = there.set_nonblocking(true);
        match there.accept() {
            Ok((stream, _)) => {
                let shared = Arc::clone(shared);
                thread::spawn(move || serve(&shared, stream));
            }
            Err(_) => sleep(Duration::from_millis(1)),
        }
    }
}

/// One request after the other, until somebody hangs up.
fn serve(shared: &Shared, mut stream: TcpStream) {
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(TICK));
    let mut buffer = Vec::new();
    while let Some(arrival) = request(shared, &mut stream, &mut buffer) {
        let mood = shared.mood();
        let taken = matches!(mood, Mood::Well | Mood::Slow);
        if let Ok(arrival) = arrival {
            hold(&shared.arrivals).push(Arrival { taken, ..arrival });
        }
        let status = match mood {
            Mood::Well => "200 OK",
            Mood::Slow => {
                sleep(SLOWNESS);
                "200 OK"
            }
            Mood::Failing => "500 Internal Server Error",
            Mood::Gone => return,
            Mood::Hanging => return hang(shared, &mut stream),
        };
        if write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").is_err() {
            return;
        }
    }
}

/// Say nothing until they give up, or the mood changes.
fn hang(shared: &Shared, stream: &mut TcpStream) {
    while shared.mood() == Mood::Hanging && !shared.is_over() {
        match stream.read(&mut [0; 64]) {
            Ok(0) => return,
            Err(error) if !is_patience(&error) => return,
            _ => {}
        }
    }
}

/// The next request of a connection; none when there is no more. One that cannot be read is answered all the same.
fn request(shared: &Shared, stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Result<Arrival>> {
    loop {
        if let Some((head, body, rest)) = whole(buffer) {
            let arrival = read(&head, &body);
            *buffer = rest;
            return Some(arrival);
        }
        let mut part = [0; 16 * 1024];
        match stream.read(&mut part) {
            Ok(0) => return None,
            Ok(count) => buffer.extend_from_slice(&part[..count]),
            Err(error) if is_patience(&error) && !shared.is_over() && shared.mood() != Mood::Gone => {}
            Err(_) => return None,
        }
    }
}

fn is_patience(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Head, body and what is behind them, once both are there.
fn whole(buffer: &[u8]) -> Option<(String, Vec<u8>, Vec<u8>)> {
    let end = buffer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let length: usize = field(&head, "content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let body = buffer.get(end + 4..end + 4 + length)?.to_vec();
    Some((head, body, buffer[end + 4 + length..].to_vec()))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.filter(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

fn read(head: &str, body: &[u8]) -> Result<Arrival> {
    let id = field(head, "webhook-id").context("a request has no webhook-id")?.to_owned();
    let event: Value = serde_json::from_slice(body).context("a request holds no JSON")?;
    let text = |value: &Value| value.as_str().map(str::to_owned).with_context(|| format!("{event} lacks a field"));
    let (mailbox, subject) = (text(&event["data"]["mailbox"])?, text(&event["data"]["message"]["subject"])?);
    Ok(Arrival { id, mailbox, subject, taken: false, at: Instant::now() })
}

fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_all_of_it_is_there() {
        let body = r#"{"type":"message.delivered","data":{"mailbox":"ann","message":{"subject":"7"}}}"#;
        let text = format!("POST / HTTP/1.1\r\nWebhook-Id: msg_1\r\nContent-Length: {}\r\n\r\n{body}GET", body.len());
        assert!(whole(&text.as_bytes()[..text.len() - 4]).is_none());
        let (head, found, rest) = whole(text.as_bytes()).expect("it is whole");
        assert_eq!(rest, b"GET");
        let arrival = read(&head, &found).expect("it is an event");
        assert_eq!((arrival.id.as_str(), arrival.mailbox.as_str(), arrival.subject.as_str()), ("msg_1", "ann", "7"));
    }
}
