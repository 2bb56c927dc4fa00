//! Headers as they come: sound, wrong, endless, in pieces.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use proptest::prelude::*;
use tokio::io::AsyncWriteExt;

use super::*;

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const BEHIND: &[u8] = b"\x16\x03\x01EHLO";

fn v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = (rest.len() as u16).to_be_bytes();
    [SIGNATURE, &[command, family], &length, rest].concat()
}

fn v4_block() -> Vec<u8> {
    vec![192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 4, 0, 25]
}

fn v6_block() -> Vec<u8> {
    let from: std::net::Ipv6Addr = "2001:db8::7".parse().unwrap();
    [&from.octets()[..], &[0; 16], &[0xdc, 4, 0, 25]].concat()
}

/// Headers that are sound, each with the client it names.
fn sound() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let longest = format!("PROXY UNKNOWN {}\r\n", "f".repeat(107 - 16));
    assert_eq!(longest.len(), 107);
    let tlv = |block: Vec<u8>, octets: usize| [block, vec![4; octets]].concat();
    vec![
        (b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n".to_vec(), Some("192.0.2.1")),
        (b"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n".to_vec(), Some("255.255.255.255")),
        (b"PROXY TCP6 2001:db8::7 ::1 0 25\r\n".to_vec(), Some("2001:db8::7")),
        (b"PROXY TCP6 ::ffff:192.0.2.1 ::1 1 25\r\n".to_vec(), Some("192.0.2.1")),
        (b"PROXY UNKNOWN\r\n".to_vec(), None),
        (b"PROXY UNKNOWN ffff:f::1 anything 1\r\n".to_vec(), None),
        (longest.into_bytes(), None),
        (v2(0x21, 0x11, &v4_block()), Some("192.0.2.1")),
        (v2(0x21, 0x11, &tlv(v4_block(), 300)), Some("192.0.2.1")),
        (v2(0x21, 0x21, &v6_block()), Some("2001:db8::7")),
        (v2(0x21, 0x21, &tlv(v6_block(), 4096 - 36)), Some("2001:db8::7")),
        (v2(0x21, 0x00, b""), None),
        (v2(0x21, 0x00, &[9; 40]), None),
        (v2(0x21, 0x31, &[b'/'; 216]), None),
        (v2(0x20, 0x00, b""), None),
        (v2(0x20, 0x11, &v4_block()), None),
        (v2(0x20, 0x77, b"x"), None),
    ]
}

/// Follow the parser's needs in pieces of at most `piece` octets; how much was taken, and the client.
fn follow(input: &[u8], piece: usize) -> Result<(usize, Option<IpAddr>), BadHeader> {
    let mut taken = 0;
    loop {
        match parse(&input[..taken])? {
            Header::Whole(client) => return Ok((taken, client)),
            Header::Needs(octets) => {
                assert!(octets > 0);
                let more = octets.min(piece).min(input.len() - taken);
                if more == 0 {
                    return Err(BadHeader::Ended(io::ErrorKind::UnexpectedEof.into()));
                }
                taken += more;
            }
        }
    }
}

fn told(input: &[u8]) -> String {
    follow(input, usize::MAX).unwrap_err().to_string()
}

#[test]
fn a_header_names_its_client_however_it_is_divided_and_takes_nothing_behind_it() {
    for (header, client) in sound() {
        let client: Option<IpAddr> = client.map(|client| client.parse().unwrap());
        let input = [&header[..], BEHIND].concat();
        for piece in [1, 2, 3, 7, usize::MAX] {
            assert_eq!(follow(&input, piece).unwrap(), (header.len(), client), "{header:?}");
        }
        for end in 0..header.len() {
            assert!(follow(&header[..end], usize::MAX).is_err(), "cut at {end}: {header:?}");
        }
    }
}

