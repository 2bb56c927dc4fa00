//! Node: Nodemailer.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::interop::tools::{apt, cache, program, scripts, told};
use crate::shell::{run, which};

use super::script::{PLAIN, Script};

pub(super) fn nodemailer() -> Script {
    Script { name: "nodemailer", version, call, install, ..PLAIN }
}

fn call() -> Command {
    let mut command = node();
    command.arg(scripts().join("node/send.js"));
    command
}

fn node() -> Command {
    let mut command = Command::new("node");
    command.env("NODE_PATH", cache().join("node/node_modules"));
    command
}

fn version() -> Result<String, String> {
    program("node")?;
    let library = told(node().args(["-p", "require('nodemailer/package.json').version"]));
    let library = library.map_err(|_| "it is not installed".to_owned())?;
    Ok(format!("{library}, Node {}", told(node().arg("--version"))?.trim_start_matches('v')))
}

fn install() -> Result<()> {
    if which("npm").is_none() {
        apt(&["nodejs", "npm"])?;
    }
    let folder = cache().join("node");
    fs::create_dir_all(&folder)?;
    fs::copy(scripts().join("node/package.json"), folder.join("package.json")).context("node/package.json")?;
    let words = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
    run(Command::new("npm").args(words).arg(&folder).current_dir(&folder).stdin(Stdio::null()))
}
