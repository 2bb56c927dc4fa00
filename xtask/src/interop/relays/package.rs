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

pub(super) struct Package {
    pub(super) name: &'static str,
    /// Packages with libraries that it needs and that most machines have not.
    pub(super) libraries: &'static [&'static str],
}

impl Package {
    fn place(&self) -> PathBuf {
        cache().join("roots").join(self.name)
    }

    /// Where it is unpacked, or that it is not.
    pub(super) fn root(&self) -> Result<PathBuf, String> {
        let place = self.place();
        if place.is_dir() { Ok(place) } else { Err(format!("the package {} is not unpacked", self.name)) }
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
        if !self.libraries.is_empty() {
            apt(self.libraries)?;
        }
        let (place, draft) = (self.place(), self.place().with_extension("draft"));
        for old in [&place, &draft] {
            if old.exists() {
                fs::remove_dir_all(old)?;
            }
        }
        fs::create_dir_all(&draft)?;
        run(Command::new("apt-get").args(["-qq", "download", self.name]).current_dir(&draft))?;
        let archive = fs::read_dir(&draft)?.next().context("apt-get downloaded nothing")??.path();
        run(Command::new("dpkg-deb").arg("-x").args([&archive, &draft]))?;
        fs::write(draft.join(VERSION), output(Command::new("dpkg-deb").arg("-f").arg(&archive).arg("Version"))?)?;
        fs::remove_file(&archive)?;
        Ok(fs::rename(&draft, &place)?)
    }
}
