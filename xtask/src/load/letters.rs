//! Messages as programs send them, of a wanted size: what is in them decides what packing them saves, and costs. Made by
//! chance from a seed, so that every run sends the same.

use std::fmt::Write;

use super::chance::Chance;

/// What a message is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text and an HTML part: packs to a third or less.
    Words,
    /// An attachment of random bytes in base64: packs to three quarters at best.
    Noise,
}

const BOUNDARY: &str = "=_frontier-7f3a91";
const WORDS: &str = "the of and to a in your for is you on we order that with this at our it be are from have will by or as \
    an please if not was can account all more has been new their one time now delivery may email address what here \
    which any they number its other when about after than who service were there information some would use these out \
    two into first contact up no so only them each team best regards thank shipped within three days items total \
    invoice attached kindly review update password link button below expires hours request received support question \
    reply customer online payment method card ending tracking package arrives tomorrow morning subscription renewal \
    monthly statement available download change settings security sign device location unknown protect immediately \
    schedule meeting agenda project deadline Friday comments document shared folder report quarter results growth \
    product release notes feature improved performance fixed issue documentation example release version";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// So many different messages of this kind and size; lines end in CRLF and none begins with a dot.
pub(crate) fn letters(kind: Kind, bytes: usize, count: u64) -> Vec<Vec<u8>> {
    (0..count).map(|number| letter(kind, bytes, &mut Chance::new(&[bytes as u64, number]))).collect()
}

/// One message of about so many bytes.
pub(crate) fn letter(kind: Kind, bytes: usize, chance: &mut Chance) -> Vec<u8> {
    let mut text = format!(
        "From: Example Shop <orders@shop.test>\r\nTo: customer@client.test\r\nSubject: Your order {}: {}\r\n\
        Date: Sun, 15 Nov 2026 10:30:00 +0000\r\nMessage-ID: <{:016x}@shop.test>\r\nMIME-Version: 1.0\r\n",
        chance.below(1_000_000),
        words(chance, 4),
        chance.number()
    );
    match kind {
        Kind::Words => both_parts(&mut text, bytes, chance),
        Kind::Noise => attachment(&mut text, bytes, chance),
    }
    text.into_bytes()
}

fn both_parts(text: &mut String, bytes: usize, chance: &mut Chance) {
    let end = format!("--{BOUNDARY}--\r\n");
    let room = bytes.saturating_sub(end.len());
    let _ = write!(text, "Content-Type: multipart/alternative; boundary=\"{BOUNDARY}\"\r\n\r\n--{BOUNDARY}\r\n");
    *text += "Content-Type: text/plain; charset=utf-8\r\n\r\n";
    // A third is the text. HTML that does not fit any more is left out: a small message has a text alone.
    let plain = if bytes < 3_000 { room } else { bytes / 3 };
    while text.len() + 60 < plain {
        *text += &words(chance, 9);
        *text += "\r\n";
    }
    if bytes >= 3_000 {
        let _ = write!(text, "--{BOUNDARY}\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body>\r\n");
        while text.len() + 300 < room {
            let _ = write!(
                text,
                "<tr><td style=\"padding:0 12px 8px;font-family:Arial,sans-serif;font-size:14px\">{}\r\n{}</td>\r\n\
                <td><a href=\"https://shop.test/track/{:016x}?item={}\">{}</a></td></tr>\r\n",
                words(chance, 8),
                words(chance, 8),
                chance.number(),
                chance.below(100_000),
                words(chance, 2)
            );
        }
    }
    *text += &end;
}

fn attachment(text: &mut String, bytes: usize, chance: &mut Chance) {
    *text += "Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    while text.len() + 78 <= bytes {
        text.extend((0..76).map(|_| char::from(BASE64[chance.below(64)])));
        *text += "\r\n";
    }
}

/// Words in no order, the first of the list far more often than the last, as in any language.
fn words(chance: &mut Chance, count: usize) -> String {
    let all: Vec<_> = WORDS.split_whitespace().collect();
    let drawn = (0..count).map(|_| all[chance.spread(1.0, all.len() as f64) as usize - 1]);
    drawn.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_their_size_and_can_be_sent_as_they_are() {
        for kind in [Kind::Words, Kind::Noise] {
            for size in [1_024, 20_480, 204_800] {
                let letter = letter(kind, size, &mut Chance::new(&[1]));
                let off = letter.len() as f64 / size as f64;
                assert!((0.85..=1.02).contains(&off), "{} bytes instead of {size}", letter.len());
                let text = String::from_utf8(letter).expect("ASCII");
                assert!(
                    text.split("\r\n").all(|line| !line.starts_with('.') && !line.contains('\n') && line.len() < 200)
                );
            }
        }
    }
}
