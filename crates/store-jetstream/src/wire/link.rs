//! The connection to the brokers: one, to any of them, and to another when that one goes. It says whether an attempt
//! surely did not go out, and ends what waits for an answer as soon as the connection breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{Client, ConnectOptions, Event, HeaderMap, Message, Request, Subscriber};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use super::answer::{self, Failure};
use super::inbox::Inbox;
use crate::error::OpenError;
use crate::settings::Settings;

/// A broker that does not answer two of these is left: a silent network is noticed within three seconds.
const PING_EVERY: Duration = Duration::from_secs(1);
const CONNECT_WAIT: Duration = Duration::from_secs(2);
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
const RECONNECT_PAUSE_MAX: Duration = Duration::from_secs(1);
/// So long one attempt waits for its answer; each megabyte of it adds a second.
pub(super) const ANSWER_WAIT: Duration = Duration::from_secs(3);
/// A subscription that is so far behind loses messages, which its reader then sees.
const SUBSCRIPTION_MAX: usize = 16_384;

/// The connection.
pub(crate) struct Link {
    pub(super) client: Client,
    pub(super) inbox: Inbox,
    life: Arc<Life>,
}

/// Whether the connection stands, and who wants to know.
#[derive(Default)]
struct Life {
    stands: AtomicBool,
    /// Counts the times it was made.
    made: AtomicU64,
    broken: Notify,
    mended: Notify,
}

impl Link {
    /// Connect to one of the brokers.
    pub(crate) async fn open(settings: &Settings) -> Result<Self, OpenError> {
        let life = Arc::new(Life::default());
        let options = options(settings, &life).await?;
        let refused = |why| OpenError::Unreachable { urls: settings.shown_urls(), why };
        let until = Instant::now() + settings.wait_max;
        let client = loop {
            match options.clone().connect(settings.urls.clone()).await {
                Ok(client) => break client,
                Err(_) if Instant::now() + RECONNECT_PAUSE_MAX < until => sleep(RECONNECT_PAUSE_MAX).await,
                Err(error) => return Err(refused(error.to_string())),
            }
        };
        life.stands.store(true, Ordering::Release);
        let inbox = Inbox::open(&client).await.map_err(|error| refused(error.to_string()))?;
        Ok(Self { client, inbox, life })
    }

    /// One question, one answer.
    pub(crate) async fn ask(
        &self,
        subject: String,
        headers: Option<HeaderMap>,
        payload: Bytes,
    ) -> Result<Message, Failure> {
        let until = Instant::now() + wait_for(payload.len());
        let broken = self.whole(until).await?;
        let request = Request { payload: Some(payload), headers, timeout: Some(None), inbox: None };
        let answer = tokio::select! {
            answer = timeout_at(until, self.client.send_request(subject, request)) => answer,
            () = broken => return Err(Failure::Unknown("the connection broke before the answer came".to_owned())),
        };
        match answer {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(error)) => Err(match error.kind() {
                RequestErrorKind::NoResponders => Failure::Unsent("no broker leads this part of the store now".into()),
                RequestErrorKind::MaxPayloadExceeded | RequestErrorKind::InvalidSubject => {
                    Failure::Refused(answer::Refusal { code: 400, number: 10054, description: error.to_string() })
                }
                _ => Failure::Unknown(error.to_string()),
            }),
            Err(_) => Err(Failure::Unknown("no answer came in time".to_owned())),
        }
    }

    /// Ask the JetStream API.
    pub(crate) async fn api<T: DeserializeOwned>(&self, call: &str, body: &serde_json::Value) -> Result<T, Failure> {
        let payload = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let message = self.ask(format!("$JS.API.{call}"), None, payload).await?;
        answer::read(&message.payload)
    }

    /// Wait until the connection stands; then what tells that it broke.
    pub(super) async fn whole(&self, until: Instant) -> Result<impl Future<Output = ()> + '_, Failure> {
        loop {
            let (broken, mended) = (self.life.broken.notified(), self.life.mended.notified());
            if self.stands() {
                return Ok(broken);
            }
            if timeout_at(until, mended).await.is_err() {
                return Err(Failure::Unsent("there is no connection to a broker".to_owned()));
            }
        }
    }

    /// Whether the connection stands, as far as is known.
    pub(crate) fn stands(&self) -> bool {
        self.life.stands.load(Ordering::Acquire)
    }

    /// How often it was made: when this moved on, what came over it meanwhile may be lost.
    pub(crate) fn made(&self) -> u64 {
        // The first time is told a moment after it happened: whoever asks before that must not see it happen again.
        self.life.made.load(Ordering::Acquire).max(1)
    }

    /// The next time the connection is made.
    pub(crate) fn mended(&self) -> impl Future<Output = ()> + '_ {
        self.life.mended.notified()
    }

    /// Follow a subject. The broker has been told when this returns, and knows when it answers whatever is asked next; so
    /// does the leader of a stream when that answers.
    pub(crate) async fn follow(&self, subject: String) -> Result<Subscriber, Failure> {
        let until = Instant::now() + ANSWER_WAIT;
        let _broken = self.whole(until).await?;
        let unsent = |why: String| Failure::Unsent(format!("cannot follow {subject}: {why}"));
        let subscriber = self.client.subscribe(subject.clone()).await.map_err(|error| unsent(error.to_string()))?;
        match timeout_at(until, self.client.flush()).await {
            Ok(Ok(())) => Ok(subscriber),
            Ok(Err(error)) => Err(unsent(error.to_string())),
            Err(_) => Err(unsent("no answer came in time".to_owned())),
        }
    }

    /// Tell whoever follows a subject; nobody need.
    pub(crate) async fn tell(&self, subject: String, reply: Option<String>, payload: Bytes) -> Result<(), Failure> {
        let said = match reply {
            Some(reply) => self.client.publish_with_reply(subject, reply, payload).await,
            None => self.client.publish(subject, payload).await,
        };
        said.map_err(|error| Failure::Unsent(error.to_string()))
    }

    /// Ask everybody who follows a subject, and gather what they say within a time.
    pub(crate) async fn gather(
        &self,
        subject: String,
        payload: Bytes,
        within: Duration,
        enough: usize,
    ) -> Result<Vec<Bytes>, Failure> {
        let mut answers = self.inbox.expect();
        let until = Instant::now() + within;
        self.tell(subject, Some(answers.subject.clone()), payload).await?;
        let mut gathered = Vec::new();
        while gathered.len() < enough {
            match timeout_at(until, answers.arriving.recv()).await {
                Ok(Some(message)) if message.status.is_some_and(|status| status.as_u16() == 503) => break,
                Ok(Some(message)) => gathered.push(message.payload),
                Ok(None) | Err(_) => break,
            }
        }
        Ok(gathered)
    }

    /// The port of the broker connected to.
    #[cfg(test)]
    pub(crate) fn port(&self) -> String {
        format!(":{}", self.client.server_info().port)
    }

    /// The name and version of the broker connected to.
    pub(crate) fn server(&self) -> (String, String) {
        let info = self.client.server_info();
        (info.server_name, info.version)
    }
}

