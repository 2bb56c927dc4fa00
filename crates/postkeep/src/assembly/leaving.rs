//! What leaves: the one HTTP client, and the courier with those who carry for it, on a thread of its own, so that nobody who
//! brings or reads mail ever waits for a stranger's server.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use courier::Courier;
use courier::webhook::{Secret, Target, Webhook, Words};
use mail::{Mailbox, MessageId, Summary};
use mailroom::{Caller, Mailroom};
use net::stop::{Phase, Stop};
use outbound::Client;
use tokio::runtime::Builder;
use tokio::time::sleep;

use super::NO_THREADS;
use crate::config::Config;
use crate::config::webhooks::{self, Secrets};
use crate::relay;

/// How often is looked how much waits for each webhook.
const WEIGH_EVERY: Duration = Duration::from_secs(5);
/// Bytes of a file with secrets; more is none.
const SECRETS_MAX: u64 = 64 << 10;

/// Begin to carry. Links in what is told begin with `base_url`.
pub(super) fn start(
    config: &Config,
    mailroom: &Arc<Mailroom>,
    client: Client,
    base_url: String,
    stop: Stop,
) -> Result<()> {
    let words: Arc<dyn Words> = Arc::new(Api { mailroom: Arc::clone(mailroom), base_url });
    let mut courier = Courier::new(Arc::clone(mailroom));
    if let Some(keys) = &config.relay {
        courier = courier.with(Arc::new(relay::carrier(keys, &config.smtp.hostname, Arc::clone(mailroom))?));
    }
    for written in &config.webhooks {
        let webhook = Webhook::new(webhook(written)?, config.webhook_limits, client.clone(), Arc::clone(&words));
        courier = courier.with(Arc::new(webhook));
    }
    if courier.is_idle() {
        return Ok(());
    }
    let weighing = weigh(Arc::clone(mailroom), config.webhooks_waiting_max);
    let runtime = Builder::new_current_thread().enable_all().build().context(NO_THREADS)?;
    let thread = thread::Builder::new().name("courier".to_owned());
    thread.spawn(move || runtime.block_on(carry(courier, weighing, stop))).context(NO_THREADS)?;
    Ok(())
}

/// What is under way when the program stops is finished, as long as there is time.
async fn carry(courier: Courier, weighing: impl Future<Output = ()>, stop: Stop) {
    let (mut draining, mut ending) = (stop.clone(), stop);
    tokio::select! {
        () = courier.run(async move { draining.reached(Phase::Draining).await }) => {}
        () = ending.reached(Phase::Ending) => {}
        () = weighing => {}
    }
}

/// See now and then that nobody who is gone takes the room of others.
async fn weigh(mailroom: Arc<Mailroom>, waiting_max: u64) {
    loop {
        if let Err(error) = mailroom.weigh_webhooks(&Caller::Program, waiting_max).await {
            tracing::debug!(%error, "it cannot be said how much waits for webhooks");
        }
        sleep(WEIGH_EVERY).await;
    }
}

/// A target with its secrets.
pub(crate) fn webhook(written: &webhooks::Webhook) -> Result<Target> {
    let secrets = match &written.secrets {
        Secrets::Written(secrets) => secrets.clone(),
        Secrets::File(path) => {
            let context = || format!("webhook {:?}: its secret_file {}", written.name, path.display());
            secrets(path).with_context(context)?
        }
    };
    Ok(Target { name: written.name.clone(), url: written.url.clone(), secrets, detail: written.detail })
}

/// One a line.
fn secrets(path: &std::path::Path) -> Result<Vec<Secret>> {
    use std::io::Read;
    let mut text = String::new();
    std::fs::File::open(path).context("cannot be read")?.take(SECRETS_MAX).read_to_string(&mut text)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let secrets: Vec<Secret> = lines.map(str::parse).collect::<Result<_, _>>()?;
    anyhow::ensure!(!secrets.is_empty(), "holds no secret");
    Ok(secrets)
}

/// The words of the API.
struct Api {
    mailroom: Arc<Mailroom>,
    base_url: String,
}

#[async_trait]
impl Words for Api {
    fn mailbox(&self, mailbox: &Mailbox) -> String {
        self.mailroom.spelling(mailbox).into_owned()
    }

    fn summary(&self, mailbox: &Mailbox, summary: &Summary) -> serde_json::Value {
        web::words::summary(&self.mailroom, mailbox, summary)
    }

    async fn message(&self, mailbox: &Mailbox, id: MessageId) -> mailroom::Result<Option<serde_json::Value>> {
        web::words::message(&self.mailroom, &self.base_url, mailbox, id).await
    }
}
