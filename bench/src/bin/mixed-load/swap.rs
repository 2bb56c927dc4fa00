//! The certificate changes on disk every now and then: new connections must see the new one soon. Chain and key are two
//! files, replaced one after the other, so the server also meets a pair that does not belong together.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use postkeep_bench::{Asked, Mode, tls};

use crate::site::Site;

const CHAIN: &str = "cert.pem";
const KEY: &str = "key.pem";
/// Within so long, much longer than `tls.check_every`, new connections see it.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Where the server's pair lies, and the pairs that it gets in turn.
pub(crate) struct Swap {
    every: Duration,
    folder: PathBuf,
    pairs: Vec<PathBuf>,
}

impl Swap {
    pub(crate) fn asked(asked: &mut Asked) -> Result<Option<Self>> {
        let Some(seconds) = asked.value("--swap-every")? else { return Ok(None) };
        let pairs: String = asked.must("--pairs")?;
        let pairs: Vec<_> = pairs.split(',').map(PathBuf::from).collect();
        ensure!(pairs.len() > 1, "one pair cannot be swapped");
        Ok(Some(Self { every: Duration::from_secs_f64(seconds), folder: asked.must("--swap-in")?, pairs }))
    }

    /// Swap until it is over. The first pair is the one that the server began with.
    pub(crate) async fn run(&self, site: &Site) {
        for pair in self.pairs.iter().cycle().skip(1) {
            site.pause(self.every).await;
            if site.over() {
                return;
            }
            match self.swap(site, pair).await {
                Ok(took) => site.count(if took < PATIENCE / 3 { "certificates swapped" } else { "swapped late" }),
                Err(error) => site.failed(format!("after a swap: {error:#}")),
            }
        }
    }

    async fn swap(&self, site: &Site, pair: &Path) -> Result<Duration> {
        for file in [CHAIN, KEY] {
            replace(&pair.join(file), &self.folder.join(file))?;
        }
        let wanted = tls::certificates(&pair.join(CHAIN))?.first().context("no certificate")?.to_vec();
        let begin = Instant::now();
        for door in site.smtp.iter().chain(&site.pop3).chain(&site.http).filter(|door| door.mode == Mode::Tls) {
            while door.open().await?.shown.as_ref() != Some(&wanted) {
                if begin.elapsed() > PATIENCE {
                    bail!("{} still shows another certificate", door.to);
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
        Ok(begin.elapsed())
    }
}

/// Put a copy of a file in place of another one, whole or not at all.
fn replace(from: &Path, to: &Path) -> Result<()> {
    let beside = to.with_extension("new");
    std::fs::copy(from, &beside).with_context(|| format!("cannot copy {}", from.display()))?;
    std::fs::rename(&beside, to).with_context(|| format!("cannot replace {}", to.display()))
}
