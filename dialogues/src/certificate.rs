//! A certificate for tests, and a client that trusts it and no other.

use std::sync::{Arc, LazyLock};

use net::{Certificate, Tls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const NAME: &str = "mx.test";

/// Chain and key as PEM.
static PAIR: LazyLock<(String, String)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()]).expect("a certificate can be made");
    (made.cert.pem(), made.signing_key.serialize_pem())
});

/// The server's side: the certificate of `mx.test`.
pub fn tls() -> Arc<Tls> {
    let certificate = Certificate::from_pem(PAIR.0.as_bytes(), PAIR.1.as_bytes()).expect("the pair fits");
    Tls::new(Some(certificate), net::tls::Settings::default()).expect("the defaults can be used")
}

/// The client's side of a handshake.
pub async fn connect<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> std::io::Result<TlsStream<S>> {
    let name = ServerName::try_from(NAME).expect("the name is one");
    TlsConnector::from(Arc::new(trusting())).connect(name, stream).await
}

fn trusting() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(PAIR.0.as_bytes()).expect("the certificate is PEM");
    roots.add(certificate).expect("the certificate can be a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.expect("the provider has the usual versions").with_root_certificates(roots).with_no_client_auth()
}
