//! A package of Debian's, unpacked below a root of its own instead of being installed, so that packages that exclude one
//! another can lie side by side. The libraries it needs are installed as usual.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rustix::process::geteuid;

use crate::interop::tools::{apt, cache};
use crate::shell::{output, run};

/// A file beside what is unpacked that tells the package's version.
const VERSION: &str = "version";

pub(super) struct Package(pub(super) &'static str);

impl Package {
    fn place(&self) -> PathBuf {
        cache().join("roots").join(self.0)
    }

    /// Where it is unpacked, or that it is not.
    pub(super) fn root(&self) -> Result<PathBuf, String> {
        let place = self.place();
        if place.is_dir() { Ok(place) } else { Err(format!("the package {} is not unpacked", self.0)) }
    }

    /// Its version, without what Debian's maintainers count.
    pub(super) fn version(&self) -> Result<String, String> {
        let text = fs::read_to_string(self.root()?.join(VERSION)).map_err(|error| error.to_string())?;
        let text = text.trim();
        Ok(text.rsplit_once('-').map_or(text, |(version, _)| version).to_owned())
    }

    /// Fetch it and unpack it. The root appears as the last step, whole.
    pub(super) fn unpack(&self) -> Result<()> {
        ensure!(geteuid().is_root(), "only root unpacks it with its owners and modes");
        let (place, draft) = (self.place(), self.place().with_extension("draft"));
        for old in [&place, &draft] {
            if old.exists() {
                fs::remove_dir_all(old)?;
            }
        }
        fs::create_dir_all(&draft)?;
        let fetch = |words: &[&str]| run(Command::new("apt-get").arg("-qq").args(words).current_dir(&draft));
        let download = || fetch(&["download", self.0]);
        download().or_else(|_| fetch(&["update"]).and_then(|()| download()))?;
        let archive = fs::read_dir(&draft)?.next().context("apt-get downloaded nothing")??.path();
        run(Command::new("dpkg-deb").arg("-x").args([&archive, &draft]))?;
        let field = |name: &str| output(Command::new("dpkg-deb").arg("-f").arg(&archive).arg(name));
        fs::write(draft.join(VERSION), field("Version")?)?;
        install_libraries(&field("Depends")?)?;
        fs::remove_file(&archive)?;
        Ok(fs::rename(&draft, &place)?)
    }
}

/// Install what is missing of the libraries among a package's dependencies: `libdb5.3, libssl3 (>= 3.0.0), adduser, …`.
fn install_libraries(depends: &str) -> Result<()> {
    let names = depends.split(',').filter_map(|one| one.split_whitespace().next());
    let missing: Vec<_> = names.filter(|name| name.starts_with("lib") && !is_installed(name)).collect();
    if missing.is_empty() { Ok(()) } else { apt(&missing) }
}

fn is_installed(name: &str) -> bool {
    let status = output(Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", name]));
    status.is_ok_and(|status| status.starts_with("installed"))
}
