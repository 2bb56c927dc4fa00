//! Every key and what kind of value it takes. What a key means is written beside it in `config.default.toml`; a test
//! holds the two together.

use std::time::Duration;

/// The keys, in the order of `config.default.toml`.
pub(crate) const KEYS: &[Key] = &[
    key("smtp.addr", Kind::Addrs),
    key("smtp.hostname", Kind::Hostname),
    key("smtp.message_max", size(1, 4 << 30)),
    key("smtp.oversize_drain_max", size(0, 1 << 40)),
    key("smtp.recipients_max", count(1, 100_000)),
    key("smtp.line_max", count(510, 65_536)),
    key("smtp.connections_max", count(1, CONNECTIONS_MAX)),
    key("smtp.connections_per_ip_max", count(0, CONNECTIONS_MAX)),
    key("smtp.in_flight_max", size(1, 1 << 40)),
    key("smtp.errors_max", count(1, 1_000_000)),
    key("smtp.idle_commands_max", count(1, 1_000_000)),
    key("smtp.received_max", count(1, 10_000)),
    key("smtp.idle_timeout", TIMEOUT),
    key("smtp.line_timeout", TIMEOUT),
    key("smtp.data_timeout", TIMEOUT),
    key("smtp.transaction_timeout", TIMEOUT),
    key("smtp.write_timeout", TIMEOUT),
    key("smtp.greeting_delay", time(0, 60)),
    key("smtp.bare_newlines", Kind::Choice(&["reject", "normalize"])),
    key("smtp.trace_peer", Kind::Flag),
    key("smtp.tls", TLS_USE),
    key("smtp.auth", Kind::Choice(&["any", "list", "token", "off"])),
    key("smtp.auth_file", Kind::File),
    key("smtp.auth_required", Kind::Flag),
    key("smtp.auth_plaintext", PLAINTEXT),
    key("smtp.proxy_from", Kind::Networks),
    key("smtp.tarpit", time(0, 60)),
    key("smtps.addr", Kind::Addrs),
    key("lmtp.addr", Kind::Addrs),
    key("policy.reject", Kind::Domains),
    key("policy.discard", Kind::Domains),
    key("policy.accept", Kind::Domains),
    key("policy.reject_senders", Kind::Domains),
    key("http.addr", Kind::Addrs),
    key("http.public_url", Kind::Url),
    key("http.label", Kind::Label),
    key("http.allowed_hosts", Kind::Hosts),
    key("http.trusted_proxies", Kind::Networks),
    key("http.connections_max", count(1, CONNECTIONS_MAX)),
    key("http.connections_per_ip_max", count(0, CONNECTIONS_MAX)),
    key("http.body_max", size(0, 1 << 40)),
    // The HTTP library reads a head into no less than 8 KiB.
    key("http.json_depth_max", count(4, 100)),
    key("http.bulk_max", count(1, 100_000)),
    key("http.page_default", count(1, 10_000)),
    key("http.page_max", count(1, 10_000)),
    key("http.page_full_max", count(1, 1_000)),
    key("http.header_max", size(8 << 10, 1 << 20)),
    key("http.answers_max", size(1 << 10, 1 << 40)),
    key("http.header_timeout", TIMEOUT),
    key("http.request_timeout", TIMEOUT),
    key("http.idle_timeout", TIMEOUT),
    key("http.proxy_from", Kind::Networks),
    key("http.metrics", Kind::Flag),
    key("http.cors_origins", Kind::Origins),
    key("http.rate_per_ip", Kind::Rate),
    key("http.page_folder", Kind::File),
    key("https.addr", Kind::Addrs),
    key("deliver.idempotency_window", time(1, 24 * 60 * 60)),
    key("pop3.addr", Kind::Addrs),
    key("pop3.messages_max", count(1, 10_000_000)),
    key("pop3.line_max", count(255, 65_536)),
    key("pop3.connections_max", count(1, CONNECTIONS_MAX)),
    key("pop3.connections_per_ip_max", count(0, CONNECTIONS_MAX)),
    key("pop3.answers_max", size(1 << 10, 1 << 40)),
    key("pop3.errors_max", count(1, 1_000_000)),
    key("pop3.idle_timeout", TIMEOUT),
    key("pop3.line_timeout", TIMEOUT),
    key("pop3.write_timeout", TIMEOUT),
    key("pop3.answer_timeout", TIMEOUT),
    key("pop3.tls", TLS_USE),
    key("pop3.auth_plaintext", PLAINTEXT),
    key("pop3.proxy_from", Kind::Networks),
    key("pop3s.addr", Kind::Addrs),
    key("tls.cert", Kind::File),
    key("tls.key", Kind::File),
    key("tls.check_every", TIMEOUT),
    key("tls.self_signed", Kind::Flag),
    key("tls.folder", Kind::Path),
    key("tls.names", Kind::Names),
    key("tls.handshake_timeout", TIMEOUT),
    key("acme.domains", Kind::Hosts),
    key("acme.addr", Kind::Addrs),
    key("acme.email", Kind::Email),
    key("acme.directory", Kind::Url),
    key("acme.ca", Kind::File),
    key("acme.terms_agreed", Kind::Flag),
    key("store.engine", Kind::Choice(&["memory", "disk", "jetstream"])),
    key("store.memory.bytes_max", size(1 << 10, 1 << 50)),
    key("store.memory.changes_max", count(0, 100_000_000)),
    key("store.memory.lag_max", count(1, 100_000_000)),
    key("store.memory.jobs_bytes_max", size(0, 1 << 50)),
    key("store.memory.dead_jobs_max", count(0, 100_000_000)),
    key("store.memory.registry_bytes_max", size(0, 1 << 50)),
    key("store.disk.path", Kind::Path),
    key("store.disk.bytes_max", size(0, 1 << 60)),
    key("store.disk.free_min", size(0, 1 << 50)),
    key("store.disk.jump_hold", time(0, 365 * DAY)),
    key("store.disk.changes_max", count(0, 100_000_000)),
    key("store.disk.lag_max", count(1, 100_000_000)),
    key("store.disk.jobs_bytes_max", size(0, 1 << 50)),
    key("store.disk.dead_jobs_max", count(0, 100_000_000)),
    key("store.disk.registry_bytes_max", size(0, 1 << 50)),
    key("store.disk.queue_max", count(1, 1_000_000)),
    key("store.disk.wait_max", TIMEOUT),
    key("store.disk.readers", count(1, 256)),
    key("store.jetstream.urls", Kind::Brokers),
    key("store.jetstream.credentials", Kind::File),
    key("store.jetstream.tls_ca", Kind::File),
    key("store.jetstream.tls_cert", Kind::File),
    key("store.jetstream.tls_key", Kind::File),
    key("store.jetstream.prefix", Kind::Prefix),
    key("store.jetstream.replicas", Kind::Number(&[1, 3, 5])),
    key("store.jetstream.shards", count(1, 1024)),
    key("store.jetstream.body_shards", count(1, 1024)),
    key("store.jetstream.sync_waived", Kind::Flag),
    key("store.jetstream.bytes_max", size(0, 1 << 60)),
    // Brokers take up to nine seconds to find a new leader, and then there is something to catch up with.
    key("store.jetstream.wait_max", time(15, 10 * 60)),
    key("store.jetstream.jobs_max", count(0, 1_000_000_000)),
    key("store.jetstream.dead_jobs_max", count(0, 100_000_000)),
    key("store.jetstream.registry_bytes_max", size(0, 1 << 50)),
    key("mailbox.naming", Kind::Choice(&["local", "full", "domain"])),
    key("mailbox.messages_max", count(0, 1_000_000_000)),
    key("mailbox.retention", time(0, 100 * 365 * DAY)),
    key("access.mode", Kind::Choice(&["open", "token", "public"])),
    key("access.public_verbs", Kind::Verbs),
    key("access.inbox_secret", Kind::Choice(&["auto", "always"])),
    key("access.key_file", Kind::File),
    key("access.tokens_max", count(0, 1_000_000)),
    key("access.logins_max", count(0, 1_000_000)),
    key("access.login_ttl", time(60, 365 * DAY)),
    key("access.failures_per_ip", Kind::Rate),
    key("access.user_header", Kind::Field),
    key("access.user_scopes", Kind::Scopes),
    key("inbox.domain", Kind::Domain),
    key("inbox.ttl_default", time(1, 365 * DAY)),
    key("inbox.ttl_max", time(60, 365 * DAY)),
    key("inbox.rate_per_ip", Kind::Rate),
    key("rate.connections_per_ip_max", Kind::Rate),
    key("rate.connections_per_network_max", Kind::Rate),
    key("rate.transactions_per_ip_max", Kind::Rate),
    key("rate.transactions_per_network_max", Kind::Rate),
    key("rate.bytes_per_ip_max", Kind::Rate),
    key("rate.bytes_per_network_max", Kind::Rate),
    key("rate.mailbox_max", Kind::Rate),
    key("rate.failed_logins_per_ip_max", Kind::Rate),
    key("rate.entries_max", count(1, 100_000_000)),
    key("dns.blocklists", Kind::Hosts),
    key("dns.reverse", Kind::Flag),
    key("dns.servers", Kind::Resolvers),
    key("dns.timeout", TIMEOUT),
    key("dns.cache_max", count(1, 10_000_000)),
    key("refusals.ring_max", count(0, 1_000_000)),
    key("faults.domain", Kind::Hostname),
    key("faults.delay_max", time(0, 60 * 60)),
    key("faults.return_max", size(0, 16 << 20)),
    key("faults.plans_max", count(0, 10_000)),
    key("faults.pairs_max", count(1, 1_000_000)),
    key("faults.ttl_default", time(1, 365 * DAY)),
    key("faults.ttl_max", time(1, 365 * DAY)),
    key("search.deadline", time(0, 10 * 60)),
    key("search.scan_max", size(0, 1 << 40)),
    key("search.parallel_max", count(1, 10_000)),
    key("search.index_max", size(0, 1 << 50)),
    key("search.index_text_max", size(1 << 10, 1 << 30)),
    key("search.bodies_max", count(0, 1_000_000)),
    key("recent.ring_max", count(0, 1_000_000)),
    key("recent.gather_max", time(0, 60)),
    key("events.mailboxes_max", count(1, 1_000)),
    key("events.resume_window", time(0, 110)),
    key("events.heartbeat", time(1, 300)),
    key("events.queue_max", count(1, 1_000_000)),
    key("events.write_max", TIMEOUT),
    key("events.streams_max", count(1, CONNECTIONS_MAX)),
    key("events.per_ip_max", count(0, CONNECTIONS_MAX)),
    key("events.life_max", time(1, DAY)),
    key("events.all_rate_max", count(1, 1_000_000)),
    key("monitor.enabled", Kind::Flag),
    key("monitor.history_max", count(0, 1_000)),
    key("monitor.frame_max", size(128, 1 << 20)),
    key("feed.watchers_max", count(1, CONNECTIONS_MAX)),
    key("wait.timeout_default", time(0, 60 * 60)),
    key("wait.timeout_max", time(1, 60 * 60)),
    key("wait.count_max", count(1, 10_000)),
    key("wait.exclude_max", count(0, 10_000)),
    key("wait.regex_max", count(1, 10_000)),
    key("wait.answer_max", size(1 << 20, 1 << 30)),
    key("wait.near_misses_max", count(0, 1000)),
    key("wait.waiters_max", count(1, CONNECTIONS_MAX)),
    key("wait.per_mailbox_max", count(1, CONNECTIONS_MAX)),
    key("wait.per_ip_max", count(0, CONNECTIONS_MAX)),
    key("webhooks.concurrent_max", count(1, 1_000)),
    key("webhooks.timeout", TIMEOUT),
    key("webhooks.attempts_max", count(1, 1_000_000)),
    key("webhooks.give_up_after", time(1, 365 * DAY)),
    key("webhooks.retry_max", TIMEOUT),
    key("webhooks.waiting_max", count(1, 100_000_000)),
    key("webhooks.failures_max", count(1, 1_000_000)),
    key("webhooks.rest", TIMEOUT),
    key("outbound.strangers", Kind::Flag),
    key("outbound.allow", Kind::Networks),
    key("outbound.body_max", size(1 << 10, 1 << 30)),
    key("outbound.timeout", TIMEOUT),
    key("outbound.redirects_max", count(0, 10)),
    key("outbound.requests_max", count(1, 10_000)),
    key("message.text_max", size(1, 1 << 30)),
    key("parse.cache_max", size(0, 1 << 34)),
    key("extract.text_max", size(1 << 10, 16 << 20)),
    key("extract.codes_max", count(1, 100)),
    key("extract.links_max", count(1, 10_000)),
    key("script.path", Kind::File),
    key("script.on_error", Kind::Choice(&["tempfail", "accept"])),
    key("script.deadline", SCRIPT_TIME),
    key("script.after_deadline", SCRIPT_TIME),
    key("script.memory_max", size(1 << 20, 4 << 30)),
    key("script.workers", count(1, 1024)),
    key("script.queue_max", count(1, 1_000_000)),
    key("script.source_max", size(0, 1 << 30)),
    key("script.notes_max", count(1, 10_000_000)),
    key("relay.host", Kind::Host),
    key("relay.port", count(1, 65_535)),
    key("relay.tls", Kind::Choice(&["auto", "required", "opportunistic", "implicit", "off"])),
    key("relay.ca_file", Kind::File),
    key("relay.user", Kind::User),
    key("relay.password_file", Kind::File),
    key("relay.allow", Kind::Recipients),
    key("relay.from", Kind::Email),
    key("relay.rate", Kind::Rate),
    key("relay.recipients_max", count(1, 1000)),
    key("relay.hops_max", count(1, 100)),
    key("relay.connections_max", count(1, 100)),
    key("relay.timeout", TIMEOUT),
    key("relay.attempt_max", time(1, 60 * 60)),
    key("relay.retry_after", TIMEOUT),
    key("relay.retry_max", TIMEOUT),
    key("relay.give_up_after", time(0, 30 * DAY)),
    key("relay.kept", time(60, 365 * DAY)),
    key("relay.kept_max", count(1, 100_000)),
    key("log.level", Kind::Choice(&["error", "warn", "info", "debug", "trace"])),
    key("log.format", Kind::Choice(&["text", "json"])),
    key("stop.grace", time(0, 60 * 60)),
    key("runtime.workers", count(0, 1024)),
    key("runtime.socket_mode", Kind::Choice(&["600", "660", "666"])),
];

