//! The disk engine under faults that are made outside of it: system calls that fail or dawdle (`strace`), disks that are
//! full (`mount`), processes that stop. What is told to each sender is written down, and held against what is there
//! afterwards (invariants I1 and I2). Where the means are missing, a test says so and passes.
#![cfg(target_os = "linux")]

mod calls;
mod process;
mod room;

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::http::{as_sent, get, list};
use crate::program::{PATIENCE, Program, directory, postkeep, until};
use crate::smtp::stuffed;

/// A directory for a store, gone with the test.
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new() -> Self {
        Self(directory())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// A server on the store in this directory.
    pub(super) fn serve(&self, settings: &[&str]) -> Program {
        self.serve_by(postkeep(&["serve"]), settings)
    }

    pub(super) fn serve_by(&self, command: Command, settings: &[&str]) -> Program {
        let path = format!("store.disk.path={}", self.0.join("store").display());
        Program::run(
            command,
            &[&["store.engine=disk", "store.disk.free_min=0", "runtime.workers=2", &path], settings].concat(),
        )
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a sender was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// 250.
    Kept,
    /// Another final reply.
    Refused(String),
    /// None.
    Nothing,
}

/// One mail, and what its sender was told.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) mailboxes: [String; 2],
    pub(super) message: Vec<u8>,
    pub(super) told: Told,
}

impl fmt::Debug for Sent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {:?}", self.mailboxes[0], self.told)
    }
}

/// Send a mail of about this size to two mailboxes of its own.
pub(super) fn send(addr: SocketAddr, name: &str, size: usize) -> Sent {
    let mailboxes = ["left", "right"].map(|side| format!("{side}-{name}"));
    let mut message = format!("Subject: {name}\r\n\r\n").into_bytes();
    // xorshift64: what looks like chance does not pack, and takes the room that it should.
    let mut state = size as u64 + 1;
    while message.len() < size {
        for _ in 0..70 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            message.push(b'0' + (state >> 32) as u8 % 64);
        }
        message.extend_from_slice(b"\r\n");
    }
    let told = transact(addr, &mailboxes, &message).unwrap_or(Told::Nothing);
    Sent { mailboxes, message, told }
}

/// None when the connection ended before the reply that counts.
fn transact(addr: SocketAddr, mailboxes: &[String], message: &[u8]) -> Option<Told> {
    let mut stream = BufReader::new(TcpStream::connect(addr).ok()?);
    stream.get_ref().set_read_timeout(Some(PATIENCE)).ok()?;
    reply(&mut stream)?;
    let recipients = mailboxes.iter().map(|mailbox| format!("RCPT TO:<{mailbox}@x.test>"));
    for line in
        ["EHLO c.test", "MAIL FROM:<>"].map(str::to_owned).into_iter().chain(recipients).chain(["DATA".to_owned()])
    {
        stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).ok()?;
        let reply = reply(&mut stream)?;
        if !reply.starts_with(['2', '3']) {
            return Some(Told::Refused(reply));
        }
    }
    stream.get_mut().write_all(&stuffed(message)).ok()?;
    let reply = reply(&mut stream)?;
    Some(if reply.starts_with("250") { Told::Kept } else { Told::Refused(reply) })
}

fn reply(stream: &mut BufReader<TcpStream>) -> Option<String> {
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        line.ends_with("\r\n").then_some(())?;
        if line.as_bytes().get(3) != Some(&b'-') {
            return Some(line.trim_end().to_owned());
        }
    }
}

/// I1 and I2: what was kept is there once in each mailbox and to the byte, what was refused is nowhere, and of what
/// nobody was told anything it is one or the other. How many of the last are there.
pub(super) fn check(http: SocketAddr, all: &[Sent]) -> usize {
    all.iter().filter(|sent| check_one(http, sent)).count()
}

fn check_one(http: SocketAddr, sent: &Sent) -> bool {
    let copies = sent.mailboxes.each_ref().map(|mailbox| {
        let listed = list(http, mailbox);
        for message in &listed {
            let id = message["id"].as_str().unwrap();
            let source = get(http, &format!("/api/v1/mailbox/{mailbox}/{id}/source"));
            assert_eq!(source.status, 200, "what is listed is readable: {source:?}");
            assert!(as_sent(&source.body) == sent.message, "{mailbox}: other bytes");
        }
        listed.len()
    });
    match (&sent.told, copies) {
        (Told::Kept, [1, 1]) | (Told::Refused(_), [0, 0]) | (Told::Nothing, [0, 0]) => false,
        (Told::Nothing, [1, 1]) => true,
        _ => panic!("{:?}: {copies:?} copies", (&sent.mailboxes, &sent.told)),
    }
}

/// `strace` at a running server, as long as this is held.
pub(super) struct Tracer(Child);

impl Tracer {
    /// Let system calls fail as this says, in the words of `strace -e inject=`.
    pub(super) fn inject(program: &Program, faults: &[String]) -> Self {
        let mut command = Command::new("strace");
        command.args(["-f", "-q", "-o", "/dev/null", "-p", &program.pid().to_string()]);
        let calls: Vec<&str> = faults.iter().map(|fault| fault.split(':').next().unwrap()).collect();
        command.args(["-e", &format!("trace={}", calls.join(","))]);
        faults.iter().for_each(|fault| _ = command.args(["-e", &format!("inject={fault}")]));
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let tracer = Self(child);
        let status = format!("/proc/{}/task", program.pid());
        until("strace holds every thread", || {
            let mut threads = fs::read_dir(&status).unwrap().flatten();
            let held = |path: PathBuf| {
                let status = fs::read_to_string(path.join("status")).unwrap_or_default();
                status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|pid| pid.trim() != "0"))
            };
            threads.all(|thread| held(thread.path())).then_some(())
        });
        tracer
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        let _ = kill_process(pid, Signal::TERM);
        let _ = self.0.wait();
    }
}

/// Whether faults can be made here; if not, it is said.
#[allow(clippy::print_stderr, reason = "whoever runs the tests is told what they did not show")]
pub(super) fn can(tool: &str, args: &[&str]) -> bool {
    let can = Command::new(tool).args(args).output().is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: `{tool} {}` does not work here", args.join(" "));
    }
    can
}

/// Whether `strace` can be held to a process.
pub(super) fn can_trace() -> bool {
    can("strace", &["-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=1", "true"])
}

/// What `/readyz` says.
pub(super) fn is_ready(http: SocketAddr) -> bool {
    get(http, "/readyz").status == 200
}

pub(super) const SHORT: Duration = Duration::from_millis(800);
