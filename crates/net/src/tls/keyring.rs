//! The certificate that is shown at this moment.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::Certificate;

/// Holds the certificate and gives it to each handshake.
#[derive(Debug)]
pub(super) struct Keyring {
    shown: RwLock<Option<Arc<CertifiedKey>>>,
}

impl Keyring {
    pub(super) fn new(certificate: Option<Certificate>) -> Self {
        Self { shown: RwLock::new(certificate.map(|certificate| certificate.key)) }
    }

    pub(super) fn replace(&self, certificate: Certificate) {
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Some(certificate.key);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.shown().is_some()
    }

    fn shown(&self) -> Option<Arc<CertifiedKey>> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesServerCert for Keyring {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.shown()
    }
}
