//! What is asked of the CA, and how it is handed to whoever asks others over HTTP: this room has no client of its own.
//!
//! Nothing is asked for without TLS, wherever a directory may point.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{Request, Response};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};

/// An answer that is still to come.
pub type Fetching = Pin<Box<dyn Future<Output = Result<Response<Bytes>, Unfetched>> + Send>>;

/// Whoever asks others over HTTP: holds their certificates against roots, bounds their answers, has a deadline, and does
/// not go where an answer points.
pub trait Fetch: Send + Sync + 'static {
    /// Ask. The roots are those of a PEM file, or of this machine; both are renewed, so they are read anew each time.
    fn fetch(&self, ca: Option<&Path>, request: Request<Bytes>) -> Fetching;
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfetched {
    /// There is nothing to hold certificates against.
    Roots(String),
    /// None came, or none that could be read.
    Unreached(String),
}

/// Somebody who fetches, in settings that can be compared and printed.
#[derive(Clone)]
pub struct Fetcher(pub Arc<dyn Fetch>);

impl PartialEq for Fetcher {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Fetcher {}

impl fmt::Debug for Fetcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Fetcher")
    }
}

/// No answer came, or none that could be read.
#[derive(thiserror::Error, Debug)]
#[error("{url}: {why:?}")]
pub(crate) struct Unreached {
    pub(crate) url: String,
    pub(crate) why: Unfetched,
}

/// Whom to ask, and by which roots.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) fetcher: Fetcher,
    pub(crate) ca: Option<PathBuf>,
}

impl Client {
    /// Ask for a resource that needs no signature.
    pub(crate) async fn read(&self, url: &str) -> Result<Response<Bytes>, Unreached> {
        let request = Request::get(url).body(Bytes::new());
        let unreached = |error: hyper::http::Error| Unfetched::Unreached(error.to_string());
        let request = request.map_err(|error| Unreached { url: url.to_owned(), why: unreached(error) })?;
        self.send(request).await
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Unreached> {
        let url = request.uri().to_string();
        if request.uri().scheme_str() != Some("https") {
            return Err(Unreached { url, why: Unfetched::Unreached("the URL is not one of https".to_owned()) });
        }
        let fetched = self.fetcher.0.fetch(self.ca.as_deref(), request).await;
        fetched.map_err(|why| Unreached { url, why })
    }
}

impl HttpClient for Client {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(|error| Error::Other(error.into()))?.to_bytes();
            let answer = client.send(Request::from_parts(parts, body)).await;
            let (parts, body) = answer.map_err(|error| Error::Other(error.into()))?.into_parts();
            Ok(BytesResponse { parts, body: Box::new(body) })
        })
    }
}
