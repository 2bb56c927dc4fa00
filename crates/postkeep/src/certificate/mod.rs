//! The certificate: where it comes from, and how a new one takes the place of the old while the program runs.

pub(crate) mod authority;
mod files;
mod self_signed;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use net::Tls;

use crate::config;
pub(crate) use files::watch;

/// TLS as it begins.
pub(crate) struct Begun {
    /// For every listener.
    pub(crate) tls: Arc<Tls>,
    /// Files to look at from time to time.
    pub(crate) watched: Option<files::Watched>,
    /// An order that goes on.
    pub(crate) order: Option<authority::Order>,
    /// The certificate that clients are to be told to trust.
    pub(crate) trust: Option<PathBuf>,
}

/// Begin, where there is a certificate or will be one.
pub(crate) fn begin(config: &config::Tls, hostname: &str) -> Result<Option<Begun>> {
    let Some(source) = &config.source else { return Ok(None) };
    let (mut watched, mut order, mut trust) = (None, None, None);
    let certificate = match source {
        config::Source::Files { cert, key, check_every } => {
            let (certificate, files) = files::read_first(cert, key, *check_every)?;
            watched = Some(files);
            Some(certificate)
        }
        config::Source::SelfSigned { folder, names } => {
            let (certificate, path) = self_signed::kept(folder, names, hostname)?;
            trust = Some(path);
            Some(certificate)
        }
        config::Source::Acme(keys) => {
            let (kept, begun) = authority::open(keys)?;
            order = Some(begun);
            kept
        }
    };
    let tls = Tls::new(certificate, config.settings)?;
    Ok(Some(Begun { tls, watched, order, trust }))
}
