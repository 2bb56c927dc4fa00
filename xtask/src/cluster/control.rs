//! The socket in a cluster's folder over which other processes speak to the one that has it: a line there, `ok` or `no`
//! and some lines back. It does not know what the lines mean.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;

use anyhow::{Context, Result, bail};

use super::Event;

/// A line that somebody said, and waits for an answer to.
pub(super) struct Order {
    pub(super) words: String,
    stream: UnixStream,
}

impl Order {
    /// Answer it.
    pub(super) fn answer<E: std::fmt::Display>(mut self, outcome: &Result<String, E>) {
        let text = match outcome {
            Ok(text) => format!("ok\n{text}"),
            Err(error) => format!("no\n{error:#}"),
        };
        // Whoever asked may have gone.
        let _ = self.stream.write_all(text.as_bytes());
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// The open socket; gone when dropped.
pub(super) struct Listening {
    path: PathBuf,
    events: Sender<Event>,
}

impl Listening {
    /// Where others put what happens, too.
    pub(super) fn sender(&self) -> Sender<Event> {
        self.events.clone()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // With the folder, it may be gone already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Listen in this folder; what is said there comes as events.
pub(super) fn listen(folder: PathBuf, events: Sender<Event>) -> Result<Listening> {
    let path = socket(&folder);
    // One that is left over from a process that was killed.
    let _ = fs::remove_file(&path);
    let listener = UnixListener::bind(&path)
        .with_context(|| format!("cannot listen at {}; is --folder too long a path for a socket?", path.display()))?;
    let told = events.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut words = String::new();
            if BufReader::new(&stream).read_line(&mut words).is_ok() {
                let order = Order { words: words.trim().to_owned(), stream };
                if told.send(Event::Order(order)).is_err() {
                    return;
                }
            }
        }
    });
    Ok(Listening { path, events })
}

/// Whether a process has a cluster in this folder.
pub(super) fn is_there(folder: &Path) -> bool {
    UnixStream::connect(socket(folder)).is_ok()
}

/// Say something to the process that has it, and wait for the answer; `None` when there is no such process.
pub(super) fn ask(folder: &Path, words: &str) -> Result<Option<String>> {
    let Ok(mut stream) = UnixStream::connect(socket(folder)) else { return Ok(None) };
    writeln!(stream, "{words}")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match answer.split_once('\n') {
        Some(("ok", text)) => Ok(Some(text.to_owned())),
        Some((_, text)) => bail!("{text}"),
        None => bail!("the cluster ended without an answer"),
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("control.sock")
}
