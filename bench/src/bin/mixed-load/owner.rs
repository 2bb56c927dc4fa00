//! Somebody with a mailbox of their own. Nobody else writes there, so what must be in it is known exactly: every message
//! that was acknowledged and not deleted, byte for byte; perhaps one whose acknowledgement was not waited for; and
//! nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use postkeep_bench::chance::Chance;
use postkeep_bench::letter::letter;
use postkeep_bench::{pop3, rest, smtp};
use serde_json::Value;

use crate::site::Site;

/// Below `mailbox.messages_max`, so that nothing goes by itself.
const MESSAGES_MAX: usize = 60;
const PAUSE: Duration = Duration::from_millis(40);
/// Of messages; each order of magnitude is as likely as the others.
const SIZES: [usize; 5] = [300, 2_000, 6_000, 20_480, 80_000];

/// What they know of their mailbox.
struct Owner<'a> {
    site: &'a Site,
    name: String,
    chance: Chance,
    sent: u64,
    /// What must be there, with its size.
    kept: BTreeMap<String, usize>,
    /// What may be there or come yet.
    perhaps: BTreeMap<String, usize>,
}

/// Act until it is over, then look for the last time and leave the mailbox empty.
pub(crate) async fn run(site: &Site, number: usize) {
    let (name, chance) = (format!("mixed-{number}"), site.chance(1, number));
    let mut owner = Owner { site, name, chance, sent: 0, kept: BTreeMap::new(), perhaps: BTreeMap::new() };
    while !site.over() {
        if let Err(error) = owner.step().await {
            site.failed(format!("{}: {error:#}", owner.name));
        }
        let pause = owner.chance.time(PAUSE * 2);
        site.pause(pause).await;
    }
    if let Err(error) = owner.last().await {
        site.failed(format!("{} at the end: {error:#}", owner.name));
    }
}

