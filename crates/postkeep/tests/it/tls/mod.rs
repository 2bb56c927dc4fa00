//! TLS on the real binary: certificates that change on disk while sessions run, and clients that bring anything but a
//! well-made handshake.

mod client;
mod handshakes;
mod replaced;

use std::fs;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use client::Client;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::Value;

use crate::program::{Program, directory};

/// Every listener that begins with a handshake, or has one on request.
const LISTENERS: [Listener; 5] =
    [Listener::Smtps, Listener::Starttls, Listener::Pop3s, Listener::Stls, Listener::Https];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listener {
    Smtps,
    Starttls,
    Pop3s,
    Stls,
    Https,
}

impl Listener {
    /// Its name in the ready line.
    fn name(self) -> &'static str {
        match self {
            Self::Smtps => "smtps",
            Self::Starttls => "smtp",
            Self::Pop3s => "pop3s",
            Self::Stls => "pop3",
            Self::Https => "https",
        }
    }

    /// A connection at the point where the handshake begins.
    fn reach(self, program: &Program) -> std::net::TcpStream {
        let mut wire = client::dial(address(program, self.name()));
        match self {
            Self::Starttls => {
                client::line(&mut wire);
                client::say(&mut wire, "EHLO client.test");
                while client::line(&mut wire).as_bytes()[3] == b'-' {}
                client::say(&mut wire, "STARTTLS");
                assert!(client::line(&mut wire).starts_with("220"));
            }
            Self::Stls => {
                client::line(&mut wire);
                client::say(&mut wire, "STLS");
                assert!(client::line(&mut wire).starts_with("+OK"));
            }
            Self::Smtps | Self::Pop3s | Self::Https => {}
        }
        wire
    }

    /// A client that has shaken hands and been served once.
    fn served(self, program: &Program) -> Client {
        let mut client = Client::shake(self.reach(program)).unwrap();
        if matches!(self, Self::Smtps | Self::Pop3s) {
            client.line();
        }
        self.serves(&mut client);
        client
    }

    /// Its session goes on.
    fn serves(self, client: &mut Client) {
        match self {
            Self::Smtps | Self::Starttls => {
                client.say("EHLO client.test");
                while client.line().as_bytes()[3] == b'-' {}
            }
            Self::Pop3s | Self::Stls => {
                client.say("CAPA");
                while client.line() != "." {}
            }
            Self::Https => {
                client.say("GET /livez HTTP/1.1\r\nHost: localhost\r\n");
                client.http_answer();
            }
        }
    }
}

/// A program with every listener, and a certificate in a file of its own.
fn program(place: &Path, settings: &[&str]) -> Program {
    let files = ["cert", "key"].map(|name| format!("tls.{name}={}", place.join(format!("{name}.pem")).display()));
    let listeners = ["smtps.addr=127.0.0.1:0", "pop3.addr=127.0.0.1:0", "pop3s.addr=127.0.0.1:0"];
    let own = [&listeners[..], &["https.addr=127.0.0.1:0", &files[0], &files[1]], settings].concat();
    Program::start(&own)
}

/// Where a listener was bound.
fn address(program: &Program, name: &str) -> SocketAddr {
    let listeners: Value = serde_json::from_str(program.ready.strip_prefix("ready ").unwrap()).unwrap();
    listeners[name].as_str().unwrap_or_else(|| panic!("no {name} in {listeners}")).parse().unwrap()
}

/// A directory for a certificate; gone when dropped.
struct Place(PathBuf);

impl Place {
    /// One that holds this pair.
    fn with(pair: &Pair) -> Self {
        let place = Self(directory());
        pair.put(&place);
        place
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A new certificate with its key, as PEM, and as clients see it.
struct Pair {
    chain: String,
    key: String,
    shown: Vec<u8>,
}

impl Pair {
    fn new() -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        Self { chain: cert.pem(), key: signing_key.serialize_pem(), shown: cert.der().to_vec() }
    }

    /// Put both files in place, one after the other, each whole or not at all.
    fn put(&self, place: &Path) {
        put(place, "cert.pem", &self.chain);
        put(place, "key.pem", &self.key);
    }
}

/// Replace a file, whole or not at all.
fn put(place: &Path, name: &str, text: &str) {
    let beside = place.join(format!("{name}.new"));
    fs::write(&beside, text).unwrap();
    fs::rename(&beside, place.join(name)).unwrap();
}
