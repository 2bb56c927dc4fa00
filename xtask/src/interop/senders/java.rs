//! Java: Jakarta Mail, as Eclipse Angus implements it.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::interop::tools::{apt, cache, program, scripts, told};
use crate::shell::{run, which};

use super::script::{PLAIN, Script};

pub(super) fn jakarta_mail() -> Script {
    Script { name: "jakarta-mail", version, call, install, ..PLAIN }
}

/// Java compiles a single file by itself when it is called.
fn call() -> Command {
    let mut command = Command::new("java");
    command.arg("-cp").arg(cache().join("java/jars/*")).arg(scripts().join("java/Send.java"));
    command
}

/// By the name of its archive.
fn version() -> Result<String, String> {
    program("java")?;
    let jars = fs::read_dir(cache().join("java/jars")).map_err(|_| "it is not installed")?;
    let names = jars.filter_map(|jar| jar.ok()?.file_name().into_string().ok());
    let found =
        names.filter_map(|name| Some(name.strip_prefix("jakarta.mail-")?.strip_suffix(".jar")?.to_owned())).next();
    let java = told(Command::new("java").arg("--version"))?;
    let java = java.split(' ').nth(1).unwrap_or_default();
    Ok(format!("Angus {}, Java {java}", found.ok_or("it is not installed")?))
}

fn install() -> Result<()> {
    if which("mvn").is_none() {
        apt(&["default-jdk-headless", "maven"])?;
    }
    let folder = cache().join("java");
    fs::create_dir_all(&folder)?;
    fs::copy(scripts().join("java/pom.xml"), folder.join("pom.xml")).context("java/pom.xml")?;
    let copy = ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"];
    run(Command::new("mvn").args(copy).current_dir(&folder).stdin(Stdio::null()))
}
