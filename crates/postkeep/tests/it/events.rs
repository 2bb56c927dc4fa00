//! Following what happens from outside: connections that break, programs that end, and what is told afterwards.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::http::get;
use crate::program::{PATIENCE, Program, directory, postkeep};
use crate::smtp::{deliver, message};

/// A client of a stream, which keeps what a browser would keep.
struct Stream {
    lines: BufReader<TcpStream>,
    last: String,
}

impl Stream {
    fn open(addr: SocketAddr, query: &str, last: &str) -> Self {
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let back = if last.is_empty() { String::new() } else { format!("Last-Event-ID: {last}\r\n") };
        // HTTP/1.0 knows no chunks, so what comes is the stream and nothing else.
        write!(stream, "GET /api/v2/events{query} HTTP/1.0\r\nHost: {addr}\r\n{back}\r\n").unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the head ends");
        }
        Self { lines, last: last.to_owned() }
    }

    /// The next event and its data; none when the stream is over.
    fn next(&mut self) -> Option<(String, Value)> {
        let (mut event, mut data) = (String::new(), None);
        loop {
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            match line.trim_end().split_once(": ") {
                Some(("event", name)) => event = name.to_owned(),
                Some(("id", id)) => self.last = id.to_owned(),
                Some(("data", text)) => data = serde_json::from_str(text).ok(),
                _ => {}
            }
            if line == "\n"
                && let Some(data) = data.take()
            {
                return Some((event, data));
            }
        }
    }

    fn expect(&mut self, event: &str) -> Value {
        let (name, data) = self.next().expect("the stream goes on");
        assert_eq!(name, event, "{data}");
        data
    }
}

/// Mail comes all the time, and the reader's connection breaks again and again: at the end nothing is missing.
#[test]
fn a_reader_that_comes_back_misses_nothing() {
    const COUNT: usize = 120;
    for engine in ["memory", "disk"] {
        let program = Program::start(&[&format!("store.engine={engine}")]);
        let smtp = program.smtp;
        let mut stream = Stream::open(program.http, "?mailbox=box&mailbox=other", "");
        stream.expect("hello");
        let sending = thread::spawn(move || {
            for number in 0..COUNT {
                let to = if number % 3 == 0 { "other@x.test" } else { "box@x.test" };
                deliver(smtp, to, &message(&format!("n{number}")));
            }
        });
        let mut seen = BTreeSet::new();
        let mut told = 0;
        while seen.len() < COUNT {
            let (event, data) = stream.next().expect("the stream goes on");
            assert_ne!(event, "resync", "{engine}: nothing was slow or old");
            if event == "deliver" {
                seen.insert(data["message"]["subject"].as_str().unwrap().to_owned());
                told += 1;
                // After more events each time, so that it breaks in all places.
                if told % 7 == 0 {
                    stream = Stream::open(program.http, "?mailbox=box&mailbox=other", &stream.last.clone());
                }
            }
        }
        sending.join().unwrap();
    }
}

fn serve(dir: &std::path::Path, engine: &str) -> Program {
    let path = format!("store.disk.path={}", dir.join("data").display());
    let command: Command = postkeep(&["serve"]);
    Program::run(command, &[&format!("store.engine={engine}"), &path])
}

/// What is on disk is gone on from after a kill; what was in memory is gone, and that is told.
#[test]
fn a_program_that_was_killed_tells_what_was_missed_or_that_it_cannot() {
    for engine in ["disk", "memory"] {
        let dir = directory();
        let first = serve(&dir, engine);
        let mut stream = Stream::open(first.http, "?mailbox=box", "");
        stream.expect("hello");
        deliver(first.smtp, "box@x.test", &message("seen"));
        assert_eq!(stream.expect("deliver")["message"]["subject"], "seen");
        deliver(first.smtp, "box@x.test", &message("missed"));
        let last = stream.last.clone();
        drop(first);
        let second = serve(&dir, engine);
        deliver(second.smtp, "box@x.test", &message("new"));
        let mut back = Stream::open(second.http, "?mailbox=box", &last);
        back.expect("hello");
        if engine == "disk" {
            assert_eq!(back.expect("deliver")["message"]["subject"], "missed");
            assert_eq!(back.expect("deliver")["message"]["subject"], "new");
        } else {
            let resync = back.expect("resync");
            assert_eq!(resync["reason"], "restarted");
            assert_eq!(resync["cursor"], json!(back.last));
        }
        deliver(second.smtp, "box@x.test", &message("later"));
        assert_eq!(back.expect("deliver")["message"]["subject"], "later", "{engine}");
        drop(second);
        let _ = std::fs::remove_dir_all(dir);
    }
}

