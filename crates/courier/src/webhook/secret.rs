//! A secret that is shared with a receiver, and the signatures that are made with it (Standard Webhooks, `v1`).

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// Octets of a secret, at least and at most.
const OCTETS: std::ops::RangeInclusive<usize> = 24..=64;

/// A secret. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// This text is no secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a secret is written as {PREFIX} and the base64 of 24 to 64 random bytes; `openssl rand -base64 32` makes such"
)]
pub struct BadSecret;

impl FromStr for Secret {
    type Err = BadSecret;

    fn from_str(text: &str) -> Result<Self, BadSecret> {
        let octets = STANDARD.decode(text.trim().strip_prefix(PREFIX).ok_or(BadSecret)?).map_err(|_| BadSecret)?;
        OCTETS.contains(&octets.len()).then_some(Self(octets)).ok_or(BadSecret)
    }
}

impl Secret {
    /// The signature of a body that is sent under this id at this second.
    pub(super) fn sign(&self, id: &str, second: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length will do");
        for part in [id.as_bytes(), b".", second.to_string().as_bytes(), b".", body] {
            mac.update(part);
        }
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}
