//! A server that does as it is told: each request is shown to a closure, which says what to answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// What to do with a request.
pub(crate) enum Reply {
    Json(u16, Value),
    /// Head lines and a body as they are.
    Raw(String),
    /// Close without a word.
    HangUp,
}

/// A running stub; it ends with the process.
pub(crate) struct Stub {
    pub(crate) addr: SocketAddr,
    asked: Receiver<Asked>,
}

impl Asked {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl Stub {
    /// Answer the requests one after the other; the closure gets the number of the request, from 0.
    pub(crate) fn start(mut answer: impl FnMut(usize, &Asked) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (told, asked) = channel();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                let reply = answer(number, &request);
                let _ = told.send(request);
                write(&mut stream, reply);
            }
        });
        Self { addr, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The next request that came.
    pub(crate) fn asked(&self) -> Asked {
        self.asked.recv_timeout(std::time::Duration::from_secs(30)).unwrap()
    }

    /// All that came and were not looked at.
    pub(crate) fn rest(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let line = head.lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let mut asked = Asked { line, head, body: Vec::new() };
    asked.body = vec![0; asked.field("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

fn write(stream: &mut TcpStream, reply: Reply) {
    let text = match reply {
        Reply::Json(status, json) => {
            let body = json.to_string();
            format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        }
        Reply::Raw(text) => text,
        Reply::HangUp => return,
    };
    // A client that is gone wants no answer.
    let _ = stream.write_all(text.as_bytes());
}
