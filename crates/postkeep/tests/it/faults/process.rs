//! Processes that are stopped for a while (F10), short of memory (F09), or two at one store (T083).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::Signal;

use super::{Place, SHORT, Sent, Told, check, send};
use crate::program::{Program, output, postkeep, until};

/// Senders that go on until they are told to stop, or hear nothing.
fn under_load(program: &Program, size: usize, meanwhile: impl FnOnce()) -> Vec<Sent> {
    let stop = Arc::new(AtomicBool::new(false));
    let addr = program.smtp;
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                let mut all = Vec::new();
                while !stop.load(Ordering::Relaxed) && all.len() < 100 {
                    all.push(send(addr, &format!("s{sender}n{}", all.len()), size));
                }
                all
            })
        })
        .collect();
    meanwhile();
    stop.store(true, Ordering::Relaxed);
    senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect()
}

#[test]
fn f10_a_process_that_is_stopped_and_goes_on_has_lost_nothing() {
    let place = Place::new();
    let program = place.serve(&[]);
    let all = under_load(&program, 5_000, || {
        for _ in 0..2 {
            thread::sleep(SHORT / 4);
            program.signal(Signal::STOP);
            thread::sleep(SHORT);
            program.signal(Signal::CONT);
        }
    });
    assert!(all.iter().all(|sent| sent.told == Told::Kept), "a pause is no failure");
    check(program.http, &all);
    drop(program);
    check(place.serve(&[]).http, &all);
}

/// A server with so much address space, in KiB, and what 24 senders of 20 MB at once are told by it.
fn short_of_memory(place: &Place, limit: u32, settings: &[&str]) -> (Program, Vec<Sent>) {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {limit} || exit 9; exec \"$0\" serve \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_postkeep")]).env_clear().stdin(Stdio::null());
    let program = place.serve_by(command, settings);
    let addr = program.smtp;
    let mut all = vec![send(addr, "small", 1_000)];
    assert_eq!(all[0].told, Told::Kept);
    let senders: Vec<_> =
        (0..24).map(|number| thread::spawn(move || send(addr, &format!("large{number}"), 20 << 20))).collect();
    all.extend(senders.into_iter().map(|sender| sender.join().unwrap()));
    (program, all)
}

#[test]
fn f09_large_mail_is_refused_before_memory_runs_out() {
    let place = Place::new();
    let (mut program, all) = short_of_memory(&place, 2_000_000, &["smtp.in_flight_max=100MiB"]);
    assert!(program.is_running(), "{}", program.stderr());
    let refused = |sent: &&Sent| matches!(&sent.told, Told::Refused(reply) if reply.starts_with("452 4.3.1"));
    let refused = all.iter().filter(refused).count();
    assert!(refused > 0 && all.iter().all(|sent| sent.told != Told::Nothing), "{all:?}");
    check(program.http, &all);
    drop(program);
    check(place.serve(&[]).http, &all);
}

#[test]
fn f09_what_was_said_holds_when_memory_runs_out() {
    let place = Place::new();
    let (program, all) = short_of_memory(&place, 1_500_000, &["smtp.in_flight_max=4GiB"]);
    drop(program);
    check(place.serve(&[]).http, &all);
}

#[test]
fn t083_a_second_server_is_told_who_has_the_store() {
    let place = Place::new();
    let program = place.serve(&[]);
    let path = format!("store.disk.path={}", place.path().join("store").display());
    let second = || {
        let mut command = postkeep(&["serve", "--set", "store.engine=disk", "--set", &path]);
        command.args([
            "--set",
            "smtp.addr=127.0.0.1:0",
            "--set",
            "http.addr=127.0.0.1:0",
            "--set",
            "pop3.addr=127.0.0.1:0",
        ]);
        command
    };
    let (code, stdout, stderr) = output(&mut second());
    assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
    assert!(stderr.contains(&format!("in use by another postkeep (process {})", program.pid())), "{stderr}");
    assert_eq!(send(program.smtp, "still", 100).told, Told::Kept, "the first one goes on");
    program.signal(Signal::KILL);
    let mut program = program;
    program.wait();
    // The lock is gone with the process, however that ended.
    until("the store is free", || place.serve(&[]).is_running().then_some(()));
}

#[test]
fn t083_nothing_is_open_to_others_whatever_the_umask() {
    let place = Place::new();
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" serve \"$@\"", env!("CARGO_BIN_EXE_postkeep")]);
    command.env_clear().stdin(Stdio::null());
    let program = place.serve_by(command, &[]);
    assert_eq!(send(program.smtp, "x", 100).told, Told::Kept);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let store = place.path().join("store");
    assert_eq!(mode(&store), 0o700);
    let files: Vec<_> = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    files.iter().for_each(|file| assert_eq!(mode(file), 0o600, "{}", file.display()));
}
