//! The program on brokers: what a person is told when they are not there, when something is asked of them that they
//! cannot do, and where the mail is. What the engine does with mail its own tests tell.

use std::process::Command;

use crate::program::{directory, output, postkeep};

fn serve(settings: &[&str]) -> Command {
    let mut command = postkeep(&[
        "serve",
        "--set",
        "smtp.addr=127.0.0.1:0",
        "--set",
        "http.addr=127.0.0.1:0",
        "--set",
        "pop3.addr=127.0.0.1:0",
    ]);
    for setting in settings.iter().chain(&["store.engine=jetstream"]) {
        command.args(["--set", setting]);
    }
    command
}

#[test]
fn a_wait_too_short_for_an_election_is_refused() {
    let (code, stdout, stderr) = output(&mut serve(&["store.jetstream.wait_max=5s"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert_eq!(stderr, "--set: store.jetstream.wait_max takes 15s to 10m, not 5s\n");
}

#[test]
fn what_is_for_a_directory_says_what_to_do_with_brokers() {
    let dir = directory();
    for verb in [
        &["check"][..],
        &["backup", "there"],
        &["export", "--all", "--format", "eml", "--to", "there.tar"],
        &["import", "mail.tar", "--format", "eml"],
    ] {
        let mut command = postkeep(&["store"]);
        let command = command.args(verb).args(["--set", "store.engine=jetstream"]).current_dir(&dir);
        let (code, stdout, stderr) = output(command);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{verb:?}");
        assert!(
            stderr.starts_with("postkeep: the configuration keeps mail on brokers, not in a directory"),
            "{stderr}"
        );
        assert!(
            stderr.contains("--server") && stderr.contains("docs/scale.md") && stderr.contains("--path"),
            "{stderr}"
        );
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "nothing was made");
    std::fs::remove_dir_all(dir).unwrap();
}

/// With a directory named, the engine of the configuration does not matter.
#[test]
fn a_directory_that_is_named_is_taken_whatever_the_engine() {
    let dir = directory();
    let args = ["store", "check", "--path", "nothing", "--set", "store.engine=jetstream"];
    let (code, _, stderr) = output(postkeep(&args).current_dir(&dir));
    assert_eq!(code, Some(2));
    assert!(!stderr.contains("brokers"), "{stderr}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
#[cfg(not(feature = "jetstream"))]
fn a_program_without_the_engine_says_so() {
    let (code, _, stderr) = output(&mut serve(&[]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("built without the engine \"jetstream\""), "{stderr}");
}

#[cfg(feature = "jetstream")]
mod started {
    use std::net::TcpListener;
    use std::time::Instant;

    use brokers::{Cluster, Plan, Sync};

    use super::serve;
    use crate::http::{get, subjects};
    use crate::program::{PATIENCE, Program, output, until};
    use crate::smtp::{deliver, message};

    /// Where nobody listens.
    fn nowhere() -> String {
        let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        format!("store.jetstream.urls=nats://me:s3cret@{addr}")
    }

    #[test]
    fn brokers_that_are_not_there_end_the_start_with_what_to_do() {
        let begun = Instant::now();
        let (code, stdout, stderr) = output(&mut serve(&[&nowhere(), "store.jetstream.wait_max=15s"]));
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
        assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
        let said = stderr.lines().last().unwrap();
        assert!(said.starts_with("postkeep: no broker can be reached at nats://"), "{stderr}");
        assert!(said.contains("start the brokers") && said.contains("store.jetstream.urls"), "{stderr}");
        assert!(!stderr.contains("s3cret"), "{stderr}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_start_that_waits_for_brokers_can_be_stopped() {
        use rustix::process::{Pid, Signal, kill_process};
        // Not much longer than the test waits, so that none is left behind if it does not hear.
        let mut child = serve(&[&nowhere(), "store.jetstream.wait_max=45s"]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        // Until it hears signals, one ends it without an exit code; so it is asked only once it listens.
        until("it hears signals", || hears_signals(&child).then_some(()));
        kill_process(pid, Signal::TERM).unwrap();
        let ended = until("its end", || child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0));
    }

    /// Whether a process has a handler for SIGTERM, as the system tells it.
    #[cfg(target_os = "linux")]
    fn hears_signals(child: &std::process::Child) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (15 - 1)) != 0
    }

    /// One broker; none where there is no nats-server and that was said to be meant.
    fn broker(sync: Sync) -> Option<Cluster> {
        brokers::nats_server().unwrap()?;
        Some(Cluster::start(Plan { sync, ..Plan::of(1) }).unwrap())
    }

    fn on(cluster: &Cluster) -> Vec<String> {
        let urls = format!("store.jetstream.urls={}", cluster.url(0));
        vec!["store.engine=jetstream".into(), "store.jetstream.replicas=1".into(), urls]
    }

    #[test]
    fn mail_on_a_broker_is_seen_by_every_process_and_outlives_them() {
        let Some(cluster) = broker(Sync::Always) else { return };
        let settings = on(&cluster);
        let settings: Vec<_> = settings.iter().map(String::as_str).collect();
        let (one, other) = (Program::start(&settings), Program::start(&settings));
        one.wait_for("on the broker at 127.0.0.1:");
        one.wait_for(", through a power cut; at most 500 messages in a mailbox, for 7d");
        assert!(!one.stderr().contains("postkeep:postkeep@"), "{}", one.stderr());
        deliver(one.smtp, "bob@example.com", &message("kept"));
        assert_eq!(subjects(other.http, "bob"), ["kept"]);
        drop((one, other));
        let third = Program::start(&settings);
        assert_eq!(subjects(third.http, "bob"), ["kept"]);
        until("it is ready", || (get(third.http, "/readyz").status == 200).then_some(()));
    }

    #[test]
    fn a_broker_that_does_not_sync_is_refused_unless_that_is_waived() {
        let Some(cluster) = broker(Sync::Default) else { return };
        let settings = on(&cluster);
        let mut settings: Vec<_> = settings.iter().map(String::as_str).collect();
        let (code, stdout, stderr) = output(&mut serve(&settings));
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
        assert!(stderr.contains("sync_interval: always") && stderr.contains("sync_waived"), "{stderr}");
        settings.push("store.jetstream.sync_waived=true");
        let program = Program::start(&settings);
        program.wait_for("as long as it has power");
    }
}
