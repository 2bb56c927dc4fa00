//! Handshakes: what is agreed on, what is shown, and what ends them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio_rustls::TlsConnector;

use super::*;

fn pair(name: &str) -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

fn certificate(pair: &(String, String)) -> Certificate {
    Certificate::from_pem(pair.0.as_bytes(), pair.1.as_bytes()).unwrap()
}

fn trusting(pairs: &[&(String, String)]) -> ClientConfig {
    use rustls::pki_types::pem::PemObject;
    let mut roots = RootCertStore::empty();
    for (chain, _) in pairs {
        roots.add(CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()).unwrap();
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    builder.with_root_certificates(roots).with_no_client_auth()
}

async fn shake(
    tls: &Tls,
    config: ClientConfig,
) -> io::Result<(tokio_rustls::client::TlsStream<DuplexStream>, Stream, Secured)> {
    let (client, server) = Stream::pipe(64 << 10);
    let name = ServerName::try_from("a.test").unwrap();
    let connecting = TlsConnector::from(Arc::new(config));
    let (client, server) = tokio::join!(connecting.connect(name, client), tls.accept(server));
    let (stream, secured) = server?;
    Ok((client?, stream, secured))
}

#[tokio::test]
async fn bytes_pass_and_the_handshake_is_told() {
    let pair = pair("a.test");
    let tls = Tls::new(Some(certificate(&pair)), Settings::default()).unwrap();
    let (mut client, mut server, secured) = shake(&tls, trusting(&[&pair])).await.unwrap();
    assert_eq!(secured.version, "TLSv1.3");
    assert!(secured.cipher.starts_with("TLS_AES_"), "{}", secured.cipher);
    client.write_all(b"ping").await.unwrap();
    client.flush().await.unwrap();
    let mut got = [0; 4];
    server.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"ping");
}

#[tokio::test]
async fn a_replaced_certificate_is_shown_from_then_on_and_sessions_go_on() {
    let (old, new) = (pair("a.test"), pair("a.test"));
    let tls = Tls::new(Some(certificate(&old)), Settings::default()).unwrap();
    let (mut client, mut server, _) = shake(&tls, trusting(&[&old])).await.unwrap();
    tls.replace(certificate(&new));
    assert!(shake(&tls, trusting(&[&old])).await.is_err(), "the old one is shown no more");
    shake(&tls, trusting(&[&new])).await.unwrap();
    server.write_all(b"still here").await.unwrap();
    server.flush().await.unwrap();
    let mut got = [0; 10];
    client.read_exact(&mut got).await.unwrap();
}

#[tokio::test]
async fn without_a_certificate_nothing_is_agreed_on() {
    let pair = pair("a.test");
    let tls = Tls::new(None, Settings::default()).unwrap();
    assert!(!tls.is_ready());
    assert!(shake(&tls, trusting(&[&pair])).await.is_err());
    tls.replace(certificate(&pair));
    assert!(tls.is_ready());
    shake(&tls, trusting(&[&pair])).await.unwrap();
}

#[tokio::test]
async fn a_browser_is_not_let_in_where_another_protocol_is_spoken() {
    let pair = pair("a.test");
    let tls = Tls::new(Some(certificate(&pair)), Settings::default()).unwrap().speaking("pop3").unwrap();
    let mut browser = trusting(&[&pair]);
    browser.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    assert!(shake(&tls, browser).await.is_err());
    let mut reader = trusting(&[&pair]);
    shake(&tls, reader.clone()).await.unwrap();
    reader.alpn_protocols = vec![b"pop3".to_vec()];
    shake(&tls, reader).await.unwrap();
}

#[tokio::test]
async fn t105_a_hello_in_single_bytes_is_understood() {
    let pair = pair("a.test");
    let tls = Tls::new(Some(certificate(&pair)), Settings::default()).unwrap();
    let (client, server) = Stream::pipe(64 << 10);
    let name = ServerName::try_from("a.test").unwrap();
    let connecting = TlsConnector::from(Arc::new(trusting(&[&pair])));
    let (client, server) = tokio::join!(connecting.connect(name, Trickle(client)), tls.accept(server));
    client.unwrap();
    server.unwrap();
}

/// Writes a single byte at a time, and lets it arrive before the next.
struct Trickle(DuplexStream);

impl AsyncRead for Trickle {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Trickle {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, &bytes[..1])
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[tokio::test]
async fn a_handshake_that_stalls_ends_and_holds_up_no_other() {
    let pair = pair("a.test");
    let settings = Settings { handshake_timeout: Duration::from_millis(200) };
    let tls = Tls::new(Some(certificate(&pair)), settings).unwrap();
    let (_silent, server) = Stream::pipe(64);
    assert_eq!(tls.accept(server).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    shake(&tls, trusting(&[&pair])).await.unwrap();
}

#[tokio::test]
async fn sockets_move_to_the_desk_and_back() {
    let pair = pair("a.test");
    let tls = Tls::new(Some(certificate(&pair)), Settings::default()).unwrap();
    let listener = crate::Listener::bind(&crate::Place::parse("127.0.0.1:0")).unwrap();
    let addr = listener.local_addr().unwrap();
    let serving = async {
        let (raw, _) = listener.accept().await;
        let (mut stream, _) = tls.accept(Stream::Plain(raw)).await.unwrap();
        let mut got = [0; 5];
        stream.read_exact(&mut got).await.unwrap();
        stream.write_all(&got).await.unwrap();
        stream.flush().await.unwrap();
    };
    let asking = async {
        let socket = tokio::net::TcpStream::connect(addr).await.unwrap();
        let name = ServerName::try_from("a.test").unwrap();
        let mut client = TlsConnector::from(Arc::new(trusting(&[&pair]))).connect(name, socket).await.unwrap();
        client.write_all(b"hello").await.unwrap();
        let mut got = [0; 5];
        client.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"hello");
    };
    tokio::join!(serving, asking);
}

#[test]
fn a_bad_pair_says_what_is_wrong() {
    let (one, other) = (pair("a.test"), pair("b.test"));
    let bad = |chain: &str, key: &str| Certificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap_err();
    assert!(matches!(bad(&one.0, &other.1), BadCertificate::NotAPair));
    assert!(matches!(bad("", &one.1), BadCertificate::NoCertificate));
    assert!(matches!(bad(&one.1, &one.1), BadCertificate::NoCertificate));
    assert!(matches!(bad(&one.0, &one.0), BadCertificate::Key(_)));
    assert!(matches!(bad(&one.0, ""), BadCertificate::Key(_)));
}
