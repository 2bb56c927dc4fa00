//! A running server, asked over HTTP to take messages one by one. It knows the one route for that, and lists.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use mail::ReversePath;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::net::TcpStream;

use super::Misuse;
use super::letter::Letter;
use super::words::shown;

/// Time for one request; the server gives up sooner by itself.
const PATIENCE: Duration = Duration::from_secs(300);
/// So often a server that is busy is asked again.
const TRIES: usize = 8;
/// Bytes of an answer: a list of a mailbox is the largest.
const ANSWER_MAX: usize = 256 << 20;
/// Bytes of a query: the head of a request may have 32 KiB there, and more may be in front of it.
const QUERY_MAX: usize = 24 << 10;
/// What stands for itself in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'@').remove(b':');

/// A connection to a server.
pub(super) struct Server {
    authority: String,
    prefix: String,
    /// What is shown with each request.
    shown: Option<HeaderValue>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

/// What became of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Taken {
    /// It is kept; all recipients with it, or as many as a request holds.
    Kept {
        /// How many recipients were left behind.
        recipients_cut: usize,
    },
    /// This one is not taken, and why; others may be.
    Refused(String),
}

impl Server {
    /// The server at a URL, as `http://127.0.0.1:8025`, which may ask for a token.
    pub(super) fn new(url: &str, token: Option<&str>) -> Result<Self, Misuse> {
        let bad = |why: &str| Misuse(format!("{}: {why}; give one as http://127.0.0.1:8025", shown(url)));
        let shown = token.map(bearer).transpose()?;
        let uri: Uri = url.parse().map_err(|_| bad("this is no URL of a server"))?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => {
                let prefix = uri.path().trim_end_matches('/').to_owned();
                Ok(Self { authority: authority.to_string(), prefix, shown, sender: None })
            }
            (Some("https"), _) => Err(bad("https is not spoken here, only the server's own address in the clear")),
            _ => Err(bad("this is no URL of a server")),
        }
    }

    /// Hand over one message.
    pub(super) async fn import(&mut self, mailbox: &str, letter: &Letter) -> Result<Taken> {
        let (query, recipients_cut) = query(mailbox, letter);
        let path = format!("{}/api/v2/import?{query}", self.prefix);
        let raw = Bytes::copy_from_slice(&letter.raw);
        let (status, answer) = self.ask(Method::POST, &path, raw).await?;
        match status {
            StatusCode::CREATED => Ok(Taken::Kept { recipients_cut }),
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => Ok(Taken::Refused(detail(&answer))),
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                bail!("the server has no import; is it an older Postkeep, or something else?")
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => bail!(
                "the server answered {status}: {} To import takes a token with admin:*; name it with --token-file or \
                 POSTKEEP_TOKEN.",
                detail(&answer)
            ),
            _ => bail!("the server answered {status}: {}", detail(&answer)),
        }
    }

    /// How many messages a mailbox holds; none when the server does not take the name.
    pub(super) async fn count(&mut self, mailbox: &str) -> Result<Option<u64>> {
        let path = format!("{}/api/v1/mailbox/{}", self.prefix, utf8_percent_encode(mailbox, PLAIN));
        let (status, answer) = self.ask(Method::GET, &path, Bytes::new()).await?;
        let list: Option<Vec<serde_json::Value>> = serde_json::from_slice(&answer).ok();
        Ok(if status == StatusCode::OK { list.map(|list| list.len() as u64) } else { None })
    }

    /// One request, and again when the server says that it is busy: then it has changed nothing.
    async fn ask(&mut self, method: Method, path: &str, body: Bytes) -> Result<(StatusCode, Bytes)> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut request = Request::builder()
                .method(method.clone())
                .uri(path)
                .header(HOST, &self.authority)
                .header(CONTENT_TYPE, "message/rfc822")
                .body(Full::new(body.clone()))?;
            request.headers_mut().extend(self.shown.clone().map(|shown| (AUTHORIZATION, shown)));
            let (status, wait, answer) = tokio::time::timeout(PATIENCE, self.exchange(request))
                .await
                .map_err(|_| anyhow!("the server at {} does not answer", self.authority))??;
            if status != StatusCode::SERVICE_UNAVAILABLE || tries == TRIES {
                return Ok((status, answer));
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<(StatusCode, Duration, Bytes)> {
        if self.sender.as_mut().is_none_or(|sender| sender.is_closed()) {
            self.sender = Some(self.connect().await?);
        }
        let sender = self.sender.as_mut().context("there is no connection")?;
        sender.ready().await.context("the server has hung up")?;
        let response = sender.send_request(request).await.context(
            "the server has hung up without an answer: whether it took the message is not known, see its log and list \
             the mailbox",
        )?;
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(1);
        let answer = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        let answer = answer.map_err(|error| anyhow!(error).context("the server's answer is not whole"))?.to_bytes();
        Ok((status, Duration::from_secs(wait.min(30)), answer))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        let uri: Uri = format!("http://{}", self.authority).parse()?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(80))).await;
        let stream =
            stream.with_context(|| format!("cannot reach {}; is the server running there?", self.authority))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(
            async move { connection.await.inspect_err(|error| tracing::debug!(%error, "a connection broke")) },
        );
        Ok(sender)
    }
}

/// A token as it is shown, and nowhere else.
fn bearer(token: &str) -> Result<HeaderValue, Misuse> {
    let value = HeaderValue::from_str(&format!("Bearer {token}"));
    let mut value = value.map_err(|_| Misuse("this is no token: one is a single line that begins with pkt_".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// What a request says about a message, and how many recipients did not fit.
fn query(mailbox: &str, letter: &Letter) -> (String, usize) {
    let encoded = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
    let mut query = format!("mailbox={}", encoded(mailbox));
    if let Some(at) = letter.received_at {
        query.push_str(&format!("&receivedAt={}", encoded(&at.to_string())));
    }
    if let Some(ReversePath(sender)) = &letter.mail_from {
        let sender = sender.as_ref().map(ToString::to_string).unwrap_or_default();
        query.push_str(&format!("&mailFrom={}", encoded(&sender)));
    }
    for (index, recipient) in letter.rcpt_to.iter().enumerate() {
        let word = format!("&rcptTo={}", encoded(&recipient.to_string()));
        if query.len() + word.len() > QUERY_MAX {
            return (query, letter.rcpt_to.len() - index);
        }
        query.push_str(&word);
    }
    (query, 0)
}

/// What a problem document says.
fn detail(answer: &[u8]) -> String {
    let problem: Option<serde_json::Value> = serde_json::from_slice(answer).ok();
    let text = problem.as_ref().and_then(|problem| problem["detail"].as_str());
    text.unwrap_or("it does not say why").to_owned()
}
