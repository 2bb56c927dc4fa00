//! Against a stub of a DNS server on the loopback.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::Record;
use hickory_resolver::proto::rr::rdata::{A, PTR};
use tokio::net::UdpSocket;
use tokio::time::Instant;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// Answers what it is told to, and counts what it is asked.
struct Stub {
    addr: SocketAddr,
    asked: Arc<AtomicUsize>,
}

/// A server that answers each name and type as this function says; none: no such name.
async fn stub(answer: fn(&str, RecordType) -> Option<RData>) -> Stub {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let (addr, asked) = (socket.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        let mut packet = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            count.fetch_add(1, Ordering::SeqCst);
            let mut message = Message::from_vec(&packet[..length]).unwrap();
            message.metadata.message_type = MessageType::Response;
            let query = message.queries[0].clone();
            match answer(&query.name().to_ascii().to_lowercase(), query.query_type()) {
                Some(data) => drop(message.add_answer(Record::from_rdata(query.name().clone(), 300, data))),
                None => message.metadata.response_code = ResponseCode::NXDomain,
            }
            socket.send_to(&message.to_vec().unwrap(), from).await.unwrap();
        }
    });
    Stub { addr, asked }
}

fn settings(servers: Vec<SocketAddr>) -> Settings {
    Settings {
        blocklists: vec!["bl.example".into(), "more.example".into()],
        reverse: true,
        servers,
        ..Settings::default()
    }
}

fn a(octets: [u8; 4]) -> Option<RData> {
    Some(RData::A(A(Ipv4Addr::from(octets))))
}

fn zone(name: &str, kind: RecordType) -> Option<RData> {
    match (name, kind) {
        ("2.0.0.127.bl.example.", RecordType::A) => a([127, 0, 0, 2]),
        ("3.2.0.192.bl.example.", RecordType::A) => a([127, 255, 255, 254]),
        ("4.2.0.192.bl.example.", RecordType::A) => a([198, 51, 100, 9]),
        ("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.more.example.", RecordType::A) => {
            a([127, 0, 0, 10])
        }
        ("3.2.0.192.in-addr.arpa.", RecordType::PTR) => {
            Some(RData::PTR(PTR(Name::from_ascii("mail.example.org.").unwrap())))
        }
        ("4.2.0.192.in-addr.arpa.", RecordType::PTR) => {
            Some(RData::PTR(PTR(Name::from_labels([&b"x\r\ny"[..], b"example"]).unwrap())))
        }
        _ => None,
    }
}

/// Wait until everything that was asked is answered, or was given up.
async fn settled(dns: &Dns) {
    let all = tokio::time::timeout(PATIENCE, dns.turns.acquire_many(QUESTIONS_MAX as u32)).await;
    drop(all.expect("questions end").unwrap());
}

async fn heard(dns: &Arc<Dns>, ip: &str) -> (Option<String>, Option<String>) {
    let inquiry = dns.ask(ip.parse().unwrap());
    settled(dns).await;
    (inquiry.listed().map(str::to_owned), inquiry.name().map(str::to_owned))
}

#[tokio::test]
async fn an_address_is_asked_for_in_every_list_and_by_name() {
    let stub = stub(zone).await;
    let dns = Dns::new(&settings(vec![stub.addr])).unwrap().unwrap();
    assert_eq!(heard(&dns, "127.0.0.2").await.0.as_deref(), Some("bl.example"));
    assert_eq!(heard(&dns, "::ffff:127.0.0.2").await.0.as_deref(), Some("bl.example"));
    assert_eq!(heard(&dns, "2001:db8::1").await, (Some("more.example".into()), None));
    assert_eq!(heard(&dns, "192.0.2.1").await, (None, None));
    assert_eq!(heard(&dns, "192.0.2.3").await, (None, Some("mail.example.org".into())), "no entry but a rebuff");
    assert_eq!(heard(&dns, "192.0.2.4").await, (None, None), "no entry, and no name of a host");
}

#[tokio::test]
async fn what_was_answered_is_remembered() {
    let stub = stub(zone).await;
    let one = Settings { blocklists: vec!["bl.example".into()], reverse: false, ..settings(vec![stub.addr]) };
    let dns = Dns::new(&one).unwrap().unwrap();
    for _ in 0..100 {
        assert_eq!(heard(&dns, "127.0.0.2").await.0.as_deref(), Some("bl.example"));
    }
    assert_eq!(stub.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn f22_a_server_that_is_dead_is_waited_for_by_nobody_and_given_up() {
    let dead = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let settings = Settings { timeout: Duration::from_millis(300), ..settings(vec![dead.local_addr().unwrap()]) };
    let dns = Dns::new(&settings).unwrap().unwrap();
    let began = Instant::now();
    let inquiries: Vec<_> = (0..1000).map(|_| dns.ask("127.0.0.2".parse().unwrap())).collect();
    assert!(dns.turns.available_permits() == 0, "no more than so many questions are under way");
    assert!(inquiries.iter().all(|inquiry| inquiry.listed().is_none() && inquiry.name().is_none()));
    settled(&dns).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn without_anything_to_ask_there_is_no_resolver() {
    let none = Settings { servers: vec!["127.0.0.1:1".parse().unwrap()], ..Settings::default() };
    assert!(Dns::new(&none).unwrap().is_none());
}

#[tokio::test]
async fn a_list_that_is_no_name_is_told() {
    for bad in ["", ".", "a..b", &"x".repeat(64)] {
        let settings = Settings { blocklists: vec![bad.into()], ..settings(vec!["127.0.0.1:1".parse().unwrap()]) };
        assert!(matches!(Dns::new(&settings), Err(Unasked::BadList(_))), "{bad:?}");
    }
}
