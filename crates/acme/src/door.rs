//! A listener that answers the CA's question and nothing else, for servers whose HTTP listener strangers should not
//! reach. It knows no route but one, reads no body, and every connection is for one request.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::challenges::Challenges;

/// Connections at once; a CA asks from some five places. Further ones wait for their turn in the system's queue.
const CONNECTIONS_MAX: usize = 64;
/// For a question and its answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The largest head of a request that is read.
const HEAD_MAX: usize = 8 << 10;
/// When no connection can be taken, as there are too many open files.
const BREATH: Duration = Duration::from_millis(100);

/// Answer until the future is dropped.
pub async fn serve(listener: TcpListener, challenges: Challenges) {
    let turns = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let turn = Arc::clone(&turns).acquire_owned().await.expect("the semaphore is never closed");
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection could not be taken");
                sleep(BREATH).await;
                continue;
            }
        };
        let challenges = challenges.clone();
        tokio::spawn(async move {
            // A client that is slow, or gone, is nobody's loss.
            let _ = timeout(TIMEOUT, answer(stream, challenges)).await;
            drop(turn);
        });
    }
}

async fn answer(mut stream: TcpStream, challenges: Challenges) -> io::Result<()> {
    let mut head = Vec::with_capacity(1 << 10);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_MAX || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let proof = target(&head).and_then(|path| challenges.answer_to(path));
    let (status, body) = proof.map_or(("404 Not Found", String::new()), |proof| ("200 OK", proof));
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).await?;
    stream.shutdown().await
}

/// The target of a GET.
fn target(head: &[u8]) -> Option<&str> {
    let line = str::from_utf8(head).ok()?.lines().next()?;
    line.strip_prefix("GET ")?.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(address: std::net::SocketAddr, question: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(question).await.unwrap();
        let mut answer = Vec::new();
        // What was sent beyond the bound can make the end of the connection a reset.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    async fn open() -> (std::net::SocketAddr, Challenges) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, challenges) = (listener.local_addr().unwrap(), Challenges::default());
        tokio::spawn(serve(listener, challenges.clone()));
        (address, challenges)
    }

    #[tokio::test]
    async fn a_known_token_is_answered_and_nothing_else() {
        let (address, challenges) = open().await;
        let mut offer = challenges.offer();
        assert!(offer.add("tok", "tok.print"));
        let found = ask(address, b"GET /.well-known/acme-challenge/tok HTTP/1.1\r\nHost: any.example\r\n\r\n").await;
        assert!(found.starts_with("HTTP/1.1 200 OK\r\n") && found.ends_with("\r\n\r\ntok.print"), "{found}");
        for target in ["/", "/livez", "/.well-known/acme-challenge/", "/.well-known/acme-challenge/other", "//x", "*"] {
            let question = format!("GET {target} HTTP/1.1\r\nHost: any.example\r\n\r\n");
            let answer = ask(address, question.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 404 ") && answer.ends_with("\r\n\r\n"), "{target}: {answer}");
        }
        let posted = ask(address, b"POST /.well-known/acme-challenge/tok HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(posted.starts_with("HTTP/1.1 404 "), "{posted}");
        assert!(ask(address, b"\xff\xfe\r\n\r\n").await.starts_with("HTTP/1.1 404 "));
    }

    #[tokio::test]
    async fn a_head_without_end_is_not_answered() {
        let (address, _challenges) = open().await;
        assert_eq!(ask(address, &vec![b'x'; HEAD_MAX + (64 << 10)]).await, "");
    }

    /// The clock runs ahead whenever nobody has anything to do.
    #[tokio::test(start_paused = true)]
    async fn silent_clients_hold_their_places_for_seconds_only() {
        let (address, challenges) = open().await;
        let mut offer = challenges.offer();
        assert!(offer.add("tok", "tok.print"));
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let found = ask(address, b"GET /.well-known/acme-challenge/tok HTTP/1.1\r\n\r\n").await;
        assert!(found.ends_with("tok.print"), "{found}");
    }
}
