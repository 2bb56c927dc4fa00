//! HTTPS to the CA: one connection for each request, every answer bounded, every request with a deadline.
//!
//! The library's own client has neither bounds nor deadlines and brings HTTP/2 and a verifier for every platform; an order
//! is a dozen requests every two months, for which HTTP/1.1 is enough. Redirections are not followed, and nothing is
//! asked for without TLS, wherever a directory may point.

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{HOST, HeaderValue, USER_AGENT};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::failure::Failure;

/// For one request, from the question for an address to the last octet of the answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// For one of several addresses, before the next is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer; a chain of certificates has some 10 KiB.
const BODY_MAX: usize = 1 << 20;
/// The largest head of an answer.
const HEAD_MAX: usize = 64 << 10;
/// Who asks; CAs look at it when many ask wrongly (RFC 8555 §6.1).
const AGENT: &str = concat!("postkeep/", env!("CARGO_PKG_VERSION"));

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// No answer came, or none that could be read.
#[derive(thiserror::Error, Debug)]
#[error("{url}: {what}")]
pub(crate) struct Unreached {
    pub(crate) url: String,
    pub(crate) what: String,
}

/// A client that trusts certain roots.
#[derive(Clone)]
pub(crate) struct Client {
    tls: Arc<ClientConfig>,
}

impl Client {
    /// With the roots of a PEM file, or those of this machine. They are read anew each time, since both are renewed.
    pub(crate) async fn new(ca: Option<PathBuf>) -> Result<Self, Failure> {
        let roots = tokio::task::spawn_blocking(move || ca.map_or_else(machine_roots, |path| roots_of(&path)));
        let roots = roots.await.map_err(|error| Failure::Roots { what: error.to_string() })??;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let versions = versions.map_err(|error| Failure::Roots { what: error.to_string() })?;
        let mut tls = versions.with_root_certificates(roots).with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { tls: Arc::new(tls) })
    }

    /// Ask for a resource that needs no signature.
    pub(crate) async fn read(&self, url: &str) -> Result<Response<Bytes>, Unreached> {
        let request = Request::get(url).body(Empty::<Bytes>::new());
        let request = request.map_err(|error| Unreached { url: url.to_owned(), what: error.to_string() })?;
        self.send(request).await
    }

    async fn send<B>(&self, request: Request<B>) -> Result<Response<Bytes>, Unreached>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Cause>,
    {
        let url = request.uri().to_string();
        let what = match timeout(REQUEST_TIMEOUT, exchange(Arc::clone(&self.tls), request)).await {
            Ok(Ok(response)) => return Ok(response),
            Ok(Err(cause)) => chain(&*cause),
            Err(_elapsed) => format!("no answer within {} s", REQUEST_TIMEOUT.as_secs()),
        };
        Err(Unreached { url, what })
    }
}

impl HttpClient for Client {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move {
            let (parts, body) = client.send(request).await.map_err(|error| Error::Other(error.into()))?.into_parts();
            Ok(BytesResponse { parts, body: Box::new(body) })
        })
    }
}

async fn exchange<B>(tls: Arc<ClientConfig>, mut request: Request<B>) -> Result<Response<Bytes>, Cause>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Cause>,
{
    let stream = connect(tls, request.uri()).await?;
    let authority = request.uri().authority().ok_or("the URL names no host")?;
    let host = HeaderValue::from_str(authority.as_str())?;
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).parse()?;
    *request.uri_mut() = target;
    request.headers_mut().insert(HOST, host);
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let mut builder = hyper::client::conn::http1::Builder::new();
    let (mut sender, connection) = builder.max_buf_size(HEAD_MAX).handshake(TokioIo::new(stream)).await?;
    // Boxed, as the request's body type would make it a different task each time; ended when this function ends.
    let mut driving = JoinSet::new();
    driving.spawn(async move { drop(connection.await) });
    bounded(sender.send_request(request).await?).await
}

async fn bounded(response: Response<Incoming>) -> Result<Response<Bytes>, Cause> {
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, BODY_MAX).collect().await?.to_bytes();
    Ok(Response::from_parts(parts, body))
}

async fn connect(tls: Arc<ClientConfig>, uri: &Uri) -> Result<TlsStream<TcpStream>, Cause> {
    if uri.scheme_str() != Some("https") {
        return Err("the URL is not one of https".into());
    }
    let host = uri.host().ok_or("the URL names no host")?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host.to_owned())?;
    let addresses = tokio::net::lookup_host((host, uri.port_u16().unwrap_or(443))).await?;
    let stream = first(addresses).await?;
    Ok(TlsConnector::from(tls).connect(name, stream).await?)
}

/// The first address that answers, so that one that leads nowhere costs some seconds and not the request.
async fn first(addresses: impl Iterator<Item = SocketAddr>) -> Result<TcpStream, Cause> {
    let mut last: Cause = "the host has no address".into();
    for address in addresses {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = format!("{address}: {error}").into(),
            Err(_elapsed) => last = format!("{address}: no connection within {} s", CONNECT_TIMEOUT.as_secs()).into(),
        }
    }
    Err(last)
}

fn machine_roots() -> Result<RootCertStore, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    match found.errors.first() {
        _ if added > 0 => Ok(roots),
        Some(error) => {
            Err(Failure::Roots { what: format!("this machine's root certificates cannot be read ({error})") })
        }
        None => Err(Failure::Roots { what: "this machine has no root certificates".to_owned() }),
    }
}

fn roots_of(path: &Path) -> Result<RootCertStore, Failure> {
    let unusable = |what: String| Failure::Roots { what: format!("acme.ca, {}: {what}", path.display()) };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() { Err(unusable("there is no certificate in it".to_owned())) } else { Ok(roots) }
}

/// An error with what caused it, as far as that says more.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text += &format!(": {more}");
        }
        source = error.source();
    }
    text
}