#[test]
fn the_keys_of_events_and_monitor_reach_the_server() {
    let program = Program::start(&[
        "events.mailboxes_max=1",
        "events.streams_max=1",
        "events.life_max=1s",
        "mailbox.retention=90m",
        "mailbox.messages_max=0",
        "monitor.enabled=false",
    ]);
    assert_eq!(get(program.http, "/api/v2/events?mailbox=a&mailbox=b").status, 400);
    let mut stream = Stream::open(program.http, "?mailbox=a", "");
    let hello = stream.expect("hello");
    assert_eq!((&hello["retention"], &hello["messagesMax"]), (&json!("90m"), &Value::Null));
    assert_eq!(get(program.http, "/api/v2/events").status, 503);
    assert_eq!(stream.next(), None, "it has lived its time");
    assert_eq!(get(program.http, "/api/v1/monitor/messages").status, 404);
}

#[test]
fn a_stop_does_not_wait_for_streams() {
    let mut program = Program::start(&["stop.grace=20s"]);
    let mut stream = Stream::open(program.http, "", "");
    stream.expect("hello");
    let begun = std::time::Instant::now();
    program.signal(rustix::process::Signal::TERM);
    assert_eq!(stream.next(), None);
    assert_eq!(program.wait(), Some(0));
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[cfg(feature = "jetstream")]
mod on_brokers {
    use brokers::{Cluster, Plan};

    use super::*;

    /// A broker and two nodes; none where there is no nats-server and that was said to be meant.
    fn cluster(more: &str) -> Option<(Cluster, Program, Program)> {
        brokers::nats_server().unwrap()?;
        let cluster = Cluster::start(Plan::of(1)).unwrap();
        let urls = format!("store.jetstream.urls={}", cluster.url(0));
        let settings =
            ["store.engine=jetstream", "store.jetstream.replicas=1", "store.jetstream.shards=4", &urls, more];
        let (here, there) = (Program::start(&settings), Program::start(&settings));
        Some((cluster, here, there))
    }

    fn subject(stream: &mut Stream) -> String {
        stream.expect("deliver")["message"]["subject"].as_str().unwrap().to_owned()
    }

    #[test]
    fn all_mailboxes_are_followed_at_any_node() {
        let Some((mut cluster, here, there)) = cluster("events.all_rate_max=200") else { return };
        let mut stream = Stream::open(there.http, "", "");
        stream.expect("hello");
        for name in ["ann", "bob", "cat", "dan", "eve"] {
            deliver(here.smtp, &format!("{name}@x.test"), &message(name));
            assert_eq!(subject(&mut stream), name);
        }
        // Who comes back is told what it missed; at another node it cannot be.
        let last = stream.last.clone();
        drop(stream);
        deliver(here.smtp, "ann@x.test", &message("missed"));
        let mut stream = Stream::open(there.http, "", &last);
        stream.expect("hello");
        assert_eq!(subject(&mut stream), "missed");
        let mut moved = Stream::open(here.http, "", &last);
        moved.expect("hello");
        assert_eq!(moved.expect("resync")["reason"], "node");
        // A broker that is restarted costs time and nothing else.
        cluster.kill(0).unwrap();
        cluster.start_again(0).unwrap();
        for name in ["eve", "bob"] {
            deliver(here.smtp, &format!("{name}@x.test"), &message("after"));
            for stream in [&mut stream, &mut moved] {
                assert_eq!(stream.expect("deliver")["mailbox"], name);
            }
        }
    }

    #[test]
    fn too_much_in_a_second_is_counted() {
        const COUNT: u64 = 40;
        let Some((_cluster, here, there)) = cluster("events.all_rate_max=3") else { return };
        let (mut all, mut one) = (Stream::open(there.http, "", ""), Stream::open(there.http, "?mailbox=box", ""));
        all.expect("hello");
        one.expect("hello");
        for number in 0..COUNT {
            deliver(here.smtp, "box@x.test", &message(&format!("n{number}")));
        }
        let (mut told, mut skipped) = (0, 0);
        while told + skipped < COUNT {
            match all.next().expect("the stream goes on") {
                (event, _) if event == "deliver" => told += 1,
                (event, data) => {
                    assert_eq!(event, "skipped");
                    skipped += data["count"].as_u64().unwrap();
                }
            }
        }
        assert!(told >= 3 && skipped > 0 && told + skipped == COUNT, "{told} told, {skipped} left out");
        for number in 0..COUNT {
            assert_eq!(subject(&mut one), format!("n{number}"), "whoever names a mailbox is told everything");
        }
    }
}
