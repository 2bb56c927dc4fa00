//! The fields by example, and sound for the longest names.

use super::*;
use crate::address::{Address, Charset};
use crate::envelope::{Door, Recipient, ReversePath, Transport};
use crate::id::TransactionId;
use crate::mailbox::Naming;

fn envelope(sender: Option<&str>, recipients: &[&str], peer: Option<&str>, helo: &str) -> Envelope {
    let address = |text: &str| Address::parse(text, Charset::Utf8).unwrap();
    let recipient = |text: &&str| {
        let address = address(text);
        Recipient { mailbox: Naming::Local.mailbox(&address).unwrap(), address }
    };
    Envelope {
        transaction: TransactionId::new(0xab),
        reverse_path: ReversePath(sender.map(address)),
        recipients: recipients.iter().map(recipient).collect(),
        transport: Transport {
            door: Door::Esmtp,
            utf8: false,
            helo: helo.to_owned(),
            peer: peer.map(|ip| ip.parse().unwrap()),
            tls: None,
            auth_user: None,
        },
    }
}

fn written(envelope: &Envelope, peer: Peer) -> String {
    let mut out = b"kept".to_vec();
    write(&mut out, envelope, "mx.test", peer, "2026-11-15T07:10:58Z".parse().unwrap());
    String::from_utf8(out).unwrap().strip_prefix("kept").unwrap().to_owned()
}

const ID: &str = "000000000000000000000000000000ab";

#[test]
fn one_recipient_is_named() {
    let envelope = envelope(Some("Some.One+tag@Sub.Test"), &["box@x.test"], Some("127.0.0.1"), "client.test");
    assert_eq!(
        written(&envelope, Peer::Shown),
        format!(
            "Return-Path: <Some.One+tag@Sub.Test>\r\n\
             Received: from client.test ([127.0.0.1])\r\n by mx.test with ESMTP id {ID}\r\n for <box@x.test>;\r\n \
             Sun, 15 Nov 2026 07:10:58 +0000\r\n"
        )
    );
}

#[test]
fn several_recipients_are_not() {
    let envelope = envelope(None, &["one@x.test", "two@x.test"], Some("::1"), "client.test");
    assert_eq!(
        written(&envelope, Peer::Shown),
        format!(
            "Return-Path: <>\r\n\
             Received: from client.test ([IPv6:::1])\r\n by mx.test with ESMTP id {ID};\r\n \
             Sun, 15 Nov 2026 07:10:58 +0000\r\n"
        )
    );
}

#[test]
fn hidden_peer_is_left_out() {
    let envelope = envelope(None, &["one@x.test"], Some("192.0.2.7"), "secret.test");
    let text = written(&envelope, Peer::Hidden);
    assert!(text.starts_with("Return-Path: <>\r\nReceived: by mx.test with ESMTP id "), "{text}");
    assert!(!text.contains("secret") && !text.contains("192.0.2"), "{text}");
}

#[test]
fn mapped_addresses_are_those_of_ipv4() {
    let envelope = envelope(None, &[], Some("::ffff:192.0.2.7"), "c");
    assert!(written(&envelope, Peer::Shown).contains("from c ([192.0.2.7])\r\n"));
}

#[test]
fn t013_the_longest_and_oddest_names_make_sound_fields() {
    let sender = format!("\"{}\"@{}.test", "\\\" >:".repeat(16), "a.".repeat(120) + "a");
    let recipient = format!("\"{}\"@x.test", "\\\\; ".repeat(16));
    let envelope = envelope(Some(&sender), &[&recipient], Some("2001:db8::1"), &"h".repeat(255));
    let text = written(&envelope, Peer::Shown);
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(lines.iter().filter(|line| !line.is_empty() && !line.starts_with(' ')).count(), 2, "{text}");
    assert!(lines.iter().all(|line| line.len() < 998 && !line.contains(char::is_control)), "{text}");
    let fields: Vec<_> = crate::header::fields(text.as_bytes()).map(|field| field.name).collect();
    assert_eq!(fields, ["Return-Path", "Received"]);
}

#[test]
fn who_has_no_address_came_from_this_machine() {
    let envelope = envelope(None, &[], None, "c");
    assert!(written(&envelope, Peer::Shown).contains("from c (local [127.0.0.1])\r\n"));
}
