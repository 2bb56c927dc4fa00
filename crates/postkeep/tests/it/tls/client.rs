//! A TLS client that believes any certificate and remembers which it saw, and the plain words before a handshake.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, ProtocolVersion, SignatureScheme, StreamOwned,
    SupportedProtocolVersion,
};

use crate::program::PATIENCE;

/// A connection on which nothing was said yet.
pub(super) fn dial(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

pub(super) fn say(to: &mut impl Write, line: &str) {
    to.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    to.flush().unwrap();
}

/// A line without its CRLF, and not a byte behind it.
pub(super) fn line(from: &mut impl Read) -> String {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        from.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {line:?}"));
        line.push(byte[0]);
    }
    line.truncate(line.len() - 2);
    String::from_utf8(line).unwrap()
}

/// What a client brings, with these versions only.
fn config(versions: &[&'static SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// A client before its handshake.
pub(super) fn fresh() -> ClientConnection {
    with_versions(rustls::ALL_VERSIONS)
}

/// One that speaks these versions only.
pub(super) fn with_versions(versions: &[&'static SupportedProtocolVersion]) -> ClientConnection {
    ClientConnection::new(config(versions), ServerName::try_from("localhost").unwrap()).unwrap()
}

/// A client whose handshake is done.
#[derive(Debug)]
pub(super) struct Client(StreamOwned<ClientConnection, TcpStream>);

impl Client {
    pub(super) fn shake(stream: TcpStream) -> io::Result<Self> {
        Self::finish(fresh(), stream)
    }

    /// Bring a handshake to its end.
    pub(super) fn finish(mut connection: ClientConnection, mut stream: TcpStream) -> io::Result<Self> {
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(Self(StreamOwned::new(connection, stream)))
    }

    /// The server's own certificate.
    pub(super) fn shown(&self) -> Vec<u8> {
        self.0.conn.peer_certificates().unwrap()[0].to_vec()
    }

    pub(super) fn version(&self) -> ProtocolVersion {
        self.0.conn.protocol_version().unwrap()
    }

    pub(super) fn say(&mut self, text: &str) {
        say(&mut self.0, text);
    }

    pub(super) fn line(&mut self) -> String {
        line(&mut self.0)
    }

    /// An answer of HTTP, to its last byte.
    pub(super) fn http_answer(&mut self) {
        let first = self.line();
        assert!(first.starts_with("HTTP/1.1 2"), "{first}");
        let mut length = 0;
        loop {
            let field = self.line().to_ascii_lowercase();
            match field.strip_prefix("content-length:") {
                Some(number) => length = number.trim().parse().unwrap(),
                None if field.is_empty() => break,
                None => {}
            }
        }
        self.0.read_exact(&mut vec![0; length]).unwrap();
    }

    /// One mail over SMTP.
    pub(super) fn mail(&mut self, mailbox: &str, subject: &str) {
        for (command, code) in [
            ("MAIL FROM:<a@client.test>".to_owned(), "250"),
            (format!("RCPT TO:<{mailbox}@client.test>"), "250"),
            ("DATA".to_owned(), "354"),
            (format!("Subject: {subject}\r\n\r\nHello\r\n."), "250"),
        ] {
            self.say(&command);
            let reply = self.line();
            assert!(reply.starts_with(code), "{command}: {reply}");
        }
    }
}

/// Believes everybody who can sign with the key of the certificate that is shown.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &aws_lc_rs::default_provider().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &aws_lc_rs::default_provider().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
