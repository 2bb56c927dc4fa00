//! What the DNS says of a client's address: whether a block list names it, and what it is called.
//!
//! Nobody waits for it. Questions begin with a session and run aside; whoever wants to know looks at what has come in by
//! then. An answer that is late, or none at all, decides nothing. Without block lists and reverse lookups there is no
//! resolver.

mod list;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{TokioResolver, system_conf};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use list::Standing;

/// Questions under way at once. Beyond it none is asked: a flood of connections is not handed on to the resolver.
const QUESTIONS_MAX: usize = 256;
/// Octets of a name.
const NAME_MAX: usize = 255;

/// The keys of the section `dns`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Block lists, as `zen.example.org`: mail from an address that one of them names is refused.
    pub blocklists: Vec<String>,
    /// Whether the name of a client's address is asked for.
    pub reverse: bool,
    /// Whom to ask; none: whom the system asks.
    pub servers: Vec<SocketAddr>,
    /// How long an answer is waited for.
    pub timeout: Duration,
    /// Answers that are remembered, for as long as they say.
    pub cache_max: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let timeout = Duration::from_secs(3);
        Self { blocklists: Vec::new(), reverse: false, servers: Vec::new(), timeout, cache_max: 10_000 }
    }
}

/// Why there can be no resolver.
#[derive(Debug, thiserror::Error)]
pub enum Unasked {
    /// A block list's name is no name.
    #[error("dns.blocklists: {0:?} is no domain name; write it as the list's operator does, such as zen.example.org")]
    BadList(String),
    /// The system tells nobody to ask.
    #[error("the system names no DNS server; set dns.servers")]
    NoServers(#[source] NetError),
}

/// Asks the DNS.
pub struct Dns {
    resolver: TokioResolver,
    /// Where questions run: not in the lanes, whose sessions they are about.
    runtime: Handle,
    lists: Vec<(Arc<str>, Name)>,
    reverse: bool,
    timeout: Duration,
    turns: Arc<Semaphore>,
    counters: Counters,
}

/// What has been heard so far of one client's address. A clone is the same.
#[derive(Clone, Debug, Default)]
pub struct Inquiry(Arc<Heard>);

#[derive(Debug, Default)]
struct Heard {
    listed: OnceLock<Arc<str>>,
    name: OnceLock<String>,
}

struct Counters {
    asked: metrics::Counter,
    failed: metrics::Counter,
    skipped: metrics::Counter,
}

impl Dns {
    /// Ready to ask, on the runtime that this is called on; none when there is nothing to ask.
    pub fn new(settings: &Settings) -> Result<Option<Arc<Self>>, Unasked> {
        if settings.blocklists.is_empty() && !settings.reverse {
            return Ok(None);
        }
        let lists = settings.blocklists.iter().map(|text| list::name(text).map(|name| (text.as_str().into(), name)));
        Ok(Some(Arc::new(Self {
            lists: lists.collect::<Result<_, _>>()?,
            resolver: resolver(settings).map_err(Unasked::NoServers)?,
            runtime: Handle::current(),
            reverse: settings.reverse,
            timeout: settings.timeout,
            turns: Arc::new(Semaphore::new(QUESTIONS_MAX)),
            counters: Counters::new(),
        })))
    }

    /// Begin to ask about an address.
    pub fn ask(self: &Arc<Self>, ip: IpAddr) -> Inquiry {
        let (inquiry, ip) = (Inquiry::default(), ip.to_canonical());
        for (list, zone) in &self.lists {
            let Some(name) = list::question(ip, zone) else { continue };
            self.spawn(Arc::clone(self).look_up_in(Arc::clone(list), name, inquiry.clone()));
        }
        if self.reverse {
            self.spawn(Arc::clone(self).look_up_name(ip, inquiry.clone()));
        }
        inquiry
    }

