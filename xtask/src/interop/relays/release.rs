//! Our own server as one that sends mail on: a second one takes the letters, and by a rule releases each to whom it was for,
//! through the server under trial as its smart host, or through a real Postfix that hands on to that.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::jail::Jail;
use super::postfix::Postfix;
use super::{Agent, Door, PATIENCE, Relay, Route};
use crate::interop::corpus::{Letter, MESSAGE_MAX};
use crate::interop::program::{Outcome, Program, Transport};
use crate::interop::site::{HOST, SECRET, Site, USER, fields};
use crate::interop::wire::Wire;
use crate::load::http::Connection;
use crate::load::server::{Server, serve};

/// What the second server puts on top, beside what Postfix does.
const ADDED: [&str; 2] = ["X-Postkeep-Relayed: ", "Received: "];

/// Where the second server brings mail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    /// To the server under trial.
    Nobody,
    /// To a Postfix, which brings it there.
    Postfix,
}

pub(super) struct Release(pub(super) Through);

impl Program for Release {
    fn name(&self) -> &'static str {
        match self.0 {
            Through::Nobody => "postkeep-release",
            Through::Postfix => "postkeep-release-postfix",
        }
    }

    fn version(&self) -> Result<String, String> {
        let own = env!("CARGO_PKG_VERSION").to_owned();
        match self.0 {
            Through::Nobody => Ok(own),
            Through::Postfix => Ok(format!("{own}, Postfix {}", RELAY.version()?)),
        }
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        if self.0 == Through::Nobody {
            let port = site.doors.sending(transport).port();
            return self.released(site, transport, letters, &smart_host(site, transport, port)?);
        }
        let route = Route::new(site, Door::Smtp, transport)?;
        let script = Postfix.configure(&site.folder, &route)?;
        let root = Postfix::PACKAGE.root().map_err(anyhow::Error::msg)?;
        let jail = Jail::start(&root, site, &script, route.intake)?;
        let smart_host = smart_host(site, Transport::Plain, route.intake)?;
        let outcomes = self.released(site, transport, letters, &smart_host);
        let outcomes = outcomes.map_err(|error| error.context(jail.said()));
        jail.end()?;
        outcomes
    }

    fn install(&self) -> Result<()> {
        if self.0 == Through::Postfix { RELAY.install() } else { Ok(()) }
    }
}

const RELAY: Relay<Postfix> = Relay { name: "postfix", agent: Postfix, door: Door::Smtp };

impl Release {
    /// Hand in everything first, then look what becomes of it.
    fn released(&self, site: &Site, transport: Transport, letters: &[Letter], toml: &str) -> Result<Vec<Outcome>> {
        let server = second(site, letters, toml)?;
        for letter in letters {
            Wire::open(server.address("smtp")?)?.send_letter(letter)?;
        }
        let begin = Instant::now();
        let outcomes = letters.iter().map(|letter| {
            let patience = PATIENCE.saturating_sub(begin.elapsed());
            match told(&server, letter, patience)? {
                Told::Sent => self.arrived(site, transport, letter, patience),
                Told::Failed(why) => Ok(Outcome::Unable(why)),
                Told::Waits(why) => Ok(Outcome::Wrong(format!("it was not sent: {why}"))),
            }
        });
        let outcomes = outcomes.collect();
        server.stop()?;
        outcomes
    }

    fn arrived(&self, site: &Site, transport: Transport, letter: &Letter, patience: Duration) -> Result<Outcome> {
        let Some(first) = RELAY.awaited(site, letter, patience)? else {
            return Ok(Outcome::Wrong("it was sent, and never arrived".into()));
        };
        let (added, rest) = match self.0 {
            Through::Nobody => (ADDED.to_vec(), letter.raw.clone()),
            // To fields alone it adds nothing.
            Through::Postfix if letter.has.empty => ([RELAY.agent.adds(letter), &ADDED].concat(), Vec::new()),
            Through::Postfix => ([RELAY.agent.adds(letter), &ADDED].concat(), RELAY.agent.hands_on(letter)),
        };
        let Some(end) = fields(&first.content, &added) else {
            return Ok(Outcome::Wrong(format!("the fields {added:?} are not on top")));
        };
        let claim = [&first.content[..end], &rest].concat();
        match self.0 {
            Through::Nobody => site.verdict_signed_in(transport, letter, &claim),
            Through::Postfix => site.verdict(transport, letter, &claim),
        }
    }
}

/// The section `relay` of the second server. It signs in wherever there is TLS.
fn smart_host(site: &Site, transport: Transport, port: u16) -> Result<String> {
    let tls = match transport {
        Transport::Plain => "off",
        Transport::StartTls => "required",
        Transport::Tls => "implicit",
    };
    let password = site.folder.join("password");
    fs::write(&password, format!("{SECRET}\n"))?;
    let login = match transport {
        Transport::Plain => String::new(),
        _ => format!("user = \"{USER}\"\npassword_file = {:?}\n", password.display().to_string()),
    };
    let trust = site.trust.display().to_string();
    Ok(format!("[relay]\nhost = \"{HOST}\"\nport = {port}\ntls = \"{tls}\"\nca_file = {trust:?}\n{login}"))
}

/// A server of its own, that sends on what it gets.
fn second(site: &Site, letters: &[Letter], relay: &str) -> Result<Server> {
    let allow: Vec<_> = letters.iter().map(|letter| format!("'{}'", letter.to)).collect();
    let rest = format!("allow = [{}]\nrate = \"off\"\n\n[[relay.rule]]\nname = \"all\"\n", allow.join(", "));
    let file = site.folder.join("postkeep.toml");
    fs::write(&file, format!("{relay}{rest}"))?;
    let mut command = Command::new(&site.binary);
    command.arg("--config").arg(file);
    let message_max = format!("smtp.message_max={MESSAGE_MAX}");
    serve(&mut command, &[&message_max, "smtp.in_flight_max=1GiB", "store.memory.bytes_max=2GiB", "log.level=error"]);
    Server::announced(command)
}

/// What the second server tells of a letter.
enum Told {
    Sent,
    Failed(String),
    Waits(String),
}

/// Wait until the release of this letter is over, or was tried in vain.
fn told(server: &Server, letter: &Letter, patience: Duration) -> Result<Told> {
    let begin = Instant::now();
    loop {
        let releases = releases(server)?;
        let one = releases.iter().map(|release| &release["recipients"][0]).find(|one| one["address"] == *letter.to);
        let reply = one.map(|one| one["reply"].as_str().unwrap_or_default().to_owned()).unwrap_or_default();
        match one.map(|one| (one["state"].as_str(), one["attempts"].as_u64())) {
            Some((Some("sent"), _)) => return Ok(Told::Sent),
            Some((Some("failed"), _)) => return Ok(Told::Failed(reply)),
            Some((_, Some(1..))) => return Ok(Told::Waits(reply)),
            _ => ensure!(begin.elapsed() < patience, "{} is not released", letter.name),
        }
        sleep(Duration::from_millis(50));
    }
}

fn releases(server: &Server) -> Result<Vec<Value>> {
    let mut rest = Connection::open(server.address("http")?)?;
    rest.send("GET", "/api/v2/releases?limit=500")?;
    let (status, body) = rest.receive()?;
    ensure!(status == 200, "releases are answered {status}");
    let told: Value = serde_json::from_slice(&body)?;
    Ok(told["items"].as_array().context("no releases are listed")?.clone())
}
