//! A server that says what it is told to, and a resolver that answers what it is told to. Both count.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{Client, Request, Resolver, Settings, Trust};
use reqwest::Method;

/// What a server sends when a request has come: pieces, and how long to wait before each.
pub(super) type Script = Vec<(Duration, Vec<u8>)>;

/// A server on this machine.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// One that sends the same to everybody, at once.
    pub(super) async fn saying(ip: &str, answer: &str) -> Self {
        let answer = answer.as_bytes().to_vec();
        Self::start(ip, 0, move |_| vec![(Duration::ZERO, answer.clone())]).await
    }

    pub(super) async fn start(ip: &str, port: u16, script: impl Fn(&str) -> Script + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((ip.parse::<IpAddr>().unwrap(), port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (counted, kept, script) = (
            Arc::clone(&connections),
            Arc::clone(&requests),
            Arc::new(script) as Arc<dyn Fn(&str) -> Script + Send + Sync>,
        );
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&kept), Arc::clone(&script)));
            }
        });
        Self { address, connections, requests, task }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    kept: Arc<Mutex<Vec<String>>>,
    script: Arc<dyn Fn(&str) -> Script + Send + Sync>,
) {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read_buf(&mut head).await {
            Ok(read) if read > 0 => {}
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    kept.lock().unwrap().push(head.clone());
    for (wait, piece) in script(&head) {
        tokio::time::sleep(wait).await;
        if stream.write_all(&piece).await.is_err() {
            return;
        }
    }
    // Whoever drops a socket with unread octets resets it.
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

/// An answer that ends with the connection.
pub(super) fn answer(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len())
}

pub(super) fn sent_on(status: &str, location: &str) -> String {
    answer(status, &format!("Location: {location}\r\n"), "")
}

/// Names, each with lists of addresses that are handed out in turn.
#[derive(Default)]
pub(super) struct Names {
    known: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(super) fn with(mut self, name: &str, turns: &[&[&str]]) -> Self {
        let read = |turn: &&[&str]| turn.iter().map(|ip| ip.parse().unwrap()).collect();
        self.known.insert(name.to_owned(), turns.iter().map(read).collect());
        self
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().unwrap();
        let before = asked.iter().filter(|asked| *asked == name).count();
        asked.push(name.to_owned());
        let turns = self.known.get(name).ok_or_else(|| io::Error::other("no such name"))?;
        Ok(turns[before % turns.len()].clone())
    }
}

/// Bounds that tests can wait for.
pub(super) fn settings(allow: &[&str]) -> Settings {
    let range = |ip: &&str| {
        let ip: IpAddr = ip.parse().unwrap();
        ip..=ip
    };
    Settings { allow: allow.iter().map(range).collect(), timeout: Duration::from_secs(2), ..Settings::default() }
}

pub(super) fn client(allow: &[&str], names: Names) -> (Client, Arc<Names>) {
    let names = Arc::new(names);
    (Client::with_resolver(settings(allow), Arc::clone(&names) as Arc<dyn Resolver>), names)
}

pub(super) fn get(url: impl Into<String>) -> Request {
    Request::new(Method::GET, url, Trust::Stranger)
}
