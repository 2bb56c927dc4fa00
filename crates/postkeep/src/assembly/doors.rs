//! The doors: each listener bound, named, given its TLS, and opened by the server that stands behind it.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use anyhow::{Context, Result, anyhow};
use mailroom::Mailroom;
use metrics_exporter_prometheus::PrometheusHandle;
use net::dns::Dns;
use net::tls::TlsUse;
use net::{Gate, Hall, Lanes, Listener, Network, Quota, Rates, Stop, Tls};
use smtp::limits::in_kibibytes;
use smtp::{Dialect, Limits};
use tokio::task::JoinSet;
use web::SmtpDoor;

use super::FORGET_EVERY;
use crate::certificate::{self, Begun};
use crate::config::doors::{Doors, NAMES};
use crate::config::{Config, Guards};

/// The listeners of each door, in the order of [`NAMES`].
pub(super) struct Bound([Vec<Listener>; 7]);

impl Bound {
    /// Each listener by its name, with the address it is bound to: `smtp`, `smtp.2`, …
    pub(super) fn told(&self) -> Result<Vec<(String, String)>> {
        let mut told = Vec::new();
        for (name, listeners) in NAMES.iter().zip(&self.0) {
            for (number, listener) in listeners.iter().enumerate() {
                let name = if number == 0 { (*name).to_owned() } else { format!("{name}.{}", number + 1) };
                told.push((name, listener.local()?));
            }
        }
        Ok(told)
    }
}

impl Bound {
    /// Where mail is taken over SMTP, as people are told; a Unix socket is for programs.
    pub(super) fn smtp(&self, settings: &smtp::Settings, has_certificate: bool) -> Vec<SmtpDoor> {
        let auth = match (settings.auth, settings.auth_required) {
            (false, _) => "none",
            (true, false) => "any",
            (true, true) => "required",
        };
        let starttls = has_certificate && settings.tls != TlsUse::Off;
        let doors = NAMES.iter().zip(&self.0).filter_map(|(name, listeners)| match *name {
            "smtp" => Some((if starttls { "starttls" } else { "none" }, listeners)),
            "smtps" => Some(("implicit", listeners)),
            _ => None,
        });
        let told = |tls, addr: SocketAddr| SmtpDoor {
            host: if addr.ip().is_unspecified() { "*".to_owned() } else { addr.ip().to_string() },
            port: addr.port(),
            tls,
            auth,
        };
        doors
            .flat_map(|(tls, listeners)| {
                listeners.iter().filter_map(Listener::local_addr).map(move |addr| told(tls, addr))
            })
            .collect()
    }
}

/// Bind every door, or say which key to change; the error's own words tell its cause already.
pub(super) fn bind(doors: &Doors, tls: Option<&Arc<Tls>>) -> Result<Bound> {
    let mut bound = <[Vec<Listener>; 7]>::default();
    for ((name, places), listeners) in NAMES.iter().zip(&doors.places).zip(&mut bound) {
        let plain =
            Listener::bind_all(places, doors.socket_mode).map_err(|unbound| anyhow!("{name}.addr: {unbound}"))?;
        *listeners = match *name {
            "smtps" => secured(plain, tls, None)?,
            "pop3s" => secured(plain, tls, Some("pop3"))?,
            "https" => secured(plain, tls, Some("http/1.1"))?,
            _ => plain,
        };
    }
    Ok(Bound(bound))
}

/// The same with a handshake first, for a protocol that may have a name of its own.
fn secured(plain: Vec<Listener>, tls: Option<&Arc<Tls>>, protocol: Option<&str>) -> Result<Vec<Listener>> {
    if plain.is_empty() {
        return Ok(plain);
    }
    let tls = tls.context("a door under TLS needs a certificate, see the section tls")?;
    let tls = match protocol {
        Some(protocol) => tls.speaking(protocol)?,
        None => Arc::clone(tls),
    };
    Ok(plain.into_iter().map(|listener| listener.secured(Arc::clone(&tls))).collect())
}

/// What stands behind the doors.
pub(super) struct Behind {
    pub(super) config: Config,
    pub(super) mailroom: Arc<Mailroom>,
    pub(super) page: web::Page,
    pub(super) begun: Option<Begun>,
    pub(super) counters: PrometheusHandle,
    pub(super) lanes: Arc<Lanes>,
    pub(super) stop: Stop,
}

