//! A bare POP3 server, plain and over TLS: whatever the mailbox and the password, it holds so many messages, and answers
//! every RETR with the same bytes, which were fetched before. It is the most that this runtime and this TLS can do, and
//! knows nothing of mail.
//!
//! `bare-pop3 --answer FILE --cert FILE --key FILE [--messages N] [--workers N]`: the answer is a whole one to RETR. Each
//! worker is a thread with an event loop of its own, and a connection stays where it is, as in Postkeep.

#![allow(clippy::print_stdout, reason = "the ready line is how the benchmark finds it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use postkeep_bench::{Asked, tls};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio_rustls::TlsAcceptor;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "bare-pop3 --answer FILE --cert FILE --key FILE [--messages N] [--workers N]";

/// What is served.
struct Shelf {
    answer: Vec<u8>,
    messages: usize,
}

fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let (answer, cert, key): (PathBuf, PathBuf, PathBuf) =
        (asked.must("--answer")?, asked.must("--cert")?, asked.must("--key")?);
    let messages = asked.value("--messages")?.unwrap_or(10);
    let workers = asked.value("--workers")?.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    asked.finish()?;
    let answer = std::fs::read(&answer).with_context(|| format!("cannot read {}", answer.display()))?;
    let shelf = Arc::new(Shelf { answer, messages });
    let tls = TlsAcceptor::from(tls::server(&cert, &key)?);
    let lanes = (0..workers).map(|_| lane()).collect::<Result<Vec<_>>>()?;
    Builder::new_current_thread().enable_all().build()?.block_on(listen(shelf, tls, &lanes))
}

/// A thread with an event loop of its own.
fn lane() -> Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new().spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(handle)
}

async fn listen(shelf: Arc<Shelf>, tls: TlsAcceptor, lanes: &[Handle]) -> Result<()> {
    let (plain, secured) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    let [pop3, pop3s] = [plain.local_addr()?, secured.local_addr()?].map(|address| address.to_string());
    println!("ready {}", json!({ "pop3": pop3, "pop3s": pop3s }));
    for lane in lanes.iter().cycle() {
        let (stream, handshake) = tokio::select! {
            accepted = plain.accept() => (accepted?.0, None),
            accepted = secured.accept() => (accepted?.0, Some(tls.clone())),
        };
        stream.set_nodelay(true)?;
        // It goes to the event loop that it will live in before it is registered with any.
        lane.spawn(serve(stream.into_std()?, handshake, Arc::clone(&shelf)));
    }
    Ok(())
}

/// A connection to its end; one that breaks has ended.
async fn serve(stream: std::net::TcpStream, handshake: Option<TlsAcceptor>, shelf: Arc<Shelf>) {
    let Ok(stream) = TcpStream::from_std(stream) else { return };
    let _ = match handshake {
        None => talk(stream, &shelf).await,
        Some(tls) => match tls.accept(stream).await {
            Ok(stream) => talk(stream, &shelf).await,
            Err(error) => Err(error.into()),
        },
    };
}

async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin, shelf: &Shelf) -> Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"+OK ready\r\n").await?;
    stream.flush().await?;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        match line.get(..4).map(str::to_ascii_uppercase).as_deref() {
            Some("RETR") => stream.write_all(&shelf.answer).await?,
            Some("STAT") => {
                let bytes = shelf.messages * shelf.answer.len();
                stream.write_all(format!("+OK {} {bytes}\r\n", shelf.messages).as_bytes()).await?;
            }
            _ => stream.write_all(b"+OK\r\n").await?,
        }
        stream.flush().await?;
    }
}
