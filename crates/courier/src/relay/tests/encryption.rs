//! T077: who gets mail under TLS, and who gets none.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::net::TcpListener;

use super::super::smart_host::Login;
use super::*;

const RAW: &[u8] = b"Subject: a\r\n\r\nb\r\n";

/// An authority, and a server that it vouches for by this name.
fn vouched(name: &str) -> (String, Arc<rustls::ServerConfig>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .unwrap();
    (authority, Arc::new(config))
}

fn trusting(authority: &str, tls: Tls) -> SmartHost {
    let host = SmartHost::new("localhost", 25, Some(tls), Some(authority.as_bytes())).unwrap();
    SmartHost { timeout: Duration::from_secs(5), ..host }
}

#[tokio::test]
async fn t077_mail_goes_under_tls_to_whom_the_authority_vouches_for() {
    let (authority, tls) = vouched("localhost");
    let sink = Sink { offers: vec!["STARTTLS"], tls: Some(tls), ..Sink::default() };
    for (mode, implicit) in [(Tls::Required, false), (Tls::Opportunistic, false), (Tls::Implicit, true)] {
        let sink = Sink { implicit, ..sink.clone() };
        let (fates, heard) = tell(sink, &trusting(&authority, mode), &letter(RAW, &["b@y.test"])).await;
        assert!(matches!(&fates[..], [Fate::Sent(_)]), "{mode:?} {fates:?}");
        assert!(heard.encrypted && heard.messages.len() == 1 && heard.faults.is_empty(), "{heard:?}");
    }
}

/// Wrong host, self-signed, no STARTTLS, STARTTLS refused, words put in before the handshake.
#[tokio::test]
async fn t077_nobody_else_gets_any() {
    let (authority, tls) = vouched("localhost");
    let (_, strangers) = vouched("localhost");
    let (wrong_authority, wrong) = vouched("other.test");
    let good = Sink { offers: vec!["STARTTLS"], tls: Some(tls), ..Sink::default() };
    let hosts = |authority: &str| [Tls::Required, Tls::Opportunistic].map(|tls| trusting(authority, tls));
    let mut cases = vec![
        (Sink { offers: vec![], ..good.clone() }, trusting(&authority, Tls::Required), "STARTTLS"),
        (Sink { answers: vec![("EHLO", "502 no")], ..good.clone() }, trusting(&authority, Tls::Required), "STARTTLS"),
        (good.clone(), smart_host(Tls::Required), "TLS failed"),
        (
            Sink { tls: Some(strangers), implicit: true, ..good.clone() },
            trusting(&authority, Tls::Implicit),
            "TLS failed",
        ),
    ];
    for host in hosts(&authority) {
        cases.push((Sink { answers: vec![("STARTTLS", "454 no")], ..good.clone() }, host.clone(), "STARTTLS"));
        cases.push((Sink { injected: "\r\n250 hello", ..good.clone() }, host, "in the clear"));
    }
    for host in hosts(&wrong_authority) {
        cases.push((Sink { tls: Some(wrong.clone()), ..good.clone() }, host, "TLS failed"));
    }
    for (at, (sink, host, why)) in cases.into_iter().enumerate() {
        let (fates, heard) = tell(sink, &host, &letter(RAW, &["b@y.test"])).await;
        assert!(matches!(&fates[..], [Fate::Later(told)] if told.contains(why)), "{at}: {fates:?}");
        assert!(heard.messages.is_empty() && !heard.lines.iter().any(|line| line.starts_with("MAIL")), "{at}");
    }
}

#[tokio::test]
async fn t077_no_password_in_the_clear_beyond_this_machine() {
    let mut host = smart_host(Tls::Off);
    host.login = Some(Login { user: "u".to_owned(), password: "canary".to_owned() });
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let sink = Sink { offers: vec!["AUTH PLAIN LOGIN"], ..Sink::default() };
    let serving = tokio::spawn(sink.serve(theirs));
    let link = Link::over(Box::new(ours), host.timeout, Instant::now() + host.attempt_max, false);
    let fates = super::super::dialogue::converse(&host, &letter(RAW, &["b@y.test"]), link).await;
    assert!(matches!(&fates[..], [Fate::Later(why)] if why.contains("in the clear")));
    assert!(serving.await.unwrap().lines.iter().all(|line| !line.starts_with("AUTH")));
}

#[test]
fn t077_tls_is_required_beyond_this_machine_unless_told_otherwise() {
    let tls = |host: &str| SmartHost::new(host, 25, None, None).unwrap().tls;
    for host in ["smtp.example.com", "192.0.2.1", "[2001:db8::1]", "localhost.example.com"] {
        assert_eq!(tls(host), Tls::Required, "{host}");
    }
    for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "::ffff:127.0.0.1"] {
        assert_eq!(tls(host), Tls::Off, "{host}");
    }
    assert!(SmartHost::new("a b", 25, None, None).is_err());
    assert!(SmartHost::new("localhost", 25, None, Some(b"no certificate")).is_err());
}

#[tokio::test]
async fn over_tcp_and_to_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut host = SmartHost { port: listener.local_addr().unwrap().port(), ..smart_host(Tls::Off) };
    host.host = "127.0.0.1".to_owned();
    let serving = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        Sink::default().serve(socket).await
    });
    let letter = letter(RAW, &["b@y.test"]);
    assert!(matches!(&super::super::send(&host, &letter).await[..], [Fate::Sent(_)]));
    assert_eq!(serving.await.unwrap().messages.len(), 1);
    assert!(matches!(&super::super::send(&host, &letter).await[..], [Fate::Later(_)]));
}
