//! What a certificate says of itself, as far as it matters here: until when, for whom, with which key, and the numbers by
//! which its CA knows it. No signature is looked at. The reader is total and linear, and takes DER only.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const KEY_IDENTIFIER: u8 = 0x80;
/// 2.5.29.17, subjectAltName.
const ALT_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];
/// 2.5.29.35, authorityKeyIdentifier.
const AUTHORITY: [u8; 3] = [0x55, 0x1d, 0x23];

/// The first certificate of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Leaf {
    pub(crate) not_before: Timestamp,
    pub(crate) not_after: Timestamp,
    /// Lower case.
    pub(crate) names: Vec<String>,
    /// The whole SubjectPublicKeyInfo.
    pub(crate) public_key: Vec<u8>,
    /// The octets of the number, as they are encoded.
    pub(crate) serial: Vec<u8>,
    /// The key identifier of the CA's certificate.
    pub(crate) authority: Option<Vec<u8>>,
}

impl Leaf {
    /// Read one (RFC 5280 §4.1); none when it is not of that form.
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let mut certificate = Der(Der(der).expect(SEQUENCE)?);
        let mut fields = Der(certificate.expect(SEQUENCE)?);
        fields.skip(VERSION);
        let serial = fields.expect(INTEGER)?.to_vec();
        fields.expect(SEQUENCE)?; // signature
        fields.expect(SEQUENCE)?; // issuer
        let mut validity = Der(fields.expect(SEQUENCE)?);
        fields.expect(SEQUENCE)?; // subject
        let before_key = fields.0;
        fields.expect(SEQUENCE)?;
        let mut leaf = Self {
            not_before: validity.time()?,
            not_after: validity.time()?,
            names: Vec::new(),
            public_key: before_key[..before_key.len() - fields.0.len()].to_vec(),
            serial,
            authority: None,
        };
        while let Some((tag, value)) = fields.next() {
            if tag == EXTENSIONS {
                leaf.read_extensions(Der(Der(value).expect(SEQUENCE)?))?;
            }
        }
        Some(leaf)
    }

    fn read_extensions(&mut self, mut extensions: Der<'_>) -> Option<()> {
        while let Some((SEQUENCE, extension)) = extensions.next() {
            let mut extension = Der(extension);
            let (_, id) = extension.next()?;
            // Between the two may stand whether it is critical.
            let value = loop {
                match extension.next()? {
                    (OCTETS, value) => break value,
                    _ => continue,
                }
            };
            match id {
                _ if id == ALT_NAMES => self.names = dns_names(Der(Der(value).expect(SEQUENCE)?)),
                _ if id == AUTHORITY => self.authority = Der(Der(value).expect(SEQUENCE)?).key_identifier(),
                _ => {}
            }
        }
        Some(())
    }

    /// Whether it names this domain, in full.
    pub(crate) fn covers(&self, domain: &str) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(domain))
    }
}

fn dns_names(mut names: Der<'_>) -> Vec<String> {
    let mut found = Vec::new();
    while let Some((tag, value)) = names.next() {
        if tag == DNS_NAME {
            found.extend(str::from_utf8(value).map(str::to_ascii_lowercase));
        }
    }
    found
}

/// Octets that are still to be read.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value with its tag; none at the end, or when what follows is cut off.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // No certificate needs more than three octets for a length.
            0x81..=0x83 => {
                let (octets, rest) = rest.split_at_checked(usize::from(first & 0x0f))?;
                (octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet)), rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }

    fn expect(&mut self, expected: u8) -> Option<&'a [u8]> {
        self.next().filter(|(tag, _)| *tag == expected).map(|(_, value)| value)
    }

    /// Step over the next value, if it is this one.
    fn skip(&mut self, tag: u8) {
        if self.0.first() == Some(&tag) {
            self.next();
        }
    }

    fn key_identifier(&mut self) -> Option<Vec<u8>> {
        self.expect(KEY_IDENTIFIER).map(<[u8]>::to_vec)
    }

    /// Either form of time (RFC 5280 §4.1.2.5).
    fn time(&mut self) -> Option<Timestamp> {
        let (tag, text) = self.next()?;
        let plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'Z';
        let text = str::from_utf8(text).ok().filter(|text| text.as_bytes().iter().all(plain))?;
        let (year, rest) = match tag {
            UTC_TIME => text.split_at_checked(2).and_then(|(year, rest)| Some((of_two(year.parse().ok()?), rest)))?,
            GENERALIZED_TIME => text.split_at_checked(4).and_then(|(year, rest)| Some((year.parse().ok()?, rest)))?,
            _ => return None,
        };
        let digits = rest.strip_suffix('Z').filter(|rest| rest.len() == 10)?;
        let part = |at: usize| digits.get(at..at + 2)?.parse::<i8>().ok();
        let civil = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
        Offset::UTC.to_timestamp(civil).ok()
    }
}

fn of_two(year: i16) -> i16 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SerialNumber, date_time_ymd};

    use super::*;

    fn made(names: &[&str]) -> (Vec<u8>, KeyPair) {
        let (ca_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let mut ca = CertificateParams::default();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2026, 11, 1);
        params.not_after = date_time_ymd(2051, 1, 30);
        params.serial_number = Some(SerialNumber::from_slice(&[0xca, 0xfe]));
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
        (certificate.der().to_vec(), key)
    }

    #[test]
    fn everything_is_read_from_a_certificate() {
        let (der, key) = made(&["a.example", "B.example", "127.0.0.1"]);
        let leaf = Leaf::read(&der).unwrap();
        assert_eq!(leaf.not_before, "2026-11-01T00:00:00Z".parse().unwrap());
        assert_eq!(leaf.not_after, "2051-01-30T00:00:00Z".parse().unwrap());
        assert_eq!(leaf.names, ["a.example", "b.example"]);
        assert!(leaf.covers("A.Example") && !leaf.covers("x.a.example"));
        assert_eq!(leaf.serial, [0x00, 0xca, 0xfe]);
        assert_eq!(leaf.authority.unwrap().len(), 20);
        assert_eq!(leaf.public_key, rcgen::PublicKeyData::subject_public_key_info(&key));
    }

    #[test]
    fn what_is_cut_off_or_broken_is_no_certificate_and_no_panic() {
        let (der, _) = made(&["a.example"]);
        for end in 0..der.len() {
            assert_eq!(Leaf::read(&der[..end]), None, "{end}");
        }
        for at in 0..der.len() {
            for change in [0x00, 0x01, 0x7f, 0x80, 0x83, 0x84, 0xff] {
                let mut broken = der.clone();
                broken[at] = change;
                let _ = Leaf::read(&broken);
            }
        }
    }

    #[test]
    fn times_are_those_of_the_rfc() {
        let check = |tag: u8, text: &str, expected: Option<&str>| {
            let der = [&[tag, text.len() as u8], text.as_bytes()].concat();
            assert_eq!(Der(&der).time(), expected.map(|text| text.parse().unwrap()), "{text}");
        };
        check(UTC_TIME, "491231235959Z", Some("2049-12-31T23:59:59Z"));
        check(UTC_TIME, "500101000000Z", Some("1950-01-01T00:00:00Z"));
        check(GENERALIZED_TIME, "20500101000000Z", Some("2050-01-01T00:00:00Z"));
        for bad in ["500101000000", "5001010000Z", "501301000000Z", "5001010000+0Z", "", "ä01010000000Z"] {
            check(UTC_TIME, bad, None);
        }
        check(GENERALIZED_TIME, "500101000000Z", None);
    }
}
