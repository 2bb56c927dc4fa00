//! The carrier of released mail, made of what stands in the configuration and in the files that it names.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use courier::relay::{Login, Relay, SmartHost};
use mailroom::Mailroom;

use crate::config;

/// No password, and no bundle of certificates, is longer.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Whoever carries released mail, under this name.
pub(crate) fn carrier(keys: &config::Relay, helo: &str, mailroom: Arc<Mailroom>) -> Result<Relay> {
    let authorities = keys.ca_file.as_deref().map(|path| read(path, "relay.ca_file")).transpose()?;
    let mut host = SmartHost::new(&keys.host, keys.port, keys.tls, authorities.as_deref().map(str::as_bytes))?;
    if let Some((user, file)) = &keys.login {
        let password = read(file, "relay.password_file")?.trim_end_matches(['\r', '\n']).to_owned();
        host.login = Some(Login { user: user.clone(), password });
    }
    (host.helo, host.timeout, host.attempt_max) = (helo.to_owned(), keys.timeout, keys.attempt_max);
    Ok(Relay::new(mailroom, host, keys.settings))
}

fn read(path: &Path, key: &str) -> Result<String> {
    use std::io::Read;
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    read.with_context(|| format!("cannot read {} (check {key})", path.display()))?;
    ensure!(text.len() as u64 <= FILE_BYTES_MAX, "{} is too large (check {key})", path.display());
    Ok(text)
}
