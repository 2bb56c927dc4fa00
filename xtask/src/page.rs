//! The page: its sources checked, what is committed of it held against what they give, and used by real browsers on the
//! real binary. What npm and the browsers do is told in `ui/package.json`; here it is put in order and timed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::load::cluster::{Cluster, possible};
use crate::load::server::binary;
use crate::shell::{Parts, output, root, run as must, which};

/// What the builder asks for.
const NODE_MIN: (u32, u32) = (20, 19);
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// What CI has time for: the memory engine.
    Short,
    /// Every engine and full sizes.
    Long,
}

/// `cargo xtask page [--short|--long] [--bin PATH]`
pub(crate) fn run(mut args: Args) -> Result<()> {
    let (short, long) = (args.flag("--short"), args.flag("--long"));
    let bin: Option<PathBuf> = args.value("--bin")?;
    args.finish()?;
    ensure!(!(short && long), "--short and --long at once; take one of them");
    let binary = binary(bin)?;
    let mut parts = Parts::default();
    all(&mut parts, if long { Size::Long } else { Size::Short }, &binary);
    parts.finish()
}

/// The same as parts of a larger task: all that can be done here, and what is passed over is said.
pub(crate) fn if_possible(parts: &mut Parts, size: Size, binary: &Path) {
    if let Err(why) = node() {
        println!("\nThe page is passed over: {why:#}");
        return;
    }
    all(parts, size, binary);
}

fn all(parts: &mut Parts, size: Size, binary: &Path) {
    if !parts.part("npm", install) {
        return;
    }
    parts.part("page check", || must(&mut npm(["run", "--silent", "check"])));
    parts.part("page dist", dist);
    parts.part("page e2e", || browse(size, binary));
}

/// Node, if it is new enough.
fn node() -> Result<()> {
    let wanted = format!("Node {}.{} or later", NODE_MIN.0, NODE_MIN.1);
    let text = output(Command::new("node").arg("--version"))
        .with_context(|| format!("there is no {wanted}; install it and put it on the PATH"))?;
    let mut numbers = text.trim().trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    ensure!(version >= NODE_MIN, "Node is {}, and {wanted} is needed; install it and put it on the PATH", text.trim());
    Ok(())
}

/// What the lock file names, unless it is there already. No package runs anything while it is installed.
fn install() -> Result<()> {
    node()?;
    let lock = fs::read(root().join("ui/package-lock.json")).context("cannot read ui/package-lock.json")?;
    let installed = root().join("ui/node_modules/.postkeep-lock.json");
    if fs::read(&installed).is_ok_and(|before| before == lock) {
        println!("ui/node_modules is what ui/package-lock.json names");
        return Ok(());
    }
    must(&mut npm(["ci", "--ignore-scripts", "--prefer-offline"]))?;
    fs::write(&installed, lock).with_context(|| format!("cannot write {}", installed.display()))
}

/// Whether what is committed is what the sources give. It is built elsewhere, so that nothing has to be compiled anew.
fn dist() -> Result<()> {
    let folder = root().join("ui/node_modules/.postkeep-dist");
    let built = folder.to_string_lossy();
    must(&mut npm(["exec", "--", "vite", "build", "--logLevel", "error", "--emptyOutDir", "--outDir", &built]))?;
    must(&mut node_in_ui(["scripts/compress.mjs", &built]))?;
    must(&mut node_in_ui(["scripts/compare.mjs", "dist", &built]))
}

/// The browsers. The server's own keys come from variables of this name as well, so its tests keep ours from it.
fn browse(size: Size, binary: &Path) -> Result<()> {
    if std::env::var_os("CHROMIUM").is_none() && !BROWSERS.iter().any(|name| which(name).is_some()) {
        bail!("there is no Chromium; install the Debian package `chromium`, or name one in CHROMIUM");
    }
    let mut command = npm(["run", "--silent", "e2e"]);
    command.env("POSTKEEP_BIN", binary.canonicalize().with_context(|| format!("there is no {}", binary.display()))?);
    if size == Size::Short {
        return must(&mut command);
    }
    command.env("LONG", "1");
    let cluster = possible()?.then(|| Cluster::start(binary, &[])).transpose()?;
    if let Some(cluster) = &cluster {
        command.env("POSTKEEP_TEST_URLS", cluster.brokers.urls().join(","));
    }
    must(&mut command)
}

fn npm<const N: usize>(words: [&str; N]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(root().join("ui")).stdin(Stdio::null());
    command
}

fn node_in_ui<const N: usize>(words: [&str; N]) -> Command {
    let mut command = Command::new("node");
    command.args(words).current_dir(root().join("ui")).stdin(Stdio::null());
    command
}
