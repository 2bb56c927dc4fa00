//! STARTTLS and what must not survive it, TLS from the first byte on, and passwords.

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use net::tls::TlsUse;
use net::{Plaintext, Stream};
use smtp::{Link, Settings};

use crate::rig::{Client, Rig, Smtp, dial, dial_secured, settings};

fn offering() -> Settings {
    Settings { tls: TlsUse::Offer, ..settings() }
}

/// Everything that EHLO lists.
async fn offers(client: &mut Client) -> Vec<String> {
    client.send(b"EHLO client.test\r\n").await;
    let mut lines = Vec::new();
    loop {
        let line = client.line().await.expect("EHLO is answered");
        lines.push(line[4..].to_owned());
        if line.as_bytes()[3] == b' ' {
            return lines;
        }
    }
}

fn has(offers: &[String], word: &str) -> bool {
    offers.iter().any(|line| line.split(' ').next() == Some(word))
}

async fn upgraded(port: u16) -> Client {
    let mut client = dial(port).await;
    assert_eq!(client.code().await, Some(220));
    assert!(has(&offers(&mut client).await, "STARTTLS"));
    assert_eq!(client.ask("STARTTLS").await, Some(220));
    client.secure().await.unwrap()
}

#[tokio::test]
async fn a_session_goes_on_under_tls_and_says_so_in_the_trace() {
    let rig = Rig::new(offering());
    let mut client = upgraded(rig.listen()).await;
    assert!(!has(&offers(&mut client).await, "STARTTLS"), "not offered twice");
    assert_eq!(client.ask("STARTTLS").await, Some(503));
    client.envelope("box").await;
    assert_eq!(client.ask("DATA").await, Some(354));
    client.send(b"Subject: hi\r\n\r\nhello\r\n.\r\n").await;
    assert_eq!(client.code().await, Some(250));
    let source = String::from_utf8(rig.sources("box").await.remove(0).to_vec()).unwrap();
    assert!(source.contains(" with ESMTPS "), "{source}");
}

#[tokio::test]
async fn t003_what_was_sent_ahead_of_the_handshake_is_never_obeyed() {
    let rig = Rig::new(offering());
    let mut client = dial(rig.listen()).await;
    assert_eq!(client.code().await, Some(220));
    offers(&mut client).await;
    client.send(b"STARTTLS\r\nNOOP\r\n").await;
    // The line is cut, with or without a word; whoever goes on all the same meets nobody.
    if client.code().await.is_some() {
        assert!(client.secure().await.is_err(), "there is no session behind a handshake that was run ahead of");
    }
}

#[tokio::test]
async fn t004_nothing_said_before_the_handshake_counts_behind_it() {
    let rig = Rig::new(offering());
    let mut client = dial(rig.listen()).await;
    assert_eq!(client.code().await, Some(220));
    offers(&mut client).await;
    assert_eq!(client.ask(&plain("app", "secret")).await, Some(235));
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
    assert_eq!(client.ask("STARTTLS").await, Some(503), "not inside a transaction");
    assert_eq!(client.ask("RSET").await, Some(250));
    assert_eq!(client.ask("STARTTLS").await, Some(220));
    let mut client = client.secure().await.unwrap();
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(503), "EHLO is forgotten");
    assert!(has(&offers(&mut client).await, "AUTH"), "who signed in is forgotten");
    assert_eq!(client.ask("RCPT TO:<b@x.test>").await, Some(503));
}

#[tokio::test]
async fn mail_waits_for_tls_where_it_is_required() {
    let rig = Rig::new(Settings { tls: TlsUse::Require, ..settings() });
    let port = rig.listen();
    let mut client = dial(port).await;
    assert_eq!(client.code().await, Some(220));
    let offered = offers(&mut client).await;
    assert!(has(&offered, "STARTTLS") && !has(&offered, "AUTH"), "{offered:?}");
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(530));
    assert_eq!(client.ask(&plain("app", "secret")).await, Some(538));
    let mut client = upgraded(port).await;
    assert!(has(&offers(&mut client).await, "AUTH"));
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
}

