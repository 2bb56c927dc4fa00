//! The scripts as the mailroom meets them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mail::Address;
use mailroom::Verdict;
use mailroom::hooks::{After, Arriving, Handling, Hooks, Moment, Opinion, Visit};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::complaints::Complaints;
use crate::counters::COUNTERS;
use crate::desk::Web;
use crate::event::{Event, Paper, Said, Transaction};
use crate::failure::Failure;
use crate::pool::{Job, Pool};
use crate::program::Program;
use crate::settings::{OnError, Settings};

/// A worker stops a script at its deadline and says so; it is waited for a little longer than that.
const GRACE: Duration = Duration::from_millis(100);

/// The scripts at work.
pub struct Scripts {
    pool: Arc<Pool>,
    settings: Arc<Settings>,
    complaints: Arc<Complaints>,
}

impl Scripts {
    /// Put a program to work. What scripts ask of the network goes through the client, on this runtime.
    pub fn start(program: Program, settings: Settings, client: outbound::Client, runtime: Handle) -> Arc<Self> {
        std::sync::LazyLock::force(&COUNTERS);
        let (settings, complaints) = (Arc::new(settings), Arc::new(Complaints::default()));
        let web = Web::Asked { client, runtime };
        let pool = Pool::new(Arc::new(program), Arc::clone(&settings), web, Arc::clone(&complaints));
        Arc::new(Self { pool, settings, complaints })
    }

    /// Go on with another program.
    pub fn replace(&self, program: Program) {
        self.pool.replace(Arc::new(program));
    }

    /// The most that one event has used of a CPU, once nobody is at work any more.
    #[cfg(test)]
    pub(crate) async fn spent(&self) -> Duration {
        while !self.pool.is_quiet() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.pool.probe.most()
    }

    /// Ask the scripts, and wait for what they say.
    async fn ask(&self, event: Event) -> Result<Said, Failure> {
        let deadline = self.settings.deadline;
        let (answer, answered) = oneshot::channel();
        self.pool.submit(Job { event, until: Instant::now() + deadline, answer: Some(answer) })?;
        match timeout(deadline + GRACE, answered).await {
            Ok(Ok(said)) => said,
            Ok(Err(_)) => Err(Failure::Broken),
            Err(_) => Err(Failure::NoWorker(deadline)),
        }
    }

    /// The refusal of mail whose script failed, where that is how failures are met.
    fn failed(&self, failure: &Failure) -> Option<Verdict> {
        COUNTERS.failed.increment(1);
        let (then, verdict) = match self.settings.on_error {
            OnError::Tempfail => {
                let text = "A script of this server failed; try again later";
                ("the client was told to try later", Some(Verdict::refuse(451, (4, 3, 0), text)))
            }
            OnError::Accept => ("the mail went on as without scripts", None),
        };
        self.complaints.say(|left_out| {
            tracing::error!(left_out, "script failed: {failure}; {then} (script.on_error)");
        });
        verdict
    }

    async fn opinion(&self, event: Event) -> Opinion {
        match self.ask(event).await {
            Ok(Said::Opinion(opinion)) => opinion,
            Ok(_) => Opinion::Defer,
            Err(failure) => self.failed(&failure).map_or(Opinion::Defer, Opinion::Judge),
        }
    }
}

#[async_trait]
impl Hooks for Scripts {
    fn wants(&self, moment: Moment) -> bool {
        self.pool.wants(moment)
    }

    async fn mail_from(&self, visit: &Visit<'_>) -> Opinion {
        self.opinion(Event::MailFrom(Arc::new(Transaction::of(visit, None)))).await
    }

    async fn rcpt_to(&self, visit: &Visit<'_>, recipient: &Address) -> Opinion {
        self.opinion(Event::RcptTo(Arc::new(Transaction::of(visit, Some(recipient))))).await
    }

    async fn message(&self, arriving: Arriving) -> Handling {
        match self.ask(Event::Message(Arc::new(Paper::new(arriving)))).await {
            Ok(Said::Handling(handling)) => *handling,
            Ok(_) => Handling::USUAL,
            Err(failure) => self.failed(&failure).map_or(Handling::USUAL, Handling::judged),
        }
    }

    fn after(&self, after: After) {
        let event = Event::of(after);
        let until = Instant::now() + self.settings.after_deadline;
        if let Err(failure) = self.pool.submit(Job { event, until, answer: None }) {
            COUNTERS.dropped.increment(1);
            self.complaints.say(|left_out| tracing::warn!(left_out, "a script was not told what happened: {failure}"));
        }
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        self.pool.close();
    }
}
