//! Where the programs of the trial lie and how they come onto a machine: from Debian's packages when we are root, the rest
//! into a folder of the cache. And how one is run: to its end, but not longer than patience lasts.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::geteuid;

use crate::shell::{output, root, run, which};

/// The folder for what is installed besides packages; it outlives the checkout.
pub(crate) fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    cache.join("postkeep/interop")
}

/// The scripts of the trial.
pub(crate) fn scripts() -> PathBuf {
    root().join("xtask/interop")
}

/// A program on the PATH, or why there is none.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    which(name).ok_or_else(|| format!("`{name}` is not installed"))
}

/// What a program prints about itself, first line, or why it prints nothing.
pub(crate) fn told(command: &mut Command) -> Result<String, String> {
    let text = output(command.stdin(Stdio::null())).map_err(|error| first_line(&format!("{error:#}")))?;
    Ok(first_line(&text))
}

pub(crate) fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().trim().to_owned()
}

/// Install Debian packages.
pub(crate) fn apt(packages: &[&str]) -> Result<()> {
    ensure!(geteuid().is_root(), "only root installs packages: `apt-get install {}`", packages.join(" "));
    let install = |words: &[&str]| {
        run(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(words).stdin(Stdio::null()))
    };
    let words: Vec<_> = ["-qqy", "install", "--no-install-recommends"].iter().chain(packages).copied().collect();
    install(&words).or_else(|_| install(&["-qq", "update"]).and_then(|()| install(&words)))
}

/// The Python that has what `pip` installed.
pub(crate) fn python() -> PathBuf {
    cache().join("venv/bin/python")
}

/// Make that Python's environment, unless it is there.
pub(crate) fn environment() -> Result<()> {
    if python().is_file() {
        return Ok(());
    }
    let make =
        || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(cache().join("venv")).stdin(Stdio::null()));
    make().or_else(|_| apt(&["python3", "python3-venv"]).and_then(|()| make()))
}

/// Install Python packages into it.
pub(crate) fn pip(packages: &[&str]) -> Result<()> {
    environment()?;
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(python()).args(words).args(packages).stdin(Stdio::null()))
}

/// How a program ended, and what it printed.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Run a program to its end with a file as its input. Its output goes through files below the folder, so that it can write
/// as much as it likes. One that takes longer than patience lasts is killed, and that is an error.
pub(crate) fn finish(command: &mut Command, input: Option<&Path>, folder: &Path, patience: Duration) -> Result<Ended> {
    let files = [folder.join("stdout"), folder.join("stderr")];
    let stdin = input.map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?;
    command.stdin(stdin).stdout(File::create(&files[0])?).stderr(File::create(&files[1])?);
    let mut child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            bail!("{:?} did not end within {patience:?}", command.get_program());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let stderr = String::from_utf8_lossy(&fs::read(&files[1])?).into_owned();
    Ok(Ended { status, stdout: fs::read(&files[0])?, stderr })
}
