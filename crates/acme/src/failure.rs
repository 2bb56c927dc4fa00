//! Why there is no new certificate, in words that say what to do next.

use std::fmt;
use std::path::PathBuf;

use instant_acme::{Error, Problem, Subproblem};

use crate::client::{Unfetched, Unreached};
use crate::folder::FolderError;
use crate::pace::Setback;

/// As much of what a CA says is told, in characters.
const SAID_MAX: usize = 600;

/// One attempt came to nothing. Another one follows; whether it can succeed is for the operator to see.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// There is nothing to hold the CA's own certificate against.
    #[error("{what}; name the roots of the CA in acme.ca, or install this machine's (package ca-certificates)")]
    Roots {
        /// What was looked for.
        what: String,
    },
    /// No connection, no TLS, or no answer in time.
    #[error("cannot reach the CA: {what}; see that acme.directory is right and that this machine may connect to it")]
    Unreached {
        /// With the URL.
        what: String,
    },
    /// Something answered that is no ACME server, or one that is out of order.
    #[error("{directory} does not answer as an ACME server ({what}); see that acme.directory is right, or wait")]
    Foreign {
        /// Who was asked.
        directory: String,
        /// What was wrong with the answer.
        what: String,
    },
    /// The CA said no.
    #[error("the CA refused {doing}: it said {said}")]
    Refused {
        /// What was asked for.
        doing: String,
        /// The CA's reason.
        said: Said,
    },
    /// The CA is out of order for now.
    #[error("the CA could not see to {doing}: it said {said}; nothing needs to be done unless that goes on")]
    Busy {
        /// What was asked for.
        doing: String,
        /// The CA's reason.
        said: Said,
    },
    /// The CA was asked too often.
    #[error("the CA was asked too often, by {doing}: it said {said}; nothing needs to be done but to wait")]
    Limited {
        /// What was asked for.
        doing: String,
        /// The CA's reason.
        said: Said,
    },
    /// The CA did not see the proof that a domain is ours.
    #[error(
        "the CA did not find the proof (http-01) that {domain} is ours: it said {said}; see that {domain} leads to this \
         machine in DNS, and that http://{domain}/.well-known/acme-challenge/ on port 80 reaches http.addr"
    )]
    Unproven {
        /// The name.
        domain: String,
        /// The CA's reason.
        said: Said,
    },
    /// The CA wants another kind of proof.
    #[error(
        "the CA does not take the proof http-01 for {domain}; take the domain out of acme.domains, or ask another CA"
    )]
    NoProof {
        /// The name.
        domain: String,
    },
    /// The CA took too long.
    #[error("the CA was not done after {seconds} s with {doing}; nothing needs to be done unless that goes on")]
    Slow {
        /// What was asked for.
        doing: String,
        /// How long it had.
        seconds: u64,
    },
    /// What came is no certificate for our key and domains.
    #[error("the CA sent a certificate that is of no use: {what}; see that acme.directory is the CA that you mean")]
    Useless {
        /// What is wrong with it.
        what: String,
    },
    /// No key could be made.
    #[error("cannot make a key: {what}")]
    Key {
        /// The reason.
        what: String,
    },
    /// The kept account cannot be read.
    #[error("{} is damaged ({what}); remove it, and a new account is registered", path.display())]
    Account {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The folder does not serve.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl Failure {
    /// From the library's word on what was being done.
    pub(crate) fn of(error: Error, directory: &str, doing: &str) -> Self {
        let doing = doing.to_owned();
        match error {
            Error::Api(problem) if is(&problem, "rateLimited") => Self::Limited { doing, said: Said::of(&problem) },
            Error::Api(problem) if is(&problem, "badNonce") || is(&problem, "serverInternal") => {
                Self::Busy { doing, said: Said::of(&problem) }
            }
            Error::Api(problem) => Self::Refused { doing, said: Said::of(&problem) },
            Error::Timeout(_) => Self::Slow { doing, seconds: crate::order::POLL_MAX.as_secs() },
            Error::Other(error) => match error.downcast::<Unreached>() {
                Ok(unreached) => Self::unreached(*unreached),
                Err(error) => Self::Foreign { directory: directory.to_owned(), what: Said::text(&error.to_string()).0 },
            },
            error => Self::Foreign { directory: directory.to_owned(), what: Said::text(&error.to_string()).0 },
        }
    }

    fn unreached(Unreached { url, why }: Unreached) -> Self {
        match why {
            Unfetched::Roots(what) => Self::Roots { what },
            Unfetched::Unreached(what) => Self::Unreached { what: format!("{url}: {what}") },
        }
    }

    /// What it means for the next attempt.
    pub(crate) fn setback(&self) -> Setback {
        match self {
            Self::Limited { .. } => Setback::Limited,
            Self::Refused { .. } | Self::Unproven { .. } | Self::NoProof { .. } | Self::Useless { .. } => {
                Setback::Refused
            }
            _ => Setback::Unreached,
        }
    }
}

/// Whether a problem is of this kind (RFC 8555 §6.7).
pub(crate) fn is(problem: &Problem, kind: &str) -> bool {
    let is_kind = |text: &String| text.strip_prefix("urn:ietf:params:acme:error:") == Some(kind);
    problem.r#type.as_ref().is_some_and(is_kind)
}

/// What a CA said, made fit for a log: one line, not endless, nothing that steers a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said(String);

impl Said {
    pub(crate) fn of(problem: &Problem) -> Self {
        let kind = problem.r#type.as_deref().unwrap_or("no kind").rsplit(':').next().unwrap_or_default();
        let mut text = format!("{:?} ({kind})", problem.detail.as_deref().unwrap_or("nothing more"));
        for Subproblem { identifier, detail, .. } in &problem.subproblems {
            let name = identifier.as_ref().map(|identifier| format!("{} ", identifier.authorized(false)));
            text += &format!("; {}{:?}", name.unwrap_or_default(), detail.as_deref().unwrap_or_default());
        }
        Self::text(&text)
    }

    pub(crate) fn text(text: &str) -> Self {
        let plain = |char: char| if char.is_control() { ' ' } else { char };
        Self(text.chars().take(SAID_MAX).map(plain).collect())
    }
}

impl fmt::Display for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: &str, detail: &str) -> Problem {
        let kind = format!("urn:ietf:params:acme:error:{kind}");
        serde_json::from_value(serde_json::json!({ "type": kind, "detail": detail, "status": 400 })).unwrap()
    }

    #[test]
    fn what_the_ca_said_is_told_in_one_bounded_line() {
        let said = Said::of(&problem("dns", "no\nsuch \u{7} name")).to_string();
        assert!(said.contains("such") && said.ends_with("(dns)"), "{said}");
        assert!(!said.chars().any(char::is_control), "{said:?}");
        assert_eq!(Said::text("a\u{1b}[31m\r\nb").to_string(), "a [31m  b");
        assert_eq!(Said::of(&problem("dns", &"x".repeat(10_000))).to_string().len(), SAID_MAX);
    }

    #[test]
    fn failures_say_what_to_do_and_how_long_to_wait() {
        let check = |error: Error, setback: Setback, part: &str| {
            let failure = Failure::of(error, "https://ca.example/dir", "the order for a.example");
            assert_eq!(failure.setback(), setback, "{failure}");
            assert!(failure.to_string().contains(part), "{failure}");
        };
        check(
            Error::Api(problem("rejectedIdentifier", "blocked")),
            Setback::Refused,
            "the order for a.example: it said",
        );
        check(Error::Api(problem("rateLimited", "slow down")), Setback::Limited, "but to wait");
        check(Error::Api(problem("badNonce", "used")), Setback::Unreached, "unless that goes on");
        check(Error::Timeout(None), Setback::Unreached, "was not done after");
        check(Error::Str("no nonce"), Setback::Unreached, "https://ca.example/dir does not answer as an ACME server");
        let why = Unfetched::Unreached("refused".into());
        let unreached = Unreached { url: "https://ca.example/dir".into(), why };
        check(Error::Other(Box::new(unreached)), Setback::Unreached, "acme.directory");
    }
}
