//! The server over real sockets, asked in raw bytes: a house with the memory engine behind it, and a client that
//! understands no more of HTTP than where a head ends.

mod access;
mod attachments;
mod boundary;
mod counters;
mod events;
mod framing;
mod import;
mod life;
mod monitor;
mod page;
mod v1;
mod v2;
mod wait;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Door, Envelope, MessageId, Recipient, ReversePath, Transport, View};
use mailroom::access::Rules;
use mailroom::{Caller, Mailroom, Parcel, SystemClock};
use net::{Gate, Hall, Lanes, Listener, Place, Stopper};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Settings;
use crate::counters::Render;
use crate::server::{Server, serve};
use crate::shared::Shared;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
struct House {
    addr: SocketAddr,
    mailroom: Arc<Mailroom>,
    gate: Arc<Gate>,
    stopper: Stopper,
}

/// One answer as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Answer {
    status: u16,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl House {
    async fn open() -> Self {
        Self::with(Settings::default()).await
    }

    async fn with(settings: Settings) -> Self {
        Self::with_view(settings, View::of).await
    }

    async fn with_view(settings: Settings, view: fn(&[u8]) -> View) -> Self {
        Self::build(settings, view, Some(Box::new(|| "postkeep_messages_total 7\n".to_owned()))).await
    }

    async fn without_counters() -> Self {
        Self::build(Settings::default(), View::of, None).await
    }

    /// A server by these rules.
    async fn ruled(access: impl Into<Rules>, settings: Settings) -> Self {
        Self::made(access.into(), settings, View::of, Some(Box::new(|| "postkeep_messages_total 7\n".to_owned()))).await
    }

    async fn with_policy(policy: mailroom::Policy) -> Self {
        let rules = mailroom::Settings { policy, ..mailroom::Settings::default() };
        let memory = store::Memory::new(store::memory::Settings::default(), Arc::new(SystemClock));
        Self::over(Mailroom::new(Arc::new(memory), rules), Settings::default(), View::of, None)
    }

    async fn build(settings: Settings, view: fn(&[u8]) -> View, counters: Option<Render>) -> Self {
        Self::made(Rules::default(), settings, view, counters).await
    }

    async fn made(access: Rules, settings: Settings, view: fn(&[u8]) -> View, counters: Option<Render>) -> Self {
        let memory = store::Memory::new(store::memory::Settings::default(), Arc::new(SystemClock));
        let rules = mailroom::Settings { access, ..mailroom::Settings::default() };
        let mailroom = Mailroom::new(Arc::new(memory), rules);
        tokio::spawn(mailroom.recall().await.unwrap());
        Self::over(mailroom, settings, view, counters)
    }

    fn over(mailroom: Arc<Mailroom>, settings: Settings, view: fn(&[u8]) -> View, counters: Option<Render>) -> Self {
        let listener = Listener::bind(&Place::parse("127.0.0.1:0")).unwrap();
        let addr = listener.local_addr().unwrap();
        let gate = Gate::new(settings.connections_max, settings.connections_per_ip_max);
        let (stopper, stop) = net::stop::channel();
        let mut shared = Shared::new(Arc::new(settings), Arc::clone(&mailroom), stop.clone(), page::page());
        (shared.view, shared.counters) = (view, counters);
        let hall = Hall { gate: Arc::clone(&gate), lanes: Lanes::here(), stop, proxy_from: Vec::new(), arrivals: None };
        tokio::spawn(serve(listener, Arc::new(Server::over(shared)), Arc::new(hall)));
        Self { addr, mailroom, gate, stopper }
    }

    /// Put a message into a mailbox; the trace fields are left out, so that answers can be told to the byte.
    async fn deliver(&self, recipient: &str, raw: impl Into<Vec<u8>>) -> MessageId {
        self.deliver_at(recipient, raw, Timestamp::now()).await
    }

    async fn deliver_at(&self, recipient: &str, raw: impl Into<Vec<u8>>, received_at: Timestamp) -> MessageId {
        let address = |text: &str| Address::parse(text, Charset::Utf8).unwrap();
        let recipient = address(&format!("{recipient}@example.test"));
        let caller = Caller::Program;
        let (_verdict, mailbox) =
            self.mailroom.judge_recipient(&mailroom::Visit::of(&caller, &ReversePath(None)), &recipient).await;
        let envelope = Envelope {
            transaction: self.mailroom.begin(),
            reverse_path: ReversePath(Some(address("sender@origin.test"))),
            recipients: vec![Recipient { address: recipient, mailbox: mailbox.unwrap() }],
            transport: Transport {
                door: Door::Esmtp,
                utf8: false,
                helo: "client.test".into(),
                peer: None,
                tls: None,
                auth_user: None,
            },
        };
        let parcel =
            Parcel { raw: Bytes::from(raw.into()), envelope: envelope.into(), discarded: Vec::new(), received_at };
        self.mailroom.deliver(&caller, parcel).await.unwrap().filed[0].id
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.unwrap()
    }

    /// Send these bytes, which ask for the connection to be closed, and read what comes.
    async fn exchange(&self, raw: impl AsRef<[u8]>) -> Vec<u8> {
        let mut stream = self.connect().await;
        // The server may have answered and hung up before it took all.
        let _ = stream.write_all(raw.as_ref()).await;
        read_all(&mut stream).await
    }

    /// One request with these further fields, each ended by CRLF.
    async fn ask(&self, method: &str, path: &str, fields: &str) -> Answer {
        let raw = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{fields}\r\n", self.addr);
        Answer::read(&self.exchange(raw).await)
    }

    /// One request for this Host.
    async fn ask_host(&self, method: &str, path: &str, host: &str) -> Answer {
        let raw = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        Answer::read(&self.exchange(raw).await)
    }

    /// One request with a body of this type.
    async fn send(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> Answer {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: {media_type}\r\n\
             Content-Length: {}\r\n\r\n",
            self.addr,
            body.len()
        );
        Answer::read(&self.exchange([head.as_bytes(), body].concat()).await)
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "").await
    }

    async fn json(&self, path: &str) -> serde_json::Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// How many messages a mailbox holds, asked behind the server's back.
    async fn count(&self, mailbox: &str) -> usize {
        let page = mailroom::Page { after: None, limit: 1000, order: mailroom::Order::Oldest };
        let mailbox = self.mailroom.named(mailbox).unwrap();
        self.mailroom.list(&Caller::Program, &mailbox, page).await.unwrap().items.len()
    }

    /// The server lives and has no connection left over.
    async fn is_sound(&self) {
        assert_eq!(self.get("/livez").await.text(), "ok\n");
        let empty = async {
            while self.gate.open() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, empty).await.expect("every connection ends");
    }

    async fn close(mut self) -> bool {
        drop(self.mailroom);
        self.stopper.drain(PATIENCE, PATIENCE).await
    }
}

