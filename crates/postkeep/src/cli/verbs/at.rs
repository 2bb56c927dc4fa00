//! Which server is asked, and with which token: from options, the environment, a file of one's own, or as usual.

use std::path::PathBuf;

use clap::Args;
use client::{Client, DEFAULT_URL};

use super::Failure;

/// Bytes of a token or of the file; more is neither.
const FILE_MAX: u64 = 64 << 10;

/// Where the server is.
#[derive(Debug, Default, Args)]
pub(super) struct At {
    /// Ask this server; several nodes are parted by commas [env: POSTKEEP_URL]
    #[arg(long, value_name = "URL")]
    pub(super) server: Option<String>,
    /// Read the token from this file [env: POSTKEEP_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// What `client.toml` may say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kept {
    server: Option<String>,
    token: Option<String>,
}

impl At {
    pub(super) fn client(&self) -> Result<Client, Failure> {
        let (url, token) = self.found(kept()?)?;
        let client = Client::new(&url)?;
        Ok(match token {
            Some(token) => client.token(token),
            None => client,
        })
    }

    /// The URL that is asked.
    pub(super) fn url(&self) -> Result<String, Failure> {
        Ok(self.found(kept()?)?.0)
    }

    /// Whether somebody has said which server.
    pub(super) fn is_told(&self) -> Result<bool, Failure> {
        Ok(self.server.is_some() || variable("POSTKEEP_URL").is_some() || kept()?.server.is_some())
    }

    fn found(&self, kept: Kept) -> Result<(String, Option<String>), Failure> {
        let named = self.server.clone().or_else(|| variable("POSTKEEP_URL"));
        // The token in the file is for the server in the file, and for no other.
        let kept_token = if named.is_none() || kept.server.is_none() { kept.token } else { None };
        let url = named.or(kept.server).unwrap_or_else(|| DEFAULT_URL.to_owned());
        let token = match &self.token_file {
            Some(path) => Some(read(path)?.trim().to_owned()),
            None => variable("POSTKEEP_TOKEN").or(kept_token),
        };
        Ok((url, token))
    }
}

/// The token for a server that is named, for a verb that asks it by itself; or what is wrong with it.
pub(in crate::cli) fn token_for(server: &str, token_file: Option<PathBuf>) -> Result<Option<String>, String> {
    let at = At { server: Some(server.to_owned()), token_file };
    let found = kept().and_then(|kept| at.found(kept));
    found.map(|(_, token)| token).map_err(|failure| failure.why)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// `client.toml`, where there is one.
fn kept() -> Result<Kept, Failure> {
    let Some(path) = place().filter(|path| path.exists()) else { return Ok(Kept::default()) };
    parse(&read(&path)?).map_err(|why| Failure::misused(format!("{}: {why}", path.display())))
}

fn parse(text: &str) -> Result<Kept, String> {
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| format!("this is not TOML: {}", error.message()))?;
    let mut kept = Kept::default();
    for (key, value) in table {
        let text = value.as_str().map(str::to_owned).ok_or_else(|| format!("{key} is a text; write it in quotes"))?;
        match key.as_str() {
            "server" => kept.server = Some(text),
            "token" => kept.token = Some(text),
            _ => return Err(format!("{} is no key here; there are server and token", crate::log::escaped(&key))),
        }
    }
    Ok(kept)
}

/// The folder for configurations of the one who asks.
fn place() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) { folder("APPDATA") } else { folder("XDG_CONFIG_HOME") };
    Some(base.or_else(|| folder("HOME").map(|home| home.join(".config")))?.join("postkeep").join("client.toml"))
}

fn read(path: &std::path::Path) -> Result<String, Failure> {
    use std::io::Read;
    let mut text = String::new();
    let file = std::fs::File::open(path).and_then(|file| file.take(FILE_MAX).read_to_string(&mut text));
    let why = |error| {
        Failure::misused(format!("cannot read {}: {error}; check its path and its permissions", path.display()))
    };
    file.map_err(why).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_server_and_token() {
        let kept = parse("server = \"http://a:1\"\ntoken = \"pkt_1\"\n").unwrap();
        assert_eq!(kept, Kept { server: Some("http://a:1".into()), token: Some("pkt_1".into()) });
        assert_eq!(parse("sever = \"x\"").unwrap_err(), "sever is no key here; there are server and token");
        assert_eq!(parse("server = 3").unwrap_err(), "server is a text; write it in quotes");
    }

    #[test]
    fn a_kept_token_goes_to_no_other_server() {
        let kept = |server: Option<&str>| Kept { server: server.map(str::to_owned), token: Some("pkt_1".into()) };
        let named = At { server: Some("http://b:2".into()), token_file: None };
        assert_eq!(named.found(kept(Some("http://a:1"))).unwrap(), ("http://b:2".into(), None));
        assert_eq!(named.found(kept(None)).unwrap().1.as_deref(), Some("pkt_1"));
        assert_eq!(At::default().found(kept(Some("http://a:1"))).unwrap(), ("http://a:1".into(), Some("pkt_1".into())));
    }
}
