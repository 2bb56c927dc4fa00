//! A server as a child process: started on free loopback ports, found by its `ready` line, stopped as a user would.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;

use crate::shell::{built, cargo, run, which};

const PATIENCE: Duration = Duration::from_secs(35);

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: Child,
    listeners: Value,
    /// From exec to the line that says it is ready.
    pub(crate) ready_after: Duration,
}

/// A server that was started and has not said yet that it is ready; killed when dropped.
pub(crate) struct Starting {
    server: Server,
    begin: Instant,
}

impl Starting {
    /// Run a program that prints `ready {"name":"address",…}` once it listens; its stderr goes to this file.
    pub(crate) fn new(mut command: Command, log: File) -> Result<Self> {
        let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("POSTKEEP_"));
        for (name, _) in own {
            command.env_remove(name);
        }
        command.current_dir(std::env::temp_dir()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let begin = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        Ok(Self { server: Server { child, listeners: Value::Null, ready_after: Duration::ZERO }, begin })
    }

    /// Wait for the line that says so.
    pub(crate) fn ready(mut self) -> Result<Server> {
        self.listen()?;
        Ok(self.server)
    }

    /// The same for one that may die on its way; then, how it ended.
    pub(crate) fn ready_or_dead(mut self) -> Result<Result<Server, ExitStatus>> {
        match self.listen() {
            Ok(()) => Ok(Ok(self.server)),
            Err(error) if error.is::<RecvTimeoutError>() => Err(error),
            // Without a line its stdout was closed, so it is ending.
            Err(_) => Ok(Err(self.server.wait()?)),
        }
    }

    fn listen(&mut self) -> Result<()> {
        let Self { server, begin } = self;
        let stdout = server.child.stdout.take().expect("stdout is a pipe");
        let (told, line) = mpsc::channel();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            let read = stdout.read_line(&mut line).map(|_| line);
            // Nobody waits any more when it took too long. Read on, so that the program can go on writing.
            let _ = told.send(read);
            let _ = std::io::copy(&mut stdout, &mut std::io::sink());
        });
        let line = line.recv_timeout(PATIENCE).with_context(|| format!("it was not ready within {PATIENCE:?}"))??;
        server.ready_after = begin.elapsed();
        let listeners = line.strip_prefix("ready ").context("it did not get ready")?;
        server.listeners = serde_json::from_str(listeners).context("the ready line holds no JSON")?;
        Ok(())
    }
}

/// The binary to measure: the one that was named, or a fresh release build.
pub(crate) fn binary(named: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(path) = named {
        return path.canonicalize().with_context(|| format!("there is no {}", path.display()));
    }
    run(&mut cargo(["build", "--release", "--package", "postkeep"]))?;
    Ok(built()?.join("postkeep"))
}

/// The words that make postkeep serve on free ports with these settings besides.
pub(crate) fn serve(command: &mut Command, settings: &[&str]) {
    command.arg("serve");
    for setting in ["smtp.addr=127.0.0.1:0", "pop3.addr=127.0.0.1:0", "http.addr=127.0.0.1:0"].iter().chain(settings) {
        command.args(["--set", setting]);
    }
}

impl Server {
    /// Start postkeep on free ports with these settings besides.
    pub(crate) fn postkeep(binary: &Path, settings: &[&str]) -> Result<Self> {
        let mut command = Command::new(binary);
        serve(&mut command, settings);
        Self::announced(command)
    }

    /// Start a program that prints `ready {"name":"address",…}` once it listens.
    pub(crate) fn announced(command: Command) -> Result<Self> {
        let log = std::env::temp_dir().join(format!("postkeep-xtask-{}.log", std::process::id()));
        let file = File::create(&log)?;
        let said = || fs::read_to_string(&log).unwrap_or_default();
        Starting::new(command, file)?.ready().map_err(|error| error.context(said().trim().to_owned()))
    }

    /// Start Postfix's sink on a free port.
    pub(crate) fn sink() -> Result<Self> {
        let program = which("smtp-sink").context("smtp-sink is missing: install the Debian package postfix")?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(program);
        if geteuid().is_root() {
            command.args(["-u", "nobody"]); // it refuses to be root
        }
        let child = command.args([&address.to_string(), "1024"]).stdin(Stdio::null()).spawn()?;
        let listeners = serde_json::json!({ "smtp": address.to_string() });
        let begin = Instant::now();
        let server = Self { child, listeners, ready_after: Duration::ZERO };
        while TcpStream::connect(address).is_err() {
            ensure!(begin.elapsed() < PATIENCE, "smtp-sink does not listen");
            sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    /// Where a listener was bound.
    pub(crate) fn address(&self, listener: &str) -> Result<SocketAddr> {
        let text = self.listeners[listener].as_str().with_context(|| format!("it has no listener {listener}"))?;
        text.parse().with_context(|| format!("{text} is no address"))
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Send it a signal. One that has ended and was not waited for takes it, and nothing happens.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Wait for its end.
    pub(crate) fn wait(mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// End it politely; it must end well.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "on SIGTERM it ended with {status}");
                return Ok(());
            }
            sleep(Duration::from_millis(5));
        }
        bail!("on SIGTERM it did not end within {PATIENCE:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already: then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
