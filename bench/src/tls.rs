//! Both ends of TLS: a client that trusts the certificates of one file, or anybody, and a server with a certificate from
//! files. Sessions are never resumed, so that every connection costs a whole handshake.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme};

/// A client. Without a file of certificates to trust it takes any, and does not even look at the signature: it measures
/// servers, and keeps no secret.
pub fn client(trust: Option<&Path>) -> Result<Arc<ClientConfig>> {
    client_with(aws_lc_rs::default_provider(), trust)
}

/// A client that does as little as it can for a handshake: the cheapest exchange of keys, and nothing checked.
pub fn thrifty_client() -> Result<Arc<ClientConfig>> {
    let provider = CryptoProvider { kx_groups: vec![aws_lc_rs::kx_group::X25519], ..aws_lc_rs::default_provider() };
    client_with(provider, None)
}

fn client_with(provider: CryptoProvider, trust: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(provider)).with_safe_default_protocol_versions()?;
    let mut config = match trust {
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                roots.add(certificate)?;
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        None => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// A server with a chain of certificates and its key.
pub fn server(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    let key = PrivateKeyDer::from_pem_file(key).with_context(|| format!("no key in {}", key.display()))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?.with_no_client_auth();
    Ok(Arc::new(builder.with_single_cert(certificates(chain)?, key)?))
}

/// The certificates of a PEM file, the server's own first.
pub fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file).with_context(|| format!("cannot read {}", file.display()))?;
    read.collect::<Result<_, _>>().with_context(|| format!("no certificates in {}", file.display()))
}

/// Believes everybody.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
