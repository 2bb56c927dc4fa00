//! A server to talk to, and what a client says and hears in SMTP.

use std::sync::Arc;

use dialogues::certificate;
pub(crate) use dialogues::{Client, PATIENCE, dial, dial_secured};
use mailroom::{Caller, Mailroom, Order, Page, Policy};
use net::tls::TlsUse;
use net::{Gate, Hall, Lanes, Listener, Place, Stop, Stopper, Stream, Tls};
use smtp::{Dialect, Limits, Link, Server, Settings};
use store::{Memory, Store, SystemClock};

/// A server, its mailroom and its stop.
pub(crate) struct Rig {
    pub(crate) server: Arc<Server>,
    pub(crate) mailroom: Arc<Mailroom>,
    pub(crate) stop: Stop,
    pub(crate) stopper: Stopper,
    pub(crate) dialect: Dialect,
    pub(crate) tls: Arc<Tls>,
    pub(crate) settings: Arc<Settings>,
}

pub(crate) fn settings() -> Settings {
    Settings {
        hostname: "mx.test".into(),
        message_max: 1000,
        recipients_max: 5,
        tls: TlsUse::Off,
        ..Settings::default()
    }
}

fn policy() -> Policy {
    let list = |pattern: &str| vec![pattern.parse().unwrap()];
    Policy {
        reject: list("reject.test"),
        discard: list("discard.test"),
        reject_senders: list("spam.test"),
        ..Policy::default()
    }
}

impl Rig {
    pub(crate) fn new(settings: Settings) -> Self {
        let memory = Memory::new(store::memory::Settings::default(), Arc::new(SystemClock));
        Self::over(Arc::new(memory), settings)
    }

    pub(crate) fn over(store: Arc<dyn Store>, settings: Settings) -> Self {
        let mailroom = Mailroom::new(store, mailroom::Settings { policy: policy(), ..mailroom::Settings::default() });
        let (stopper, stop) = net::stop::channel();
        let settings = Arc::new(settings);
        let tls = certificate::tls();
        let server = Server::new(Arc::clone(&settings), Arc::clone(&mailroom), Some(Arc::clone(&tls)));
        Self { server: Arc::new(server), mailroom, stop, stopper, dialect: Dialect::Smtp, tls, settings }
    }

    /// The same with limits for each address.
    pub(crate) fn limited(mut self, limits: Limits) -> Self {
        let server = Server::new(Arc::clone(&self.settings), Arc::clone(&self.mailroom), Some(Arc::clone(&self.tls)));
        self.server = Arc::new(server.limited(limits));
        self
    }

    /// A client at the other end of a pipe.
    pub(crate) fn pipe(&self) -> Client {
        let (client, end) = Stream::pipe(64 * 1024);
        let (server, stop) = (Arc::clone(&self.server), self.stop.clone());
        let link = Link { dialect: self.dialect, has_certificate: true, ..Link::default() };
        tokio::spawn(async move { server.converse(end, link, stop).await });
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
        tokio::spawn(smtp::serve(listener, self.dialect, Arc::clone(&self.server), Arc::new(hall)));
        port
    }

    /// How many messages a mailbox holds.
    pub(crate) async fn kept(&self, mailbox: &str) -> usize {
        self.sources(mailbox).await.len()
    }

    /// The messages of a mailbox, oldest first.
    pub(crate) async fn sources(&self, mailbox: &str) -> Vec<bytes::Bytes> {
        let mailbox = self.mailroom.named(mailbox).unwrap();
        let page = Page { after: None, limit: 10_000, order: Order::Oldest };
        let listing = self.mailroom.list(&Caller::Program, &mailbox, page).await.unwrap();
        let mut sources = Vec::new();
        for summary in listing.items {
            let which = mailroom::Which::Id(summary.id);
            sources.push(self.mailroom.read(&Caller::Program, &mailbox, which).await.unwrap().unwrap().raw);
        }
        sources
    }
}

/// A client's part in SMTP.
pub(crate) trait Smtp {
    /// The code of the next reply; none at the end.
    async fn code(&mut self) -> Option<u16>;
    /// The codes of every reply until the end.
    async fn codes(&mut self) -> Vec<u16>;
    /// Send one line and return the code of its reply.
    async fn ask(&mut self, line: &str) -> Option<u16>;
    /// Greeting, HELO, MAIL, RCPT.
    async fn begin(&mut self, mailbox: &str);
    /// MAIL, RCPT.
    async fn envelope(&mut self, mailbox: &str);
}

impl Smtp for Client {
    async fn code(&mut self) -> Option<u16> {
        loop {
            let line = self.line().await?;
            if line.as_bytes().get(3) != Some(&b'-') {
                return Some(line[..3].parse().expect("a reply begins with its code"));
            }
        }
    }

    async fn codes(&mut self) -> Vec<u16> {
        let mut codes = Vec::new();
        while let Some(code) = self.code().await {
            codes.push(code);
        }
        codes
    }

    async fn ask(&mut self, line: &str) -> Option<u16> {
        self.send(format!("{line}\r\n").as_bytes()).await;
        self.code().await
    }

    async fn begin(&mut self, mailbox: &str) {
        assert_eq!(self.code().await, Some(220));
        assert_eq!(self.ask("HELO client.test").await, Some(250));
        self.envelope(mailbox).await;
    }

    async fn envelope(&mut self, mailbox: &str) {
        assert_eq!(self.ask("MAIL FROM:<a@x.test>").await, Some(250));
        assert_eq!(self.ask(&format!("RCPT TO:<{mailbox}@x.test>")).await, Some(250));
    }
}
