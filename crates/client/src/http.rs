//! One request on a connection of its own, and its answer.
//!
//! There is no pool: a connection belongs to the runtime it was made on, and tests that share a client have a runtime each. A
//! call that is dropped closes its connection, which tells the server that nobody waits any more.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::server::{Scheme, Server, Token};

/// Bytes of an answer; the source of a message is the largest.
const ANSWER_MAX: usize = 256 << 20;
/// Time for a connection: a host that is off answers nothing at all.
const CONNECT: Duration = Duration::from_secs(5);
const AGENT: &str = concat!("postkeep-client/", env!("CARGO_PKG_VERSION"));

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// From the server's root, with the query.
    pub(crate) path: String,
    pub(crate) fields: Vec<(HeaderName, String)>,
    pub(crate) body: Bytes,
}

/// What a server answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
    /// Who it was.
    pub(crate) server: String,
}

/// There was no answer, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lost {
    pub(crate) server: String,
    pub(crate) why: String,
}

impl Ask {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), fields: Vec::new(), body: Bytes::new() }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn json(mut self, body: &serde_json::Value) -> Self {
        self.fields.push((CONTENT_TYPE, "application/json".to_owned()));
        self.body = body.to_string().into();
        self
    }

    pub(crate) fn field(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    fn request(&self, server: &Server, token: Option<&Token>) -> Result<Request<Full<Bytes>>, String> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(format!("{}{}", server.prefix, self.path))
            .header(HOST, &server.authority)
            .header(USER_AGENT, AGENT);
        for (name, value) in &self.fields {
            request = request.header(name, value);
        }
        if let Some(Token(token)) = token.or(server.token.as_ref()) {
            let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| "the token has characters that no token has; give it as it was issued".to_owned())?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request.body(Full::new(self.body.clone())).map_err(|error| error.to_string())
    }
}

/// Ask, and read the whole answer.
pub(crate) async fn exchange(server: &Server, token: Option<&Token>, ask: &Ask) -> Result<Answer, Lost> {
    let lost = |why| Lost { server: server.url(), why };
    let response = open(server, token, ask).await?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_MAX).collect().await;
    let body = body.map_err(|error| lost(format!("the answer is not whole ({error})")))?.to_bytes();
    let seconds = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Ok(Answer {
        status: head.status.as_u16(),
        retry_after: seconds.map(Duration::from_secs),
        body,
        server: server.url(),
    })
}

/// Ask, and leave the body of the answer to be read.
pub(crate) async fn open(server: &Server, token: Option<&Token>, ask: &Ask) -> Result<Response<Incoming>, Lost> {
    let lost = |why| Lost { server: server.url(), why };
    let request = ask.request(server, token).map_err(lost)?;
    let connecting = tokio::time::timeout(CONNECT, TcpStream::connect((server.host.as_str(), server.port)));
    let stream = match connecting.await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(lost(error.to_string())),
        Err(_) => return Err(lost(format!("no connection within {} s", CONNECT.as_secs()))),
    };
    // It is only quicker.
    let _ = stream.set_nodelay(true);
    match server.scheme {
        Scheme::Http => send(stream, request).await.map_err(lost),
        #[cfg(feature = "https")]
        Scheme::Https => {
            let stream = crate::tls::wrap(&server.host, stream).await.map_err(lost)?;
            send(stream, request).await.map_err(lost)
        }
        #[cfg(not(feature = "https"))]
        Scheme::Https => Err(lost("https is not built in".to_owned())),
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, String> {
    let broken = |error: hyper::Error| format!("the connection was lost ({error})");
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // Ends with the answer, or when the answer is dropped; why it broke, the answer tells.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(broken)
}
