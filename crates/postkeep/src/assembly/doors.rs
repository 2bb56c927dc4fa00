//! The doors: each listener bound, named, given its TLS, and opened by the server that stands behind it.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use mailroom::Mailroom;
use metrics_exporter_prometheus::PrometheusHandle;
use net::dns::Dns;
use net::{Gate, Hall, Lanes, Listener, Network, Quota, Rates, Stop, Tls};
use smtp::limits::in_kibibytes;
use smtp::{Dialect, Limits};
use tokio::task::JoinSet;

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
    pub(super) begun: Option<Begun>,
    pub(super) counters: PrometheusHandle,
    pub(super) lanes: Arc<Lanes>,
    pub(super) stop: Stop,
}

/// Open all doors.
pub(super) fn open(servers: &mut JoinSet<()>, bound: Bound, behind: Behind) -> Result<()> {
    let Behind { config, mailroom, begun, counters, lanes, stop } = behind;
    let limits = limits(&config.guards, servers)?;
    let arrivals = rates(config.guards.connections, config.guards.entries_max, servers);
    let hall = |(all, per_ip): (usize, usize), proxy_from: Vec<Network>, arrivals: Option<&Arc<Rates>>| {
        let (lanes, stop, arrivals) = (Arc::clone(&lanes), stop.clone(), arrivals.cloned());
        Arc::new(Hall { gate: Gate::new(all, per_ip), lanes, stop, proxy_from, arrivals })
    };
    let tls = begun.as_ref().map(|begun| Arc::clone(&begun.tls));
    let smtp_hall = hall(
        (config.smtp.connections_max, config.smtp.connections_per_ip_max),
        config.doors.smtp_proxies,
        arrivals.as_ref(),
    );
    let pop3_hall = hall(
        (config.pop3.connections_max, config.pop3.connections_per_ip_max),
        config.doors.pop3_proxies,
        arrivals.as_ref(),
    );
    // Over HTTP many people come from one address: that of the web server before us.
    let http_hall =
        hall((config.http.connections_max, config.http.connections_per_ip_max), config.doors.http_proxies, None);
    let smtp = smtp::Server::new(Arc::new(config.smtp), Arc::clone(&mailroom), tls.clone()).limited(limits);
    let pop3 = pop3::Server::new(Arc::new(config.pop3), Arc::clone(&mailroom), tls);
    let render = config.metrics.then(|| Box::new(move || counters.render()) as web::Render);
    let http = web::Server::new(Arc::new(config.http), mailroom, stop, render);
    let (smtp, pop3, http) = (Arc::new(smtp), Arc::new(pop3), Arc::new(http));
    for (name, listeners) in NAMES.into_iter().zip(bound.0) {
        for listener in listeners {
            match name {
                "smtp" | "smtps" => {
                    servers.spawn(smtp::serve(listener, Dialect::Smtp, Arc::clone(&smtp), Arc::clone(&smtp_hall)))
                }
                "lmtp" => {
                    servers.spawn(smtp::serve(listener, Dialect::Lmtp, Arc::clone(&smtp), Arc::clone(&smtp_hall)))
                }
                "pop3" | "pop3s" => servers.spawn(pop3::serve(listener, Arc::clone(&pop3), Arc::clone(&pop3_hall))),
                _ => servers.spawn(web::serve(listener, Arc::clone(&http), Arc::clone(&http_hall))),
            };
        }
    }
    if let Some(Begun { tls, watched, order, .. }) = begun {
        watched.map(|watched| servers.spawn(certificate::watch(watched, Arc::clone(&tls))));
        order.into_iter().for_each(|order| certificate::authority::serve(order, Arc::clone(&tls), servers));
    }
    Ok(())
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
