//! The receiver of docs/webhooks.md, run as it stands there against the real binary: the package that others verify
//! signatures with must accept ours.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::args::Args;
use crate::interop::tools::{pip, python};
use crate::load::server::{Server, binary, serve};
use crate::load::tools::Place;
use crate::shell::{output, root, run as must};

/// The version that is installed.
const PACKAGE: &str = "standardwebhooks==1.1.0";
const PATIENCE: Duration = Duration::from_secs(20);

/// `cargo xtask webhooks [--install] [--bin PATH]`
pub(crate) fn run(mut args: Args) -> Result<()> {
    let (install, bin) = (args.flag("--install"), args.value::<PathBuf>("--bin")?);
    args.finish()?;
    if install {
        pip(&[PACKAGE])?;
        if bin.is_none() {
            return Ok(());
        }
    }
    ensure!(is_installed(), "the package is not installed: cargo xtask webhooks --install");
    verify(&binary(bin)?)
}

/// The short form, for CI: where it is installed.
pub(crate) fn short(binary: PathBuf) -> Result<()> {
    if !is_installed() {
        println!("{PACKAGE} is not installed; cargo xtask webhooks --install");
        return Ok(());
    }
    verify(&binary)
}

fn is_installed() -> bool {
    python().is_file() && output(Command::new(python()).args(["-c", "import standardwebhooks"])).is_ok()
}

/// The first code of a language in the book.
fn example(language: &str) -> Result<String> {
    let book = fs::read_to_string(root().join("docs/webhooks.md"))?;
    let begin = format!("```{language}\n");
    let behind = book.split_once(&begin).with_context(|| format!("docs/webhooks.md has no {language}"))?.1;
    Ok(behind.split_once("```").context("the example has no end")?.0.to_owned())
}

fn verify(binary: &std::path::Path) -> Result<()> {
    let place = Place::new("webhooks")?;
    // The example has a port of its own; this one must be free.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let (script, config) = (place.file("receiver.py"), place.file("postkeep.toml"));
    fs::write(&script, example("python")?.replace("9000", &port))?;
    fs::write(&config, example("toml")?.replace("9000", &port))?;
    let mut receiver = Command::new(python()).arg("-u").arg(&script).stdout(Stdio::piped()).spawn()?;
    let stdout = receiver.stdout.take().context("stdout is a pipe")?;
    let (told, lines) = mpsc::channel();
    thread::spawn(move || BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| told.send(line)));
    let checked = told_of(binary, &config, &port, &lines);
    receiver.kill()?;
    receiver.wait()?;
    checked
}

fn told_of(
    binary: &std::path::Path,
    config: &std::path::Path,
    port: &str,
    lines: &mpsc::Receiver<String>,
) -> Result<()> {
    let begin = Instant::now();
    while std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
        ensure!(begin.elapsed() < PATIENCE, "the receiver does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    let mut command = Command::new(binary);
    serve(&mut command, &[]);
    command.arg("--config").arg(config);
    let server = Server::announced(command)?;
    let smtp = server.address("smtp")?.to_string();
    let words = ["send", "--smtp", &smtp, "--from", "a@x.test", "--to", "alice@example.com", "--subject", "Hello"];
    must(Command::new(binary).args(words).args(["--text", "Hello"]))?;
    let line = lines.recv_timeout(PATIENCE).context("the receiver believed nothing")?;
    ensure!(line == "message.delivered alice Hello", "the receiver said {line:?}");
    println!("standardwebhooks verified our signature: {line}");
    server.stop()
}
