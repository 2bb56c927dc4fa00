//! What is sent, made of what is kept: the stored bytes without our own `Return-Path`, under a field that says that
//! they went through here. Also what of SMTP those bytes need. It knows no server.

use bytes::Bytes;
use mail::{Address, Door, Envelope, ReversePath, header};
use memchr::memchr;

/// The loop guard: each passage through a Postkeep puts one of these on top.
pub const GUARD: &str = "X-Postkeep-Relayed";

/// A message on its way to a server.
#[derive(Clone, Debug)]
pub struct Letter {
    /// MAIL FROM.
    pub sender: ReversePath,
    /// RCPT TO; at least one.
    pub recipients: Vec<Address>,
    pub(super) content: Bytes,
    pub(super) needs: Needs,
}

/// What a server must be able to do, for the bytes to come through as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Needs {
    pub(super) eight_bit: bool,
    /// SMTPUTF8, or the message cannot be told of at all.
    pub(super) utf8: bool,
    /// SMTPUTF8 is said where it is known, and is not missed where it is not: so did whoever sent it here.
    pub(super) utf8_wanted: bool,
    /// A lone CR, a lone LF or a NUL: only BINARYMIME carries those.
    pub(super) binary: bool,
}

impl Letter {
    /// A stored message under its guard, for these recipients.
    pub fn new(raw: &[u8], envelope: &Envelope, id: &str, sender: ReversePath, recipients: Vec<Address>) -> Self {
        let stored = without_return_path(raw, envelope);
        let mut content = format!("{GUARD}: {id}\r\n").into_bytes();
        if is_unix(stored) {
            // A file of another world, put in as it was: SMTP has one line end, and each of these is one.
            stored.split_inclusive(|byte| *byte == b'\n').for_each(|line| push_line(&mut content, line));
        } else {
            content.extend_from_slice(stored);
        }
        let addresses = recipients.iter().chain(&sender.0);
        let utf8_address = addresses.into_iter().any(|address| !address.to_string().is_ascii());
        let header = &content[..header::fields(&content).body()];
        let utf8_header = !header.is_ascii() && std::str::from_utf8(header).is_ok();
        let needs = Needs {
            eight_bit: !content.is_ascii(),
            utf8: utf8_address || utf8_header && envelope.transport.utf8,
            utf8_wanted: utf8_address || utf8_header,
            binary: is_binary(&content),
        };
        Self { sender, recipients, content: content.into(), needs }
    }
}

/// How often a message went through a Postkeep that sent it on.
pub fn passages(raw: &[u8]) -> usize {
    header::fields(raw).filter(|field| field.is(GUARD)).count()
}

/// What came through a door of ours begins with the two trace fields that we wrote. The first tells of a final delivery
/// (RFC 5321 §4.4), which this is not any more.
fn without_return_path<'a>(raw: &'a [u8], envelope: &Envelope) -> &'a [u8] {
    let is_ours = envelope.transport.door != Door::Import && raw.starts_with(b"Return-Path: <");
    match memchr(b'\n', raw) {
        Some(end) if is_ours => &raw[end + 1..],
        _ => raw,
    }
}

/// Whether every line ends with LF alone, and no CR is anywhere.
fn is_unix(content: &[u8]) -> bool {
    memchr(b'\n', content).is_some() && memchr(b'\r', content).is_none()
}

fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    out.extend_from_slice(text);
    if text.len() < line.len() {
        out.extend_from_slice(b"\r\n");
    }
}

/// Whether there is a CR without LF, an LF without CR, or a NUL.
fn is_binary(content: &[u8]) -> bool {
    let mut before = 0;
    for &byte in content {
        if byte == 0 || (before == b'\r') != (byte == b'\n') {
            return true;
        }
        before = byte;
    }
    before == b'\r'
}
