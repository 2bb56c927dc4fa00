//! Whether the brokers are such that a `250` can be promised on them: new enough, and syncing before they acknowledge. A
//! broker that is down at a start and was seen to be right before is believed.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use store::registry::Registry as _;
use store::{Expect, Result as StoreResult};

use crate::error::OpenError;
use crate::office::Office;
use crate::registry::Registry;
use crate::wire::Failure;

/// What a broker must be at least.
const VERSION_MIN: (u64, u64, u64) = (2, 15, 0);
const VERSION_MIN_TEXT: &str = "2.15.0";
/// Where an account may ask every broker about itself, if the brokers' configuration lets it.
const ASK: &str = "postkeep.jsz";
const GATHER: Duration = Duration::from_secs(1);
/// The kind of records that remember which brokers were seen to be right.
const SEEN: &str = "broker";

/// What a broker says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Server {
    version: String,
    syncs: bool,
}

#[derive(Deserialize)]
struct Answer {
    server: AnswerServer,
    #[serde(default)]
    data: AnswerData,
}

#[derive(Deserialize)]
struct AnswerServer {
    name: String,
    #[serde(default)]
    ver: String,
}

#[derive(Deserialize, Default)]
struct AnswerData {
    /// None: it has not come so far since its start that it could tell.
    config: Option<AnswerConfig>,
}

#[derive(Deserialize)]
struct AnswerConfig {
    #[serde(default)]
    sync_always: bool,
}

impl Office {
    /// Refuse brokers that cannot keep a promise. Those named are the ones that the store lies on.
    pub(crate) async fn check_brokers(&self, brokers: &[String], records: &Registry) -> Result<(), OpenError> {
        self.check_connected()?;
        if self.settings.sync_waived {
            tracing::warn!(
                "store.jetstream.sync_waived: it is not checked whether brokers sync before they acknowledge"
            );
            return Ok(());
        }
        let said =
            self.say(brokers.len()).await.map_err(|failure| OpenError::refused("asking the brokers", &failure))?;
        if said.is_empty() {
            return Err(OpenError::NotSynced { why: format!("no broker said whether it syncs (asked on {ASK})") });
        }
        for (server, Server { version, syncs }) in &said {
            check_version(server, version)?;
            if !syncs {
                return Err(OpenError::NotSynced { why: format!("the broker {server} acknowledges before it syncs") });
            }
        }
        for missing in brokers.iter().filter(|name| !said.contains_key(*name)) {
            match records.get(SEEN, missing).await {
                Ok(Some(_)) => tracing::warn!(broker = missing, "a broker does not answer; it was seen to sync before"),
                _ => {
                    return Err(OpenError::NotSynced {
                        why: format!("the broker {missing} did not say whether it syncs"),
                    });
                }
            }
        }
        if let Err(error) = remember(records, said.keys()).await {
            tracing::warn!(%error, "cannot write down which brokers were seen to sync");
        }
        Ok(())
    }

    /// Why mail should no longer be taken on these brokers, if there is a reason.
    pub(crate) async fn doubt_brokers(&self) -> Option<String> {
        if self.settings.sync_waived {
            return None;
        }
        let said = self.say(usize::MAX).await.ok()?;
        let (server, _) = said.iter().find(|(_, server)| !server.syncs)?;
        Some(format!(
            "the broker {server} acknowledges before it syncs; set sync_interval: always in its jetstream block"
        ))
    }

    /// What the brokers say about themselves, by name.
    async fn say(&self, enough: usize) -> Result<BTreeMap<String, Server>, Failure> {
        let enough = enough.max(1);
        let answers = self.link.gather(ASK.to_owned(), Bytes::new(), GATHER, enough).await?;
        let read = |answer: Bytes| serde_json::from_slice::<Answer>(&answer).ok();
        let server = |Answer { server, data }: Answer| {
            Some((server.name, Server { version: server.ver, syncs: data.config?.sync_always }))
        };
        Ok(answers.into_iter().filter_map(read).filter_map(server).collect())
    }

    /// Refuse a broker that is too old.
    pub(crate) fn check_connected(&self) -> Result<(), OpenError> {
        let (server, version) = self.link.server();
        check_version(&server, &version)
    }
}

fn check_version(server: &str, version: &str) -> Result<(), OpenError> {
    if numbers(version) >= VERSION_MIN {
        return Ok(());
    }
    let (server, version, least) = (server.to_owned(), version.to_owned(), VERSION_MIN_TEXT);
    Err(OpenError::TooOld { server, version, least })
}

/// The numbers of a version, whatever stands behind them.
fn numbers(version: &str) -> (u64, u64, u64) {
    let mut parts = version.split('.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next())
}

async fn remember(records: &Registry, brokers: impl Iterator<Item = &String>) -> StoreResult<()> {
    for broker in brokers {
        if records.get(SEEN, broker).await?.is_none() {
            records.put(SEEN, broker, Bytes::from_static(b"syncs"), None, Expect::Any).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(
            numbers("2.15.1") >= VERSION_MIN
                && numbers("2.15.0-RC.2") >= VERSION_MIN
                && numbers("3.0.0") >= VERSION_MIN
        );
        assert!(numbers("2.9.10") < VERSION_MIN && numbers("2.14.3") < VERSION_MIN && numbers("") < VERSION_MIN);
        assert!(matches!(check_version("n1", "2.10.27"), Err(OpenError::TooOld { .. })));
    }
}
