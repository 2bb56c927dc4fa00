//! Servers that are no CA, or one out of order: every answer is bounded, every wait ends, and the log says what to do.

use std::future::Future;

use acme::Notary;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;

use crate::authority::Authority;
use crate::rig::{Log, Scratch, Service, settings};

/// Run a notary against a server that answers in its own way, until the log has a line with all of these.
async fn check<A, F>(test: &str, answer: A, parts: &[&str])
where
    A: Fn(BufReader<TlsStream<TcpStream>>) -> F + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let (scratch, log) = (Scratch::new(test), Log::hear());
    let authority = Authority::new(&scratch.0);
    let acceptor = authority.acceptor();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let directory = format!("https://{}/dir", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let mut stream = BufReader::new(stream);
            let mut line = String::from("begin");
            while !line.trim().is_empty() {
                line.clear();
                stream.read_line(&mut line).await.unwrap();
            }
            answer(stream).await;
        }
    });
    let notary = Notary::open(settings(&directory, &authority.root, &scratch.0, &["mail.example.com"])).unwrap();
    let service = Service::start(notary);
    log.line(parts).await;
    assert_eq!(service.told(), 0);
    serving.abort();
}

async fn reply(mut stream: BufReader<TlsStream<TcpStream>>, text: String) {
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn page(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_web_page_is_no_directory() {
    let answer = |stream| reply(stream, page("<html>\u{1b}[31mWelcome"));
    check("page", answer, &["does not answer as an ACME server", "see that acme.directory is right"]).await;
}

#[tokio::test]
async fn nothing_is_asked_for_without_tls() {
    let directory =
        r#"{"newNonce":"http://127.0.0.1:1/n","newAccount":"http://127.0.0.1:1/a","newOrder":"http://127.0.0.1:1/o"}"#;
    check("plain", move |stream| reply(stream, page(directory)), &["cannot reach the CA", "not one of https"]).await;
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let endless = |mut stream: BufReader<TlsStream<TcpStream>>| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        let chunk = vec![b' '; 64 << 10];
        while stream.write_all(&chunk).await.is_ok() && stream.flush().await.is_ok() {}
    };
    check("endless", endless, &["cannot reach the CA", "the answer is larger than"]).await;
}

#[tokio::test]
async fn a_head_without_end_is_not_read_to_its_end() {
    let endless = |mut stream: BufReader<TlsStream<TcpStream>>| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").await;
        let chunk = vec![b'x'; 64 << 10];
        while stream.write_all(&chunk).await.is_ok() && stream.flush().await.is_ok() {}
    };
    check("head", endless, &["cannot reach the CA", "message head is too large"]).await;
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_tried_again() {
    check("closed", |stream| reply(stream, String::new()), &["cannot reach the CA", "next attempt in"]).await;
}

/// The clock runs ahead whenever nobody has anything to do.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up_on() {
    let (scratch, log) = (Scratch::new("silent"), Log::hear());
    let authority = Authority::new(&scratch.0);
    // Connections are made by the system, and nobody takes them.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let directory = format!("https://{}/dir", listener.local_addr().unwrap());
    let notary = Notary::open(settings(&directory, &authority.root, &scratch.0, &["mail.example.com"])).unwrap();
    let _service = Service::start(notary);
    log.line(&["cannot reach the CA", "operation timed out"]).await;
}

#[tokio::test]
async fn a_ca_whose_own_certificate_is_not_trusted_is_not_used() {
    let (scratch, log) = (Scratch::new("untrusted"), Log::hear());
    let authority = Authority::new(&scratch.0);
    let elsewhere = scratch.0.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other = Authority::new(&elsewhere);
    let acceptor = authority.acceptor();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let directory = format!("https://{}/dir", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(acceptor.accept(stream).await);
        }
    });
    let notary = Notary::open(settings(&directory, &other.root, &scratch.0, &["mail.example.com"])).unwrap();
    let _service = Service::start(notary);
    log.line(&["cannot reach the CA", "invalid peer certificate"]).await;
}

#[tokio::test]
async fn roots_that_cannot_be_read_are_told() {
    let (scratch, log) = (Scratch::new("roots"), Log::hear());
    let root = scratch.0.join("none.pem");
    std::fs::write(&root, "no certificate").unwrap();
    let notary = Notary::open(settings("https://127.0.0.1:1/dir", &root, &scratch.0, &["mail.example.com"])).unwrap();
    let _service = Service::start(notary);
    log.line(&["acme.ca, ", "none.pem", "there is no certificate in it", "name the roots of the CA in acme.ca"]).await;
}
