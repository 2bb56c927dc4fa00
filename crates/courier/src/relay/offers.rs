//! What a server can do, as EHLO tells it.

use super::reply::Reply;

/// The extensions that matter here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Offers {
    pub(super) size: bool,
    /// Octets; 0 means that none is told.
    pub(super) size_max: u64,
    pub(super) eight_bit: bool,
    pub(super) utf8: bool,
    pub(super) chunking: bool,
    pub(super) binary: bool,
    pub(super) starttls: bool,
    pub(super) auth_plain: bool,
    pub(super) auth_login: bool,
}

impl Offers {
    /// The first line is a greeting; a keyword may be in any case.
    pub(super) fn read(reply: &Reply) -> Self {
        let mut offers = Self::default();
        for line in reply.lines.iter().skip(1) {
            let mut words = line.split_ascii_whitespace().map(str::to_ascii_uppercase);
            match words.next().as_deref() {
                Some("SIZE") => {
                    (offers.size, offers.size_max) = (true, words.next().and_then(|max| max.parse().ok()).unwrap_or(0));
                }
                Some("8BITMIME") => offers.eight_bit = true,
                Some("SMTPUTF8") => offers.utf8 = true,
                Some("CHUNKING") => offers.chunking = true,
                Some("BINARYMIME") => offers.binary = true,
                Some("STARTTLS") => offers.starttls = true,
                Some("AUTH") => words.for_each(|mechanism| match mechanism.as_str() {
                    "PLAIN" => offers.auth_plain = true,
                    "LOGIN" => offers.auth_login = true,
                    _ => {}
                }),
                _ => {}
            }
        }
        offers
    }
}
