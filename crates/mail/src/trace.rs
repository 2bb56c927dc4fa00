//! The trace fields that Postkeep writes above a message (RFC 5321 §4.4).

use std::io::Write;
use std::net::IpAddr;

use jiff::Timestamp;

use crate::envelope::Envelope;
use crate::time;

#[cfg(test)]
mod tests;

/// What of the client the trace field tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// HELO name and address.
    Shown,
    /// Neither.
    Hidden,
}

/// Append `Return-Path` and `Received` to `out`. `for` is written only with exactly one recipient: no blind copy leaks.
///
/// Both fields are sound whatever the client said: names and addresses hold no control character by their types, and
/// the longest of them keep each line below the 998 octets of RFC 5322 §2.1.1.
pub fn write(out: &mut Vec<u8>, envelope: &Envelope, host: &str, peer: Peer, at: Timestamp) {
    out.extend_from_slice(b"Return-Path: <");
    if let Some(sender) = &envelope.reverse_path.0 {
        sender.append_to(out);
    }
    out.extend_from_slice(b">\r\nReceived: ");
    if peer == Peer::Shown {
        write_peer(out, &envelope.transport.helo, envelope.transport.peer);
    }
    for piece in ["by ", host, " with ", envelope.transport.protocol(), " id "] {
        out.extend_from_slice(piece.as_bytes());
    }
    out.extend_from_slice(&envelope.transaction.digits());
    if let [only] = envelope.recipients.as_slice() {
        out.extend_from_slice(b"\r\n for <");
        only.address.append_to(out);
        out.push(b'>');
    }
    out.extend_from_slice(b";\r\n ");
    out.extend_from_slice(&time::trace_date(at));
    out.extend_from_slice(b"\r\n");
}

/// `from HELO ([ip])` and a fold; IPv6 carries its tag (RFC 5321 §4.1.3). Who has no address came from this machine.
fn write_peer(out: &mut Vec<u8>, helo: &str, peer: Option<IpAddr>) {
    out.extend_from_slice(b"from ");
    out.extend_from_slice(if helo.is_empty() { b"unknown" } else { helo.as_bytes() });
    match peer.map(|ip| ip.to_canonical()) {
        Some(IpAddr::V4(ip)) => write!(out, " ([{ip}])").expect("a Vec takes every byte"),
        Some(IpAddr::V6(ip)) => write!(out, " ([IPv6:{ip}])").expect("a Vec takes every byte"),
        None => out.extend_from_slice(b" (local [127.0.0.1])"),
    }
    out.extend_from_slice(b"\r\n ");
}
