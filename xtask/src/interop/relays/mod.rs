//! Mail servers that take a letter and hand it on to ours. Each is Debian's own build, unpacked into a folder of the cache
//! and never installed: as packages they exclude one another. It runs in a jail with a configuration of its own, takes the
//! letters over SMTP from a client of ours, and relays all of them to the server under trial.
//!
//! What a relay adds is taken from what arrived, once its name and place are found right; everything else must be equal.

mod exim;
mod intake;
mod jail;
mod opensmtpd;
mod package;
mod postfix;
mod release;
pub(super) mod retries;
#[cfg(test)]
mod tests;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::process::geteuid;

use super::compare;
use super::corpus::Letter;
use super::program::{Outcome, Program, Transport};
use super::site::{Kept, Site, fields};
use intake::{Answer, Intake};
use jail::Jail;
use package::Package;
use release::{Release, Through};
use {exim::Exim, opensmtpd::OpenSmtpd, postfix::Postfix};

/// The name that every relay goes by.
const HOSTNAME: &str = "relay.interop.test";
/// A relay hands on when it likes, but all of it within this time after the last letter was handed in.
const PATIENCE: Duration = Duration::from_secs(30);
/// So long it is waited for one letter before the log is looked at.
const GLANCE: Duration = Duration::from_millis(200);
/// What relays log when the server's certificate is not the one to trust.
const DISTRUST: [&str; 2] = ["certificate verification failed", "certificate check failed"];

pub(super) fn all() -> Vec<Box<dyn Program>> {
    vec![
        Box::new(Relay { name: "postfix", agent: Postfix, door: Door::Smtp }),
        Box::new(Relay { name: "exim", agent: Exim, door: Door::Smtp }),
        Box::new(Relay { name: "opensmtpd", agent: OpenSmtpd, door: Door::Smtp }),
        Box::new(Release(Through::Nobody)),
        Box::new(Release(Through::Postfix)),
        Box::new(Relay { name: "postfix-lmtp", agent: Postfix, door: Door::Lmtp }),
        Box::new(Relay { name: "exim-lmtp", agent: Exim, door: Door::Lmtp }),
        Box::new(Relay { name: "opensmtpd-lmtp", agent: OpenSmtpd, door: Door::Lmtp }),
        Box::new(Relay { name: "postfix-lmtp-unix", agent: Postfix, door: Door::LmtpSocket }),
        Box::new(Relay { name: "exim-lmtp-unix", agent: Exim, door: Door::LmtpSocket }),
    ]
}

/// Where a relay knocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Smtp,
    Lmtp,
    LmtpSocket,
}

/// Where mail is to be brought: a port of `site::HOST`, or a socket's path.
enum Onward {
    Smtp(u16),
    Lmtp(u16),
    LmtpSocket(PathBuf),
}

/// Where a relay takes mail, and where it brings it.
struct Route {
    intake: u16,
    onward: Onward,
    transport: Transport,
}

impl Route {
    fn new(site: &Site, door: Door, transport: Transport) -> Result<Self> {
        let onward = match door {
            Door::Smtp => Onward::Smtp(site.doors.sending(transport).port()),
            Door::Lmtp => Onward::Lmtp(site.doors.lmtp.port()),
            Door::LmtpSocket => Onward::LmtpSocket(open_socket(site)?),
        };
        Ok(Self { intake: jail::free_port()?, onward, transport })
    }
}

/// The server's socket is its owner's alone, and a relay is somebody else: let it in, as an operator would.
fn open_socket(site: &Site) -> Result<PathBuf> {
    let path = site.lmtp_socket();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
    Ok(path)
}

/// What one mail server has that the others have not.
trait Agent: Sync {
    const PACKAGE: Package;
    /// Where it logs, in its folder.
    const LOG: &'static str = jail::SAID;
    /// Whether it upgrades LMTP to TLS.
    const LMTP_STARTTLS: bool;

    /// Write its configuration into the folder, which is `jail::WORK` when it runs, and tell what a shell is to run there.
    fn configure(&self, folder: &Path, route: &Route) -> Result<String>;

    /// Why it cannot relay this letter, if it says so nowhere but in its documents.
    fn cannot(&self, letter: &Letter, onward: &Onward) -> Option<&'static str>;

    /// The fields that it puts on top.
    fn adds(&self, _letter: &Letter) -> &'static [&'static str] {
        &["Received: "]
    }

    /// What stands below them.
    fn hands_on(&self, letter: &Letter) -> Vec<u8> {
        below_fields(letter)
    }
}

/// Any of them, as a program of the trial.
struct Relay<A> {
    name: &'static str,
    agent: A,
    door: Door,
}

