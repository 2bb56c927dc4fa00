//! The one who sees to it that there is a certificate: looks, orders when it is time, keeps what comes, tells it, and
//! tries again after a failure. It does not know what the certificate is used for.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{sleep, timeout};

use crate::challenges::Challenges;
use crate::client::Client;
use crate::failure::Failure;
use crate::folder::{Folder, FolderError};
use crate::order::{Errand, Unfilled};
use crate::pace::jittered;
use crate::pair::Pair;
use crate::settings::Settings;
use crate::{account, renewal};

/// The file with the chain and the key.
const FILE: &str = "certificate.pem";
/// For a whole order, whatever the CA answers meanwhile.
const ORDER_MAX: Duration = Duration::from_secs(10 * 60);
/// With a certificate that is due before the next look, that look comes earlier, but not at once.
const SOONEST: Duration = Duration::from_secs(1);

/// Keeps a certificate for the domains of its settings.
#[derive(Debug)]
pub struct Notary {
    settings: Settings,
    folder: Folder,
    challenges: Challenges,
    pair: Option<Pair>,
}

impl Notary {
    /// Take the folder, and what it keeps. Nobody is asked yet.
    ///
    /// # Errors
    /// The folder cannot be made, is another's, or is no folder.
    pub fn open(settings: Settings) -> Result<Self, FolderError> {
        let folder = Folder::open(&settings.folder, &settings.directory)?;
        let pair = kept(&settings, &folder)?;
        Ok(Self { settings, folder, challenges: Challenges::default(), pair })
    }

    /// The certificate that was kept, when it is of use now: it has not ended, and names at least one of the domains.
    #[must_use]
    pub fn kept(&self) -> Option<&Pair> {
        self.pair.as_ref()
    }

    /// What the HTTP listener has to answer while an order runs.
    #[must_use]
    pub fn challenges(&self) -> Challenges {
        self.challenges.clone()
    }

    /// Where the certificate and its key are kept.
    #[must_use]
    pub fn path(&self) -> std::path::PathBuf {
        self.folder.at(FILE)
    }

    /// See to the certificate for ever. Each new pair, chain and key as PEM, is kept and then told; the kept one of
    /// before is not told. Drop the future to end it: nothing is left half done by that.
    pub async fn run(mut self, on_new: impl Fn(Vec<u8>, Vec<u8>) + Send) {
        let mut failures = 0;
        loop {
            let wait = match self.look().await {
                Ok(Looked::New(pair)) => {
                    failures = 0;
                    on_new(pair.chain_pem.clone(), pair.key_pem.clone());
                    // There are certificates that live for less than a day.
                    let due_in = until(renewal::due(&pair.leaf, None)).unwrap_or(SOONEST);
                    self.pair = Some(*pair);
                    self.settings.pace.check_every.min(due_in)
                }
                Ok(Looked::Good { due_in }) => {
                    failures = 0;
                    self.settings.pace.check_every.min(due_in)
                }
                Err(failure) => {
                    failures += 1;
                    let wait = self.settings.pace.after(failure.setback(), failures);
                    self.tell(&failure, wait);
                    wait
                }
            };
            sleep(jittered(wait)).await;
        }
    }

    /// See whether it is time, and order if it is.
    async fn look(&self) -> Result<Looked, Failure> {
        let client = Client { fetcher: self.settings.fetcher.clone(), ca: self.settings.ca.clone() };
        if let Some(pair) = &self.pair
            && let Some(due_in) = self.due_in(pair, &client).await
        {
            return Ok(Looked::Good { due_in });
        }
        let late = |_elapsed| Failure::Slow { doing: "the order".to_owned(), seconds: ORDER_MAX.as_secs() };
        let pair = timeout(ORDER_MAX, Box::pin(self.order(&client))).await.map_err(late)??;
        self.folder.write(FILE, &pair.to_file())?;
        let (names, until) = (pair.names().join(", "), pair.not_after());
        tracing::info!(%names, %until, path = %self.path().display(), "there is a new certificate");
        Ok(Looked::New(Box::new(pair)))
    }

    /// How long until a pair is due; none when it is.
    async fn due_in(&self, pair: &Pair, client: &Client) -> Option<Duration> {
        if !self.settings.domains.iter().all(|domain| pair.leaf.covers(domain)) {
            return None;
        }
        let window = renewal::window(client, &self.settings.directory, &pair.leaf).await;
        until(renewal::due(&pair.leaf, window))
    }

    async fn order(&self, client: &Client) -> Result<Pair, Failure> {
        let errand = Errand::new(&self.settings);
        let replaced = || self.pair.as_ref().and_then(|pair| renewal::identifier(&pair.leaf));
        let account = account::find(&self.settings, &self.folder, client).await?;
        match errand.run(&account, &self.challenges, replaced()).await {
            Err(Unfilled::NoAccount) => {}
            Err(Unfilled::Failed(failure)) => return Err(failure),
            Ok(pair) => return Ok(pair),
        }
        tracing::warn!("the CA does not know the account any more; a new one is registered");
        let account = account::register(&self.settings, &self.folder, client).await?;
        errand.run(&account, &self.challenges, None).await.map_err(|unfilled| match unfilled {
            Unfilled::Failed(failure) => failure,
            Unfilled::NoAccount => Failure::Foreign {
                directory: self.settings.directory.clone(),
                what: "it does not know the account that it just registered".to_owned(),
            },
        })
    }

    /// A failure, for the log: how bad it is depends on what there is.
    fn tell(&self, failure: &Failure, wait: Duration) {
        let again = wait.as_secs();
        match &self.pair {
            None => tracing::error!("no certificate yet: {failure}; next attempt in {again} s"),
            Some(pair) if pair.not_after() <= Timestamp::now() => {
                let ended = pair.not_after();
                tracing::error!("the certificate ended at {ended}: {failure}; next attempt in {again} s");
            }
            Some(pair) => {
                let until = pair.not_after();
                tracing::warn!(
                    "the certificate, good until {until}, was not renewed: {failure}; next attempt in {again} s"
                );
            }
        }
    }
}

/// How long until a moment, for one who sleeps meanwhile; none when it has come.
fn until(moment: Timestamp) -> Option<Duration> {
    let left = Duration::try_from(moment.duration_since(Timestamp::now())).ok()?;
    (!left.is_zero()).then_some(left.max(SOONEST))
}

/// What a look came to.
enum Looked {
    New(Box<Pair>),
    Good { due_in: Duration },
}

/// The kept pair, when it is of use. One that is not is passed over: there will be another one.
fn kept(settings: &Settings, folder: &Folder) -> Result<Option<Pair>, FolderError> {
    let Some(bytes) = folder.read(FILE)? else { return Ok(None) };
    let path = folder.at(FILE);
    match Pair::from_file(bytes) {
        Err(what) => {
            tracing::warn!(path = %path.display(), what, "the kept certificate cannot be used; another one is ordered")
        }
        Ok(pair) if pair.not_after() <= Timestamp::now() => {
            tracing::warn!(path = %path.display(), until = %pair.not_after(), "the kept certificate has ended; another one is ordered");
        }
        Ok(pair) if !settings.domains.iter().any(|domain| pair.leaf.covers(domain)) => {
            tracing::info!(path = %path.display(), "the kept certificate is for other domains; another one is ordered");
        }
        Ok(pair) => return Ok(Some(pair)),
    }
    Ok(None)
}
