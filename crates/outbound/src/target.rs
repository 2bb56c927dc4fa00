//! Whom a URL names, and whether that may be asked. An address in the URL itself is judged here, in whatever spelling:
//! the parser of URLs turns them all into one. A name is judged when it is resolved.

use std::net::IpAddr;

use reqwest::Url;

use crate::error::Error;
use crate::request::Trust;
use crate::resolver::Judge;

/// URLs beyond this are refused before they are read.
const URL_MAX: usize = 8 << 10;

/// One place to ask.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) host: String,
    pub(crate) trust: Trust,
}

impl Target {
    /// The URL that somebody wrote.
    pub(crate) fn read(text: &str, trust: Trust) -> Result<Self, Error> {
        if text.len() > URL_MAX {
            return Err(Error::Url { what: format!("it is longer than {URL_MAX} octets") });
        }
        let url = Url::parse(text.trim()).map_err(|error| Error::Url { what: error.to_string() })?;
        Self::new(url, trust)
    }

    pub(crate) fn new(mut url: Url, trust: Trust) -> Result<Self, Error> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::Scheme { scheme: url.scheme().to_owned() });
        }
        if trust == Trust::Stranger && (!url.username().is_empty() || url.password().is_some()) {
            return Err(Error::Credentials);
        }
        let Some(host) = url.host_str().filter(|host| !host.is_empty()).map(str::to_owned) else {
            return Err(Error::Url { what: "it names no host".to_owned() });
        };
        if url.port() == Some(0) {
            return Err(Error::Url { what: "nobody listens on port 0".to_owned() });
        }
        url.set_fragment(None);
        Ok(Self { url, host, trust })
    }

    /// An address in the URL itself; a name is for the resolver.
    pub(crate) fn check(&self, judge: &Judge) -> Result<(), Error> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(ip) => judge.check(&self.host, ip),
            Err(_name) => Ok(()),
        }
    }

    /// The same scheme, host and port.
    pub(crate) fn same_origin(&self, other: &Url) -> bool {
        self.url.origin() == other.origin()
    }

    /// For whoever reads the answer.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.url.clone();
        // Both can only fail for URLs without a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.into()
    }
}
