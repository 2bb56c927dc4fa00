//! A certificate for the tests, and a client that trusts it.

use std::sync::{Arc, LazyLock};

use net::{Certificate, Tls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Chain and key as PEM.
static PAIR: LazyLock<(String, String)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(vec!["mx.test".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
});

/// The server's side.
pub(crate) fn tls() -> Arc<Tls> {
    let certificate = Certificate::from_pem(PAIR.0.as_bytes(), PAIR.1.as_bytes()).unwrap();
    Tls::new(Some(certificate), net::tls::Settings::default()).unwrap()
}

/// The client's side of a handshake.
pub(crate) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> std::io::Result<TlsStream<S>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(PAIR.0.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("mx.test").unwrap(), stream).await
}