const CONNECTIONS_MAX: u64 = 1_000_000;
const DAY: u64 = 24 * 60 * 60;
const TLS_USE: Kind = Kind::Choice(&["offer", "require", "off"]);
const PLAINTEXT: Kind = Kind::Choice(&["private", "never", "always"]);
const SCRIPT_TIME: Kind = Kind::Time { min: Duration::from_millis(10), max: Duration::from_secs(5 * 60) };
const TIMEOUT: Kind = Kind::Time { min: Duration::from_millis(10), max: Duration::from_secs(DAY) };

/// A key.
#[derive(Debug)]
pub(crate) struct Key {
    /// With its sections, as `smtp.addr`.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `HOST:PORT` or `unix:PATH`, one or several, or none.
    Addrs,
    /// A domain name, or nothing.
    Hostname,
    /// A host's name or address, or nothing.
    Host,
    /// What somebody signs in with: a text on one line, or nothing.
    User,
    /// A list of addresses of e-mail and patterns of them.
    Recipients,
    /// A path of the file system.
    Path,
    /// A path of the file system, or nothing.
    File,
    /// An http or https URL without query, or nothing.
    Url,
    /// A few words on one line, or nothing.
    Label,
    /// A list of host names, `*.` allowed in front.
    Hosts,
    /// A list of addresses and networks.
    Networks,
    /// A list of host names and addresses.
    Names,
    /// A list of servers of DNS.
    Resolvers,
    /// An address of e-mail, or nothing.
    Email,
    /// So many in a time, or `0`.
    Rate,
    /// A list of domain patterns.
    Domains,
    /// A list of URLs of brokers, at least one; they may hold passwords.
    Brokers,
    /// Lower-case letters, digits and hyphens, up to 32.
    Prefix,
    /// A list of `https://host:port`.
    Origins,
    /// A list of verbs that change nothing and of those that take away.
    Verbs,
    /// A list of scopes of a token; what is wrong with one is told when it is known how mailboxes are named.
    Scopes,
    /// The name of a field of HTTP, or nothing.
    Field,
    /// A domain name.
    Domain,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// A number of bytes.
    Size { min: u64, max: u64 },
    /// A number.
    Count { min: u64, max: u64 },
    /// One of these numbers.
    Number(&'static [u64]),
    /// A duration.
    Time { min: Duration, max: Duration },
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind }
}

const fn size(min: u64, max: u64) -> Kind {
    Kind::Size { min, max }
}

const fn count(min: u64, max: u64) -> Kind {
    Kind::Count { min, max }
}

const fn time(min_seconds: u64, max_seconds: u64) -> Kind {
    Kind::Time { min: Duration::from_secs(min_seconds), max: Duration::from_secs(max_seconds) }
}

impl Key {
    /// Its place in [`KEYS`], by name.
    pub(crate) fn index(name: &str) -> Option<usize> {
        KEYS.iter().position(|key| key.name == name)
    }

    /// The variable of the environment that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("POSTKEEP_{}", self.name.replace('.', "__").to_uppercase())
    }

    /// The section it stands in, and its name there.
    pub(crate) fn split(&self) -> (&'static str, &'static str) {
        self.name.rsplit_once('.').expect("every key has a section")
    }
}

/// Whether keys stand below this name.
pub(crate) fn is_section(name: &str) -> bool {
    sections().any(|section| section == name)
}

/// Every section once, in order.
pub(crate) fn sections() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    KEYS.iter().map(|key| key.split().0).filter(move |&section| {
        let new = section != last;
        last = section;
        new
    })
}
