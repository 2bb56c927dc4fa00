//! From a name to its addresses, judged on the way: the connection is made to what comes out here, and nobody asks twice.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::error::Error;
use crate::reach::{Place, meant, place};

/// Whoever knows the addresses of names.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name.
    ///
    /// # Errors
    /// There are none, or nobody could be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of this machine.
#[derive(Clone, Copy, Debug)]
pub struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Which addresses may be dialled.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// All of them.
    Any,
    /// The open network, and these.
    Open(Arc<[RangeInclusive<IpAddr>]>),
}

impl Judge {
    pub(crate) fn check(&self, host: &str, ip: IpAddr) -> Result<(), Error> {
        let allowed = match self {
            Self::Any => true,
            Self::Open(allow) => place(ip) == Place::Open || allow.iter().any(|range| range.contains(&meant(ip))),
        };
        if allowed { Ok(()) } else { Err(Error::Address { host: host.to_owned(), ip }) }
    }
}

/// A resolver that hands out only what may be dialled. One address that may not refuses the whole name: a host that
/// is half inside is not what it says.
#[derive(Clone)]
pub(crate) struct Guarded {
    pub(crate) names: Arc<dyn Resolver>,
    pub(crate) judge: Judge,
}

impl Guarded {
    async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, Error> {
        let unknown = |what: String| Error::Unknown { host: host.to_owned(), what };
        let found = self.names.resolve(host).await.map_err(|error| unknown(error.to_string()))?;
        if found.is_empty() {
            return Err(unknown("it has no address".to_owned()));
        }
        found.iter().try_for_each(|&ip| self.judge.check(host, ip))?;
        // The port is the URL's.
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let guarded = self.clone();
        Box::pin(async move {
            let addresses: Addrs = Box::new(guarded.addresses(name.as_str()).await?.into_iter());
            Ok(addresses)
        })
    }
}
