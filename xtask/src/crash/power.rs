//! Power loss: an ext4 file system in a sparse file, mounted over a loop device, that is shut down without flushing its
//! journal. What the server had not synced by then is gone, as it would be with the machine.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::geteuid;

use crate::shell::{run, which};

const SIZE: u64 = 256 << 20;
/// EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH, as soon as a line comes. There is no safe call for it in Rust.
const SHUTDOWN: &str = "import fcntl,os,struct,sys
disk = os.open(sys.argv[1], os.O_RDONLY)
print('armed', flush=True)
if sys.stdin.readline():
    fcntl.ioctl(disk, 0x8004587D, struct.pack('I', 2))";

/// The file system; unmounted when dropped.
pub(crate) struct Image {
    file: PathBuf,
    pub(crate) mounted_at: PathBuf,
}

/// Why there can be no image here, if there cannot.
pub(crate) fn missing() -> Option<String> {
    if !geteuid().is_root() {
        return Some("mounting needs root: run it as root, in a virtual machine or a container of your own".into());
    }
    let needed = [("mkfs.ext4", "e2fsprogs"), ("mount", "mount"), ("python3", "python3")];
    let lacking = needed.iter().find(|(program, _)| which(program).is_none());
    if let Some((program, package)) = lacking {
        return Some(format!("{program} is missing: install the Debian package {package}"));
    }
    let loops = Path::new("/dev/loop-control").exists();
    (!loops).then(|| "there are no loop devices here: run it where /dev/loop-control exists".into())
}

impl Image {
    /// One for a single server.
    pub(super) fn new(work: &Path) -> Result<Self> {
        Self::at(work.join("disk"), SIZE)
    }

    /// One of this size, mounted here, in a file beside it.
    pub(crate) fn at(mounted_at: PathBuf, size: u64) -> Result<Self> {
        let image = Self { file: mounted_at.with_extension("img"), mounted_at };
        fs::create_dir_all(&image.mounted_at)?;
        File::create(&image.file)?.set_len(size)?;
        run(Command::new(program("mkfs.ext4")?).arg("-q").arg(&image.file))?;
        image.mount()?;
        Ok(image)
    }

    fn mount(&self) -> Result<()> {
        run(Command::new(program("mount")?).args(["-o", "loop"]).arg(&self.file).arg(&self.mounted_at))
    }

    /// Make ready to cut the power, so that it takes no time when the moment comes.
    pub(crate) fn arm(&self) -> Result<Switch> {
        let mut command = Command::new(program("python3")?);
        command.args(["-c", SHUTDOWN]).arg(&self.mounted_at).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot run python3")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout is a pipe")).read_line(&mut line)?;
        ensure!(line == "armed\n", "python3 cannot open {}", self.mounted_at.display());
        Ok(Switch(child))
    }

    /// The power comes back: ext4 replays its journal.
    pub(crate) fn remount(&self) -> Result<()> {
        self.unmount()?;
        self.mount()
    }

    /// A process that was killed a moment ago may still hold it.
    fn unmount(&self) -> Result<()> {
        for _ in 0..100 {
            let unmounted = Command::new(program("umount")?).arg(&self.mounted_at).output()?;
            if unmounted.status.success() {
                return Ok(());
            }
            sleep(Duration::from_millis(20));
        }
        bail!("{} cannot be unmounted: see `fuser -m` for who holds it", self.mounted_at.display())
    }
}

/// A hand on the switch.
pub(crate) struct Switch(Child);

impl Switch {
    /// The power goes.
    pub(crate) fn cut(mut self) -> Result<()> {
        self.0.stdin.take().expect("stdin is a pipe").write_all(b"now\n")?;
        let status = self.0.wait()?;
        ensure!(status.success(), "the file system cannot be shut down: python3 ended with {status}");
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if self.unmount().is_err() {
            println!("{} is still mounted: `umount` it", self.mounted_at.display());
        }
    }
}

fn program(name: &str) -> Result<PathBuf> {
    which(name).with_context(|| format!("{name} is missing"))
}