#[test]
fn what_is_no_header_is_said_to_be_missing() {
    for input in ["EHLO client.test\r\n", "PROXX TCP4 ", "GET / HTTP/1.1\r\n", "\r\n\r\nQUIT\r\nxxxxxx", "proxy tcp4 "]
    {
        assert!(told(input.as_bytes()).starts_with("no PROXY header came"), "{input:?}");
    }
    assert!(told(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03aaaaa").starts_with("no PROXY header came"));
}

#[test]
fn what_is_wrong_with_a_header_is_said() {
    let malformed = "the PROXY header is malformed: ";
    for (input, expected) in [
        (&b"PROXY TCP4 192.0.2.1 198.51.100.1 1 25\n"[..], "its line ends in a bare LF"),
        (b"PROXY TCP4  192.0.2.1 198.51.100.1 1 25\r\n", "its line is not PROXY TCP4|TCP6"),
        (b"PROXY TCP4 192.0.2.1 198.51.100.1 1 25 \r\n", "its line is not PROXY TCP4|TCP6"),
        (b"PROXY TCP4 192.0.2.1 198.51.100.1 1\r\n", "its line is not PROXY TCP4|TCP6"),
        (b"PROXY UDP4 192.0.2.1 198.51.100.1 1 25\r\n", "its line is not PROXY TCP4|TCP6"),
        (b"PROXY UNKNOWNX\r\n", "its line is not PROXY TCP4|TCP6"),
        (b"PROXY TCP4 192.0.2.1\r198.51.100.1 1 25\r\n", "its line is not PROXY TCP4|TCP6"),
        (b"PROXY TCP4 192.0.2.01 198.51.100.1 1 25\r\n", "an address or a port in it is none"),
        (b"PROXY TCP4 2001:db8::7 ::1 1 25\r\n", "an address or a port in it is none"),
        (b"PROXY TCP6 192.0.2.1 198.51.100.1 1 25\r\n", "an address or a port in it is none"),
        (b"PROXY TCP4 192.0.2.1 198.51.100.1 65536 25\r\n", "an address or a port in it is none"),
        (b"PROXY TCP4 192.0.2.1 198.51.100.1 +1 25\r\n", "an address or a port in it is none"),
        (b"PROXY TCP4 192.0.2.1 198.51.100.1 1 \xb2\r\n", "it is not ASCII"),
        (&v2(0x11, 0x11, &v4_block()), "its version or command is unknown"),
        (&v2(0x22, 0x11, &v4_block()), "its version or command is unknown"),
        (&v2(0x21, 0x12, &v4_block()), "its family or transport is none of a stream"),
        (&v2(0x21, 0x41, &v4_block()), "its family or transport is none of a stream"),
        (&v2(0x21, 0x11, &v4_block()[..11]), "it is too short for its addresses"),
        (&v2(0x21, 0x21, &v6_block()[..35]), "it is too short for its addresses"),
    ] {
        assert!(told(input).starts_with(&format!("{malformed}{expected}")), "{input:?}: {}", told(input));
    }
}

#[test]
fn t008_a_header_without_end_is_refused_within_its_bound() {
    let endless = [&b"PROXY UNKNOWN "[..], &[b'x'; 100_000]].concat();
    for piece in 1..=107 {
        let mut taken = 0;
        let refused = loop {
            match parse(&endless[..taken]) {
                Ok(Header::Needs(octets)) => taken += octets.min(piece),
                other => break other,
            }
        };
        assert!(matches!(refused, Err(BadHeader::TooLong(107))), "{refused:?}");
        assert!(taken <= 107);
    }
    let huge = v2(0x21, 0x11, &[0; 4097]);
    assert!(matches!(parse(&huge[..16]), Err(BadHeader::TooLong(4112))), "not an octet of it is waited for");
}

#[tokio::test]
async fn reading_leaves_what_follows_on_the_connection() {
    for (header, client) in sound() {
        let (mut far, mut near) = tokio::io::duplex(8192);
        far.write_all(&[&header[..], BEHIND].concat()).await.unwrap();
        drop(far);
        let until = Instant::now() + Duration::from_secs(20);
        assert_eq!(read(&mut near, until).await.unwrap(), client.map(|client| client.parse().unwrap()));
        let mut rest = Vec::new();
        near.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, BEHIND);
    }
}

#[tokio::test(start_paused = true)]
async fn t008_a_header_that_trickles_has_one_deadline() {
    let (mut far, mut near) = tokio::io::duplex(8192);
    let trickle = tokio::spawn(async move {
        for octet in b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 25\r\n" {
            far.write_all(&[*octet]).await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let began = Instant::now();
    let read = read(&mut near, began + Duration::from_secs(10)).await;
    assert!(matches!(read, Err(BadHeader::TooLate)), "{read:?}");
    assert_eq!(began.elapsed().as_secs(), 10);
    trickle.abort();
}

#[tokio::test]
async fn a_client_that_speaks_its_own_protocol_is_refused_at_once() {
    let (mut far, mut near) = tokio::io::duplex(8192);
    far.write_all(b"EHLO").await.unwrap();
    let read = read(&mut near, Instant::now() + Duration::from_secs(20)).await;
    assert!(matches!(read, Err(BadHeader::Missing)), "{read:?}");
    drop(far);
    let gone = super::read(&mut near, Instant::now() + Duration::from_secs(20)).await;
    assert!(matches!(gone, Err(BadHeader::Ended(_))), "{gone:?}");
}

proptest! {
    /// Any octets, by any division: the same answer, and never more octets than the header has.
    #[test]
    fn the_division_into_pieces_decides_nothing(
        start in 0usize..4,
        noise in proptest::collection::vec(any::<u8>(), 0..200),
        piece in 1usize..40,
    ) {
        let front: &[u8] = [&b""[..], b"PROXY TCP4 1.2.3.4 ", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x10", b"PROXY "][start];
        let input = [front, &noise].concat();
        let (whole, pieces) = (follow(&input, usize::MAX), follow(&input, piece));
        prop_assert_eq!(format!("{whole:?}"), format!("{pieces:?}"));
        if let Ok((taken, client)) = whole {
            prop_assert_eq!(parse(&input[..taken]).unwrap(), Header::Whole(client));
        }
    }

    #[test]
    fn every_address_comes_back(from in any::<u32>(), from6 in any::<u128>(), port in any::<u16>()) {
        let (from, from6) = (std::net::Ipv4Addr::from(from), std::net::Ipv6Addr::from(from6));
        let line = format!("PROXY TCP4 {from} 192.0.2.9 {port} 25\r\n");
        prop_assert_eq!(follow(line.as_bytes(), 1).unwrap(), (line.len(), Some(IpAddr::V4(from))));
        let line = format!("PROXY TCP6 {from6} ::1 {port} 25\r\n");
        prop_assert_eq!(follow(line.as_bytes(), 1).unwrap(), (line.len(), Some(IpAddr::V6(from6).to_canonical())));
        let block = [&from6.octets()[..], &[0; 20]].concat();
        let header = v2(0x21, 0x21, &block);
        prop_assert_eq!(follow(&header, 5).unwrap(), (header.len(), Some(IpAddr::V6(from6).to_canonical())));
    }
}
