//! One order, from the names to the certificate (RFC 8555 §7.4). It keeps nothing and decides nothing about when.

use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Error, Identifier, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};

use crate::challenges::{Challenges, Offer};
use crate::failure::{Failure, Said, is};
use crate::pair::Pair;
use crate::settings::Settings;

/// How long the CA may take to look for our proofs, and again to issue.
pub(crate) const POLL_MAX: Duration = Duration::from_secs(120);
const POLL: RetryPolicy = RetryPolicy::new().initial_delay(Duration::from_millis(250)).backoff(1.5).timeout(POLL_MAX);

/// Why an order failed, with the one case that the caller can do something about.
pub(crate) enum Unfilled {
    /// The CA does not know the account any more.
    NoAccount,
    /// Anything else.
    Failed(Failure),
}

impl From<Failure> for Unfilled {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// An order for all domains of the settings, and the words for its failures.
pub(crate) struct Errand<'a> {
    settings: &'a Settings,
    /// The domains in lower case, each once.
    names: Vec<String>,
    doing: String,
}

impl<'a> Errand<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        let mut names: Vec<String> = Vec::with_capacity(settings.domains.len());
        for name in settings.domains.iter().map(|domain| domain.to_ascii_lowercase()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let doing = format!("the order for {}", names.join(", "));
        Self { settings, names, doing }
    }

    /// Order, prove, and fetch. A certificate that is renewed is named, so that the CA counts the order as its renewal.
    pub(crate) async fn run(
        &self,
        account: &Account,
        challenges: &Challenges,
        replaced: Option<CertificateIdentifier<'static>>,
    ) -> Result<Pair, Unfilled> {
        let mut order = self.open(account, replaced).await?;
        let mut offer = challenges.offer();
        self.prove(&mut order, &mut offer).await?;
        drop(offer);
        Ok(self.fetch(&mut order).await?)
    }

    async fn open(
        &self,
        account: &Account,
        replaced: Option<CertificateIdentifier<'static>>,
    ) -> Result<Order, Unfilled> {
        let names: Vec<_> = self.names.iter().cloned().map(Identifier::Dns).collect();
        if let Some(replaced) = replaced {
            match account.new_order(&NewOrder::new(&names).replaces(replaced)).await {
                Ok(order) => return Ok(order),
                // Not every CA takes it, or from this account, or a second time: then it is an order like any other.
                Err(error) => tracing::debug!(%error, "the order is not taken as a renewal"),
            }
        }
        account.new_order(&NewOrder::new(&names)).await.map_err(|error| match error {
            Error::Api(problem) if is(&problem, "accountDoesNotExist") => Unfilled::NoAccount,
            error => Unfilled::Failed(self.failed(error)),
        })
    }

    /// Have the CA see that every domain is ours.
    async fn prove(&self, order: &mut Order, offer: &mut Offer<'_>) -> Result<(), Failure> {
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization.map_err(|error| self.failed(error))?;
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let domain = authorization.identifier().to_string();
            let Some(mut challenge) = authorization.challenge(ChallengeType::Http01) else {
                return Err(Failure::NoProof { domain });
            };
            if !offer.add(&challenge.token, challenge.key_authorization().as_str()) {
                return Err(Failure::Unproven { domain, said: Said::text("a token that is none") });
            }
            challenge.set_ready().await.map_err(|error| unproven_or(domain, error, |error| self.failed(error)))?;
        }
        match order.poll_ready(&POLL).await {
            Ok(OrderStatus::Ready) => Ok(()),
            Ok(_) => Err(self.unproven(order, None).await),
            Err(error @ Error::Api(_)) => Err(self.unproven(order, Some(error)).await),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Which domain it was, and what the CA said of it.
    async fn unproven(&self, order: &mut Order, error: Option<Error>) -> Failure {
        let mut authorizations = order.authorizations();
        while let Some(Ok(mut authorization)) = authorizations.next().await {
            let Ok(state) = authorization.refresh().await else { break };
            let said = state.challenges.iter().find_map(|challenge| challenge.error.as_ref()).map(Said::of);
            match said {
                Some(said) => return Failure::Unproven { domain: state.identifier().to_string(), said },
                None if state.status == AuthorizationStatus::Invalid => {
                    let said = Said::text("nothing more");
                    return Failure::Unproven { domain: state.identifier().to_string(), said };
                }
                None => {}
            }
        }
        let error = error.unwrap_or(Error::Str("the order became invalid for no reason that was told"));
        self.failed(error)
    }

    async fn fetch(&self, order: &mut Order) -> Result<Pair, Failure> {
        let unmade = |error: rcgen::Error| Failure::Key { what: error.to_string() };
        let key = KeyPair::generate().map_err(unmade)?;
        let mut wanted = CertificateParams::new(self.names.clone()).map_err(unmade)?;
        wanted.distinguished_name = DistinguishedName::new();
        let request = wanted.serialize_request(&key).map_err(unmade)?;
        order.finalize_csr(request.der()).await.map_err(|error| self.failed(error))?;
        let chain = order.poll_certificate(&POLL).await.map_err(|error| self.failed(error))?;
        let pair = Pair::new(chain, key.serialize_pem()).map_err(|what| Failure::Useless { what })?;
        match self.names.iter().find(|domain| !pair.leaf.covers(domain)) {
            Some(domain) => Err(Failure::Useless { what: format!("it is not for {domain}") }),
            None => Ok(pair),
        }
    }

    fn failed(&self, error: Error) -> Failure {
        Failure::of(error, &self.settings.directory, &self.doing)
    }
}

fn unproven_or(domain: String, error: Error, failed: impl FnOnce(Error) -> Failure) -> Failure {
    match error {
        Error::Api(problem) if !is(&problem, "rateLimited") => Failure::Unproven { domain, said: Said::of(&problem) },
        error => failed(error),
    }
}
