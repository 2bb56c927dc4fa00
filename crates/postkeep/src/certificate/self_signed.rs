//! A certificate of our own making: made once, kept, and made anew before it lapses or
//! when it is asked to be for a name that it is not for.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use net::Certificate;
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};

use super::files;

/// As long as Apple's systems take a certificate for valid.
const LIFE: Duration = Duration::from_secs(825 * DAY);
/// Made anew when it has no more left than this.
const LEFT_MIN: Duration = Duration::from_secs(30 * DAY);
/// Clocks of clients may be behind.
const BEFORE: Duration = Duration::from_secs(DAY);
const DAY: u64 = 24 * 60 * 60;

/// The certificate that is kept, or a new one; and the path of the file to trust.
pub(super) fn kept(folder: &Path, names: &[String], hostname: &str) -> Result<(Certificate, PathBuf)> {
    let [cert, key, about] = ["cert.pem", "key.pem", "names.txt"].map(|name| folder.join(name));
    let wanted = subjects(names, hostname);
    if !is_fresh(&about, &wanted) || !cert.exists() || !key.exists() {
        make(folder, &cert, &key, &about, &wanted).with_context(|| {
            format!("cannot keep a certificate in {}; choose another directory as tls.folder", folder.display())
        })?;
    }
    let certificate = files::read(&cert, &key).context("remove both files to have new ones made")?;
    Ok((certificate, std::path::absolute(&cert).unwrap_or(cert)))
}

/// What it is for: this machine by all its near names, and what was asked for.
fn subjects(names: &[String], hostname: &str) -> BTreeSet<String> {
    let near = ["localhost", "127.0.0.1", "::1", hostname];
    near.iter().map(ToString::to_string).chain(names.iter().cloned()).collect()
}

/// Beside the certificate stands until when it is good and for whom.
fn is_fresh(about: &Path, wanted: &BTreeSet<String>) -> bool {
    let Ok(text) = fs::read_to_string(about) else { return false };
    let mut lines = text.lines();
    let until = lines.next().and_then(|line| line.parse().ok()).map(Duration::from_secs).unwrap_or_default();
    let has: BTreeSet<String> = lines.map(str::to_owned).collect();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now + LEFT_MIN < until && wanted.is_subset(&has)
}

fn make(folder: &Path, cert: &Path, key: &Path, about: &Path, wanted: &BTreeSet<String>) -> Result<()> {
    let now = SystemTime::now();
    let pair = KeyPair::generate()?;
    let mut params = CertificateParams::new(wanted.iter().cloned().collect::<Vec<_>>())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "Postkeep on this machine");
    params.not_before = (now - BEFORE).into();
    params.not_after = (now + LIFE).into();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let made = params.self_signed(&pair)?;
    let until = (now + LIFE).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
    fs::create_dir_all(folder)?;
    // What says that it is fresh comes last: a crash before it has all of them made anew.
    write(key, pair.serialize_pem().as_bytes(), For::ThisUser)?;
    write(cert, made.pem().as_bytes(), For::Everybody)?;
    write(about, format!("{until}\n{}\n", names.join("\n")).as_bytes(), For::Everybody)?;
    Ok(())
}

/// Who may read a file: whoever is to trust the certificate must, and nobody else needs the key.
#[derive(Clone, Copy)]
enum For {
    ThisUser = 0o600,
    Everybody = 0o644,
}

/// Write a file whole or not at all.
fn write(path: &Path, bytes: &[u8], reader: For) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    // What a crash has left goes; a link that somebody planted there is not followed (T083).
    let _ = fs::remove_file(&beside);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, reader as u32);
    #[cfg(not(unix))]
    let _ = reader;
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("postkeep-self-signed-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn it_is_made_once_and_again_for_another_name() {
        let folder = folder("once");
        let pem = || fs::read_to_string(folder.join("cert.pem")).unwrap();
        let (_, path) = kept(&folder, &[], "mx.test").unwrap();
        assert!(path.is_absolute() && path.ends_with("cert.pem"));
        let first = pem();
        kept(&folder, &[], "mx.test").unwrap();
        assert_eq!(pem(), first);
        kept(&folder, &["192.0.2.1".to_owned(), "other.test".to_owned()], "mx.test").unwrap();
        let second = pem();
        assert_ne!(second, first);
        kept(&folder, &[], "mx.test").unwrap();
        assert_eq!(pem(), second, "a certificate for more names is good for fewer");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn it_is_made_anew_before_it_lapses() {
        let folder = folder("lapses");
        kept(&folder, &[], "mx.test").unwrap();
        let before = fs::read_to_string(folder.join("cert.pem")).unwrap();
        let about = fs::read_to_string(folder.join("names.txt")).unwrap();
        let (_, names) = about.split_once('\n').unwrap();
        let soon = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + LEFT_MIN;
        fs::write(folder.join("names.txt"), format!("{}\n{names}", soon.as_secs())).unwrap();
        kept(&folder, &[], "mx.test").unwrap();
        assert_ne!(fs::read_to_string(folder.join("cert.pem")).unwrap(), before);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn nobody_else_reads_the_key() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("closed");
        kept(&folder, &[], "mx.test").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.join("key.pem")), 0o600);
        assert_eq!(mode(&folder.join("cert.pem")) & 0o444, 0o444, "whoever trusts it must read it");
        fs::remove_dir_all(folder).unwrap();
    }
}
