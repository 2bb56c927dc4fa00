//! A place of its own for a mail server that expects to be the machine's only one: namespaces in which it finds its users,
//! its package, empty folders for its state, and the certificate to trust. When it ends every process in it has ended.
//! It keeps no secrets in and no attacker out.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::intake::Intake;
use crate::interop::site::Site;

/// Where the unpacked package and the program's folder are found inside.
pub(super) const PACKAGE: &str = "/mnt/package";
pub(super) const WORK: &str = "/mnt/work";

/// What the server said, in its folder.
pub(super) const SAID: &str = "said";

const PATIENCE: Duration = Duration::from_secs(20);
/// Users of all relays, and groups of the same names.
const USERS: [&str; 5] = ["postfix", "postdrop", "Debian-exim", "opensmtpd", "opensmtpq"];
/// The first number for a user whom the machine does not have.
const FIRST_ID: usize = 64_100;

/// The words are: package, work, and another script to run. It ends as soon as nobody holds its input any more, and
/// with it, as the first process of its namespace, everything else.
const SCRIPT: &str = "\
set -eu
mount -t tmpfs tmpfs /mnt
mkdir /mnt/package /mnt/work
mount --bind \"$1\" /mnt/package
mount --bind \"$2\" /mnt/work
for state in /var/lib /var/spool /run; do mount -t tmpfs -o mode=755 tmpfs $state; done
cd /mnt/work
for file in passwd group hosts; do mount --bind etc/$file /etc/$file; done
mount --bind etc/trust /etc/ssl/certs/ca-certificates.crt
sh -euc \"$3\" &
read -r _ || true
";

pub(super) struct Jail {
    child: Child,
    log: PathBuf,
}

impl Jail {
    /// Run a shell's script in it, whose last command is a server in the foreground, and wait until that greets on this
    /// port.
    pub(super) fn start(package: &Path, site: &Site, script: &str, port: u16) -> Result<Self> {
        furnish(site)?;
        let log = site.folder.join(SAID);
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SCRIPT, "jail"]);
        command.args([package, &site.folder]).arg(script);
        command.stdin(Stdio::piped()).stdout(File::create(&log)?).stderr(File::options().append(true).open(&log)?);
        let mut jail = Self { child: command.spawn().context("cannot run unshare (package util-linux)")?, log };
        jail.greeted(port).with_context(|| format!("the relay did not start: {}", jail.said()))?;
        Ok(jail)
    }

    fn greeted(&mut self, port: u16) -> Result<()> {
        let begin = Instant::now();
        while Intake::open(port).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the jail ended with {status}");
            }
            if begin.elapsed() > PATIENCE {
                bail!("it does not greet within {PATIENCE:?}");
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// What the server said, its last lines.
    pub(super) fn said(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }

    /// End everything in it, and wait until it has gone.
    pub(super) fn end(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        // It may have ended already: then there is nothing to do.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A port of the loopback that nobody listens on.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The machine's files, with what the relays miss in them.
fn furnish(site: &Site) -> Result<()> {
    let etc = site.folder.join("etc");
    fs::create_dir_all(&etc)?;
    let known = |text: &str, name: &str| text.lines().any(|line| line.split(':').next() == Some(name));
    let (mut passwd, mut group) = (fs::read_to_string("/etc/passwd")?, fs::read_to_string("/etc/group")?);
    for (id, name) in (FIRST_ID..).zip(USERS) {
        if !known(&passwd, name) {
            passwd.push_str(&format!("{name}:x:{id}:{id}::/nonexistent:/usr/sbin/nologin\n"));
        }
        if !known(&group, name) {
            group.push_str(&format!("{name}:x:{id}:\n"));
        }
    }
    fs::write(etc.join("passwd"), passwd)?;
    fs::write(etc.join("group"), group)?;
    // The server under trial listens on IPv4 alone, and who asks for localhost shall not try anything else first.
    fs::write(etc.join("hosts"), format!("127.0.0.1 localhost\n127.0.0.1 {}\n", super::HOSTNAME))?;
    fs::copy(&site.trust, etc.join("trust"))?;
    for open in [&site.folder, &etc] {
        fs::set_permissions(open, fs::Permissions::from_mode(0o755))?;
    }
    fs::set_permissions(etc.join("trust"), fs::Permissions::from_mode(0o644))?;
    Ok(())
}