/// How long an answer to so many bytes may take.
pub(super) fn wait_for(bytes: usize) -> Duration {
    ANSWER_WAIT + Duration::from_millis((bytes >> 10) as u64)
}

async fn options(settings: &Settings, life: &Arc<Life>) -> Result<ConnectOptions, OpenError> {
    let life = Arc::clone(life);
    let mut options = ConnectOptions::new()
        .name("postkeep")
        .ping_interval(PING_EVERY)
        .connection_timeout(CONNECT_WAIT)
        .request_timeout(None)
        .subscription_capacity(SUBSCRIPTION_MAX)
        .skip_subject_validation(true)
        .reconnect_delay_callback(|attempt| {
            RECONNECT_PAUSE_MAX
                .min(RECONNECT_PAUSE * u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(10))
        })
        .event_callback(move |event| {
            life.hear(&event);
            std::future::ready(())
        });
    if let Some((user, password)) = settings.user() {
        options = options.user_and_password(user, password);
    }
    if let Some(path) = &settings.credentials {
        let unreadable = |source| OpenError::Credentials { path: path.clone(), source };
        options = options.credentials_file(path).await.map_err(unreadable)?;
    }
    if let Some(path) = &settings.tls_ca {
        options = options.add_root_certificates(path.clone());
    }
    if let (Some(cert), Some(key)) = (&settings.tls_cert, &settings.tls_key) {
        options = options.add_client_certificate(cert.clone(), key.clone());
    }
    if settings.tls_ca.is_some() || settings.tls_cert.is_some() {
        options = options.require_tls(true);
    }
    Ok(options)
}

impl Life {
    fn hear(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.made.fetch_add(1, Ordering::AcqRel);
                self.stands.store(true, Ordering::Release);
                self.mended.notify_waiters();
                tracing::debug!("connected to a broker");
            }
            Event::Disconnected | Event::Closed => {
                self.stands.store(false, Ordering::Release);
                self.broken.notify_waiters();
                tracing::warn!("the connection to the broker broke; trying the others");
            }
            Event::SlowConsumer(_) => {
                // What was dropped is found by whoever looks, as after a break.
                self.made.fetch_add(1, Ordering::AcqRel);
                self.mended.notify_waiters();
                tracing::warn!("changes came faster than they were read; looking them up");
            }
            other => tracing::warn!(event = %other, "the connection to the brokers"),
        }
    }
}
