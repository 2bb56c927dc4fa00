//! `xtask cluster` as somebody runs it, with real brokers and no node: nodes need a binary that is built elsewhere.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder for one test, not there yet; `None` when tests with brokers are to be passed over.
fn folder(name: &str) -> Option<PathBuf> {
    brokers::nats_server().expect("a nats-server")?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    Some(folder)
}

fn xtask(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let (own, others) = words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
    command.arg("cluster").args(own).arg("--folder").arg(folder).args(others);
    command
}

fn says(folder: &Path, words: &[&str]) -> String {
    let Output { status, stdout, stderr } = xtask(folder, words).output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    format!("{}{text}", if status.success() { "" } else { "FAILED " })
}

/// Killed when the test does not come to its end; then its brokers end, too.
struct Up(Child);

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_cluster_is_up_until_it_is_told_to_go_down() {
    let Some(folder) = folder("up") else { return };
    assert!(says(&folder, &["status"]).starts_with("FAILED no cluster runs in "));
    let mut up = Up(xtask(&folder, &["up", "--nodes", "0", "--servers", "1"]).stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(up.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("broker  "));
    assert!(lines.next().unwrap().starts_with("n1      nats://postkeep:postkeep@127.0.0.1:"));
    assert!(lines.any(|line| line.contains("cluster down")), "it says how to stop it");

    assert!(says(&folder, &["status"]).contains("n1      healthy"));
    assert!(says(&folder, &["up", "--nodes", "0"]).contains("runs in"), "one folder, one cluster");
    assert!(says(&folder, &["wipe"]).starts_with("FAILED"), "not while it runs");
    assert_eq!(says(&folder, &["broker", "kill"]), "n1 is killed\n");
    assert!(says(&folder, &["status"]).contains("n1      down"));
    assert!(says(&folder, &["broker", "kill", "n1"]).starts_with("FAILED n1 is down already"));
    assert_eq!(says(&folder, &["broker", "back"]), "n1 is back\n");
    assert!(says(&folder, &["broker", "kill", "n7"]).starts_with("FAILED there is no broker n7"));

    assert_eq!(says(&folder, &["down"]), "stopped\n");
    assert!(up.0.wait().unwrap().success());
    assert!(says(&folder, &["down"]).starts_with("no cluster runs in "));
    assert!(folder.join("n1/store").is_dir(), "the data stays");
    says(&folder, &["wipe"]);
    assert!(!folder.exists());
}

#[test]
fn a_command_has_a_cluster_for_as_long_as_it_runs() {
    let Some(folder) = folder("run") else { return };
    let script = "test \"$POSTKEEP_TEST_URLS\" = {urls} && {xtask} cluster broker kill --folder {folder} \
                  && {xtask} cluster broker back --folder {folder} && echo done";
    let said = says(&folder, &["run", "--servers", "3", "--", "sh", "-c", script]);
    let lines: Vec<_> = said.lines().collect();
    let [killed, back, "done"] = lines[..] else { panic!("{said}") };
    assert_eq!(killed.replace(" is killed", " is back"), back);
    assert!(says(&folder, &["down"]).starts_with("no cluster runs in "));
    assert!(says(&folder, &["run", "--servers", "1", "--", "false"]).starts_with("FAILED false ended with"));
    says(&folder, &["wipe"]);
}

#[test]
fn a_signal_ends_the_command_and_then_the_cluster() {
    let Some(folder) = folder("signal") else { return };
    let words = ["run", "--servers", "1", "--", "sh", "-c", "echo begun; exec sleep 90"];
    let mut run = Up(xtask(&folder, &words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(run.0.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    let begin = Instant::now();
    rustix::process::kill_process(rustix::process::Pid::from_child(&run.0), rustix::process::Signal::TERM).unwrap();
    assert!(!run.0.wait().unwrap().success());
    assert!(lines.next().is_none());
    assert!(begin.elapsed() < Duration::from_secs(60), "the command ended because it was told to");
    assert!(says(&folder, &["down"]).starts_with("no cluster runs in "));
    says(&folder, &["wipe"]);
}
