//! A certificate from two files, read again when they change. What is wrong with a new pair is said, and the old one stays.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use net::{Certificate, Tls};

/// No certificate or key is larger.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The two files, and how they looked when they were last read.
#[derive(Debug)]
pub(crate) struct Watched {
    cert: PathBuf,
    key: PathBuf,
    check_every: Duration,
    seen: Looks,
}

/// How both files look: to tell a change without reading them.
type Looks = [Option<(SystemTime, u64)>; 2];

/// Read the pair for the first time: what is wrong with it is the program's end.
pub(super) fn read_first(cert: &Path, key: &Path, check_every: Duration) -> Result<(Certificate, Watched)> {
    let seen = looks(cert, key);
    let certificate = read(cert, key)?;
    Ok((certificate, Watched { cert: cert.to_owned(), key: key.to_owned(), check_every, seen }))
}

/// Look at the files for ever, and hand on what has changed.
pub(crate) async fn watch(mut watched: Watched, tls: Arc<Tls>) {
    loop {
        tokio::time::sleep(watched.check_every).await;
        let now = looks(&watched.cert, &watched.key);
        if now == watched.seen {
            continue;
        }
        // The two are seldom written in the same moment: a pair that does not fit is looked at again next time.
        match read(&watched.cert, &watched.key) {
            Ok(certificate) => {
                tls.replace(certificate);
                tracing::info!(cert = %watched.cert.display(), "the certificate has changed; new connections see the new one");
            }
            Err(error) => tracing::error!("{error:#}; the certificate that was read before stays in use"),
        }
        watched.seen = now;
    }
}

fn looks(cert: &Path, key: &Path) -> Looks {
    let look = |file: Metadata| Some((file.modified().ok()?, file.len()));
    [cert, key].map(|path| fs::metadata(path).ok().and_then(look))
}

pub(super) fn read(cert: &Path, key: &Path) -> Result<Certificate> {
    let chain = contents("tls.cert", cert)?;
    let secret = contents("tls.key", key)?;
    let certificate = Certificate::from_pem(&chain, &secret);
    certificate.with_context(|| format!("tls.cert {} and tls.key {}", cert.display(), key.display()))
}

fn contents(name: &str, path: &Path) -> Result<Vec<u8>> {
    let told = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "this user may not read it; change its permissions".to_owned(),
        _ => error.to_string(),
    };
    let file = fs::metadata(path)
        .map_err(|error| anyhow::anyhow!("{name}: cannot read {}: {}", path.display(), told(&error)))?;
    if file.len() > FILE_BYTES_MAX {
        bail!("{name}: {} is larger than 1MiB, so it is hardly one", path.display());
    }
    fs::read(path).map_err(|error| anyhow::anyhow!("{name}: cannot read {}: {}", path.display(), told(&error)))
}
