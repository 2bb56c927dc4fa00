//! A bad network between client and server: bytes come late, in shreds, or not at all.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::http::{latest_as_sent, list};
use crate::program::{Program, until};
use crate::smtp::{message, stuffed};

/// How a connection through the bad network fares, drawn from its number so that a failure can be repeated.
#[derive(Clone, Copy)]
struct Weather(u64);

impl Weather {
    /// The next of a sequence that looks like chance (a linear congruence; its high bits are good enough here).
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Listens on a port of its own and carries each connection to `server`, as badly as the weather has it.
fn bad_network(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let server = TcpStream::connect(server).unwrap();
            let weather = Weather(number as u64);
            carry(client.try_clone().unwrap(), server.try_clone().unwrap(), weather);
            carry(server, client, Weather(number as u64 + 1_000_000));
        }
    });
    addr
}

/// Carry bytes one way in pieces of one to seven, with pauses; every third connection is lost on the way.
fn carry(mut from: TcpStream, mut to: TcpStream, mut weather: Weather) {
    thread::spawn(move || {
        let mut left = if weather.draw(3) == 0 { weather.draw(700) } else { u64::MAX };
        let mut piece = [0; 7];
        loop {
            let size = 1 + weather.draw(piece.len() as u64) as usize;
            let Ok(count @ 1..) = from.read(&mut piece[..size]) else { break };
            if weather.draw(12) == 0 {
                thread::sleep(Duration::from_millis(weather.draw(4)));
            }
            left = left.saturating_sub(count as u64);
            if left == 0 || to.write_all(&piece[..count]).is_err() {
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                return;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

/// One transaction through the bad network; whether its 250 was seen.
fn try_to_send(network: SocketAddr, number: usize) -> bool {
    let head = format!(
        "EHLO c.test\r\nMAIL FROM:<>\r\nRCPT TO:<left{number}@x.test>\r\nRCPT TO:<right{number}@x.test>\r\nDATA\r\n"
    );
    let mut stream = TcpStream::connect(network).unwrap();
    let dialogue = [head.as_bytes(), &stuffed(&message("weather")), b"QUIT\r\n"].concat();
    let _ = stream.write_all(&dialogue);
    let mut replies = Vec::new();
    let _ = stream.read_to_end(&mut replies);
    String::from_utf8_lossy(&replies).contains("354 ") && String::from_utf8_lossy(&replies).contains("message kept")
}

#[test]
fn f14_loss_and_delay_never_split_a_message() {
    let program = Program::start(&[]);
    let network = bad_network(program.smtp);
    let senders: Vec<_> = (0..60).map(|number| thread::spawn(move || try_to_send(network, number))).collect();
    let acknowledged: Vec<bool> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
    assert!(acknowledged.contains(&true) && acknowledged.contains(&false), "the weather was mixed");
    for (number, acknowledged) in acknowledged.into_iter().enumerate() {
        let (left, right) = (format!("left{number}"), format!("right{number}"));
        // Looked at one after the other, so a mail that arrives in between is asked for again.
        let kept = until("the mail in both mailboxes or in none", || {
            let kept = list(program.http, &left).len();
            (kept == list(program.http, &right).len()).then_some(kept)
        });
        assert!(kept == 1 || kept == 0 && !acknowledged, "{number}: {kept} kept, 250 seen: {acknowledged}");
        if kept == 1 {
            assert_eq!(latest_as_sent(program.http, &left), message("weather"));
        }
    }
}
