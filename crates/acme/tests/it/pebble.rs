//! Pebble and its name server as processes of a test: found, configured, started, ended with the test.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustls_pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::authority::{Authority, connector};

const VARIABLE: &str = "POSTKEEP_PEBBLE";
const PATIENCE: Duration = Duration::from_secs(30);

/// What a test wants of its CA.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The port of every domain where the CA looks for proofs.
    pub(crate) http_port: u16,
    /// Of a hundred nonces, so many are refused.
    pub(crate) nonces_refused: u8,
    /// Seconds that its certificates live.
    pub(crate) validity: u64,
    /// A domain that it issues nothing for.
    pub(crate) blocked: &'static str,
}

/// A CA. Its ports are its own from the beginning, also while it does not run.
pub(crate) struct Pebble {
    pub(crate) directory: String,
    management: SocketAddr,
    pub(crate) authority: Authority,
    program: PathBuf,
    address: SocketAddr,
    names: Running,
    names_at: SocketAddr,
    pub(crate) plan: Plan,
    folder: PathBuf,
    running: Option<Running>,
}

/// Where Pebble is; none, and why on the standard output, when the test has to be passed over.
#[allow(clippy::print_stdout, reason = "a test that was passed over says so in its output")]
pub(crate) fn found() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|named| !named.is_empty());
    if named.as_ref().is_some_and(|named| named == "none") {
        println!("passed over: {VARIABLE} is `none`");
        return None;
    }
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    let cached = cache.map(|cache| cache.join("postkeep/interop/bin/pebble"));
    let paths = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&paths).map(|folder| folder.join("pebble"));
    let found = named.map(PathBuf::from).into_iter().chain(cached).chain(on_path).find(|path| path.is_file());
    if found.is_none() {
        println!(
            "passed over: there is no pebble; `go install github.com/letsencrypt/pebble/v2/cmd/pebble@latest \
             github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@latest`, or name it in {VARIABLE}"
        );
    }
    found
}

impl Pebble {
    /// Its name server runs, it does not yet.
    pub(crate) fn prepared(program: PathBuf, folder: &Path, plan: Plan) -> Self {
        let [address, management, names_at, names_managed] = free_ports();
        let mut names = Command::new(program.with_file_name("pebble-challtestsrv"));
        names.args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-defaultIPv6", ""]);
        names.args(["-dnsserver", &names_at.to_string(), "-management", &names_managed.to_string()]);
        let names = Running::start(names, names_managed);
        let authority = Authority::new(folder);
        let directory = format!("https://{address}/dir");
        let folder = folder.to_owned();
        Self { directory, management, authority, program, address, names, names_at, plan, folder, running: None }
    }

    /// Start it, with nothing of what it had before.
    pub(crate) fn start(&mut self) {
        self.names.must_run();
        let config = self.folder.join("pebble.json");
        fs::write(&config, self.config()).unwrap();
        let mut pebble = Command::new(&self.program);
        pebble.arg("-config").arg(config).arg("-dnsserver").arg(self.names_at.to_string());
        pebble.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        pebble.env("PEBBLE_WFE_NONCEREJECT", self.plan.nonces_refused.to_string());
        self.running = Some(Running::start(pebble, self.address));
    }

    /// End it.
    pub(crate) fn stop(&mut self) {
        self.running = None;
    }

    /// How often it wrote this since it was started.
    pub(crate) fn said(&self, what: &str) -> usize {
        self.running.as_ref().map_or(0, |running| running.said.lock().unwrap().matches(what).count())
    }

    /// Ask its management for something.
    pub(crate) async fn manage(&self, method: &str, path: &str, body: &str) -> String {
        let connector = connector(&fs::read(&self.authority.root).unwrap());
        let stream = tokio::net::TcpStream::connect(self.management).await.unwrap();
        let mut stream = connector.connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await.unwrap();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.0\r\nHost: localhost\r\nUser-Agent: a test\r\nContent-Length: {length}");
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // How the stream ends is of no matter.
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
        answer
    }

    fn config(&self) -> String {
        let Plan { http_port, validity, blocked, .. } = &self.plan;
        let (certificate, key) = (self.authority.certificate.display(), self.authority.key.display());
        format!(
            r#"{{"pebble": {{
                "listenAddress": "{}", "managementListenAddress": "{}",
                "certificate": "{certificate}", "privateKey": "{key}", "keyAlgorithm": "ecdsa",
                "httpPort": {http_port}, "tlsPort": 1, "domainBlocklist": ["{blocked}"],
                "retryAfter": {{ "authz": 1, "order": 1 }},
                "profiles": {{ "default": {{ "description": "the only one", "validityPeriod": {validity} }} }}
            }}}}"#,
            self.address, self.management
        )
    }
}

/// A process, ended when dropped.
struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Running {
    /// Start, and wait until the address answers.
    fn start(mut command: Command, address: SocketAddr) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                heard.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..length]));
            }
        });
        let mut running = Self { child, said };
        let begin = Instant::now();
        while TcpStream::connect(address).is_err() {
            running.must_run();
            assert!(begin.elapsed() < PATIENCE, "nobody listens on {address}");
            thread::sleep(Duration::from_millis(10));
        }
        running
    }

    fn must_run(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("it ended ({status}), and said:\n{}", self.said.lock().unwrap());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ports that nobody has at this moment.
fn free_ports<const N: usize>() -> [SocketAddr; N] {
    let held: [_; N] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    held.map(|listener| listener.local_addr().unwrap())
}