impl<A: Agent> Program for Relay<A> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> Result<String, String> {
        if !geteuid().is_root() {
            return Err("only root can give it users and folders of its own".into());
        }
        A::PACKAGE.version()
    }

    fn install(&self) -> Result<()> {
        A::PACKAGE.unpack()
    }

    fn refuses(&self, transport: Transport) -> Option<&'static str> {
        match (self.door, transport) {
            (Door::Smtp, _) | (_, Transport::Plain) => None,
            (Door::LmtpSocket, _) => Some("a Unix socket does not leave the machine, and nobody speaks TLS there"),
            (Door::Lmtp, Transport::Tls) => Some("LMTP has STARTTLS, and no door with TLS from the first octet"),
            (Door::Lmtp, _) => (!A::LMTP_STARTTLS).then_some("its LMTP is without TLS"),
        }
    }

    fn run(&self, site: &Site, transport: Transport, letters: &[Letter]) -> Result<Vec<Outcome>> {
        let route = Route::new(site, self.door, transport)?;
        let script = self.agent.configure(&site.folder, &route)?;
        let root = A::PACKAGE.root().map_err(anyhow::Error::msg)?;
        let jail = Jail::start(&root, site, &script, route.intake)?;
        let outcomes = self.relay(site, &route, letters).map_err(|error| error.context(jail.said()));
        jail.end()?;
        outcomes
    }
}

impl<A: Agent> Relay<A> {
    /// Hand in everything first, then look what arrives.
    fn relay(&self, site: &Site, route: &Route, letters: &[Letter]) -> Result<Vec<Outcome>> {
        let mut intake = Intake::open(route.intake)?;
        let answers: Result<Vec<_>> =
            letters.iter().map(|letter| self.hand_in(&mut intake, letter, &route.onward)).collect();
        let (answers, begin) = (answers?, Instant::now());
        let outcomes = letters.iter().zip(answers).map(|(letter, answer)| match answer {
            Answer::Taken => self.arrived(site, route.transport, letter, PATIENCE.saturating_sub(begin.elapsed())),
            Answer::Refused(why) => Ok(Outcome::Unable(why)),
        });
        outcomes.collect()
    }

    fn hand_in(&self, intake: &mut Intake, letter: &Letter, onward: &Onward) -> Result<Answer> {
        match self.agent.cannot(letter, onward) {
            Some(why) => Ok(Answer::Refused(why.into())),
            None => intake.deliver(letter),
        }
    }

    fn arrived(&self, site: &Site, transport: Transport, letter: &Letter, patience: Duration) -> Result<Outcome> {
        let Some(first) = self.awaited(site, letter, patience)? else {
            let why = if self.distrusts(site) { "distrusts the certificate" } else { "took it, and it never arrived" };
            return Ok(Outcome::Wrong(format!("the relay {why}")));
        };
        let Some(end) = fields(&first.content, self.agent.adds(letter)) else {
            return Ok(Outcome::Wrong(format!("the relay's own fields {:?} are not on top", self.agent.adds(letter))));
        };
        let added = &first.content[..end];
        let by = compare::contains(added, HOSTNAME.as_bytes());
        ensure!(by, "the Received field of {} is not the relay's", letter.name);
        site.verdict(transport, letter, &[added, &self.agent.hands_on(letter)].concat())
    }

    /// The first message in the letter's mailbox. It is not waited for when the relay will not bring it.
    fn awaited(&self, site: &Site, letter: &Letter, patience: Duration) -> Result<Option<Kept>> {
        let begin = Instant::now();
        loop {
            let kept = site.kept_within(letter, GLANCE)?.into_iter().next();
            if kept.is_some() || begin.elapsed() > patience || self.distrusts(site) {
                return Ok(kept);
            }
        }
    }

    /// Whether its log tells that it does not trust the server.
    fn distrusts(&self, site: &Site) -> bool {
        let log = fs::read(site.folder.join(A::LOG)).unwrap_or_default();
        DISTRUST.iter().any(|words| compare::contains(&log, words.as_bytes()))
    }
}

/// The letter behind fields that were put on top: when it does not begin with one itself, an empty line must part them.
fn below_fields(letter: &Letter) -> Vec<u8> {
    let raw = letter.terminated();
    let is_name = |byte: &u8| byte.is_ascii_graphic();
    let begins_with_field = raw.iter().position(|byte| *byte == b':').is_some_and(|end| raw[..end].iter().all(is_name));
    let parting: &[u8] = if begins_with_field || raw.starts_with(b"\r\n") { b"" } else { b"\r\n" };
    [parting, &raw].concat()
}
