//! Where released mail goes: the smart host and how it is spoken to, ready to use.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};

/// When the connection is under TLS. There is no way to have TLS without looking at the certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tls {
    /// By STARTTLS; a server that does not offer it gets nothing.
    Required,
    /// By STARTTLS where it is offered.
    Opportunistic,
    /// From the first octet.
    Implicit,
    /// Never.
    Off,
}

/// Who we are to the smart host. `Debug` shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
}

/// The smart host. Made once; cheap to share.
#[derive(Clone, Debug)]
pub struct SmartHost {
    /// `relay.host`: a name or an address.
    pub host: String,
    /// `relay.port`.
    pub port: u16,
    /// `relay.tls`.
    pub tls: Tls,
    /// `relay.user` and `relay.password_file`.
    pub login: Option<Login>,
    /// The name we give with EHLO.
    pub helo: String,
    /// `relay.timeout`: for the connection, and for each reply.
    pub timeout: Duration,
    /// `relay.attempt_max`: for all of an attempt.
    pub attempt_max: Duration,
    pub(super) roots: Arc<ClientConfig>,
    pub(super) name: ServerName<'static>,
}

/// No smart host can be spoken to like this.
#[derive(Debug, thiserror::Error)]
pub enum BadSmartHost {
    /// No certificate could be for it.
    #[error("relay.host is a host's name or address, as smtp.example.com, not {0:?}")]
    Name(String, #[source] InvalidDnsNameError),
    /// The file cannot be read.
    #[error("relay.ca_file holds certificates in PEM: {0}")]
    Roots(#[source] io::Error),
    /// The library refuses.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

impl SmartHost {
    /// One that is spoken to by these rules. Certificates are believed that the system believes, and those in `authorities`.
    pub fn new(host: &str, port: u16, tls: Option<Tls>, authorities: Option<&[u8]>) -> Result<Self, BadSmartHost> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned()).map_err(|bad| BadSmartHost::Name(host.to_owned(), bad))?;
        let default = if is_loopback(bare) { Tls::Off } else { Tls::Required };
        let tls = tls.unwrap_or(default);
        Ok(Self {
            host: bare.to_owned(),
            port,
            tls,
            login: None,
            helo: "localhost".to_owned(),
            timeout: Duration::from_secs(60),
            attempt_max: Duration::from_secs(300),
            roots: config(tls, authorities)?,
            name,
        })
    }
}

/// Whether this can only be this machine.
pub fn is_loopback(host: &str) -> bool {
    let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
}

/// The system's roots are read only where they are asked for: a container may have none.
fn config(tls: Tls, authorities: Option<&[u8]>) -> Result<Arc<ClientConfig>, BadSmartHost> {
    let mut roots = RootCertStore::empty();
    if tls != Tls::Off {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let mut found = 0;
    for certificate in CertificateDer::pem_slice_iter(authorities.unwrap_or_default()) {
        let bad = |why: String| BadSmartHost::Roots(io::Error::new(io::ErrorKind::InvalidData, why));
        roots.add(certificate.map_err(|error| bad(error.to_string()))?).map_err(|error| bad(error.to_string()))?;
        found += 1;
    }
    if authorities.is_some() && found == 0 {
        return Err(BadSmartHost::Roots(io::Error::new(io::ErrorKind::InvalidData, "there is none in it")));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(Arc::new(versions.with_root_certificates(roots).with_no_client_auth()))
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Login({})", self.user)
    }
}
