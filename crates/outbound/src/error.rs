//! Why there is no answer: which rule refused, and which key of the configuration would allow it.

use std::net::IpAddr;
use std::time::Duration;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a URL.
    #[error("this is no URL: {what}; write one such as https://example.com/path")]
    Url {
        /// What is wrong with it.
        what: String,
    },
    /// A URL of something else.
    #[error("{scheme}: URLs are not asked; only http: and https: are")]
    Scheme {
        /// Its scheme.
        scheme: String,
    },
    /// A user or a password in a URL that may have none.
    #[error("a URL with a user or a password in it is not asked; send an Authorization header")]
    Credentials,
    /// A field that is the client's own.
    #[error("the header {name} is set by the client itself; leave it out")]
    Header {
        /// Its name.
        name: String,
    },
    /// Strangers' URLs are not asked at all.
    #[error("URLs of scripts, the API and mail are not asked here; outbound.strangers = true allows it")]
    StrangersRefused,
    /// An address that strangers' URLs may not lead to.
    #[error(
        "{host} is at {ip}, which is not on the open network; outbound.allow names networks that may be asked all the same"
    )]
    Address {
        /// The host as the URL has it.
        host: String,
        /// One of its addresses.
        ip: IpAddr,
    },
    /// A name without an address.
    #[error("{host} was not found: {what}")]
    Unknown {
        /// The name.
        host: String,
        /// What the resolver said.
        what: String,
    },
    /// Sent on too often.
    #[error("sent on elsewhere more than {max} times")]
    Redirects {
        /// How often is allowed.
        max: usize,
    },
    /// From https to http.
    #[error("{host} sent a request of https on to one without TLS, which is not followed")]
    Downgrade {
        /// Who sent it on.
        host: String,
    },
    /// More than is read.
    #[error("the answer is larger than {max} octets (outbound.body_max)")]
    TooLarge {
        /// How much is read.
        max: usize,
    },
    /// Not in time.
    #[error("no whole answer within {within:?} (outbound.timeout)")]
    Timeout {
        /// How long was waited.
        within: Duration,
    },
    /// No connection and no handshake: nothing was sent.
    #[error("{host} cannot be reached: {what}")]
    Unreached {
        /// Whom it was to be asked of.
        host: String,
        /// What went wrong, with its causes.
        what: String,
    },
    /// Something was sent, and no answer came, or one that is none.
    #[error("{host} did not answer: {what}")]
    Failed {
        /// Whom it was asked of.
        host: String,
        /// What went wrong, with its causes.
        what: String,
    },
    /// The roots cannot be read.
    #[error("no certificates to check hosts of https with: {what}")]
    Roots {
        /// Why.
        what: String,
    },
}

impl Error {
    /// Whether a rule refused: trying again would change nothing.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::Unknown { .. }
                | Self::Timeout { .. }
                | Self::Unreached { .. }
                | Self::Failed { .. }
                | Self::TooLarge { .. }
                | Self::Roots { .. }
        )
    }

    /// An error of the library below. A refusal of ours that travelled through it comes out as it was.
    pub(crate) fn below(host: &str, error: &reqwest::Error) -> Self {
        let mut what = String::new();
        let mut cause = Some(error as &(dyn std::error::Error + 'static));
        let unreached = error.is_connect();
        while let Some(error) = cause {
            if let Some(ours) = error.downcast_ref::<Self>() {
                return ours.clone();
            }
            // The outermost only repeats the URL, which may hold a password.
            let more = error.to_string();
            let outermost = error.is::<reqwest::Error>();
            if !outermost && !what.contains(&more) {
                what += if what.is_empty() { "" } else { ": " };
                what += &more;
            }
            cause = error.source();
        }
        if what.is_empty() {
            what.push_str("the connection ended");
        }
        let host = host.to_owned();
        if unreached { Self::Unreached { host, what } } else { Self::Failed { host, what } }
    }
}
