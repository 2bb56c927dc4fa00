//! A server to talk to, and what a client says and hears in POP3.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use dialogues::certificate;
pub(crate) use dialogues::{Client, PATIENCE, dial, dial_secured};
use mail::MessageId;
use mailroom::{Caller, Import, Mailroom, Order, Page, Which};
use net::{Gate, Hall, Lanes, Listener, Phase, Place, Stop, Stopper, Stream, Tls};
use pop3::{Server, Settings, TlsUse};
use store::{Memory, Store, SystemClock};

/// A server, its mailroom and its stop.
pub(crate) struct Rig {
    pub(crate) server: Arc<Server>,
    pub(crate) mailroom: Arc<Mailroom>,
    pub(crate) stop: Stop,
    pub(crate) stopper: Stopper,
    pub(crate) tls: Arc<Tls>,
    settings: Arc<Settings>,
}

pub(crate) fn settings() -> Settings {
    Settings { hostname: "mx.test".into(), tls: TlsUse::Off, ..Settings::default() }
}

pub(crate) fn memory() -> Memory {
    let settings = store::memory::Settings { messages_max: 0, ..store::memory::Settings::default() };
    Memory::new(settings, Arc::new(SystemClock))
}

impl Rig {
    pub(crate) fn new(settings: Settings) -> Self {
        Self::over(Arc::new(memory()), settings)
    }

    pub(crate) fn over(store: Arc<dyn Store>, settings: Settings) -> Self {
        let mailroom = Mailroom::new(store, mailroom::Settings::default());
        let (stopper, stop) = net::stop::channel();
        let (settings, tls) = (Arc::new(settings), certificate::tls());
        let server = Server::new(Arc::clone(&settings), Arc::clone(&mailroom), Some(Arc::clone(&tls)));
        Self { server: Arc::new(server), mailroom, stop, stopper, tls, settings }
    }

    /// A client at the other end of a pipe.
    pub(crate) fn pipe(&self) -> Client {
        self.pipe_from(None, 64 * 1024)
    }

    /// A client at the other end of a pipe that holds so many bytes, with an address.
    pub(crate) fn pipe_from(&self, peer: Option<IpAddr>, bytes: usize) -> Client {
        let (client, end) = Stream::pipe(bytes);
        let (server, stop) = (Arc::clone(&self.server), self.stop.clone());
        tokio::spawn(async move { server.converse(end, peer, None, stop).await });
        Client::new(Box::new(client))
    }

    /// The same server behind a listener, and its port.
    pub(crate) fn listen(&self) -> u16 {
        self.serve(Listener::bind(&Place::parse("127.0.0.1:0")).unwrap())
    }

    /// The same behind a listener with TLS from the first byte on.
    pub(crate) fn listen_secured(&self) -> u16 {
        self.serve(Listener::bind(&Place::parse("127.0.0.1:0")).unwrap().secured(Arc::clone(&self.tls)))
    }

    fn serve(&self, listener: Listener) -> u16 {
        let port = listener.local_addr().unwrap().port();
        let hall = Hall {
            gate: Gate::new(self.settings.connections_max, self.settings.connections_per_ip_max),
            lanes: Lanes::here(),
            stop: self.stop.clone(),
            proxy_from: Vec::new(),
            arrivals: None,
        };
        tokio::spawn(pop3::serve(listener, Arc::clone(&self.server), Arc::new(hall)));
        port
    }

    /// Put a message into a mailbox, exactly these bytes.
    pub(crate) async fn put(&self, mailbox: &str, raw: impl Into<Bytes>) -> MessageId {
        let import = Import {
            mailbox: self.mailroom.named(mailbox).unwrap(),
            raw: raw.into(),
            received_at: self.mailroom.now(),
            mail_from: None,
            rcpt_to: Vec::new(),
        };
        self.mailroom.import(&Caller::Program, import).await.unwrap().id
    }

    /// The ids of a mailbox, oldest first.
    pub(crate) async fn ids(&self, mailbox: &str) -> Vec<MessageId> {
        let mailbox = self.mailroom.named(mailbox).unwrap();
        let page = Page { after: None, limit: 100_000, order: Order::Oldest };
        let listing = self.mailroom.list(&Caller::Program, &mailbox, page).await.unwrap();
        listing.items.iter().map(|summary| summary.id).collect()
    }

    /// How many messages a mailbox holds.
    pub(crate) async fn kept(&self, mailbox: &str) -> usize {
        self.ids(mailbox).await.len()
    }

    /// Stop, and wait until no session and no listener is left.
    pub(crate) async fn all_ended(&mut self) {
        self.stopper.advance(Phase::Draining);
        // The rig itself does not count.
        self.stop = net::stop::channel().1;
        tokio::time::timeout(PATIENCE, self.stopper.finished()).await.expect("every session ends");
    }

    /// Delete a message behind everybody's back.
    pub(crate) async fn take_away(&self, mailbox: &str, id: MessageId) {
        let mailbox = self.mailroom.named(mailbox).unwrap();
        assert!(self.mailroom.delete(&Caller::Program, &mailbox, Which::Id(id)).await.unwrap());
    }
}

/// A client's part in POP3.
pub(crate) trait Pop3 {
    /// Send one line and return the first line of its reply.
    async fn ask(&mut self, line: &str) -> String;
    /// Whether one line is answered with `+OK`.
    async fn ok(&mut self, line: &str) -> bool;
    /// What follows the first line of a reply, up to its line of one dot, with the dots undone: read strictly.
    async fn body(&mut self) -> Vec<u8>;
    /// The greeting, USER, PASS.
    async fn sign_in(&mut self, mailbox: &str);
}

impl Pop3 for Client {
    async fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n").as_bytes()).await;
        self.line().await.unwrap_or_else(|| panic!("closed instead of a reply to {line}"))
    }

    async fn ok(&mut self, line: &str) -> bool {
        self.ask(line).await.starts_with("+OK")
    }

    async fn body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = self.octets().await;
            assert!(!line.is_empty(), "closed inside a reply");
            let text = &line[..line.len() - 2];
            assert!(!text.contains(&b'\r'), "a CR on its own");
            if text == b"." {
                return body;
            }
            assert!(!text.starts_with(b".") || text.starts_with(b".."), "a dot that is not doubled");
            body.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
        }
    }

    async fn sign_in(&mut self, mailbox: &str) {
        assert!(self.line().await.unwrap().starts_with("+OK "));
        assert!(self.ok(&format!("USER {mailbox}")).await);
        assert!(self.ok("PASS anything").await);
    }
}
