//! A running server, asked over HTTP to take messages one by one. It knows the one route for that, and lists.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use bytes::Bytes;
use hyper::Uri;
use mail::ReversePath;
use outbound::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use outbound::{Client, Method, Redirects, Request, Response, Settings, StatusCode, Trust};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

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
    client: Client,
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
                let settings = Settings { body_max: ANSWER_MAX, timeout: PATIENCE, ..Settings::default() };
                Ok(Self { authority: authority.to_string(), prefix, shown, client: Client::new(settings) })
            }
            (Some("https"), _) => Err(bad("https is not spoken here, only the server's own address in the clear")),
            _ => Err(bad("this is no URL of a server")),
        }
    }

    /// Hand over one message.
    pub(super) async fn import(&self, mailbox: &str, letter: &Letter) -> Result<Taken> {
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
    pub(super) async fn count(&self, mailbox: &str) -> Result<Option<u64>> {
        let path = format!("{}/api/v1/mailbox/{}", self.prefix, utf8_percent_encode(mailbox, PLAIN));
        let (status, answer) = self.ask(Method::GET, &path, Bytes::new()).await?;
        let list: Option<Vec<serde_json::Value>> = serde_json::from_slice(&answer).ok();
        Ok(if status == StatusCode::OK { list.map(|list| list.len() as u64) } else { None })
    }

    /// One request, and again when the server says that it is busy: then it has changed nothing.
    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<(StatusCode, Bytes)> {
        let url = format!("http://{}{path}", self.authority);
        let mut request = Request::new(method, url, Trust::Configured);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("message/rfc822"));
        request.headers.extend(self.shown.clone().map(|shown| (AUTHORIZATION, shown)));
        (request.body, request.redirects) = (body, Redirects::Stop);
        let mut tries = 0;
        loop {
            tries += 1;
            let answer = self.client.send(request.clone()).await.map_err(|error| self.lost(&error))?;
            if answer.status != StatusCode::SERVICE_UNAVAILABLE || tries == TRIES {
                return Ok((answer.status, answer.body));
            }
            tokio::time::sleep(wait(&answer)).await;
        }
    }

    fn lost(&self, error: &outbound::Error) -> anyhow::Error {
        let authority = &self.authority;
        match error {
            outbound::Error::Unreached { .. } | outbound::Error::Unknown { .. } => {
                anyhow!(error.clone()).context(format!("cannot reach {authority}; is the server running there?"))
            }
            outbound::Error::Timeout { .. } => anyhow!("the server at {authority} does not answer"),
            _ => anyhow!(error.clone()).context(
                "the server has hung up without an answer: whether it took the message is not known, see its log and \
                 list the mailbox",
            ),
        }
    }
}

/// How long a server asks to be left alone.
fn wait(answer: &Response) -> Duration {
    let seconds = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1).min(30))
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
