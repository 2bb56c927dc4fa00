//! The client: asks, follows, reads, each within its bound.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use reqwest::redirect::Policy;
use tokio::sync::{OnceCell, Semaphore};

use crate::error::Error;
use crate::redirect;
use crate::request::{Redirects, Request, Response, Trust};
use crate::resolver::{Guarded, Judge, Resolver, System};
use crate::roots::{self, Known};
use crate::settings::{Settings, Strangers};
use crate::target::Target;

/// Who asks.
const AGENT: &str = concat!("postkeep/", env!("CARGO_PKG_VERSION"));
/// For a connection with its handshake, over all addresses of the host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection is kept for the next request.
const IDLE: Duration = Duration::from_secs(30);
/// Connections of one host that are kept.
const IDLE_MAX: usize = 4;
/// Fields of an answer.
const FIELDS_MAX: usize = 100;

/// Fields that say where a message ends, whom it is for, or what becomes of the connection.
const OURS: &[HeaderName] = &[CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// The client. Cheap to clone; all clones share connections and limits.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    settings: Settings,
    configured: Side,
    strangers: Side,
    /// The part that costs: made when it is first used.
    links: OnceCell<Links>,
    names: Arc<dyn Resolver>,
}

/// What the two kinds of requests do not share: a connection that may lead anywhere is never handed to a stranger.
struct Side {
    judge: Judge,
    places: Semaphore,
}

struct Links {
    configured: reqwest::Client,
    strangers: reqwest::Client,
    known: Known,
}

impl Client {
    /// A client. Nothing is opened or read yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::with_resolver(settings, Arc::new(System))
    }

    /// A client that asks somebody else for the addresses of names.
    #[must_use]
    pub fn with_resolver(settings: Settings, names: Arc<dyn Resolver>) -> Self {
        let side = |judge| Side { judge, places: Semaphore::new(settings.requests_max.min(Semaphore::MAX_PERMITS)) };
        let (configured, strangers) = (side(Judge::Any), side(Judge::Open(settings.allow.clone().into())));
        Self(Arc::new(Inner { configured, strangers, links: OnceCell::new(), names, settings }))
    }

    /// Ask, and read the answer.
    ///
    /// # Errors
    /// A rule refused the URL or one that it led to, or no whole answer came within the bounds.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let inner = &*self.0;
        let within = inner.deadline(&request);
        let asking = async {
            let target = inner.admit(&request)?;
            // Closed never.
            let _place = inner.side(request.trust).places.acquire().await;
            inner.follow(request, target).await
        };
        tokio::time::timeout(within, Box::pin(asking)).await.unwrap_or(Err(Error::Timeout { within }))
    }
}

impl Inner {
    fn side(&self, trust: Trust) -> &Side {
        match trust {
            Trust::Configured => &self.configured,
            Trust::Stranger => &self.strangers,
        }
    }

    fn deadline(&self, request: &Request) -> Duration {
        let usual = self.settings.timeout;
        match (request.timeout, request.trust) {
            (None, _) => usual,
            (Some(asked), Trust::Configured) => asked,
            (Some(asked), Trust::Stranger) => asked.min(usual),
        }
    }

    /// Everything that can be judged without asking anybody.
    fn admit(&self, request: &Request) -> Result<Target, Error> {
        if request.trust == Trust::Stranger && self.settings.strangers == Strangers::Refused {
            return Err(Error::StrangersRefused);
        }
        let ours = |name: &&HeaderName| OURS.contains(name) || name.as_str().starts_with("proxy-");
        if let Some(name) = request.headers.keys().find(ours) {
            return Err(Error::Header { name: name.to_string() });
        }
        let target = Target::read(&request.url, request.trust)?;
        target.check(&self.side(request.trust).judge)?;
        Ok(target)
    }

    async fn follow(&self, mut request: Request, mut target: Target) -> Result<Response, Error> {
        let mut hops = 0;
        loop {
            let response = self.exchange(&request, &target).await?;
            let next = match request.redirects {
                Redirects::Stop => None,
                Redirects::Follow => redirect::next(&mut request, &target, response.status(), response.headers())?,
            };
            let Some(next) = next else { return self.whole(response, &target).await };
            if hops == self.settings.redirects_max {
                return Err(Error::Redirects { max: hops });
            }
            if next.trust == Trust::Stranger && self.settings.strangers == Strangers::Refused {
                return Err(Error::StrangersRefused);
            }
            next.check(&self.side(next.trust).judge)?;
            hops += 1;
            target = next;
        }
    }

    async fn exchange(&self, request: &Request, target: &Target) -> Result<reqwest::Response, Error> {
        let links = self.links.get_or_try_init(|| self.link()).await?;
        if target.url.scheme() == "https" && links.known == Known::Nobody {
            return Err(Error::Roots { what: "this machine has none (package ca-certificates)".to_owned() });
        }
        let client = match target.trust {
            Trust::Configured => &links.configured,
            Trust::Stranger => &links.strangers,
        };
        let asked = client.request(request.method.clone(), target.url.clone()).headers(request.headers.clone());
        let asked = if request.body.is_empty() { asked } else { asked.body(request.body.clone()) };
        asked.send().await.map_err(|error| Error::below(&target.host, &error))
    }

    async fn whole(&self, mut response: reqwest::Response, target: &Target) -> Result<Response, Error> {
        let max = self.settings.body_max;
        if response.content_length().is_some_and(|length| length > max as u64) {
            return Err(Error::TooLarge { max });
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| Error::below(&target.host, &error))? {
            if body.len() + chunk.len() > max {
                return Err(Error::TooLarge { max });
            }
            body.extend_from_slice(&chunk);
        }
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        Ok(Response { status, headers, body: Bytes::from(body), url: target.shown() })
    }

    async fn link(&self) -> Result<Links, Error> {
        let roots = self.settings.roots.clone();
        let read = tokio::task::spawn_blocking(move || roots::config(&roots));
        let (tls, known) = read.await.map_err(|error| Error::Roots { what: error.to_string() })??;
        let make = |side: &Side| {
            let guarded = Guarded { names: Arc::clone(&self.names), judge: side.judge.clone() };
            let builder = reqwest::Client::builder().tls_backend_preconfigured(tls.clone()).dns_resolver(guarded);
            let builder = builder.no_proxy().redirect(Policy::none()).referer(false).user_agent(AGENT);
            let builder = builder.connect_timeout(CONNECT_TIMEOUT).http1_max_headers(FIELDS_MAX);
            let builder = builder.pool_idle_timeout(IDLE).pool_max_idle_per_host(IDLE_MAX);
            builder.build().map_err(|error| Error::below("the client", &error))
        };
        Ok(Links { configured: make(&self.configured)?, strangers: make(&self.strangers)?, known })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Client").field(&self.0.settings).finish()
    }
}
