//! A certificate by ACME: the kept one at once, new ones as they come; or, in a program built without it, the words for that.

#[cfg(feature = "acme")]
pub(crate) use with_acme::{Order, open, serve, settings};
#[cfg(not(feature = "acme"))]
pub(crate) use without_acme::{Order, open, serve};

#[cfg(feature = "acme")]
mod with_acme {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use acme::{Fetch, Fetcher, Fetching, Notary, Pace, Settings, Unfetched};
    use anyhow::{Context, Result};
    use bytes::Bytes;
    use net::{Certificate, Tls};
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    use crate::config;

    /// For one request, from the question for an address to the last octet of the answer.
    const TIMEOUT: Duration = Duration::from_secs(30);
    /// The largest answer; a chain of certificates has some 10 KiB.
    const BODY_MAX: usize = 1 << 20;

    /// An order that is seen to for ever, and the doors at which the authority asks.
    #[derive(Debug)]
    pub(crate) struct Order {
        notary: Notary,
        doors: Vec<TcpListener>,
    }

    /// What is kept from before, and the order that goes on with it.
    pub(crate) fn open(keys: &config::Acme) -> Result<(Option<Certificate>, Order)> {
        let notary = Notary::open(settings(keys))?;
        let kept = notary.kept().map(|pair| Certificate::from_pem(&pair.chain_pem, &pair.key_pem)).transpose()?;
        Ok((kept, Order { notary, doors: keys.addr.iter().map(bind).collect::<Result<_>>()? }))
    }

    fn bind(place: &net::Place) -> Result<TcpListener> {
        let listener = std::net::TcpListener::bind(place.to_string());
        let listener = listener.with_context(|| {
            format!("acme.addr: cannot listen on {place}, where the authority asks; free it, or send that path here")
        })?;
        listener.set_nonblocking(true)?;
        Ok(TcpListener::from_std(listener)?)
    }

    pub(crate) fn settings(keys: &config::Acme) -> Settings {
        let config::Acme { domains, email, directory, ca, folder, .. } = keys.clone();
        // Without it there is no such order: the configuration sees to that.
        let terms_agreed = true;
        let fetcher = Fetcher(Arc::new(Outbound));
        Settings { domains, email, directory, ca, terms_agreed, folder, pace: Pace::default(), fetcher }
    }

    /// The program's one client, by the roots of the authority.
    struct Outbound;

    impl Fetch for Outbound {
        fn fetch(&self, ca: Option<&Path>, request: hyper::Request<Bytes>) -> Fetching {
            let roots = ca.map_or(outbound::Roots::Machine, |path| outbound::Roots::File(path.to_owned()));
            let settings = outbound::Settings { roots, body_max: BODY_MAX, timeout: TIMEOUT, ..Default::default() };
            let (parts, body) = request.into_parts();
            let mut asked = outbound::Request::new(parts.method, parts.uri.to_string(), outbound::Trust::Configured);
            (asked.headers, asked.body, asked.redirects) = (parts.headers, body, outbound::Redirects::Stop);
            Box::pin(async move {
                let answer = outbound::Client::new(settings).send(asked).await.map_err(unfetched)?;
                let mut response = hyper::Response::new(answer.body);
                (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers);
                Ok(response)
            })
        }
    }

    fn unfetched(error: outbound::Error) -> Unfetched {
        match error {
            outbound::Error::Roots { what } => Unfetched::Roots(format!("acme.ca, {what}")),
            outbound::Error::Unreached { what, .. } | outbound::Error::Failed { what, .. } => {
                Unfetched::Unreached(what)
            }
            error => Unfetched::Unreached(error.to_string()),
        }
    }

    /// Answer the authority, and show each new certificate from the next handshake on.
    pub(crate) fn serve(order: Order, tls: Arc<Tls>, servers: &mut JoinSet<()>) {
        for door in order.doors {
            servers.spawn(acme::door::serve(door, order.notary.challenges()));
        }
        servers.spawn(order.notary.run(move |chain, key| match Certificate::from_pem(&chain, &key) {
            Ok(certificate) => tls.replace(certificate),
            Err(error) => tracing::error!("the certificate that the authority sent cannot be used: {error}"),
        }));
    }
}

#[cfg(not(feature = "acme"))]
mod without_acme {
    use std::convert::Infallible;
    use std::sync::Arc;

    use anyhow::{Result, bail};
    use net::{Certificate, Tls};
    use tokio::task::JoinSet;

    use crate::config;

    /// There is none.
    #[derive(Debug)]
    pub(crate) struct Order(Infallible);

    pub(crate) fn open(_keys: &config::Acme) -> Result<(Option<Certificate>, Order)> {
        bail!(
            "this program was built without ACME; build it with the feature acme, or name files in tls.cert and tls.key"
        )
    }

    pub(crate) fn serve(order: Order, _tls: Arc<Tls>, _servers: &mut JoinSet<()>) {
        match order.0 {}
    }
}
