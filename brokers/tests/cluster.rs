//! Real servers, started and ended. Nothing here looks into streams; what the shipped user may do is in `accounts.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use brokers::{Accounts, Cluster, Plan, Sync, nats_server};

const SOON: Duration = Duration::from_secs(60);

/// Whether these tests are to be passed over.
fn unwanted() -> bool {
    nats_server().expect("a nats-server").is_none()
}

fn config(cluster: &Cluster, server: usize) -> String {
    std::fs::read_to_string(cluster.folder(server).join("nats-server.conf")).unwrap()
}

#[test]
fn one_server_comes_up_and_goes_with_its_cluster() {
    if unwanted() {
        return;
    }
    let cluster = Cluster::start(Plan::of(1)).unwrap();
    assert!(cluster.is_healthy(0));
    assert_eq!(cluster.name(0), "n1");
    assert_eq!(cluster.len(), 1);
    assert_eq!(cluster.ask(0, "/varz").unwrap()["server_name"], "n1");
    assert!(cluster.ask(0, "/nothing").is_err());
    assert!(cluster.rss(0) > 1_000_000, "{}", cluster.rss(0));
    let begin = Instant::now();
    while cluster.cpu(0).is_zero() {
        assert!(cluster.is_healthy(0) && begin.elapsed() < SOON, "to answer takes CPU, which is counted");
    }
    let (pid, root, monitor) = (cluster.pid(0).unwrap(), cluster.root(), cluster.monitor(0));
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    assert_eq!(program.file_name().unwrap(), "nats-server", "the process is the server and no script around it");
    drop(cluster);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!root.exists());
    assert!(TcpStream::connect(monitor).is_err());
}

#[test]
fn three_servers_lose_one_and_get_it_back() {
    if unwanted() {
        return;
    }
    let mut cluster = Cluster::start(Plan::of(3)).unwrap();
    assert_eq!(cluster.urls().len(), 3);
    assert!((0..3).all(|server| cluster.is_healthy(server)));
    cluster.kill(1).unwrap();
    assert_eq!(cluster.pid(1), None);
    assert!(!cluster.is_healthy(1));
    assert!(cluster.kill(1).is_err(), "it does not run any more");
    cluster.wait_healthy(SOON).expect("the other two are well");
    cluster.start_again(1).unwrap();
    cluster.wait_healthy(SOON).unwrap();
    assert!(cluster.is_healthy(1));
    cluster.stop(2).unwrap();
    cluster.start_again(2).unwrap();
    cluster.wait_healthy(SOON).unwrap();
}

#[test]
fn a_paused_server_answers_nothing_until_it_is_resumed() {
    if unwanted() {
        return;
    }
    let cluster = Cluster::start(Plan::of(1)).unwrap();
    cluster.pause(0).unwrap();
    assert!(!cluster.is_healthy(0));
    cluster.resume(0).unwrap();
    cluster.wait_healthy(SOON).unwrap();
}

/// A cluster in a `static` is dropped by nobody. This test starts itself again as such a process, and kills that.
#[test]
fn servers_end_with_the_process_that_started_them() {
    const NAME: &str = "servers_end_with_the_process_that_started_them";
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    if unwanted() || !cfg!(target_os = "linux") {
        return;
    }
    if std::env::var_os(NAME).is_some() {
        // On a thread that ends, as a test's does.
        let cluster = thread::spawn(|| CLUSTER.get_or_init(|| Cluster::start(Plan::of(1)).unwrap())).join().unwrap();
        println!("pid {}", cluster.pid(0).unwrap());
        thread::park();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", NAME, "--nocapture"]).env(NAME, "yes").stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let server: u32 = lines.find_map(|line| line.strip_prefix("pid ")?.parse().ok()).expect("a pid");
    let runs =
        || std::fs::read_to_string(format!("/proc/{server}/comm")).is_ok_and(|name| name.contains("nats-server"));
    assert!(runs(), "the end of the thread that asked for it is not its end");
    child.kill().unwrap();
    child.wait().unwrap();
    let begin = Instant::now();
    while runs() {
        assert!(begin.elapsed() < SOON, "the server lives on");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_named_folder_stays() {
    if unwanted() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("brokers-stay");
    let plan = Plan { folder: Some(folder.clone()), ..Plan::of(1) };
    drop(Cluster::start(plan.clone()).unwrap());
    assert!(folder.join("n1/store/jetstream").is_dir());
    drop(Cluster::start(plan).expect("the same once more"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_plan_says_who_may_connect_and_when_they_sync() {
    if unwanted() {
        return;
    }
    let shipped = Cluster::start(Plan::of(1)).unwrap();
    assert!(shipped.url(0).starts_with("nats://postkeep:postkeep@127.0.0.1:"), "{}", shipped.url(0));
    assert!(config(&shipped, 0).contains("sync_interval: always"));
    let plan = Plan { accounts: Accounts::Open, sync: Sync::Default, extra: "max_payload: 2MB".into(), ..Plan::of(1) };
    let open = Cluster::start(plan).unwrap();
    assert!(open.url(0).starts_with("nats://127.0.0.1:"), "{}", open.url(0));
    assert!(!config(&open, 0).contains("sync_interval"));
    assert!(config(&open, 0).contains("max_payload: 2MB"));
}

#[test]
fn a_port_that_was_taken_meanwhile_is_told() {
    if unwanted() {
        return;
    }
    let mut cluster = Cluster::start(Plan::of(1)).unwrap();
    cluster.stop(0).unwrap();
    let address = cluster.url(0).split('@').next_back().unwrap().to_owned();
    let taken = TcpListener::bind(&address).unwrap();
    // A start that meets these words tries other ports.
    let error = cluster.start_again(0).unwrap_err().to_string();
    assert!(error.contains("address already in use"), "{error}");
    drop(taken);
    cluster.start_again(0).unwrap();
}

#[test]
fn a_server_that_does_not_start_is_quoted() {
    if unwanted() {
        return;
    }
    let plan = Plan { extra: "nonsense: 1".into(), ..Plan::of(1) };
    let error = Cluster::start(plan).unwrap_err().to_string();
    assert!(error.contains("n1 ended by itself") && error.contains("nonsense"), "{error}");
}
