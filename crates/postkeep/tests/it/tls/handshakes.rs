//! T105: handshakes in the smallest pieces, in versions of the past, that never end, or that are none at all.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustls::ProtocolVersion;
use rustls::version::{TLS12, TLS13};

use super::client::{Client, fresh, with_versions};
use super::{LISTENERS, Listener, Pair, Place, program};
use crate::program::Program;

fn served(settings: &[&str]) -> (Program, Place) {
    let place = Place::with(&Pair::new());
    (program(&place, settings), place)
}

/// What the server sends until it closes.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut said);
    said
}

/// What a client says first: one record.
fn hello() -> Vec<u8> {
    let mut bytes = Vec::new();
    fresh().write_tls(&mut bytes).unwrap();
    bytes
}

#[test]
fn t105_a_client_hello_in_single_bytes_is_understood() {
    let (program, _place) = served(&[]);
    for listener in LISTENERS {
        let mut stream = listener.reach(&program);
        let mut connection = fresh();
        let mut hello = Vec::new();
        connection.write_tls(&mut hello).unwrap();
        for byte in hello {
            stream.write_all(&[byte]).unwrap();
        }
        let client = Client::finish(connection, stream);
        assert!(client.is_ok(), "{listener:?}: {client:?}");
    }
}

#[test]
fn t105_a_client_hello_in_records_of_one_byte_is_understood() {
    let (program, _place) = served(&[]);
    for listener in LISTENERS {
        let mut stream = listener.reach(&program);
        let mut connection = fresh();
        let mut hello = Vec::new();
        connection.write_tls(&mut hello).unwrap();
        // Type and version as before, then a length of one, then the byte.
        let (head, content) = hello.split_at(5);
        for byte in content {
            stream.write_all(&[head[0], head[1], head[2], 0, 1, *byte]).unwrap();
        }
        let client = Client::finish(connection, stream);
        assert!(client.is_ok(), "{listener:?}: {client:?}");
    }
}

#[test]
fn t105_versions_before_1_2_are_refused() {
    let (program, _place) = served(&[]);
    for listener in LISTENERS {
        for minor in [0, 1, 2] {
            let mut stream = listener.reach(&program);
            stream.write_all(&hello_of(minor)).unwrap();
            let said = rest(&mut stream);
            // An alert, fatal: protocol_version.
            assert!(said.starts_with(&[21, 3]), "{listener:?}, 3.{minor}: {said:?}");
            assert_eq!(said[5..7], [2, 70], "{listener:?}, 3.{minor}");
        }
        // The same with 1.2 is welcome: nothing else was wrong with it.
        let mut stream = listener.reach(&program);
        stream.write_all(&hello_of(3)).unwrap();
        let mut answer = [0];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [22], "{listener:?}");
        for (version, expected) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
            let client = Client::finish(with_versions(&[version]), listener.reach(&program)).unwrap();
            assert_eq!(client.version(), expected, "{listener:?}");
        }
    }
}

/// The ClientHello of a client that knows nothing newer than SSL 3.0, TLS 1.0, TLS 1.1 or TLS 1.2.
fn hello_of(minor: u8) -> Vec<u8> {
    let mut body = vec![3, minor];
    body.extend([7; 32]); // its random
    body.push(0); // no session
    body.extend([0, 4, 0xc0, 0x2b, 0xc0, 0x09]); // ECDHE with ECDSA, and AES with GCM or CBC
    body.extend([1, 0]); // no compression
    body.extend([0, 22]); // extensions:
    body.extend([0, 10, 0, 4, 0, 2, 0, 23]); // the group secp256r1
    body.extend([0, 11, 0, 2, 1, 0]); // its points as they are
    body.extend([0, 13, 0, 4, 0, 2, 4, 3]); // signatures by ECDSA over SHA-256
    let mut message = vec![1, 0, 0, body.len() as u8];
    message.extend(body);
    let mut record = vec![22, 3, minor.min(1), 0, message.len() as u8];
    record.extend(message);
    record
}

#[test]
fn t105_a_handshake_that_never_ends_is_ended() {
    let (program, _place) = served(&["tls.handshake_timeout=1s"]);
    let (hello, second) = (hello(), Duration::from_secs(1));
    for listener in LISTENERS {
        // Nothing at all, a part of it, and all of it without the answer to the answer.
        for length in [0, 11, hello.len()] {
            let mut stream = listener.reach(&program);
            let begun = Instant::now();
            stream.write_all(&hello[..length]).unwrap();
            rest(&mut stream);
            let took = begun.elapsed();
            assert!(took > second * 9 / 10, "{listener:?}, {length} bytes: closed after {took:?}");
            assert!(took < second * 10, "{listener:?}, {length} bytes: closed after {took:?} only");
        }
    }
}

#[test]
fn t105_bytes_now_and_then_do_not_prolong_a_handshake() {
    let (program, _place) = served(&["tls.handshake_timeout=1s"]);
    let mut stream = Listener::Smtps.reach(&program);
    let mut drips = stream.try_clone().unwrap();
    let begun = Instant::now();
    let dripping = thread::spawn(move || {
        hello()
            .iter()
            .take_while(|byte| {
                thread::sleep(Duration::from_millis(100));
                drips.write_all(&[**byte]).is_ok()
            })
            .count()
    });
    rest(&mut stream);
    assert!(begun.elapsed() < Duration::from_secs(10), "closed after {:?} only", begun.elapsed());
    assert!(dripping.join().unwrap() < hello().len());
}

#[test]
fn t105_handshakes_that_stall_lock_nobody_out() {
    let (program, _place) = served(&["tls.handshake_timeout=20s"]);
    let hello = hello();
    let stalled: Vec<_> = (0..400)
        .map(|number| {
            let mut stream = Listener::Smtps.reach(&program);
            stream.write_all(&hello[..[0, 1, 11, hello.len()][number % 4]]).unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    for listener in LISTENERS {
        listener.served(&program);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "the others waited for {:?}", begun.elapsed());
    drop(stalled);
}

#[test]
fn t105_what_is_no_handshake_is_answered_by_no_session() {
    let (program, _place) = served(&[]);
    let others: Vec<_> = LISTENERS.map(|listener| (listener, listener.served(&program))).into();
    let noise: Vec<u8> = (0..4096_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let huge = [&[22, 3, 1, 0xff, 0xff][..], &[1; 70_000]].concat();
    let words = b"EHLO client.test\r\nNOOP\r\nQUIT\r\n".to_vec();
    let request = b"GET /api/v1/mailbox/a HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec();
    for listener in LISTENERS {
        for garbage in [&noise, &huge, &words, &request, &vec![0; 64], &vec![0x80; 300]] {
            let mut stream = listener.reach(&program);
            // It may be closed before all of it was taken.
            let _ = stream.write_all(garbage);
            let said = rest(&mut stream);
            assert!(said.is_empty() || said[0] == 21, "{listener:?} answered {:?}", String::from_utf8_lossy(&said));
        }
    }
    // Nobody else noticed.
    for (listener, mut client) in others {
        listener.serves(&mut client);
        listener.served(&program);
    }
}
