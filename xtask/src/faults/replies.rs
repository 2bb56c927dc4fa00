//! Answers of the brokers that are lost after something was stored: every node reaches every broker through a proxy, which
//! for a while swallows all that brokers say, and then cuts the connections.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use brokers::Cluster;

use crate::crash::{Aim, Blow, Clock, Fault, Fleet, Ground, Layout, Moment, Step, Victims};
use crate::load::chance::Chance;

use super::proxy::Proxy;

/// What each broker is told to call itself before clients comes from its environment, as it differs.
const VARIABLE: &str = "POSTKEEP_FAULTS_ADVERTISE";

/// The fault.
pub(super) struct Lost {
    seed: u64,
    proxies: Vec<Proxy>,
    swallows: Duration,
}

impl Lost {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, proxies: Vec::new(), swallows: Duration::ZERO }
    }
}

impl Fault for Lost {
    fn ground(&mut self, layout: &Layout, folder: &Path) -> Result<Ground> {
        self.proxies = (0..layout.servers).map(|_| Proxy::new()).collect::<Result<_>>()?;
        let mut ground = Ground::loopback(layout, folder);
        let addresses = self.proxies.iter().map(|proxy| proxy.address);
        ground.detour = addresses.clone().collect();
        ground.brokers.under =
            addresses.map(|address| vec!["env".into(), format!("{VARIABLE}=\"{address}\"")]).collect();
        ground.brokers.extra = format!("client_advertise: ${VARIABLE}");
        Ok(ground)
    }

    fn built(&mut self, brokers: &Cluster) -> Result<()> {
        for (proxy, url) in self.proxies.iter().zip(brokers.urls()) {
            let (_, address) = url.rsplit_once('@').context("a URL without a user")?;
            proxy.lead_to(address.parse()?);
        }
        Ok(())
    }

    fn aim(&mut self, round: u32, _fleet: &mut Fleet) -> Result<Aim> {
        let mut chance = Chance::new(&[self.seed, round.into(), 0xb5]);
        // Shorter than a node needs to give a silent broker up, or longer.
        self.swallows = Duration::from_secs_f64(chance.spread(0.05, 6.0));
        let moment = Moment {
            limit: Duration::from_secs(2),
            step: Some((Step::Dot, 10 + chance.below(40))),
            delay: chance.time(Duration::from_millis(4)),
        };
        Ok(Aim { kind: "answers lost".into(), moment, victims: Victims::default() })
    }

    fn strike(&mut self, _fleet: &mut Fleet, _clock: &Clock, _door: Option<usize>) -> Result<Blow> {
        self.proxies.iter().for_each(|proxy| proxy.swallow(true));
        sleep(self.swallows);
        // Cut before anything is heard again: what a connection lost cannot be made good.
        self.proxies.iter().for_each(Proxy::cut);
        self.proxies.iter().for_each(|proxy| proxy.swallow(false));
        Ok(Blow { lasts: self.swallows + Duration::from_secs(1), ..Blow::default() })
    }

    fn mend(&mut self, _fleet: &mut Fleet) -> Result<()> {
        Ok(()) // nothing is down
    }
}
