//! A good client: it watches one mailbox until it has seen every message, in order. What it has seen again after it came
//! back is no error; a number that is missing is one, unless the server said `resync` and the list has it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use postkeep_bench::Chance;
use postkeep_bench::rest::Call;
use postkeep_bench::sse::{Event, Stream};
use serde_json::Value;
use tokio::time::sleep;

use crate::Plan;

/// So long nothing at all may come: beats come more often.
const PATIENCE: Duration = Duration::from_secs(60);
/// One who breaks off does so behind one of so many events.
const BREAKS_ONE_IN: usize = 5;
/// It is away for so long at most: long enough for mail to come meanwhile.
const AWAY_MAX: Duration = Duration::from_secs(2);

pub(crate) struct Watcher {
    number: usize,
    mailbox: usize,
    stream: Stream,
    opened: Instant,
    /// The id of the last event, to go on from.
    last: Option<String>,
    /// The number of the message that comes next.
    next: usize,
    /// Whether it has just come back, so that a repeated event is none too many.
    back: bool,
}

impl Watcher {
    /// Open the stream, and see that it is there.
    pub(crate) async fn open(plan: &Plan, number: usize) -> Result<Self> {
        let mailbox = number % plan.mailboxes;
        let mut stream = open(plan, number, mailbox, None).await.with_context(|| format!("watcher {number}"))?;
        let hello = stream.next().await?;
        ensure!(hello.name == "hello", "the first event is {hello:?}");
        Ok(Self { number, mailbox, stream, opened: Instant::now(), last: None, next: 0, back: false })
    }

    /// Watch to the end; how long each message took.
    pub(crate) async fn run(mut self, plan: &Plan, mut breaks: Option<Chance>) -> Vec<Duration> {
        let mut times = Vec::with_capacity(plan.each);
        while self.next < plan.each {
            let step = tokio::select! {
                step = self.step(plan, breaks.as_mut(), &mut times) => step,
                () = plan.late() => Err(anyhow!("number {} did not come", self.next)),
            };
            if let Err(error) = step {
                plan.tally.failed(format!("watcher {} of {}: {error:#}", self.number, Plan::mailbox(self.mailbox)));
                return times;
            }
        }
        plan.tally.count("saw all");
        times
    }

    async fn step(&mut self, plan: &Plan, breaks: Option<&mut Chance>, times: &mut Vec<Duration>) -> Result<()> {
        let event = self.stream.next().await?;
        if let Some(id) = &event.id {
            self.last = Some(id.clone());
        }
        match event.name.as_str() {
            "deliver" => self.delivered(plan, &event, times)?,
            "resync" => self.resync(plan).await?,
            "hello" => {}
            _ => bail!("an event that nobody caused: {event:?}"),
        }
        // Before the first id there is nothing to go on from.
        let Some(chance) = breaks.filter(|_| self.last.is_some()) else { return Ok(()) };
        if chance.below(BREAKS_ONE_IN) > 0 {
            return Ok(());
        }
        self.come_back(plan, chance.time(AWAY_MAX)).await
    }

    fn delivered(&mut self, plan: &Plan, event: &Event, times: &mut Vec<Duration>) -> Result<()> {
        let data: Value = serde_json::from_str(&event.data).context("an event without JSON")?;
        ensure!(data["mailbox"] == *Plan::mailbox(self.mailbox), "an event of another mailbox: {data}");
        let number = number(&data["message"])?;
        if number < self.next {
            ensure!(self.back, "number {number} came again, although nothing broke off");
            plan.tally.count("repeated");
            return Ok(());
        }
        ensure!(number == self.next, "number {number} came, and {} is missing", self.next);
        self.next += 1;
        let acknowledged = plan.acknowledged.borrow()[self.mailbox][number];
        // The event may be read before the 250; and what came while it was away says nothing about time.
        if acknowledged.is_none_or(|at| at >= self.opened) {
            times.push(acknowledged.map_or(Duration::ZERO, |at| at.elapsed()));
        }
        plan.tally.count("events");
        Ok(())
    }

    /// Break off, and after so long go on behind the last event on the same node.
    async fn come_back(&mut self, plan: &Plan, away: Duration) -> Result<()> {
        plan.tally.count("came back");
        // What is on its way over the old connection is lost, as it is when a network breaks.
        sleep(away).await;
        self.stream = open(plan, self.number, self.mailbox, self.last.as_deref()).await.context("when it came back")?;
        (self.opened, self.back) = (Instant::now(), true);
        Ok(())
    }

    /// The server could not tell everything: what there is stands in the list.
    async fn resync(&mut self, plan: &Plan) -> Result<()> {
        plan.tally.count("resync");
        let mut client = plan.site.reader(self.number).await?;
        let name = Plan::mailbox(self.mailbox);
        let path = format!("/api/v2/mailboxes/{name}/messages?order=oldest&limit=500");
        let list = client.call(&Call { method: "GET", path: &path, ..Call::default() }, 200).await?;
        for (wanted, item) in list["items"].as_array().context("a list without items")?.iter().enumerate() {
            ensure!(number(item)? == wanted, "the list of {name} has another at {wanted}: {item}");
            self.next = self.next.max(wanted + 1);
        }
        // What was listed may come as an event too.
        self.back = true;
        Ok(())
    }
}

async fn open(plan: &Plan, number: usize, mailbox: usize, behind: Option<&str>) -> Result<Stream> {
    let client = plan.site.reader(number).await?;
    let path = format!("/api/v2/events?mailbox={}", Plan::mailbox(mailbox));
    Stream::open(plan.site.door(number), client.wire.waiting(PATIENCE), &path, behind).await
}

/// The number that a message carries in its subject.
fn number(message: &Value) -> Result<usize> {
    let subject = message["subject"].as_str().with_context(|| format!("no subject: {message}"))?;
    subject.strip_prefix("number ").and_then(|text| text.parse().ok()).with_context(|| format!("subject {subject}"))
}
