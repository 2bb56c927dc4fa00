//! The server under trial and what a program may know of it: its doors, the certificate to trust, a folder of its own. And
//! the ways to put a letter in and to see what was kept that go round every program: BDAT and REST.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::load::http::Connection;
use crate::load::server::Server;

use super::compare;
use super::corpus::{Letter, MESSAGE_MAX};
use super::program::{Outcome, Transport};
use super::wire::Wire;

/// What the server calls itself in its trace fields.
const HOSTNAME: &str = "keep.interop.test";
/// Where the server speaks LMTP besides its port, in the folder of all programs.
const LMTP_SOCKET: &str = "lmtp.sock";
/// The name that certificates are verified against.
pub(crate) const HOST: &str = "localhost";
/// Whoever signs in is let in; a name and a secret that need neither quoting nor escaping anywhere.
pub(crate) const USER: &str = "interop";
pub(crate) const SECRET: &str = "open-sesame-4711";

/// Where one running server listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doors {
    pub(crate) smtp: SocketAddr,
    pub(crate) smtps: SocketAddr,
    pub(crate) lmtp: SocketAddr,
    pub(crate) pop3: SocketAddr,
    pub(crate) pop3s: SocketAddr,
    pub(crate) http: SocketAddr,
}

impl Doors {
    /// Where mail is sent to.
    pub(crate) fn sending(&self, transport: Transport) -> SocketAddr {
        if transport == Transport::Tls { self.smtps } else { self.smtp }
    }

    /// Where mail is read from.
    pub(crate) fn reading(&self, transport: Transport) -> SocketAddr {
        if transport == Transport::Tls { self.pop3s } else { self.pop3 }
    }
}

/// Start the server with everything open that a program may want. Certificate and key are made below the folder.
pub(super) fn server(binary: &Path, folder: &Path) -> Result<(Server, Doors, PathBuf)> {
    let tls = folder.join("tls");
    let (tls_folder, message_max) =
        (format!("tls.folder={}", tls.display()), format!("smtp.message_max={MESSAGE_MAX}"));
    let hostname = format!("smtp.hostname={HOSTNAME}");
    let lmtp = format!("lmtp.addr=127.0.0.1:0,unix:{}", folder.join(LMTP_SOCKET).display());
    let settings = [
        "smtps.addr=127.0.0.1:0",
        &lmtp,
        "pop3.addr=127.0.0.1:0",
        "pop3s.addr=127.0.0.1:0",
        "tls.self_signed=true",
        &tls_folder,
        &message_max,
        &hostname,
        "smtp.in_flight_max=1GiB",
        "http.answers_max=1GiB",
        "store.memory.bytes_max=2GiB",
        "log.level=warn",
    ];
    let server = Server::postkeep(binary, &settings)?;
    let at = |name: &str| server.address(name);
    let doors = Doors {
        smtp: at("smtp")?,
        smtps: at("smtps")?,
        lmtp: at("lmtp")?,
        pop3: at("pop3")?,
        pop3s: at("pop3s")?,
        http: at("http")?,
    };
    Ok((server, doors, tls.join("cert.pem")))
}

/// What one program sees of the server while it handles letters over one transport.
pub(crate) struct Site {
    pub(crate) doors: Doors,
    /// The server's program, which is also a client: `postkeep sendmail`.
    pub(crate) binary: PathBuf,
    /// The certificate to trust, PEM; it is valid for the name `localhost`.
    pub(crate) trust: PathBuf,
    /// An empty folder for this program and this transport alone.
    pub(crate) folder: PathBuf,
}

/// A message as the server keeps it.
pub(crate) struct Kept {
    /// The server's own `Return-Path` and `Received`, with their line ends.
    pub(crate) trace: Vec<u8>,
    /// What stands below them.
    pub(crate) content: Vec<u8>,
}

impl Kept {
    fn of(source: Vec<u8>) -> Result<Self> {
        let end = fields(&source, &["Return-Path: ", "Received: "]).context("the trace fields are not on top")?;
        let trace = source[..end].to_vec();
        let by = format!("by {HOSTNAME} ");
        ensure!(compare::contains(&trace, by.as_bytes()), "the uppermost Received field is not the server's own");
        Ok(Self { trace, content: source[end..].to_vec() })
    }

    /// The protocol that the trace tells: ESMTP, ESMTPS, UTF8SMTPSA, …; nothing when it tells none.
    pub(crate) fn protocol(&self) -> String {
        let trace = String::from_utf8_lossy(&self.trace);
        let with = trace.split_whitespace().skip_while(|word| *word != "with").nth(1);
        with.unwrap_or_default().to_owned()
    }

    /// What stands behind the P of SMTP or LMTP: an S says TLS, an A that somebody signed in (RFC 3848, RFC 6531 §4.3).
    fn ending(&self) -> String {
        self.protocol().split_once("MTP").map(|(_, ending)| ending.to_owned()).unwrap_or_default()
    }
}

/// Where the fields of these names, one behind the other on top, end; folded lines belong to their field.
pub(crate) fn fields(source: &[u8], names: &[&str]) -> Option<usize> {
    let mut at = 0;
    for name in names {
        if !source[at..].get(..name.len())?.eq_ignore_ascii_case(name.as_bytes()) {
            return None;
        }
        loop {
            at += source[at..].windows(2).position(|pair| pair == b"\r\n")? + 2;
            if !matches!(source.get(at), Some(b' ' | b'\t')) {
                break;
            }
        }
    }
    Some(at)
}

impl Site {
    /// The Unix socket on which the server speaks LMTP.
    pub(crate) fn lmtp_socket(&self) -> PathBuf {
        self.folder.with_file_name(LMTP_SOCKET)
    }

