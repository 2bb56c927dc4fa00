//! One client that changes mailboxes through one node and looks through another at once. Its mailboxes are its own and
//! it does one thing after the other, so that it always knows what must be there.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::load::chance::Chance;
use crate::load::http::Connection;
use crate::load::server::Server;
use crate::load::smtp::{Client, message};

/// What is changed on one node, and how it is looked at on another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    SendThenList,
    SendThenLatest,
    SendThenRead,
    DeleteThenList,
    DeleteThenRead,
    PurgeThenList,
}

/// One change that was looked at.
pub(super) struct Seen {
    /// How long the look took.
    pub(super) took: Duration,
    /// When it was stale: how long after the change it was so for the last time.
    pub(super) stale: Option<Duration>,
}

/// So long a stale look is repeated. What is not seen by then is lost, which is worse than stale.
const PATIENCE: Duration = Duration::from_secs(10);
const MESSAGE_BYTES: usize = 600;
/// Every mailbox stays far below the number of messages that one may hold.
const MAILBOXES: usize = 40;

/// A message that must be there.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Known {
    id: String,
    subject: String,
}

/// A door of a node.
struct Node {
    smtp: Client,
    http: Connection,
}

/// The client.
pub(super) struct Changer {
    number: usize,
    nodes: Vec<Node>,
    mailboxes: Vec<Vec<Known>>,
    chance: Chance,
    sent: usize,
}

impl Changer {
    /// One that is connected to all nodes.
    pub(super) fn new(number: usize, nodes: &[Server]) -> Result<Self> {
        let connect = |node: &Server| -> Result<Node> {
            let smtp = Client::open(Ipv4Addr::LOCALHOST, node.address("smtp")?)?;
            Ok(Node { smtp, http: Connection::open(node.address("http")?)? })
        };
        let nodes = nodes.iter().map(connect).collect::<Result<_>>()?;
        let chance = Chance::new(&[number as u64]);
        Ok(Self { number, nodes, mailboxes: vec![Vec::new(); MAILBOXES], chance, sent: 0 })
    }

    /// Change one mailbox on one node, and look at it on another.
    pub(super) fn change(&mut self, change: Change) -> Result<Seen> {
        let place = self.chance.below(MAILBOXES);
        let here = self.chance.below(self.nodes.len());
        let there = (here + 1 + self.chance.below(self.nodes.len() - 1)) % self.nodes.len();
        match change {
            Change::SendThenList => {
                let subject = self.send(here, place)?;
                self.look_at_list(there, place, Some(subject))
            }
            Change::SendThenLatest => {
                let subject = self.send(here, place)?;
                self.look_at_latest(there, place, subject)
            }
            Change::SendThenRead => {
                let subject = self.send(here, place)?;
                // Its id is told by the node that took it.
                self.look_at_list(here, place, Some(subject))?;
                let known = self.mailboxes[place].last().cloned().context("it was listed")?;
                self.look_at_one(there, place, &known.id, Some(&known.subject))
            }
            Change::DeleteThenList | Change::DeleteThenRead => {
                self.at_least_one(here, place)?;
                let which = self.chance.below(self.mailboxes[place].len());
                let Known { id, .. } = self.mailboxes[place].remove(which);
                self.remove(here, &format!("/{}/{id}", self.name(place)))?;
                match change {
                    Change::DeleteThenList => self.look_at_list(there, place, None),
                    _ => self.look_at_one(there, place, &id, None),
                }
            }
            Change::PurgeThenList => {
                self.at_least_one(here, place)?;
                self.mailboxes[place].clear();
                self.remove(here, &format!("/{}", self.name(place)))?;
                self.look_at_list(there, place, None)
            }
        }
    }

    fn name(&self, place: usize) -> String {
        format!("stale-{}-{place}", self.number)
    }

