//! Go: net/smtp of its standard library.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::interop::tools::{apt, told};
use crate::shell::{run, which};

use super::built::Built;
use super::script::{PLAIN, Script};

const SENDER: Built = Built { folder: "go", sources: &["go.mod", "main.go"], program: "send" };

pub(super) fn net_smtp() -> Script {
    Script { name: "go-net-smtp", version, call: || Command::new(SENDER.path()), install, ..PLAIN }
}

/// The version is the one that the sender was built with.
fn version() -> Result<String, String> {
    SENDER.there()?;
    let line = told(Command::new("go").arg("version").arg(SENDER.path()))?;
    Ok(line.rsplit(' ').next().unwrap_or_default().replace("go", "Go "))
}

fn install() -> Result<()> {
    if which("go").is_none() {
        apt(&["golang-go"])?;
    }
    let folder = SENDER.copied()?;
    run(Command::new("go").args(["build", "-o"]).arg(SENDER.path()).current_dir(folder).stdin(Stdio::null()))
}