/// Open all doors.
pub(super) fn open(servers: &mut JoinSet<()>, bound: Bound, behind: Behind) -> Result<()> {
    let limits = limits(&behind.config.guards, servers)?;
    let halls = halls(&behind, servers);
    let Behind { config, mailroom, page, begun, counters, stop, .. } = behind;
    let tls = begun.as_ref().map(|begun| Arc::clone(&begun.tls));
    let render = config.metrics.then(|| Box::new(move || counters.render()) as web::Render);
    let edges = Edges {
        smtp: Arc::new(smtp::Server::new(Arc::new(config.smtp), Arc::clone(&mailroom), tls.clone()).limited(limits)),
        pop3: Arc::new(pop3::Server::new(Arc::new(config.pop3), Arc::clone(&mailroom), tls)),
        http: Arc::new(web::Server::new(Arc::new(config.http), mailroom, stop, page, render)),
        halls,
    };
    servers.spawn(forget_askers(Arc::downgrade(&edges.http)));
    for (name, listeners) in NAMES.into_iter().zip(bound.0) {
        listeners.into_iter().for_each(|listener| edges.serve(name, listener, servers));
    }
    if let Some(Begun { tls, watched, order, .. }) = begun {
        watched.map(|watched| servers.spawn(certificate::watch(watched, Arc::clone(&tls))));
        order.into_iter().for_each(|order| certificate::authority::serve(order, Arc::clone(&tls), servers));
    }
    Ok(())
}

/// The three that speak, and the hall before each.
struct Edges {
    smtp: Arc<smtp::Server>,
    pop3: Arc<pop3::Server>,
    http: Arc<web::Server>,
    halls: Halls,
}

/// What the listeners of each protocol share.
struct Halls {
    smtp: Arc<Hall>,
    pop3: Arc<Hall>,
    http: Arc<Hall>,
}

impl Edges {
    /// Let whoever speaks behind a door serve what comes in by it.
    fn serve(&self, name: &str, listener: Listener, servers: &mut JoinSet<()>) {
        let smtp =
            |dialect, listener| smtp::serve(listener, dialect, Arc::clone(&self.smtp), Arc::clone(&self.halls.smtp));
        match name {
            "smtp" | "smtps" => servers.spawn(smtp(Dialect::Smtp, listener)),
            "lmtp" => servers.spawn(smtp(Dialect::Lmtp, listener)),
            "pop3" | "pop3s" => {
                servers.spawn(pop3::serve(listener, Arc::clone(&self.pop3), Arc::clone(&self.halls.pop3)))
            }
            _ => servers.spawn(web::serve(listener, Arc::clone(&self.http), Arc::clone(&self.halls.http))),
        };
    }
}

fn halls(behind: &Behind, servers: &mut JoinSet<()>) -> Halls {
    let Config { doors, guards, smtp, pop3, http, .. } = &behind.config;
    let arrivals = rates(guards.connections, guards.entries_max, servers);
    let hall = |all: usize, per_ip: usize, proxies: &[Network], arrivals: Option<&Arc<Rates>>| {
        Arc::new(Hall {
            gate: Gate::new(all, per_ip),
            lanes: Arc::clone(&behind.lanes),
            stop: behind.stop.clone(),
            proxy_from: proxies.to_vec(),
            arrivals: arrivals.cloned(),
        })
    };
    Halls {
        smtp: hall(smtp.connections_max, smtp.connections_per_ip_max, &doors.smtp_proxies, arrivals.as_ref()),
        pop3: hall(pop3.connections_max, pop3.connections_per_ip_max, &doors.pop3_proxies, arrivals.as_ref()),
        // Over HTTP many people come from one address: that of the web server before us.
        http: hall(http.connections_max, http.connections_per_ip_max, &doors.http_proxies, None),
    }
}

/// What one address may send, and what the DNS says of it.
fn limits(guards: &Guards, servers: &mut JoinSet<()>) -> Result<Limits> {
    let kibibytes = guards.bytes.map(|quota| quota.map(in_kibibytes));
    Ok(Limits {
        transactions: rates(guards.transactions, guards.entries_max, servers),
        kibibytes: rates(kibibytes, guards.entries_max, servers),
        dns: Dns::new(&guards.dns)?,
    })
}

/// Rates of an address and of its network, where there is a limit at all.
fn rates(quotas: [Option<Quota>; 2], entries_max: usize, servers: &mut JoinSet<()>) -> Option<Arc<Rates>> {
    let [per_ip, per_network] = quotas;
    if per_ip.is_none() && per_network.is_none() {
        return None;
    }
    let rates = Arc::new(Rates::new(per_ip, per_network, entries_max));
    servers.spawn(forget(Arc::clone(&rates)));
    Some(rates)
}

/// Whoever has been quiet need not be remembered.
async fn forget(rates: Arc<Rates>) {
    loop {
        tokio::time::sleep(FORGET_EVERY).await;
        rates.forget_idle();
    }
}

/// The same for those who ask over HTTP. Whoever holds that server holds up the end, so it is not held here.
async fn forget_askers(server: Weak<web::Server>) {
    loop {
        tokio::time::sleep(FORGET_EVERY).await;
        if let Some(server) = server.upgrade() {
            server.forget_idle();
        }
    }
}
