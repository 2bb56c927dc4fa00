//! https: a connection under TLS, to hosts that the system's authorities vouch for. `SSL_CERT_FILE` names others, such as
//! a certificate that the server made for itself.

use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Shake hands.
pub(crate) async fn wrap(host: &str, stream: TcpStream) -> Result<TlsStream<TcpStream>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host} is no name for a certificate"))?;
    let connected = TlsConnector::from(config()?).connect(name, stream).await;
    connected.map_err(|error| format!("TLS failed ({error}); a certificate of one's own is named by SSL_CERT_FILE"))
}

/// Read once: the authorities of a system are hundreds of files.
fn config() -> Result<Arc<ClientConfig>, String> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    CONFIG.get_or_init(read).clone()
}

fn read() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth();
    Ok(Arc::new(config))
}
