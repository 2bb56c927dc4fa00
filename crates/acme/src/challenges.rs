//! What the CA will ask our HTTP listener for: tokens and the text that proves us. It knows no HTTP.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Where the CA asks, in front of the token (RFC 8555 §8.3).
pub const PATH: &str = "/.well-known/acme-challenge/";

/// The longest token that is taken; the CA's are 43 characters.
const TOKEN_MAX: usize = 128;

/// The tokens that are asked for now. Cheap to clone; all clones are one. Empty but for the seconds of an order.
#[derive(Clone, Default)]
pub struct Challenges(Arc<RwLock<HashMap<String, String>>>);

impl Challenges {
    /// The text to answer with, as `text/plain` or without a type; none for a token that nobody should know of.
    #[must_use]
    pub fn answer(&self, token: &str) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    /// The same for the path of a request, as it came: nothing is decoded, since no token needs it.
    #[must_use]
    pub fn answer_to(&self, path: &str) -> Option<String> {
        self.answer(path.strip_prefix(PATH)?)
    }

    /// Begin to answer for one order; when the value is dropped, its tokens are forgotten.
    pub(crate) fn offer(&self) -> Offer<'_> {
        Offer { challenges: self, tokens: Vec::new() }
    }
}

impl fmt::Debug for Challenges {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.read().unwrap_or_else(PoisonError::into_inner).len();
        write!(out, "Challenges({count})")
    }
}

/// The tokens of one order.
pub(crate) struct Offer<'a> {
    challenges: &'a Challenges,
    tokens: Vec<String>,
}

impl Offer<'_> {
    /// Answer this token from now on. False for one that is no token: only the letters of base64url are allowed in
    /// it, so that it cannot name another path or carry markup into an answer (RFC 8555 §8.3).
    #[must_use]
    pub(crate) fn add(&mut self, token: &str, text: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if token.is_empty() || token.len() > TOKEN_MAX || !token.bytes().all(plain) {
            return false;
        }
        let mut open = self.challenges.0.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(token.to_owned(), text.to_owned());
        self.tokens.push(token.to_owned());
        true
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        let mut open = self.challenges.0.write().unwrap_or_else(PoisonError::into_inner);
        self.tokens.iter().for_each(|token| drop(open.remove(token)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_answered_while_the_order_lasts() {
        let challenges = Challenges::default();
        let mut offer = challenges.offer();
        assert!(offer.add("aB-_9", "aB-_9.print"));
        assert_eq!(challenges.clone().answer("aB-_9").as_deref(), Some("aB-_9.print"));
        assert_eq!(challenges.answer_to("/.well-known/acme-challenge/aB-_9").as_deref(), Some("aB-_9.print"));
        for other in ["", "/", "aB-_9", "/.well-known/acme-challenge/", "/.well-known/acme-challenge/aB-_9/", "/x"] {
            assert_eq!(challenges.answer_to(other), None, "{other:?}");
        }
        drop(offer);
        assert_eq!(challenges.answer("aB-_9"), None);
    }

    #[test]
    fn what_is_no_token_is_not_taken() {
        let challenges = Challenges::default();
        let mut offer = challenges.offer();
        let long = "a".repeat(129);
        for token in ["", "a/b", "..", "a b", "<b>", "a%41", "ä", long.as_str()] {
            assert!(!offer.add(token, "x"), "{token:?}");
            assert_eq!(challenges.answer(token), None, "{token:?}");
        }
    }
}
