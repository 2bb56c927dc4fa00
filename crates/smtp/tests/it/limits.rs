//! Limits for a public address: rates, block lists, the tarpit, early talkers, and who is believed about an address.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mailroom::{Quota, Scope};
use net::{Dns, Gate, Hall, Lanes, Listener, Network, Place, Rates, dns};
use smtp::{Limits, Settings};
use tokio::net::{TcpSocket, UdpSocket};
use tokio::time::Instant;

use crate::rig::{Client, PATIENCE, Rig, Smtp, settings};

const HOUR: Duration = Duration::from_secs(3600);

fn rates(count: u32) -> Option<Arc<Rates>> {
    Some(Arc::new(Rates::new(Some(Quota { count, per: HOUR }), None, 1000)))
}

/// Serve behind a listener; its port.
fn serve(rig: &Rig, proxy_from: &[&str], arrivals: Option<Arc<Rates>>) -> u16 {
    let listener = Listener::bind(&Place::parse("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let hall = Hall {
        gate: Gate::new(100, 0),
        lanes: Lanes::here(),
        stop: rig.stop.clone(),
        proxy_from: proxy_from.iter().map(|text| Network::parse(text).unwrap()).collect(),
        arrivals,
    };
    tokio::spawn(smtp::serve(listener, rig.dialect, Arc::clone(&rig.server), Arc::new(hall)));
    port
}

/// A client that comes from this address.
async fn dial_from(ip: &str, port: u16) -> Client {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((ip.parse::<IpAddr>().unwrap(), 0).into()).unwrap();
    Client::new(Box::new(socket.connect(([127, 0, 0, 1], port).into()).await.unwrap()))
}

/// Greeting and EHLO.
async fn hello(client: &mut Client) {
    assert_eq!(client.code().await, Some(220));
    assert_eq!(client.ask("EHLO client.test").await, Some(250));
}

/// One line, and the whole reply to it.
async fn said(client: &mut Client, line: &str) -> String {
    client.send(format!("{line}\r\n").as_bytes()).await;
    client.line().await.unwrap()
}

/// Send a message of so many octets; the code at the end.
async fn send(client: &mut Client, octets: usize) -> Option<u16> {
    assert_eq!(client.ask("RCPT TO:<box@x.test>").await, Some(250));
    assert_eq!(client.ask("DATA").await, Some(354));
    client.send(&b"x".repeat(octets)).await;
    client.send(b"\r\n.\r\n").await;
    client.code().await
}

#[tokio::test]
async fn an_address_begins_so_many_transactions_and_others_theirs() {
    let rig = Rig::new(settings()).limited(Limits { transactions: rates(3), ..Limits::default() });
    let port = serve(&rig, &[], None);
    let mut client = dial_from("127.0.0.3", port).await;
    hello(&mut client).await;
    for _ in 0..3 {
        assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
        assert_eq!(client.ask("RSET").await, Some(250));
    }
    let told = said(&mut client, "MAIL FROM:<a@x.test>").await;
    let text = "450 4.7.1 Too many messages came from your address or its network of late; try again in 1";
    assert!(told.starts_with(text), "{told}");
    let mut again = dial_from("127.0.0.3", port).await;
    hello(&mut again).await;
    assert_eq!(again.ask("MAIL FROM:<a@x.test>").await, Some(450), "a new connection is no way round");
    let mut other = dial_from("127.0.0.4", port).await;
    hello(&mut other).await;
    assert_eq!(other.ask("MAIL FROM:<a@x.test>").await, Some(250));
}

#[tokio::test]
async fn octets_are_counted_as_they_come_and_what_is_too_much_is_owed() {
    let limits = Limits { kibibytes: rates(100), ..Limits::default() };
    let rig = Rig::new(Settings { message_max: 1 << 20, ..settings() }).limited(limits);
    let port = serve(&rig, &[], None);
    let mut client = dial_from("127.0.0.3", port).await;
    hello(&mut client).await;
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
    assert_eq!(send(&mut client, 30_000).await, Some(250), "within the quota");
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
    assert_eq!(send(&mut client, 150_000).await, Some(250), "a message that has begun is taken whole");
    let told = said(&mut client, "MAIL FROM:<a@x.test>").await;
    assert!(told.starts_with("450 4.7.1 Too many octets came from your address"), "{told}");
    assert_eq!(rig.kept("box").await, 2);
    let mut other = dial_from("127.0.0.4", port).await;
    hello(&mut other).await;
    assert_eq!(other.ask("MAIL FROM:<a@x.test>").await, Some(250));
}

#[tokio::test]
async fn small_pieces_count_too() {
    let rig = Rig::new(settings()).limited(Limits { kibibytes: rates(10), ..Limits::default() });
    let port = serve(&rig, &[], None);
    let mut taken = 0;
    for _ in 0..20 {
        let mut client = dial_from("127.0.0.3", port).await;
        hello(&mut client).await;
        taken += usize::from(client.ask("MAIL FROM:<a@x.test>").await == Some(250));
        assert_eq!(client.ask("QUIT").await, Some(221));
        assert_eq!(client.codes().await, [0_u16; 0]);
    }
    assert!(taken <= 10, "{taken}");
}

#[tokio::test]
async fn connections_come_so_often_and_hear_why_not() {
    let rig = Rig::new(settings());
    let port = serve(&rig, &[], rates(2));
    assert_eq!(dial_from("127.0.0.3", port).await.code().await, Some(220));
    assert_eq!(dial_from("127.0.0.3", port).await.code().await, Some(220));
    assert_eq!(dial_from("127.0.0.3", port).await.codes().await, [421]);
    assert_eq!(dial_from("127.0.0.4", port).await.code().await, Some(220));
}

#[tokio::test(start_paused = true)]
async fn t011_a_refusal_comes_after_the_tarpit_and_nothing_else_does() {
    let rig = Rig::new(Settings { tarpit: Duration::from_secs(7), ..settings() });
    let mut client = rig.pipe();
    hello(&mut client).await;
    for (line, code, seconds) in [
        ("NOOP", 250, 0),
        ("WHAT", 500, 7),
        ("MAIL FROM:<a@spam.test>", 550, 7),
        ("MAIL FROM:<a@x.test>", 250, 0),
        ("RCPT TO:<a@reject.test>", 550, 7),
        ("DATA", 554, 7),
        ("QUIT", 221, 0),
    ] {
        let began = Instant::now();
        assert_eq!(client.ask(line).await, Some(code), "{line}");
        assert_eq!(began.elapsed().as_secs(), seconds, "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_does_not_wait_for_the_tarpit() {
    let rig = Rig::new(Settings { tarpit: Duration::from_secs(7), ..settings() });
    let mut client = rig.pipe();
    assert_eq!(client.code().await, Some(220));
    let began = Instant::now();
    client.send(b"NOOP\r\nWHAT\r\n").await;
    assert_eq!((client.code().await, began.elapsed().as_secs()), (Some(250), 0));
    assert_eq!((client.code().await, began.elapsed().as_secs()), (Some(500), 7));
}

// --- the PROXY protocol ---

/// The trace field of the one message in the box.
async fn trace(rig: &Rig) -> String {
    let sources = rig.sources("box").await;
    let source = String::from_utf8_lossy(&sources[0]).into_owned();
    source.lines().find(|line| line.starts_with("Received:")).unwrap().to_owned()
}

#[tokio::test]
async fn t019_a_trusted_proxy_says_whom_it_speaks_for() {
    let rig = Rig::new(settings()).limited(Limits { transactions: rates(1), ..Limits::default() });
    let port = serve(&rig, &["127.0.0.9/32"], None);
    let mut client = dial_from("127.0.0.9", port).await;
    client.send(b"PROXY TCP4 192.0.2.77 198.51.100.1 40000 25\r\n").await;
    hello(&mut client).await;
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
    assert_eq!(send(&mut client, 10).await, Some(250));
    assert!(trace(&rig).await.contains("[192.0.2.77]"), "{}", trace(&rig).await);
    let mut second = dial_from("127.0.0.9", port).await;
    second.send(b"PROXY TCP4 192.0.2.78 198.51.100.1 40000 25\r\n").await;
    hello(&mut second).await;
    assert_eq!(second.ask("MAIL FROM:<a@x.test>").await, Some(250), "each client has its own rate");
    assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(450));
}

#[tokio::test]
async fn t019_a_header_from_anybody_else_is_not_believed() {
    let rig = Rig::new(settings());
    let port = serve(&rig, &["127.0.0.9/32"], None);
    let mut client = dial_from("127.0.0.3", port).await;
    client.send(b"PROXY TCP4 192.0.2.77 198.51.100.1 40000 25\r\n").await;
    client.send(b"EHLO x\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<box@x.test>\r\nDATA\r\n.\r\n").await;
    assert_eq!(client.codes().await, [220, 554], "told so, and closed");
    assert_eq!(rig.kept("box").await, 0);
}

#[tokio::test]
async fn t019_a_trusted_proxy_must_say_whom_it_speaks_for() {
    let rig = Rig::new(settings());
    let port = serve(&rig, &["127.0.0.9/32"], None);
    let mut silent = dial_from("127.0.0.9", port).await;
    silent.send(b"EHLO client.test\r\n").await;
    assert_eq!(silent.codes().await, [0_u16; 0], "closed without a word");
}

// --- the DNS ---

/// A DNS server that names 127.0.0.2 in the list bl.example, after so long.
async fn lists_127_0_0_2(delay: Duration) -> SocketAddr {
    let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let addr = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut packet = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            let (reply, socket) = (answer(&packet[..length]), Arc::clone(&socket));
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let _ = socket.send_to(&reply, from).await;
            });
        }
    });
    addr
}

