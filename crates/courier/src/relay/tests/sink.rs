//! A server that takes nothing on trust: whatever a strict reader of RFC 5321 would not take is told as a fault.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufStream};
use tokio_rustls::TlsAcceptor;

/// How it behaves.
#[derive(Clone, Default)]
pub(super) struct Sink {
    /// Lines of EHLO.
    pub(super) offers: Vec<&'static str>,
    /// Commands that begin so are answered so instead.
    pub(super) answers: Vec<(&'static str, &'static str)>,
    pub(super) tls: Option<Arc<rustls::ServerConfig>>,
    /// From the first octet.
    pub(super) implicit: bool,
    /// Said behind `220` to STARTTLS, in the clear.
    pub(super) injected: &'static str,
    /// Close before the last reply to content.
    pub(super) dies: bool,
}

/// What it heard.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Heard {
    pub(super) lines: Vec<String>,
    pub(super) messages: Vec<Vec<u8>>,
    /// Breaches of the protocol.
    pub(super) faults: Vec<String>,
    pub(super) encrypted: bool,
}

trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

impl Sink {
    /// One connection, to its end.
    pub(super) async fn serve(self, socket: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Heard {
        let mut heard = Heard::default();
        let mut stream: BufStream<Box<dyn Socket>> = BufStream::new(Box::new(socket));
        if self.implicit {
            let Some(encrypted) = self.handshake(stream).await else { return heard };
            (stream, heard.encrypted) = (encrypted, true);
        }
        say(&mut stream, self.answer("").unwrap_or("220 sink")).await;
        while let Some(line) = line(&mut stream, &mut heard).await {
            heard.lines.push(line.clone());
            let word = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            if let Some(answer) = self.answer(&line) {
                say(&mut stream, answer).await;
                if answer.starts_with('!') {
                    break;
                }
                continue;
            }
            match word.as_str() {
                "EHLO" => say(&mut stream, &self.hello()).await,
                "DATA" => {
                    say(&mut stream, "354 go").await;
                    let message = data(&mut stream, &mut heard).await;
                    heard.messages.extend(message);
                    if self.dies {
                        break;
                    }
                    say(&mut stream, "250 2.0.0 taken").await;
                }
                "BDAT" => {
                    let size = line.split(' ').nth(1).and_then(|size| size.parse().ok()).unwrap_or(0);
                    let mut message = vec![0; size];
                    if stream.read_exact(&mut message).await.is_err() {
                        break;
                    }
                    heard.messages.push(message);
                    if self.dies {
                        break;
                    }
                    say(&mut stream, "250 2.0.0 taken").await;
                }
                "STARTTLS" => {
                    say(&mut stream, &format!("220 go{}", self.injected)).await;
                    let Some(encrypted) = self.handshake(stream).await else { return heard };
                    (stream, heard.encrypted) = (encrypted, true);
                }
                "AUTH" if line.starts_with("AUTH PLAIN ") => say(&mut stream, "235 you").await,
                "AUTH" => {
                    for answer in ["334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6", "235 you"] {
                        say(&mut stream, answer).await;
                        if answer.starts_with("334") {
                            let answered = self::line(&mut stream, &mut heard).await.unwrap_or_default();
                            heard.lines.push(answered);
                        }
                    }
                }
                "QUIT" => {
                    say(&mut stream, "221 bye").await;
                    break;
                }
                "HELO" | "MAIL" | "RCPT" => say(&mut stream, "250 ok").await,
                _ => {
                    heard.faults.push(format!("no command: {line:?}"));
                    say(&mut stream, "500 what?").await;
                }
            }
        }
        let _ = stream.shutdown().await;
        heard
    }

    fn answer(&self, line: &str) -> Option<&'static str> {
        let fits = |(begin, _): &&(&str, &str)| {
            if line.is_empty() { begin.is_empty() } else { !begin.is_empty() && line.starts_with(begin) }
        };
        self.answers.iter().find(fits).map(|(_, answer)| *answer)
    }

    fn hello(&self) -> String {
        let mut lines = vec!["sink"];
        lines.extend(&self.offers);
        let last = lines.len() - 1;
        let line = |(at, text): (usize, &&str)| format!("250{}{text}", if at == last { ' ' } else { '-' });
        lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\r\n")
    }

    async fn handshake(&self, stream: BufStream<Box<dyn Socket>>) -> Option<BufStream<Box<dyn Socket>>> {
        let acceptor = TlsAcceptor::from(self.tls.clone().expect("a sink with TLS has a certificate"));
        let encrypted = acceptor.accept(stream.into_inner()).await.ok()?;
        Some(BufStream::new(Box::new(encrypted)))
    }
}

async fn say(stream: &mut BufStream<Box<dyn Socket>>, text: &str) {
    if !text.starts_with('!') {
        let _ = stream.write_all(format!("{text}\r\n").as_bytes()).await;
        let _ = stream.flush().await;
    }
}

/// A line that ends with CRLF and holds no other CR, no LF and no NUL.
async fn line(stream: &mut BufStream<Box<dyn Socket>>, heard: &mut Heard) -> Option<String> {
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line).await.ok()?;
    if line.is_empty() {
        return None;
    }
    let text = line.strip_suffix(b"\r\n").unwrap_or(&line).to_vec();
    if !line.ends_with(b"\r\n") || text.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        heard.faults.push(format!("no line: {:?}", String::from_utf8_lossy(&line)));
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Content up to the dot, with its dots undone.
async fn data(stream: &mut BufStream<Box<dyn Socket>>, heard: &mut Heard) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let mut line = Vec::new();
        stream.read_until(b'\n', &mut line).await.ok()?;
        let Some(text) = line.strip_suffix(b"\r\n") else {
            heard.faults.push("a lone line feed, or the end within content".to_owned());
            return None;
        };
        if text.iter().any(|byte| matches!(byte, 0 | b'\r')) {
            heard.faults.push("a lone carriage return or a NUL in content".to_owned());
        }
        match text {
            b"." => return Some(message),
            [b'.', rest @ ..] if rest.first() == Some(&b'.') => message.extend_from_slice(rest),
            [b'.', ..] => heard.faults.push("a dot that was not doubled".to_owned()),
            _ => message.extend_from_slice(text),
        }
        message.extend_from_slice(b"\r\n");
    }
}