#[tokio::test]
async fn nothing_is_offered_without_a_certificate_or_when_it_is_off() {
    let rig = Rig::new(settings());
    let mut client = dial(rig.listen()).await;
    assert_eq!(client.code().await, Some(220));
    assert!(!has(&offers(&mut client).await, "STARTTLS"));
    assert_eq!(client.ask("STARTTLS").await, Some(502));
    let rig = Rig::new(offering());
    let mut client = linked(&rig, Link::default());
    assert_eq!(client.code().await, Some(220));
    assert!(!has(&offers(&mut client).await, "STARTTLS"));
}

#[tokio::test]
async fn a_failed_handshake_ends_the_connection_and_no_other() {
    let rig = Rig::new(offering());
    let port = rig.listen();
    let mut client = dial(port).await;
    assert_eq!(client.code().await, Some(220));
    offers(&mut client).await;
    assert_eq!(client.ask("STARTTLS").await, Some(220));
    client.send(b"MAIL FROM:<a@x.test>\r\n").await;
    client.end().await;
    while client.raw().await > 0 {}
    upgraded(port).await;
}

#[tokio::test]
async fn tls_from_the_first_byte_on() {
    let rig = Rig::new(offering());
    let mut client = dial_secured(rig.listen_secured()).await;
    assert_eq!(client.code().await, Some(220));
    assert!(!has(&offers(&mut client).await, "STARTTLS"));
    client.envelope("box").await;
}

// --- passwords ---

fn plain(user: &str, secret: &str) -> String {
    format!("AUTH PLAIN {}", STANDARD.encode(format!("\0{user}\0{secret}")))
}

/// A session with a client that is connected as said.
fn linked(rig: &Rig, link: Link) -> Client {
    let (client, end) = Stream::pipe(64 * 1024);
    let (server, stop) = (Arc::clone(&rig.server), rig.stop.clone());
    tokio::spawn(async move { server.converse(end, link, stop).await });
    Client::new(Box::new(client))
}

#[tokio::test]
async fn t005_a_password_crosses_no_open_network_in_the_clear() {
    let check = async |plaintext: Plaintext, peer: Option<&str>, offered: bool| {
        let rig = Rig::new(Settings { auth_plaintext: plaintext, ..offering() });
        let peer = peer.map(|peer| peer.parse::<IpAddr>().unwrap());
        let mut client = linked(&rig, Link { peer, has_certificate: true, ..Link::default() });
        assert_eq!(client.code().await, Some(220));
        assert_eq!(has(&offers(&mut client).await, "AUTH"), offered, "{plaintext:?} {peer:?}");
        let code = client.ask(&plain("app", "secret")).await;
        assert_eq!(code, Some(if offered { 235 } else { 538 }), "{plaintext:?} {peer:?}");
    };
    for peer in [None, Some("127.0.0.1"), Some("10.1.2.3"), Some("172.18.0.4"), Some("fd00::1"), Some("fe80::1")] {
        check(Plaintext::Private, peer, true).await;
        check(Plaintext::Never, peer, false).await;
    }
    for peer in [Some("203.0.113.9"), Some("2001:db8::1")] {
        check(Plaintext::Private, peer, false).await;
        check(Plaintext::Always, peer, true).await;
    }
}

#[tokio::test]
async fn t006_what_one_client_sends_to_auth_touches_no_other() {
    let rig = Rig::new(settings());
    let port = rig.listen();
    let mut healthy = Vec::new();
    for _ in 0..50 {
        let mut client = dial(port).await;
        assert_eq!(client.code().await, Some(220));
        offers(&mut client).await;
        assert_eq!(client.ask("AUTH LOGIN").await, Some(334));
        healthy.push(client);
    }
    let big = "A".repeat(12_288);
    for bad in ["====", "\u{1}", "!!!!", "QQ", &big, &format!("{big}A"), "=", "AA==", "AAAA"] {
        let mut client = dial(port).await;
        assert_eq!(client.code().await, Some(220));
        offers(&mut client).await;
        assert_eq!(client.ask("AUTH PLAIN").await, Some(334));
        let code = client.ask(bad).await.unwrap();
        assert!((500..=501).contains(&code), "{} answered {code}", &bad[..bad.len().min(10)]);
    }
    for client in &mut healthy {
        assert_eq!(client.ask(&STANDARD.encode("app")).await, Some(334));
        assert_eq!(client.ask(&STANDARD.encode("secret")).await, Some(235));
        assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
    }
}