/// The question with its answer behind it (RFC 1035 §4.1): 127.0.0.2 for the one name, no such name for others.
fn answer(question: &[u8]) -> Vec<u8> {
    let end = 12 + question[12..].iter().position(|&octet| octet == 0).unwrap() + 5;
    let listed = question[12..].to_ascii_lowercase().starts_with(b"\x012\x010\x010\x03127\x02bl\x07example\0");
    let mut reply = [&question[..2], &[0x81, 0x80], &[0, 1], &[0, 0, 0, 0, 0, 0], &question[12..end]].concat();
    if listed {
        reply[7] = 1;
        reply.extend_from_slice(b"\xc0\x0c\0\x01\0\x01\0\0\x01\x2c\0\x04\x7f\0\0\x02");
    } else {
        reply[3] |= 3;
    }
    reply
}

fn asking(server: SocketAddr) -> Limits {
    let settings = dns::Settings {
        blocklists: vec!["bl.example".into()],
        reverse: true,
        servers: vec![server],
        ..dns::Settings::default()
    };
    Limits { dns: Dns::new(&settings).unwrap(), ..Limits::default() }
}

/// MAIL and RCPT again and again, until RCPT is answered like this.
async fn until_rcpt(client: &mut Client, wanted: &str) {
    let told = async {
        loop {
            assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
            if said(client, "RCPT TO:<box@x.test>").await == wanted {
                return;
            }
            assert_eq!(client.ask("RSET").await, Some(250));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("the list is heard in the end");
}

#[tokio::test]
async fn an_address_that_a_list_names_is_refused_by_its_name() {
    let rig = Rig::new(Settings { idle_commands_max: 1_000_000, ..settings() });
    let rig = rig.limited(asking(lists_127_0_0_2(Duration::ZERO).await));
    let port = serve(&rig, &[], None);
    let mut listed = dial_from("127.0.0.2", port).await;
    hello(&mut listed).await;
    let told =
        "550 5.7.1 Mail from 127.0.0.2 is refused, as the block list bl.example names it; ask there to be taken off";
    until_rcpt(&mut listed, told).await;
    assert_eq!(listed.ask("DATA").await, Some(554));
    let refusals = rig.mailroom.refusals(&mailroom::Caller::Program, &Scope::All, 10).unwrap();
    assert_eq!(refusals.items[0].mailboxes, [rig.mailroom.named("box").unwrap()], "and its mailbox hears of it");
    let mut other = dial_from("127.0.0.3", port).await;
    hello(&mut other).await;
    assert_eq!(other.ask("MAIL FROM:<a@x.test>").await, Some(250));
    assert_eq!(send(&mut other, 10).await, Some(250));
}

#[tokio::test]
async fn f22_a_dns_that_is_slow_or_dead_leaves_mail_as_it_is() {
    let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for server in [dead.local_addr().unwrap(), lists_127_0_0_2(Duration::from_secs(10)).await] {
        let rig = Rig::new(settings()).limited(asking(server));
        let port = serve(&rig, &[], None);
        let began = Instant::now();
        for _ in 0..20 {
            let mut client = dial_from("127.0.0.2", port).await;
            hello(&mut client).await;
            assert_eq!(client.ask("MAIL FROM:<a@x.test>").await, Some(250));
            assert_eq!(send(&mut client, 10).await, Some(250));
        }
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(rig.kept("box").await, 20);
    }
}