    /// Ask aside, within the time; or not at all, when too much is asked already.
    fn spawn(&self, question: impl Future<Output = Result<(), NetError>> + Send + 'static) {
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
            self.counters.skipped.increment(1);
            return;
        };
        let (timeout, failed) = (self.timeout, self.counters.failed.clone());
        self.counters.asked.increment(1);
        self.runtime.spawn(async move {
            let answer = tokio::time::timeout(timeout, question).await.unwrap_or(Err(NetError::Timeout));
            if let Err(error) = answer.or_else(is_nothing) {
                failed.increment(1);
                tracing::debug!(%error, "a question to the DNS was not answered");
            }
            drop(turn);
        });
    }

    async fn look_up_in(self: Arc<Self>, list: Arc<str>, name: Name, inquiry: Inquiry) -> Result<(), NetError> {
        let answer = self.resolver.lookup(name, RecordType::A).await?;
        let addresses = answer.answers().iter().filter_map(|record| match &record.data {
            RData::A(address) => Some(address.0),
            _ => None,
        });
        match list::standing(addresses) {
            Standing::Listed => drop(inquiry.0.listed.set(list)),
            Standing::Unlisted => {}
            Standing::Unanswered(code) => {
                tracing::warn!(%list, %code, "a block list does not answer us; see its operator's terms");
            }
        }
        Ok(())
    }

    async fn look_up_name(self: Arc<Self>, ip: IpAddr, inquiry: Inquiry) -> Result<(), NetError> {
        let answer = self.resolver.lookup(Name::from(ip), RecordType::PTR).await?;
        let names = answer.answers().iter().filter_map(|record| match &record.data {
            RData::PTR(name) => host_name(&name.0),
            _ => None,
        });
        if let Some(name) = names.take(1).next() {
            tracing::info!(%ip, name, "a client, by the name of its address");
            let _ = inquiry.0.name.set(name);
        }
        Ok(())
    }
}

impl Inquiry {
    /// The block list that names the address, if one is known to.
    pub fn listed(&self) -> Option<&str> {
        self.0.listed.get().map(|list| &**list)
    }

    /// What the address is called, if that is known: letters, digits, dots, hyphens and underscores. Whoever owns the
    /// address chose it, so it proves nothing.
    pub fn name(&self) -> Option<&str> {
        self.0.name.get().map(String::as_str)
    }
}

impl Counters {
    fn new() -> Self {
        Self {
            asked: metrics::counter!("postkeep_dns_questions_total"),
            failed: metrics::counter!("postkeep_dns_questions_failed_total"),
            skipped: metrics::counter!("postkeep_dns_questions_skipped_total"),
        }
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Dns").field("lists", &self.lists).field("reverse", &self.reverse).finish_non_exhaustive()
    }
}

/// That there is no such name is an answer.
fn is_nothing(error: NetError) -> Result<(), NetError> {
    if error.is_no_records_found() { Ok(()) } else { Err(error) }
}

fn resolver(settings: &Settings) -> Result<TokioResolver, NetError> {
    let (config, mut options) = if settings.servers.is_empty() {
        system_conf::read_system_conf()?
    } else {
        let servers = settings.servers.iter().map(server).collect();
        (ResolverConfig::from_name_servers(servers), ResolverOpts::default())
    };
    options.cache_size = settings.cache_max;
    // A second try, for a packet that was lost, within the time for both.
    options.attempts = 1;
    options.timeout = settings.timeout / 2;
    options.max_active_requests = QUESTIONS_MAX;
    TokioResolver::builder_with_config(config, TokioRuntimeProvider::default()).with_options(options).build()
}

fn server(addr: &SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(addr.ip());
    server.connections.iter_mut().for_each(|connection| connection.port = addr.port());
    server
}

/// A name as it may stand in a log or a trace field; none when it is no host's.
fn host_name(name: &Name) -> Option<String> {
    let text = name.to_ascii();
    let text = text.strip_suffix('.').unwrap_or(&text);
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (!text.is_empty() && text.len() <= NAME_MAX && text.bytes().all(is_sound)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
