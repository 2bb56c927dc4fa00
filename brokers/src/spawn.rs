//! Starting a process that ends with this one, without a line of `unsafe`: `setpriv` asks the system for that, and then
//! becomes the program. Where there is no `setpriv`, nothing is asked.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};

type Order = (Command, SyncSender<io::Result<Child>>);

/// The system watches the *thread* that started a process, and a test's thread ends with the test. So one thread starts
/// them all, and it lives as long as this process.
static STARTER: LazyLock<Mutex<Sender<Order>>> = LazyLock::new(|| {
    let (orders, inbox) = channel::<Order>();
    thread::spawn(move || {
        for (mut command, answer) in inbox {
            // Whoever gave the order waits for the answer.
            let _ = answer.send(command.spawn());
        }
    });
    Mutex::new(orders)
});

/// A command for a program that ends when the thread that starts it ends, where the system can see to that. Then it is
/// also out of reach of a Ctrl-C in the terminal, so that whoever started it decides when it ends.
#[must_use]
pub fn tethered(program: &Path) -> Command {
    command(&[], program)
}

/// The same with words before the program that lead to it.
pub(crate) fn command(under: &[String], program: &Path) -> Command {
    let setpriv = setpriv();
    let tether = setpriv.clone().map(|path| [path.into_os_string(), "--pdeathsig".into(), "KILL".into()]);
    let mut words = under.iter().map(Into::into).chain(tether.into_iter().flatten()).chain([program.into()]);
    let mut command = Command::new(words.next().expect("the program is one of the words"));
    command.args(words);
    if setpriv.is_some() {
        command.process_group(0);
    }
    command
}

/// Start it, from a thread that does not end.
pub(crate) fn spawn(command: Command) -> Result<Child> {
    let shown = command.get_program().to_owned();
    let (answer, child) = sync_channel(1);
    let sent = STARTER.lock().unwrap_or_else(PoisonError::into_inner).send((command, answer));
    sent.ok()
        .and_then(|()| child.recv().ok())
        .context("the thread that starts servers is gone")?
        .with_context(|| format!("cannot start {}", shown.display()))
}

fn setpriv() -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|folder| folder.join("setpriv")).find(|path| path.is_file())
}
