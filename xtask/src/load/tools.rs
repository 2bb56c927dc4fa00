//! The load generators of the package `postkeep-bench`, which speak TLS: built, started, and asked for their figures. This
//! program speaks no TLS itself.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::server::{Server, serve};
use crate::shell::{built, cargo, output, run as must};

/// What makes postkeep listen with TLS as well, with a certificate that it makes itself in this folder.
const LISTENERS: [&str; 3] = ["smtps.addr=127.0.0.1:0", "pop3s.addr=127.0.0.1:0", "https.addr=127.0.0.1:0"];

/// Build all of them.
pub(crate) fn build() -> Result<()> {
    must(&mut cargo(["build", "--release", "--package", "postkeep-bench"]))
}

/// One of them, told where to go; on these cores only, if any are named.
pub(crate) fn tool(name: &str, cores: Option<&str>) -> Result<Command> {
    Ok(on_cores(&built()?.join(name), cores))
}

/// The figures that one tells on its last line.
pub(crate) fn figures(command: &mut Command) -> Result<Figures> {
    let text = output(command)?;
    Figures::of(&text)
}

/// What a load generator told.
pub(crate) struct Figures(Value);

impl Figures {
    pub(crate) fn of(text: &str) -> Result<Self> {
        let line = text.trim().lines().last().context("a load generator told nothing")?;
        Ok(Self(serde_json::from_str(line).with_context(|| format!("a load generator told no figures: {line}"))?))
    }

    /// One figure by its name.
    pub(crate) fn number(&self, name: &str) -> Result<f64> {
        self.0[name].as_f64().with_context(|| format!("a load generator told no {name}: {}", self.0))
    }

    /// The same, after it is sure that nothing failed.
    pub(crate) fn sound(self) -> Result<Self> {
        ensure!(self.0["errors"].as_u64() == Some(0), "there were errors: {}", self.0);
        Ok(self)
    }

    pub(crate) fn json(&self) -> &Value {
        &self.0
    }
}

/// The address as an argument behind `--to`.
pub(crate) fn to(command: &mut Command, address: SocketAddr) -> &mut Command {
    command.args(["--to", &address.to_string()])
}

/// A program that keeps to these cores.
fn on_cores(program: &Path, cores: Option<&str>) -> Command {
    let Some(cores) = cores else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", cores]).arg(program);
    command
}

/// A folder for certificates and logs of one measurement; gone when dropped.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("postkeep-xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// A file or folder in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Start postkeep with every listener and a certificate of its own making in the folder of this name.
    pub(crate) fn secured(&self, binary: &Path, certificate: &str, cores: Option<&str>) -> Result<Server> {
        let folder = format!("tls.folder={}", self.file(certificate).display());
        // As many over HTTP as over SMTP: a measurement holds thousands.
        let settings = [&LISTENERS[..], &["tls.self_signed=true", &folder, "http.connections_max=6000"]].concat();
        let mut command = on_cores(binary, cores);
        serve(&mut command, &settings);
        Server::announced(command)
    }

    /// The words that make postkeep listen everywhere with the certificate that lies in this folder.
    pub(crate) fn with_certificate(&self, command: &mut Command, certificate: &str, settings: &[&str]) {
        let [cert, key] = [("cert", "cert.pem"), ("key", "key.pem")]
            .map(|(name, file)| format!("tls.{name}={}", self.file(certificate).join(file).display()));
        serve(command, &[&LISTENERS[..], &[cert.as_str(), key.as_str()], settings].concat());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays behind lies among temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
