//! A certificate and its key, as they are handed on and as they are kept: one file, so that they can never be of two
//! minds. It does not know who issued them.

use std::fmt;

use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::leaf::Leaf;

/// Where the key begins in the file.
const KEY: &str = "-----BEGIN PRIVATE KEY-----";

/// A certificate chain and the key to its first certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct Pair {
    /// PEM, the server's own certificate first.
    pub chain_pem: Vec<u8>,
    /// PEM, PKCS #8.
    pub key_pem: Vec<u8>,
    pub(crate) leaf: Leaf,
}

impl Pair {
    /// Put together what belongs together; else say what does not.
    pub(crate) fn new(chain_pem: String, key_pem: String) -> Result<Self, String> {
        let mut chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes());
        let first = chain.next().ok_or("there is no certificate in it")?;
        let first = first.map_err(|error| format!("it is no PEM: {error}"))?;
        if let Some(Err(error)) = chain.find(Result::is_err) {
            return Err(format!("its chain is no PEM: {error}"));
        }
        let leaf = Leaf::read(&first).ok_or("it is no X.509 certificate")?;
        let key = KeyPair::from_pem(&key_pem).map_err(|error| format!("its key cannot be read: {error}"))?;
        if key.subject_public_key_info() != leaf.public_key {
            return Err("it is for another key".to_owned());
        }
        Ok(Self { chain_pem: chain_pem.into_bytes(), key_pem: key_pem.into_bytes(), leaf })
    }

    /// From the file.
    pub(crate) fn from_file(bytes: Vec<u8>) -> Result<Self, String> {
        let mut text = String::from_utf8(bytes).map_err(|_| "it is no text")?;
        let at = text.find(KEY).ok_or("there is no key in it")?;
        let key = text.split_off(at);
        Self::new(text, key)
    }

    /// As the file has it.
    pub(crate) fn to_file(&self) -> Vec<u8> {
        let newline: &[u8] = if self.chain_pem.ends_with(b"\n") { b"" } else { b"\n" };
        [&self.chain_pem, newline, &self.key_pem].concat()
    }

    /// Until when the certificate holds.
    #[must_use]
    pub fn not_after(&self) -> Timestamp {
        self.leaf.not_after
    }

    /// The names that the certificate is for.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.leaf.names
    }
}

/// Without the key.
impl fmt::Debug for Pair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Pair").field("names", &self.leaf.names).field("not_after", &self.leaf.not_after).finish()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::CertificateParams;

    use super::*;

    fn made() -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["a.example".to_owned()]).unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn a_pair_comes_back_from_its_file() {
        let (chain, key) = made();
        for chain in [chain.clone(), chain.trim_end().to_owned(), format!("{chain}\n{chain}")] {
            let pair = Pair::new(chain, key.clone()).unwrap();
            let back = Pair::from_file(pair.to_file()).unwrap();
            assert_eq!((back.leaf, back.key_pem), (pair.leaf, pair.key_pem));
        }
    }

    #[test]
    fn what_does_not_belong_together_is_no_pair() {
        let ((chain, key), (other, _)) = (made(), made());
        let check = |chain: &str, key: &str, part: &str| {
            let what = Pair::new(chain.to_owned(), key.to_owned()).unwrap_err();
            assert!(what.contains(part), "{what}");
        };
        check(&other, &key, "another key");
        check("", &key, "no certificate");
        check("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &key, "no X.509");
        check(&format!("{chain}-----BEGIN CERTIFICATE-----\n"), &key, "chain is no PEM");
        check(&chain, "nonsense", "key cannot be read");
        assert!(Pair::from_file(chain.into_bytes()).unwrap_err().contains("no key"));
        assert!(Pair::from_file(vec![0xff]).unwrap_err().contains("no text"));
    }

    #[test]
    fn the_key_is_not_shown() {
        let (chain, key) = made();
        let shown = format!("{:?}", Pair::new(chain, key.clone()).unwrap());
        assert!(shown.contains("a.example") && !shown.contains(key.lines().nth(1).unwrap()), "{shown}");
    }
}
