//! Rust: lettre, in a package of its own that is built in the cache, so that the workspace never meets it.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::interop::corpus::Letter;
use crate::interop::tools::scripts;
use crate::shell::{cargo, run};

use super::built::Built;
use super::script::{PLAIN, Script};

const SENDER: Built =
    Built { folder: "lettre", sources: &["Cargo.toml", "src/main.rs"], program: "target/release/interop-lettre" };

pub(super) fn lettre() -> Script {
    Script { name: "lettre", version, call: || Command::new(SENDER.path()), install, claim, ..PLAIN }
}

/// It ends DATA with an end of line of its own, also behind a message that has one.
fn claim(letter: &Letter) -> Vec<u8> {
    [letter.raw.as_slice(), b"\r\n"].concat()
}

/// The manifest names the exact version.
fn version() -> Result<String, String> {
    SENDER.there()?;
    let manifest = std::fs::read_to_string(scripts().join("lettre/Cargo.toml")).map_err(|error| error.to_string())?;
    let version = manifest.split("version = \"=").nth(1).and_then(|rest| rest.split('"').next());
    version.map(str::to_owned).ok_or_else(|| "its manifest names no version".into())
}

fn install() -> Result<()> {
    let folder = SENDER.copied()?;
    let mut build = cargo(["build", "--release", "--quiet"]);
    run(build.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target")).stdin(Stdio::null()))
}
