//! A receiver that answers as it is told, and remembers what came.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request that came.
#[derive(Clone, Debug)]
pub(super) struct Came {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
    /// Whether it was answered well.
    pub(super) taken: bool,
}

impl Came {
    pub(super) fn field(&self, name: &str) -> &str {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(super) fn mailbox(&self) -> String {
        self.json()["data"]["mailbox"].as_str().unwrap().to_owned()
    }

    pub(super) fn subject(&self) -> String {
        self.json()["data"]["message"]["subject"].as_str().unwrap().to_owned()
    }
}

/// What to answer to the so manieth request.
pub(super) type Answering = dyn Fn(usize, &Came) -> (Duration, &'static str) + Send + Sync;

pub(super) const OK: (Duration, &str) = (Duration::ZERO, "HTTP/1.1 204 No Content\r\n\r\n");

pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    came: Arc<Mutex<Vec<Came>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Receiver {
    pub(super) async fn start(
        answering: impl Fn(usize, &Came) -> (Duration, &'static str) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, answering)
    }

    pub(super) fn on(
        listener: TcpListener,
        answering: impl Fn(usize, &Came) -> (Duration, &'static str) + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let (came, answering): (Arc<Mutex<Vec<Came>>>, Arc<Answering>) = (Arc::default(), Arc::new(answering));
        let kept = Arc::clone(&came);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&kept), Arc::clone(&answering)));
            }
        });
        Self { address, came, task }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(super) fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }

    /// Those that were taken, once there are so many.
    pub(super) async fn taken(&self, count: usize) -> Vec<Came> {
        let waiting = async {
            loop {
                let taken: Vec<_> = self.came().into_iter().filter(|came| came.taken).collect();
                if taken.len() >= count {
                    return taken;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        waited.unwrap_or_else(|_| panic!("{count} were to come, of {:#?}", self.came()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, kept: Arc<Mutex<Vec<Came>>>, answering: Arc<Answering>) {
    let mut octets = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = octets.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut octets).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let head = String::from_utf8_lossy(&octets[..end]).into_owned();
        let mut came = Came { head, body: Vec::new(), taken: false };
        let length: usize = came.field("content-length").parse().unwrap_or(0);
        while octets.len() < end + length {
            if stream.read_buf(&mut octets).await.unwrap_or(0) == 0 {
                return;
            }
        }
        came.body = octets[end..end + length].to_vec();
        octets.drain(..end + length);
        let number = kept.lock().unwrap().len();
        let (wait, answer) = answering(number, &came);
        came.taken = answer.starts_with("HTTP/1.1 2");
        kept.lock().unwrap().push(came);
        tokio::time::sleep(wait).await;
        if stream.write_all(answer.as_bytes()).await.is_err() || answer.contains("close") {
            return;
        }
    }
}
