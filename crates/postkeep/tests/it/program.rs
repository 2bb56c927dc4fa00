//! The binary as a child process: started, waited for, watched, signalled and cleared away.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
pub(crate) struct Program {
    child: Child,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// What stood on stdout first.
    pub(crate) ready: String,
    pub(crate) smtp: SocketAddr,
    pub(crate) http: SocketAddr,
    /// Where it runs: an empty directory of its own.
    pub(crate) dir: PathBuf,
}

/// The binary with an empty environment, for commands that end by themselves.
pub(crate) fn postkeep(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postkeep"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

/// Run to the end: exit code, stdout, stderr.
pub(crate) fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A fresh directory.
pub(crate) fn directory() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("it-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Look again and again until there is an answer.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Program {
    /// `postkeep serve` on free ports with these settings.
    pub(crate) fn start(settings: &[&str]) -> Self {
        Self::run(postkeep(&["serve"]), settings)
    }

    /// The same from a command of one's own, which takes `--set`.
    pub(crate) fn run(mut command: Command, settings: &[&str]) -> Self {
        let dir = directory();
        for setting in
            ["smtp.addr=127.0.0.1:0", "pop3.addr=127.0.0.1:0", "http.addr=127.0.0.1:0"].iter().chain(settings)
        {
            command.args(["--set", setting]);
        }
        let mut child = command.current_dir(&dir).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = Arc::new(Mutex::new(Vec::new()));
        gather(child.stderr.take().unwrap(), Arc::clone(&stderr));
        let mut ready = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut ready).unwrap();
        thread::spawn(move || {
            let mut more = String::new();
            let _ = stdout.read_to_string(&mut more);
            assert_eq!(more, "", "nothing but the ready line stands on stdout");
        });
        let json = ready.strip_prefix("ready ").unwrap_or_else(|| panic!("{ready:?}: {}", text(&stderr)));
        let addresses: serde_json::Value = serde_json::from_str(json).unwrap();
        let address = |name: &str| addresses[name].as_str().unwrap().parse().unwrap();
        Self { smtp: address("smtp"), http: address("http"), child, stderr, ready, dir }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of memory it has in use.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// What it has written to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        text(&self.stderr)
    }

    /// Wait until stderr holds this.
    pub(crate) fn wait_for(&self, what: &str) {
        until(what, || self.stderr().contains(what).then_some(()));
    }

    /// Its exit code, once it has one.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        until("the program's end", || self.child.try_wait().unwrap()).code()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Send a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn text(bytes: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.lock().unwrap()).into_owned()
}

fn gather(mut from: impl Read + Send + 'static, into: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            into.lock().unwrap().extend_from_slice(&piece[..count]);
        }
    });
}
