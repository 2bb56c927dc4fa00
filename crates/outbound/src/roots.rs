//! TLS to others: who vouches for them.

use std::path::Path;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::error::Error;
use crate::settings::Roots;

/// Reads files, hundreds of them on some machines: not for a thread that others wait for.
pub(crate) fn config(roots: &Roots) -> Result<(ClientConfig, Known), Error> {
    let roots = match roots {
        Roots::Machine => machine(),
        Roots::File(path) => file(path),
    };
    let roots = roots.map_err(|what| Error::Roots { what })?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| Error::Roots { what: error.to_string() })?;
    let known = if roots.is_empty() { Known::Nobody } else { Known::Somebody };
    Ok((versions.with_root_certificates(roots).with_no_client_auth(), known))
}

/// Whether there is anybody who vouches for others. A machine without any can still ask hosts of http.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Somebody,
    Nobody,
}

fn machine() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Ok(roots)
}

fn file(path: &Path) -> Result<RootCertStore, String> {
    let unusable = |what: String| format!("{}: {what}", path.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() { Err(unusable("there is no certificate in it".to_owned())) } else { Ok(roots) }
}