    /// Send a message; its subject.
    fn send(&mut self, node: usize, place: usize) -> Result<String> {
        self.sent += 1;
        let subject = format!("{}-{}", self.number, self.sent);
        let recipient = format!("{}@client.test", self.name(place));
        self.nodes[node].smtp.deliver(&recipient, &message(&subject, MESSAGE_BYTES))?;
        Ok(subject)
    }

    fn at_least_one(&mut self, node: usize, place: usize) -> Result<()> {
        if self.mailboxes[place].is_empty() {
            let subject = self.send(node, place)?;
            self.look_at_list(node, place, Some(subject))?;
        }
        Ok(())
    }

    fn remove(&mut self, node: usize, path: &str) -> Result<()> {
        let (status, _) = self.ask(node, "DELETE", path)?;
        ensure!(status == 200, "DELETE {path} was answered with {status}");
        Ok(())
    }

    /// The list must be what is known, and then this new message, if there is one.
    fn look_at_list(&mut self, node: usize, place: usize, new: Option<String>) -> Result<Seen> {
        let path = format!("/{}", self.name(place));
        let known = self.mailboxes[place].clone();
        let right = |list: &[Known]| {
            let rest = list.strip_prefix(&known[..]).map(|rest| rest.iter().map(|one| &one.subject));
            rest.is_some_and(|rest| rest.eq(&new))
        };
        let (seen, list) = self.look(node, &path, |status, body| {
            ensure!(status == 200, "GET {path} was answered with {status}");
            let list = listed(body)?;
            Ok(right(&list).then_some(list))
        })?;
        self.mailboxes[place] = list;
        Ok(seen)
    }

    fn look_at_latest(&mut self, node: usize, place: usize, subject: String) -> Result<Seen> {
        let (seen, known) = self.look(node, &format!("/{}/latest", self.name(place)), |status, body| {
            if status == 404 {
                return Ok(None);
            }
            Ok(Some(one(&serde_json::from_slice(body)?)?).filter(|latest| latest.subject == subject))
        })?;
        self.mailboxes[place].push(known);
        Ok(seen)
    }

    /// A message must be there with this subject, or must not be there.
    fn look_at_one(&mut self, node: usize, place: usize, id: &str, subject: Option<&str>) -> Result<Seen> {
        let path = format!("/{}/{id}", self.name(place));
        let (seen, ()) = self.look(node, &path, |status, body| {
            ensure!([200, 404].contains(&status), "GET {path} was answered with {status}");
            let found = if status == 200 { Some(one(&serde_json::from_slice(body)?)?.subject) } else { None };
            Ok((found.as_deref() == subject).then_some(()))
        })?;
        Ok(seen)
    }

    /// Look until it is right; the first look counts.
    fn look<T>(
        &mut self,
        node: usize,
        path: &str,
        right: impl Fn(u16, &[u8]) -> Result<Option<T>>,
    ) -> Result<(Seen, T)> {
        let begin = Instant::now();
        let (mut took, mut stale) = (None, None);
        while begin.elapsed() < PATIENCE {
            let (status, body) = self.ask(node, "GET", path)?;
            let took = *took.get_or_insert_with(|| begin.elapsed());
            match right(status, &body)? {
                Some(found) => return Ok((Seen { took, stale }, found)),
                None => stale = Some(begin.elapsed()),
            }
        }
        anyhow::bail!("{path} is not what it must be after {PATIENCE:?}")
    }

    fn ask(&mut self, node: usize, method: &str, path: &str) -> Result<(u16, Vec<u8>)> {
        let http = &mut self.nodes[node].http;
        http.send(method, &format!("/api/v1/mailbox{path}"))?;
        http.receive()
    }
}

fn listed(body: &[u8]) -> Result<Vec<Known>> {
    let list: Vec<Value> = serde_json::from_slice(body)?;
    list.iter().map(one).collect()
}

fn one(message: &Value) -> Result<Known> {
    let text = |name: &str| message[name].as_str().map(str::to_owned).with_context(|| format!("there is no {name}"));
    Ok(Known { id: text("id")?, subject: text("subject")? })
}
