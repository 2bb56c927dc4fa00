//! STLS and what must not survive it, TLS from the first byte on, and where a password may come.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dialogues::certificate;
use net::{Plaintext, Stream};
use pop3::{Settings, TlsUse};

use crate::rig::{Client, PATIENCE, Pop3, Rig, dial, dial_secured, settings};

fn offering() -> Settings {
    Settings { tls: TlsUse::Offer, ..settings() }
}

async fn offers(client: &mut Client) -> String {
    assert!(client.ok("CAPA").await);
    String::from_utf8(client.body().await).unwrap()
}

async fn upgraded(port: u16) -> Client {
    let mut client = dial(port).await;
    assert!(client.line().await.unwrap().starts_with("+OK"));
    assert!(client.ok("STLS").await);
    client.secure().await.unwrap()
}

/// Ways to send a command behind STLS before the handshake, each as the segments in which it leaves.
const AHEAD: [&[&[u8]]; 5] = [
    &[b"STLS\r\nCAPA\r\n"],
    &[b"STLS\r\nUSER box\r\nPASS x\r\nLIST\r\n"],
    &[b"STLS\r\nC"],
    &[b"STL", b"S\r\nCAPA\r\n"],
    &[b"USER box\r\nSTLS\r\nPASS x\r\n"],
];

#[tokio::test]
async fn t087_what_was_sent_ahead_of_the_handshake_is_never_obeyed() {
    let rig = Rig::new(offering());
    let port = rig.listen();
    for segments in AHEAD {
        let mut client = dial(port).await;
        assert!(client.line().await.unwrap().starts_with("+OK"));
        for segment in segments {
            client.send(segment).await;
            tokio::task::yield_now().await;
        }
        let lines = client.lines().await;
        let last = lines.last().map_or("", String::as_str);
        assert!(last.starts_with("-ERR Something was sent behind STLS"), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("Welcome") || line.contains("TOP")), "{lines:?}");
    }
}

/// A command that arrives behind the reply is no handshake: the connection ends, and no reply is in the clear.
#[tokio::test]
async fn t087_a_command_in_place_of_the_handshake_ends_the_connection() {
    let rig = Rig::new(offering());
    let mut client = dial(rig.listen()).await;
    assert!(client.line().await.unwrap().starts_with("+OK"));
    assert!(client.ok("STLS").await);
    client.send(b"CAPA\r\nUSER box\r\nPASS x\r\n").await;
    client.end().await;
    let rest = client.rest().await;
    assert!(!rest.windows(3).any(|window| window == b"+OK" || window == b"-ER"), "{:?}", rest.escape_ascii());
}

#[tokio::test]
async fn t087_one_session_under_tls_is_nothing_to_another() {
    let rig = Rig::new(Settings { auth_plaintext: Plaintext::Never, ..offering() });
    let port = rig.listen();
    let mut plain = dial(port).await;
    assert!(plain.line().await.unwrap().starts_with("+OK"));
    let mut secured = upgraded(port).await;
    assert!(secured.ok("USER box").await, "under TLS");
    assert!(!plain.ok("USER box").await, "still in the clear");
    assert!(offers(&mut plain).await.contains("STLS\r\n"), "and still offered TLS");
    assert!(!offers(&mut secured).await.contains("STLS\r\n"));
    assert!(secured.ok("PASS x").await);
    assert!(!plain.ok("STAT").await, "and nobody signed in there");
    let mut later = dial(port).await;
    assert!(later.line().await.unwrap().starts_with("+OK"));
    assert!(offers(&mut later).await.contains("STLS\r\n"));
    assert!(plain.ok("STLS").await);
    let mut plain = plain.secure().await.unwrap();
    assert!(plain.ok("USER box").await);
}

#[tokio::test]
async fn t087_a_failed_handshake_ends_one_connection_and_no_other() {
    let rig = Rig::new(offering());
    let port = rig.listen();
    let mut bystander = upgraded(port).await;
    for garbage in [&b"\x16\x03\x01\xff\xff"[..], b"USER box\r\n", b"", b"\0\0\0\0\0\0\0\0"] {
        let mut client = dial(port).await;
        assert!(client.line().await.unwrap().starts_with("+OK"));
        assert!(client.ok("STLS").await);
        client.send(garbage).await;
        client.end().await;
        client.rest().await;
    }
    assert!(bystander.ok("USER box").await);
    assert!(upgraded(port).await.ok("USER box").await);
}

#[tokio::test]
async fn a_password_comes_from_near_or_under_tls() {
    let check = async |plaintext: Plaintext, peer: &str, allowed: bool| {
        let rig = Rig::new(Settings { auth_plaintext: plaintext, ..offering() });
        let mut client = rig.pipe_from(Some(peer.parse::<IpAddr>().unwrap()), 4096);
        assert!(client.line().await.unwrap().starts_with("+OK"));
        assert_eq!(offers(&mut client).await.contains("\nUSER\r\nSTLS\r\n"), allowed, "{plaintext:?} {peer}");
        assert_eq!(client.ok("USER box").await, allowed, "{plaintext:?} {peer}");
        assert_eq!(client.ok("PASS x").await, allowed, "{plaintext:?} {peer}");
    };
    for near in ["127.0.0.1", "10.1.2.3", "172.18.0.4", "fd00::1", "fe80::1", "100.64.0.1"] {
        check(Plaintext::Private, near, true).await;
        check(Plaintext::Never, near, false).await;
    }
    for far in ["203.0.113.9", "2001:db8::1"] {
        check(Plaintext::Private, far, false).await;
        check(Plaintext::Always, far, true).await;
    }
}

#[tokio::test]
async fn a_large_message_comes_whole_under_tls() {
    let rig = Rig::new(offering());
    let raw = format!("Subject: large\r\n\r\n{}", ".a line that begins with a dot\r\n".repeat(40_000)).into_bytes();
    rig.put("box", raw.clone()).await;
    let mut at_once = dial_secured(rig.listen_secured()).await;
    assert!(at_once.line().await.unwrap().starts_with("+OK"));
    for mut client in [at_once, upgraded(rig.listen()).await] {
        assert!(client.ok("USER box").await && client.ok("PASS x").await);
        for _ in 0..3 {
            assert!(client.ok("RETR 1").await);
            assert!(client.body().await == raw, "byte for byte");
        }
    }
}

/// What a client under TLS does not take is given up as well: there the bytes wait in more places than one.
#[tokio::test]
async fn t009_a_client_under_tls_that_reads_nothing_is_given_up() {
    let rig = Rig::new(Settings { write_timeout: Duration::from_millis(300), ..offering() });
    for size in [30_000, 1 << 20] {
        rig.put("box", "x".repeat(size)).await;
        let (client, end) = Stream::pipe(100);
        let (server, tls, stop) = (Arc::clone(&rig.server), Arc::clone(&rig.tls), rig.stop.clone());
        let session = tokio::spawn(async move {
            let (stream, secured) = tls.accept(end).await.unwrap();
            server.converse(stream, None, Some(secured), stop).await;
        });
        let mut client = Client::new(Box::new(certificate::connect(client).await.unwrap()));
        client.sign_in("box").await;
        assert!(client.ok("STAT").await);
        client.send(b"RETR 1\r\n").await;
        tokio::time::timeout(PATIENCE, session).await.expect("the session ends").unwrap();
    }
}
