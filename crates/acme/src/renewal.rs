//! When a certificate is due: at the moment that its CA suggests (ARI, RFC 9773), or when a third of its life is left.

use instant_acme::CertificateIdentifier;
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::Der;
use serde_json::Value;

use crate::client::Client;
use crate::leaf::Leaf;

/// The span in which a CA would like to see a renewal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

/// When to renew. What a CA suggests is followed, but for one that would let the last sixth begin.
pub(crate) fn due(leaf: &Leaf, window: Option<Window>) -> Timestamp {
    let life = leaf.not_after.duration_since(leaf.not_before);
    let suggested = window.map_or(leaf.not_after - life / 3, |window| moment(leaf, window));
    suggested.min(leaf.not_after - life / 6)
}

/// A moment in the window, spread evenly over all certificates and the same for one at each look: the last octets of a
/// public key are as good as chance.
fn moment(leaf: &Leaf, window: Window) -> Timestamp {
    let tail = leaf.public_key.last_chunk::<2>().copied().unwrap_or_default();
    let span = window.end.duration_since(window.start).max(SignedDuration::ZERO);
    window.start + span / (1 << 16) * i32::from(u16::from_be_bytes(tail))
}

/// How the CA calls a certificate.
pub(crate) fn identifier(leaf: &Leaf) -> Option<CertificateIdentifier<'static>> {
    let authority = leaf.authority.as_ref()?;
    Some(CertificateIdentifier::new(Der::from_slice(authority), Der::from_slice(&leaf.serial)))
}

/// Ask the CA for its window. None when it has none to offer, or no sense in it: that is no reason to worry, the life of
/// the certificate decides then.
pub(crate) async fn window(client: &Client, directory: &str, leaf: &Leaf) -> Option<Window> {
    let identifier = identifier(leaf)?;
    let directory = json(client, directory).await?;
    let place = directory["renewalInfo"].as_str()?.trim_end_matches('/');
    let suggested = read(&json(client, &format!("{place}/{identifier}")).await?["suggestedWindow"]);
    tracing::debug!(?suggested, "when the CA would like to see a renewal");
    suggested
}

async fn json(client: &Client, url: &str) -> Option<Value> {
    let answer = client.read(url).await.inspect_err(|error| tracing::debug!(%error, "no renewal information")).ok()?;
    if !answer.status().is_success() {
        tracing::debug!(url, status = %answer.status(), "no renewal information");
        return None;
    }
    serde_json::from_slice(answer.body()).ok()
}

/// A window that ends before it begins is none (RFC 9773 §4.2).
fn read(suggested: &Value) -> Option<Window> {
    let time = |key: &str| suggested[key].as_str()?.parse().ok();
    let (start, end): (Timestamp, Timestamp) = (time("start")?, time("end")?);
    (start <= end).then_some(Window { start, end })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn leaf(tail: [u8; 2]) -> Leaf {
        Leaf {
            not_before: at("2026-01-01T00:00:00Z"),
            not_after: at("2026-04-01T00:00:00Z"),
            names: Vec::new(),
            public_key: tail.to_vec(),
            serial: vec![0x00, 0x87, 0x65, 0x43, 0x21],
            authority: Some(vec![0x69, 0x88]),
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn without_a_suggestion_a_third_of_the_life_is_left() {
        assert_eq!(due(&leaf([0, 0]), None), at("2026-03-02T00:00:00Z"));
    }

    #[test]
    fn a_suggestion_is_followed_at_a_moment_of_its_own() {
        let window = Some(Window { start: at("2026-02-01T00:00:00Z"), end: at("2026-02-02T00:00:00Z") });
        assert_eq!(due(&leaf([0, 0]), window), at("2026-02-01T00:00:00Z"));
        assert_eq!(due(&leaf([0x80, 0]), window).duration_since(at("2026-02-01T00:00:00Z")).as_hours(), 12);
        assert!(due(&leaf([0xff, 0xff]), window) < at("2026-02-02T00:00:00Z"));
    }

    #[test]
    fn a_suggestion_can_put_it_off_only_so_far() {
        let window = Some(Window { start: at("2030-01-01T00:00:00Z"), end: at("2030-01-02T00:00:00Z") });
        assert_eq!(due(&leaf([0, 0]), window), at("2026-03-17T00:00:00Z"));
    }

    #[test]
    fn windows_are_read_or_left_alone() {
        let (start, end) = ("2026-02-01T04:00:00Z", "2026-02-03T04:00:00+00:00");
        let window = read(&json!({ "start": start, "end": end })).unwrap();
        assert_eq!((window.start, window.end), (at(start), at(end)));
        for bad in [json!(null), json!({}), json!({ "start": end, "end": start }), json!({ "start": 1, "end": end })] {
            assert_eq!(read(&bad), None, "{bad}");
        }
    }

    #[test]
    fn the_ca_knows_a_certificate_by_two_numbers() {
        // The serial of the example in RFC 9773 §4.1.
        assert_eq!(identifier(&leaf([0, 0])).unwrap().to_string(), "aYg.AIdlQyE");
        assert_eq!(identifier(&Leaf { authority: None, ..leaf([0, 0]) }), None);
    }
}
