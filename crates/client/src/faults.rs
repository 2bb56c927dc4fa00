//! Fault plans: mail that is refused, held back, dropped or read slowly, as a test wants it.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Map, Value, json};

use crate::call::Limit;
use crate::client::{Client, encoded};
use crate::error::Error;
use crate::http::Ask;
use crate::text::duration;

/// Time for the answer to a plan. It is asked for once: asked twice there would be two.
const ANSWER: Duration = Duration::from_secs(30);

/// A fault about to be planned; await it. Without a mailbox and a sender it meets all mail.
///
/// ```no_run
/// # async fn example(client: postkeep_client::Client) -> Result<(), postkeep_client::Error> {
/// let greylisting = client.fault().mailbox("alice").reply(451, "4.7.1").first(2).await?;
/// // … the application is refused twice, and gets its mail through at last …
/// greylisting.remove().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a fault is planned when this is awaited"]
pub struct Fault {
    client: Client,
    json: Map<String, Value>,
}

/// A plan that is in force until it is removed or its time is over.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    client: Client,
    json: Value,
}

impl Client {
    /// Plan a fault.
    pub fn fault(&self) -> Fault {
        Fault { client: self.clone(), json: Map::new() }
    }

    /// The plans in force, as the server sends them: `{"items":[…]}`.
    pub async fn list_faults_json(&self) -> Result<Value, Error> {
        self.call(|| Ask::new(Method::GET, "/api/v2/faults")).await?.json()
    }

    /// Plan a fault as the API takes it; the plan as the server sends it.
    pub async fn plan_fault_json(&self, plan: &Value) -> Result<Value, Error> {
        let limit = Limit { until: Instant::now(), held_max: Duration::ZERO, answer: ANSWER };
        self.call_within(limit, |_| Ask::new(Method::POST, "/api/v2/faults").json(plan)).await?.json()
    }

    /// Remove a plan, by its id.
    pub async fn remove_fault(&self, id: &str) -> Result<(), Error> {
        let path = format!("/api/v2/faults/{}", encoded(id));
        self.call(|| Ask::new(Method::DELETE, &path)).await?.good()?;
        Ok(())
    }
}

impl Fault {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.json.insert(name.to_owned(), value.into());
        self
    }

    /// Mail for this mailbox.
    pub fn mailbox(self, name: &str) -> Self {
        self.with("mailbox", name)
    }

    /// Mail from this address, or from a domain, as `@example.com`.
    pub fn sender(self, address: &str) -> Self {
        self.with("sender", address)
    }

    /// At which command: `mail`, `rcpt` (else) or `data`.
    pub fn stage(self, stage: &str) -> Self {
        self.with("stage", stage)
    }

    /// This is answered.
    pub fn reply(self, code: u16, enhanced: &str) -> Self {
        self.with("reply", json!({ "code": code, "enhanced": enhanced }))
    }

    /// Only at the first so many attempts.
    pub fn first(self, count: u64) -> Self {
        self.with("first", count)
    }

    /// Only at this attempt.
    pub fn nth(self, number: u64) -> Self {
        self.with("nth", number)
    }

    /// At so many of a hundred attempts, the same ones for the same seed.
    pub fn percent(self, percent: u8, seed: u64) -> Self {
        self.with("percent", percent).with("seed", seed)
    }

    /// What is counted together: `plan` (else), `recipient` or `pair`.
    pub fn per(self, per: &str) -> Self {
        self.with("per", per)
    }

    /// The answer is held back so long.
    pub fn delay(self, time: Duration) -> Self {
        self.with("delay", duration(time))
    }

    /// The connection is cut.
    pub fn drop_connection(self) -> Self {
        self.with("drop", true)
    }

    /// Content is read at so many bytes a second.
    pub fn slow(self, bytes: u64) -> Self {
        self.with("slow", format!("{bytes}B"))
    }

    /// How long the plan is in force; else as the server is configured, usually ten minutes.
    pub fn ttl(self, time: Duration) -> Self {
        self.with("ttl", duration(time))
    }

    /// What people see of it.
    pub fn note(self, note: &str) -> Self {
        self.with("note", note)
    }

    async fn plan(self) -> Result<FaultPlan, Error> {
        let json = self.client.plan_fault_json(&Value::Object(self.json)).await?;
        match json["id"].is_string() {
            true => Ok(FaultPlan { client: self.client, json }),
            false => Err(self.client.strange("a plan without an id")),
        }
    }
}

impl FaultPlan {
    /// What it goes by.
    pub fn id(&self) -> &str {
        self.json["id"].as_str().unwrap_or_default()
    }

    /// As the server sent it.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// How many attempts it has met, and at how many of them it acted.
    pub async fn attempts(&self) -> Result<(u64, u64), Error> {
        let listed = self.client.list_faults_json().await?;
        let mut plans = listed["items"].as_array().into_iter().flatten();
        let plan = plans.find(|plan| plan["id"] == self.json["id"]);
        let plan = plan.ok_or_else(|| Error::Missing(format!("the fault plan {} is over", self.id())))?;
        Ok((plan["attempts"].as_u64().unwrap_or_default(), plan["fired"].as_u64().unwrap_or_default()))
    }

    /// End it.
    pub async fn remove(self) -> Result<(), Error> {
        self.client.remove_fault(self.id()).await
    }
}

impl IntoFuture for Fault {
    type Output = Result<FaultPlan, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.plan())
    }
}