impl Owner<'_> {
    async fn step(&mut self) -> Result<()> {
        if self.kept.len() > MESSAGES_MAX {
            return self.purge().await;
        }
        match self.chance.below(100) {
            0..45 => self.deliver().await.context("delivering"),
            45..55 => self.break_off().await.context("breaking off"),
            55..75 => self.collect().await.context("collecting"),
            _ => self.browse().await.context("browsing"),
        }
    }

    fn letter(&mut self) -> (String, usize, Vec<u8>) {
        self.sent += 1;
        let (subject, size) = (format!("{} letter {}", self.name, self.sent), *self.chance.of(&SIZES));
        let message = letter(&subject, size);
        (subject, size, message)
    }

    /// A few messages over one of the ways in.
    async fn deliver(&mut self) -> Result<()> {
        let site = self.site;
        let mut client = smtp::Client::open(self.chance.of(&site.smtp)).await?;
        for _ in 0..=self.chance.below(3) {
            let (subject, size, message) = self.letter();
            // Until the 250 is here nobody knows.
            self.perhaps.insert(subject.clone(), size);
            client.deliver(&format!("{}@client.test", self.name), &message).await?;
            self.perhaps.remove(&subject);
            self.kept.insert(subject, size);
            site.count("delivered");
        }
        client.quit().await
    }

    /// Leave in the middle: before the end of the message it must never be seen, after it nobody knows.
    async fn break_off(&mut self) -> Result<()> {
        let site = self.site;
        let door = self.chance.of(&site.smtp);
        let stream = door.dial(None).await?;
        if self.chance.percent(50) {
            stream.set_zero_linger()?;
        }
        let mut client = smtp::Client::greet(door, door.enter(stream).await?).await?;
        client.envelope(&format!("{}@client.test", self.name)).await?;
        let (subject, size, message) = self.letter();
        let cut = if self.chance.percent(30) { message.len() } else { self.chance.below(message.len() - 5) };
        if cut == message.len() {
            self.perhaps.insert(subject, size);
        }
        client.wire.send(&message[..cut]).await?;
        site.count("broken off while sending");
        Ok(())
    }

    /// Read everything over one of the POP3 ways, delete some of it, and leave politely or not.
    async fn collect(&mut self) -> Result<()> {
        let site = self.site;
        let mut client = pop3::Client::open(self.chance.of(&site.pop3), &self.name).await?;
        let count = client.count().await?;
        let (mut seen, mut marked) = (BTreeSet::new(), Vec::new());
        for number in 1..=count {
            let answer = client.retrieve(number).await?;
            let subject = subject(answer).context("a message without its subject")?.to_owned();
            self.is_as_sent(&subject, answer)?;
            site.count("retrieved");
            if self.chance.percent(30) {
                client.command(&format!("DELE {number}")).await?;
                marked.push(subject.clone());
            }
            seen.insert(subject);
        }
        self.compare(&seen)?;
        if self.chance.percent(20) {
            // Without QUIT nothing is deleted.
            site.count("left without QUIT");
            return Ok(());
        }
        client.quit().await?;
        marked.iter().for_each(|subject| self.gone(subject));
        Ok(())
    }

    /// List, read one and delete one over REST.
    async fn browse(&mut self) -> Result<()> {
        let site = self.site;
        let mut client = rest::Client::open(self.chance.of(&site.http)).await?;
        let list = self.list(&mut client).await?;
        if list.is_empty() {
            return Ok(());
        }
        let (id, subject) = self.chance.of(&list).clone();
        let source = client.get(&format!("/api/v1/mailbox/{}/{id}/source", self.name)).await?;
        self.is_as_sent(&subject, &[&source, &b".\r\n"[..]].concat())?;
        site.count("read");
        if self.chance.percent(60) {
            let (status, _) = client.ask("DELETE", &format!("/api/v1/mailbox/{}/{id}", self.name)).await?;
            ensure!(status == 200, "DELETE answered {status}");
            self.gone(&subject);
        }
        Ok(())
    }

    /// Ids and subjects, which must be the right ones.
    async fn list(&mut self, client: &mut rest::Client) -> Result<Vec<(String, String)>> {
        let list: Vec<Value> = serde_json::from_slice(&client.get(&format!("/api/v1/mailbox/{}", self.name)).await?)?;
        let text = |message: &Value, field: &str| message[field].as_str().unwrap_or_default().to_owned();
        let list: Vec<_> = list.iter().map(|message| (text(message, "id"), text(message, "subject"))).collect();
        self.compare(&list.iter().map(|(_, subject)| subject.clone()).collect())?;
        self.site.count("listed");
        Ok(list)
    }

    async fn purge(&mut self) -> Result<()> {
        let mut client = rest::Client::open(self.chance.of(&self.site.http)).await?;
        let (status, _) = client.ask("DELETE", &format!("/api/v1/mailbox/{}", self.name)).await?;
        ensure!(status == 200, "the purge answered {status}");
        self.kept.clear();
        self.site.count("purged");
        Ok(())
    }

    async fn last(&mut self) -> Result<()> {
        let mut client = rest::Client::open(&self.site.http[0]).await?;
        self.list(&mut client).await?;
        self.purge().await
    }

    /// What is seen is what must be there and, perhaps, what may be; that is settled by seeing it.
    fn compare(&mut self, seen: &BTreeSet<String>) -> Result<()> {
        let missing: Vec<_> = self.kept.keys().filter(|subject| !seen.contains(*subject)).cloned().collect();
        // Told once.
        missing.iter().for_each(|subject| self.gone(subject));
        ensure!(missing.is_empty(), "acknowledged, not deleted, and not there: {missing:?}");
        for subject in seen {
            if let Some(size) = self.perhaps.remove(subject) {
                self.kept.insert(subject.clone(), size);
            }
            ensure!(
                self.kept.contains_key(subject),
                "there, although it was never sent to its end or is deleted: {subject}"
            );
        }
        Ok(())
    }

    /// A message as it was sent, behind the trace fields that the server wrote above it.
    fn is_as_sent(&self, subject: &str, answer: &[u8]) -> Result<()> {
        let size = self.kept.get(subject).or_else(|| self.perhaps.get(subject));
        let sent = letter(subject, *size.with_context(|| format!("there, but never sent: {subject}"))?);
        ensure!(answer.ends_with(&sent), "not as it was sent: {subject}");
        Ok(())
    }

    fn gone(&mut self, subject: &str) {
        self.kept.remove(subject);
        self.site.count("deleted");
    }
}

/// The value of the first Subject field.
fn subject(message: &[u8]) -> Option<&str> {
    let field = b"\r\nSubject: ";
    let begin = message.windows(field.len()).position(|window| window == field)? + field.len();
    let length = message[begin..].iter().position(|byte| *byte == b'\r')?;
    std::str::from_utf8(&message[begin..begin + length]).ok()
}
