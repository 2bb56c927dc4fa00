//! Smart hosts that fail as they are told.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A smart host that answers each MAIL with the next of these words, and takes what it does not refuse.
pub(super) fn moody(answers: &'static [&'static str]) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, heard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let told = Arc::clone(&heard);
    thread::spawn(move || {
        let mut answers = answers.iter();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let say = |stream: &mut BufReader<_>, words: &str| {
                let stream: &mut std::net::TcpStream = stream.get_mut();
                let _ = stream.write_all(format!("{words}\r\n").as_bytes());
            };
            say(&mut stream, "220 moody");
            let (mut line, mut in_data) = (String::new(), false);
            while stream.read_line(&mut line).is_ok_and(|count| count > 0) {
                let text = line.trim_end().to_owned();
                line.clear();
                if in_data {
                    in_data = text != ".";
                    if !in_data {
                        say(&mut stream, "250 2.0.0 taken");
                    }
                    continue;
                }
                told.lock().unwrap().push(text.clone());
                match text.split([' ', ':']).next().unwrap() {
                    "MAIL" => match answers.next() {
                        Some(&"hang up") => break,
                        Some(answer) => say(&mut stream, answer),
                        None => say(&mut stream, "250 ok"),
                    },
                    "DATA" => {
                        in_data = true;
                        say(&mut stream, "354 go");
                    }
                    "QUIT" => {
                        say(&mut stream, "221 bye");
                        break;
                    }
                    _ => say(&mut stream, "250 ok"),
                }
            }
        }
    });
    (addr, heard)
}

/// A smart host that keeps silent behind the end of the first message, and answers as usual afterwards. How many it got.
pub(super) fn silent_once() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, got) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&got);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, counted) = (BufReader::new(stream.unwrap()), Arc::clone(&counted));
            thread::spawn(move || {
                let _ = stream.get_mut().write_all(b"220 silent\r\n");
                let (mut line, mut in_data) = (String::new(), false);
                while stream.read_line(&mut line).is_ok_and(|count| count > 0) {
                    let text = std::mem::take(&mut line);
                    let reply = match text.trim_end() {
                        "." if in_data => {
                            in_data = false;
                            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                                continue;
                            }
                            "250 taken\r\n"
                        }
                        _ if in_data => continue,
                        "DATA" => {
                            in_data = true;
                            "354 go\r\n"
                        }
                        _ => "250 ok\r\n",
                    };
                    let _ = stream.get_mut().write_all(reply.as_bytes());
                }
            });
        }
    });
    (addr, got)
}
