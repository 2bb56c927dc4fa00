//! A certificate with its key, read from PEM and checked before it is shown to anybody.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// A certificate, what leads from it to its authority, and its key.
#[derive(Clone, Debug)]
pub struct Certificate {
    pub(super) key: Arc<CertifiedKey>,
}

/// Why a pair of files is no certificate to show. The texts say what to put right.
#[derive(Debug, thiserror::Error)]
pub enum BadCertificate {
    /// No certificate in the file.
    #[error("it holds no certificate: it should be PEM and begin with -----BEGIN CERTIFICATE-----")]
    NoCertificate,
    /// The chain cannot be read.
    #[error("the certificates cannot be read ({0}); write them as PEM, the server's own first")]
    Chain(String),
    /// No key in the file.
    #[error("the key cannot be read ({0}); write it as PEM, without a password: -----BEGIN PRIVATE KEY-----")]
    Key(String),
    /// A kind of key that TLS does not use.
    #[error("the key is of a kind that is not supported ({0}); take RSA, ECDSA or Ed25519")]
    KeyKind(String),
    /// Two that do not belong together.
    #[error("the key does not belong to the certificate: the server's own certificate comes first in its file")]
    NotAPair,
}

impl Certificate {
    /// Read a chain, the server's own certificate first, and its key.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, BadCertificate> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|error| BadCertificate::Chain(error.to_string()))?;
        if chain.is_empty() {
            return Err(BadCertificate::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| BadCertificate::Key(error.to_string()))?;
        let key = any_supported_type(&key).map_err(|error| BadCertificate::KeyKind(error.to_string()))?;
        let pair = CertifiedKey::new(chain, key);
        match pair.keys_match() {
            Ok(()) => {}
            Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {}
            Err(rustls::Error::InconsistentKeys(_)) => return Err(BadCertificate::NotAPair),
            Err(error) => return Err(BadCertificate::Chain(error.to_string())),
        }
        Ok(Self { key: Arc::new(pair) })
    }
}
