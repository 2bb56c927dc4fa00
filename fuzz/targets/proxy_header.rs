//! Headers of the PROXY protocol: however they are divided, the answer is the same, and nothing behind them is asked for.
#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use net::proxy::{Header, parse};

/// The longest header of either version.
const LENGTH_MAX: usize = 16 + 4096;

/// What version 2 begins with: no fuzzer guesses it.
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

fuzz_target!(|input: &[u8]| {
    check(input);
    check(&[SIGNATURE, input].concat());
});

fn check(input: &[u8]) {
    let whole = follow(input, usize::MAX);
    for piece in [1, 3] {
        assert_eq!(follow(input, piece), whole);
    }
    if let Some((taken, client)) = whole {
        assert!((15..=LENGTH_MAX).contains(&taken));
        assert_eq!(parse(&input[..taken]).ok(), Some(Header::Whole(client)));
        assert!(client.is_none_or(|client| client == client.to_canonical()));
    }
}

/// Take what is asked for, at most `piece` octets at a time: how much that was, and the client. None: it is no header.
fn follow(input: &[u8], piece: usize) -> Option<(usize, Option<IpAddr>)> {
    let mut taken = 0;
    loop {
        match parse(&input[..taken]).ok()? {
            Header::Whole(client) => return Some((taken, client)),
            Header::Needs(octets) => {
                let more = octets.min(piece).min(input.len() - taken);
                if more == 0 {
                    return None;
                }
                taken += more;
            }
        }
    }
}
