//! What the tests share: a folder, a listener where the CA finds proofs, a log that can be read, and a notary that runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs, process};

use acme::{Challenges, Fetch, Fetcher, Fetching, Notary, Pace, Settings, Unfetched};
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::subscriber::DefaultGuard;

use crate::pebble::{self, Pebble, Plan};

/// Nothing here takes as long on a machine that is not stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the CA finds at the domains.
#[derive(Clone, Default)]
pub(crate) struct Proofs {
    pub(crate) challenges: Arc<Mutex<Challenges>>,
    /// Answered instead, while it is there.
    pub(crate) wrong: Arc<Mutex<Option<String>>>,
}

/// One test's world.
pub(crate) struct Rig {
    pub(crate) pebble: Pebble,
    pub(crate) proofs: Proofs,
    pub(crate) log: Log,
    pub(crate) scratch: Scratch,
}

impl Rig {
    /// A CA that is prepared and not started; none when there is no Pebble.
    pub(crate) async fn new(test: &str, change: impl FnOnce(&mut Plan)) -> Option<Self> {
        let program = pebble::found()?;
        let (scratch, log) = (Scratch::new(test), Log::hear());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let http_port = listener.local_addr().unwrap().port();
        let mut plan = Plan { http_port, nonces_refused: 0, validity: 90 * 86400, blocked: "blocked.example" };
        change(&mut plan);
        let proofs = Proofs::default();
        tokio::spawn(serve(listener, proofs.clone()));
        let pebble = Pebble::prepared(program, &scratch.0, plan);
        Some(Self { pebble, proofs, log, scratch })
    }

    /// The same, started.
    pub(crate) async fn started(test: &str, change: impl FnOnce(&mut Plan)) -> Option<Self> {
        let mut rig = Self::new(test, change).await?;
        rig.pebble.start();
        Some(rig)
    }

    /// Settings for this CA, in a hurry.
    pub(crate) fn settings(&self, domains: &[&str]) -> Settings {
        settings(&self.pebble.directory, &self.pebble.authority.root, &self.scratch.0, domains)
    }

    /// Run a notary; what it tells comes out of the one that is returned.
    pub(crate) fn run(&self, notary: Notary) -> Service {
        *self.proofs.challenges.lock().unwrap() = notary.challenges();
        Service::start(notary)
    }

    /// Wait until the CA has written this so often.
    pub(crate) async fn said(&self, what: &str, times: usize) {
        until(&format!("the CA to say {what:?}"), || self.pebble.said(what) >= times).await;
    }

    /// The file with the account.
    pub(crate) fn account(&self, notary_path: &Path) -> Vec<u8> {
        fs::read(notary_path.with_file_name("account.json")).unwrap()
    }
}

/// Settings in a hurry.
pub(crate) fn settings(directory: &str, root: &Path, folder: &Path, domains: &[&str]) -> Settings {
    let soon = Duration::from_millis(200);
    Settings {
        domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
        email: Some("operator@example.com".to_owned()),
        directory: directory.to_owned(),
        ca: Some(root.to_owned()),
        terms_agreed: true,
        folder: folder.join("tls"),
        pace: Pace { check_every: soon, unreached: soon, refused: soon, limited: soon, longest: soon },
        fetcher: Fetcher(Arc::new(Outbound)),
    }
}

/// The client that the program hands in.
struct Outbound;

impl Fetch for Outbound {
    fn fetch(&self, ca: Option<&Path>, request: hyper::Request<Bytes>) -> Fetching {
        let roots = ca.map_or(outbound::Roots::Machine, |path| outbound::Roots::File(path.to_owned()));
        let settings =
            outbound::Settings { roots, body_max: 1 << 20, timeout: Duration::from_secs(30), ..Default::default() };
        let (parts, body) = request.into_parts();
        let mut asked = outbound::Request::new(parts.method, parts.uri.to_string(), outbound::Trust::Configured);
        (asked.headers, asked.body, asked.redirects) = (parts.headers, body, outbound::Redirects::Stop);
        Box::pin(async move {
            let answer = outbound::Client::new(settings).send(asked).await.map_err(unfetched)?;
            let mut response = hyper::Response::new(answer.body);
            (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers);
            Ok(response)
        })
    }
}

fn unfetched(error: outbound::Error) -> Unfetched {
    match error {
        outbound::Error::Roots { what } => Unfetched::Roots(format!("acme.ca, {what}")),
        outbound::Error::Unreached { what, .. } | outbound::Error::Failed { what, .. } => Unfetched::Unreached(what),
        error => Unfetched::Unreached(error.to_string()),
    }
}

/// A notary at work, ended when dropped.
pub(crate) struct Service {
    told: UnboundedReceiver<(Vec<u8>, Vec<u8>)>,
    running: JoinHandle<()>,
}

impl Service {
    pub(crate) fn start(notary: Notary) -> Self {
        let (tell, told) = unbounded_channel();
        let running = tokio::spawn(notary.run(move |chain, key| drop(tell.send((chain, key)))));
        Self { told, running }
    }

    /// The next pair that is told.
    pub(crate) async fn pair(&mut self) -> (Vec<u8>, Vec<u8>) {
        timeout(PATIENCE, self.told.recv()).await.expect("no certificate came in time").expect("it runs for ever")
    }

    /// How many more were told so far.
    pub(crate) fn told(&self) -> usize {
        self.told.len()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Wait for what must come.
pub(crate) async fn until(what: &str, come: impl Fn() -> bool) {
    let waiting = async {
        while !come() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("waited in vain for {what}"));
}

async fn serve(listener: TcpListener, proofs: Proofs) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, proofs.clone()));
    }
}

/// As our HTTP listener would: the path and nothing else decides.
async fn answer(stream: TcpStream, proofs: Proofs) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    let mut line = first.clone();
    while line.trim() != "" {
        line.clear();
        stream.read_line(&mut line).await?;
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let wrong = proofs.wrong.lock().unwrap().clone();
    let proof = wrong.or_else(|| proofs.challenges.lock().unwrap().answer_to(path));
    let (status, body) = proof.map_or(("404 Not Found", String::new()), |proof| ("200 OK", proof));
    let length = body.len();
    let reply = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await
}

/// A directory of one test, gone with it.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(test: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("acme-it-{}-{number}-{test}", process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What this thread logs, until the value is dropped. The tests' runtimes have one thread each.
#[derive(Clone)]
pub(crate) struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    _heard: Arc<DefaultGuard>,
}

impl Log {
    pub(crate) fn hear() -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let writer = Writer(Arc::clone(&text));
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        Self { text, _heard: Arc::new(tracing::subscriber::set_default(subscriber)) }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.text.lock().unwrap().clone()).unwrap()
    }

    /// Wait until a line has all of these, and return it.
    pub(crate) async fn line(&self, parts: &[&str]) -> String {
        let find = || self.text().lines().find(|line| parts.iter().all(|part| line.contains(part))).map(str::to_owned);
        let waiting = async {
            loop {
                match find() {
                    Some(line) => break line,
                    None => sleep(Duration::from_millis(10)).await,
                }
            }
        };
        let found = timeout(PATIENCE, waiting).await;
        found.unwrap_or_else(|_| panic!("no line with {parts:?} in:\n{}", self.text()))
    }
}

#[derive(Clone)]
struct Writer(Arc<Mutex<Vec<u8>>>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
