//! The certificate that a CA's own HTTPS server has, and the root to trust it by; made anew for each test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Three PEM files.
pub(crate) struct Authority {
    pub(crate) root: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Authority {
    pub(crate) fn new(folder: &Path) -> Self {
        let (root_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let mut root = CertificateParams::default();
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        root.distinguished_name.push(DnType::CommonName, "a root of this test");
        let root_pem = root.self_signed(&root_key).unwrap().pem();
        let server = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        let server_pem = server.signed_by(&key, &Issuer::new(root, root_key)).unwrap().pem();
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            path
        };
        Self {
            root: write("root.pem", root_pem),
            certificate: write("server.pem", server_pem),
            key: write("server-key.pem", key.serialize_pem()),
        }
    }

    /// To speak HTTPS as the CA would.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        acceptor(&fs::read(&self.certificate).unwrap(), &fs::read(&self.key).unwrap())
    }
}

/// A TLS server with this pair.
pub(crate) fn acceptor(chain: &[u8], key: &[u8]) -> TlsAcceptor {
    let chain = CertificateDer::pem_slice_iter(chain).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap()))
}

/// A TLS client that trusts what this PEM holds, in front of which may stand anything.
pub(crate) fn connector(root: &[u8]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(root).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
