//! Schemathesis against the real binary on each engine: requests made from the API's own description, good and bad, and
//! every answer held against it. No answer may be an error of the server, nor of another form than was told.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::args::Args;
use crate::interop::tools::{cache, pip};
use crate::load::cluster::{Cluster, possible};
use crate::load::folder::Folder;
use crate::load::server::{Server, binary};
use crate::load::tools::Place;
use crate::shell::{root, run as must};

/// The version that is installed.
const PACKAGE: &str = "schemathesis==4.32.5";
/// Checks that hold whatever was asked.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// A stream has no end that a client could wait for.
const ENDLESS: &str = "watchEvents";
/// What a node of a cluster answers 501 to, as it should.
const WHOLE: [&str; 3] = ["listRecent", "purgeAll", "waitAnywhere"];
/// Nobody waits long for mail that does not come.
const SETTINGS: [&str; 2] = ["wait.timeout_default=0s", "wait.timeout_max=1s"];

/// `cargo xtask schemathesis [--engine NAME] [--examples N] [--seed N] [--install] [--bin PATH]`
pub(crate) fn run(mut args: Args) -> Result<()> {
    let install = args.flag("--install");
    let (engine, examples) = (args.value::<String>("--engine")?, args.value("--examples")?.unwrap_or(20_u32));
    let (seed, bin) = (args.value("--seed")?.unwrap_or(1_u64), args.value::<PathBuf>("--bin")?);
    args.finish()?;
    if install {
        return pip(&[PACKAGE]);
    }
    ensure!(program().is_file(), "Schemathesis is not installed: cargo xtask schemathesis --install");
    let binary = binary(bin)?;
    let wanted = |name: &str| engine.as_deref().is_none_or(|engine| engine == name);
    if wanted("memory") {
        let server = Server::postkeep(&binary, &SETTINGS)?;
        ask("memory", &server, examples, seed, &[])?;
        server.stop()?;
    }
    if wanted("disk") {
        let folder = Folder::new("schemathesis")?;
        let server = folder.serve(&binary, &SETTINGS)?;
        ask("disk", &server, examples, seed, &[])?;
        server.stop()?;
    }
    if wanted("jetstream") && possible()? {
        let (cluster, place) = (Cluster::start(&binary, &[])?, Place::new("schemathesis")?);
        // Nodes of a cluster open inboxes only with a key of their own. It keeps no secret here.
        std::fs::write(place.file("keys"), format!("{}\n", "5a".repeat(32)))?;
        let key = format!("access.key_file={}", place.file("keys").display());
        let server = cluster.node(&[SETTINGS[0], SETTINGS[1], &key])?;
        ask("jetstream", &server, examples, seed, &WHOLE)?;
        server.stop()?;
    }
    Ok(())
}

/// The short form, for CI: where it is installed.
pub(crate) fn short(binary: PathBuf) -> Result<()> {
    if !program().is_file() {
        println!("Schemathesis is not installed; cargo xtask schemathesis --install");
        return Ok(());
    }
    let server = Server::postkeep(&binary, &SETTINGS)?;
    ask("memory", &server, 5, 1, &[])?;
    server.stop()
}

fn program() -> PathBuf {
    cache().join("venv/bin/schemathesis")
}

fn ask(engine: &str, server: &Server, examples: u32, seed: u64, without: &[&str]) -> Result<()> {
    println!("Schemathesis, {engine}");
    let url = format!("http://{}/api/v2/openapi.json", server.address("http")?);
    let mut command = Command::new(program());
    command.env("PYTHONPATH", root().join("xtask/schemathesis")).env("SCHEMATHESIS_HOOKS", "postkeep_hooks");
    command.args(["run", &url, "--checks", CHECKS, "--no-color", "--request-timeout", "90", "--continue-on-failure"]);
    command.args(["--max-examples", &examples.to_string(), "--seed", &seed.to_string()]);
    command.args(["--generation-database", "none", "--warnings", "off"]);
    for name in without.iter().chain(&[ENDLESS]) {
        command.args(["--exclude-operation-id", name]);
    }
    must(&mut command)
}