impl Answer {
    /// Read the first answer of what came, its body by its length or to the end.
    fn read(raw: &[u8]) -> Self {
        let (answer, _rest) = Self::read_one(raw);
        answer
    }

    fn read_one(raw: &[u8]) -> (Self, &[u8]) {
        let end = raw.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(raw)));
        let head = std::str::from_utf8(&raw[..end]).expect("a head is ASCII");
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().strip_prefix("HTTP/1.1 ").expect("HTTP/1.1")[..3].parse().unwrap();
        let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let fields: Vec<_> = lines.map(|line| pair(line).expect("name: value")).collect();
        let mut answer = Self { status, fields, body: Vec::new() };
        let rest = &raw[end + 4..];
        let length = answer.field("content-length").and_then(|length| length.parse().ok()).unwrap_or(rest.len());
        let (body, rest) = rest.split_at(length.min(rest.len()));
        answer.body = body.to_vec();
        (answer, rest)
    }

    /// The value of a field that stands there once.
    fn field(&self, name: &str) -> Option<&str> {
        let mut found = self.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} stands twice: {:?}", self.fields);
        value
    }

    fn value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text")
    }

    /// It is a problem of this status and slug, whole and calm.
    fn expect_problem(&self, status: u16, slug: &str) {
        assert_eq!(self.status, status, "{} {:?}", self.text(), self.fields);
        assert_eq!(self.field("content-type"), Some("application/problem+json"));
        let problem: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem["type"], format!("urn:postkeep:problem:{slug}"));
        assert_eq!(problem["status"], status);
        assert!(!problem["title"].as_str().unwrap().is_empty());
        assert!(problem["detail"].as_str().unwrap().ends_with(['.', '?']), "{problem}");
    }
}

/// What comes until the end of the stream; a reset is an end too.
async fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut came = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut came)).await.expect("the connection ends");
    came
}

/// A plain message with this subject.
fn letter(subject: &str) -> String {
    format!("From: Jane Doe <jane@host.test>\r\nSubject: {subject}\r\n\r\nwords\r\n")
}