    /// Put a letter into its mailbox, with every octet as it is, by a client of our own.
    pub(crate) fn deliver(&self, letter: &Letter) -> Result<()> {
        let mut wire = Wire::open(self.doors.smtp)?;
        wire.send_letter(letter).with_context(|| format!("the letter {} was not taken", letter.name))
    }

    /// What the letter's mailbox holds, oldest first.
    pub(crate) fn kept(&self, letter: &Letter) -> Result<Vec<Kept>> {
        self.sources(letter)?.into_iter().map(Kept::of).collect()
    }

    /// The same as the server shows it, its trace fields on top: what POP3 hands out.
    pub(crate) fn sources(&self, letter: &Letter) -> Result<Vec<Vec<u8>>> {
        let path = format!("/api/v1/mailbox/{}", escaped(letter.mailbox()));
        let mut rest = Connection::open(self.doors.http)?;
        let mut ask = |path: &str| -> Result<Vec<u8>> {
            rest.send("GET", path)?;
            let (status, body) = rest.receive()?;
            ensure!(status == 200, "{path} answered {status}: {}", String::from_utf8_lossy(&body));
            Ok(body)
        };
        let list: Vec<Value> = serde_json::from_slice(&ask(&path)?).context("the list of a mailbox is no JSON")?;
        let ids = list.iter().map(|entry| entry["id"].as_str().context("a message has no id"));
        ids.map(|id| ask(&format!("{path}/{}/source", id?))).collect()
    }

    /// The same as `kept` for a program that hands on when it likes: wait until something is there.
    pub(crate) fn kept_within(&self, letter: &Letter, patience: Duration) -> Result<Vec<Kept>> {
        let begin = Instant::now();
        loop {
            let kept = self.kept(letter)?;
            if !kept.is_empty() || begin.elapsed() > patience {
                return Ok(kept);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Hold what is kept against what a program says it sent, and how it came; the mailbox is empty afterwards.
    pub(crate) fn verdict(&self, transport: Transport, letter: &Letter, claim: &[u8]) -> Result<Outcome> {
        self.judge(letter, |kept| judged(transport, kept, claim))
    }

    /// The same for a program that signs in wherever there is TLS.
    pub(crate) fn verdict_signed_in(&self, transport: Transport, letter: &Letter, claim: &[u8]) -> Result<Outcome> {
        self.judge(letter, |kept| match kept.ending() {
            ending if ending.ends_with('A') == (transport != Transport::Plain) => judged(transport, kept, claim),
            _ => Outcome::Wrong(format!("whether it signed in is not told right: {}", kept.protocol())),
        })
    }

    fn judge(&self, letter: &Letter, judged: impl Fn(&Kept) -> Outcome) -> Result<Outcome> {
        let kept = self.kept(letter)?;
        self.forget(letter)?;
        Ok(match kept.as_slice() {
            [] => Outcome::Wrong("it says that it was sent, but nothing was kept".into()),
            [one] => judged(one),
            more => Outcome::Wrong(format!("sent once, kept {} times", more.len())),
        })
    }

    /// Empty the letter's mailbox.
    pub(crate) fn forget(&self, letter: &Letter) -> Result<()> {
        let path = format!("/api/v1/mailbox/{}", escaped(letter.mailbox()));
        let mut rest = Connection::open(self.doors.http)?;
        rest.send("DELETE", &path)?;
        match rest.receive()? {
            (200, _) => Ok(()),
            (status, body) => bail!("DELETE {path} answered {status}: {}", String::from_utf8_lossy(&body)),
        }
    }
}

fn judged(transport: Transport, kept: &Kept, claim: &[u8]) -> Outcome {
    if kept.ending().starts_with('S') != (transport != Transport::Plain) {
        return Outcome::Wrong(format!("it was to come over {transport}, but the trace tells {:?}", kept.protocol()));
    }
    compare::octets(claim, &kept.content)
}

/// A mailbox's name as one segment of a path.
fn escaped(name: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    name.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(protocol: &str, content: &str) -> Result<Kept> {
        let trace = format!(
            "Return-Path: <a@b.test>\r\nReceived: from x ([127.0.0.1])\r\n\tby {HOSTNAME} with {protocol} id 1;\r\n\tMon\r\n"
        );
        Kept::of(format!("{trace}{content}").into_bytes())
    }

    #[test]
    fn only_the_servers_own_fields_are_taken_away() {
        let content = "Return-Path: <c@d.test>\r\nReceived: from y\r\n by z\r\n\r\nReceived: text\r\n";
        assert_eq!(kept("ESMTP", content).expect("a trace").content, content.as_bytes());
        assert!(Kept::of(content.into()).is_err());
        assert!(Kept::of(b"Subject: none\r\n".to_vec()).is_err());
    }

    #[test]
    fn a_letter_that_came_another_way_or_changed_is_wrong() {
        let judge = |protocol, transport| judged(transport, &kept(protocol, "x\r\n").expect("a trace"), b"x\r\n");
        assert_eq!(judge("ESMTP", Transport::Plain), Outcome::Equal);
        assert_eq!(judge("UTF8SMTPSA", Transport::StartTls), Outcome::Equal);
        assert!(matches!(judge("ESMTPA", Transport::Tls), Outcome::Wrong(_)));
        assert!(matches!(judge("ESMTPS", Transport::Plain), Outcome::Wrong(_)));
        let changed = judged(Transport::Plain, &kept("ESMTP", "x\n").expect("a trace"), b"x\r\n");
        assert!(matches!(changed, Outcome::Wrong(why) if why.contains("they part at 1")));
    }
}
