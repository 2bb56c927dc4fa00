//! The keys of the section `acme`, and what is wrong with them before anybody is asked for a certificate.

use std::path::PathBuf;

use crate::client::Fetcher;
use crate::pace::Pace;

/// As many names as the usual CAs put into one certificate.
const DOMAINS_MAX: usize = 100;
/// The longest name of DNS.
const NAME_MAX: usize = 253;

/// What to order, from whom, and where to keep it. Each field but the last three is the key of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The names that the certificate is for; the first is told to people.
    pub domains: Vec<String>,
    /// Where the CA may write to about the account.
    pub email: Option<String>,
    /// Where the CA's directory is, an https URL.
    pub directory: String,
    /// The PEM file with the roots that the directory's own certificate is held against; none: those of this machine.
    pub ca: Option<PathBuf>,
    /// Whether the operator agreed to the CA's terms of service.
    pub terms_agreed: bool,
    /// Where account, certificate and key are kept, in a folder of their own for each CA.
    pub folder: PathBuf,
    /// How often to look, and how long to wait after a failure.
    pub pace: Pace,
    /// Who asks the CA.
    pub fetcher: Fetcher,
}

/// Something that the operator has to change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The key, without its section.
    pub key: &'static str,
    /// What is wrong and what to do.
    pub what: String,
}

impl Settings {
    /// Every mistake there is; none of them needs the network to be seen.
    #[must_use]
    pub fn mistakes(&self) -> Vec<Mistake> {
        let mut found: Vec<_> = self.domains.iter().filter_map(|domain| bad_domain(domain)).collect();
        let mut wrong = |key, what: &str| found.push(Mistake { key, what: what.to_owned() });
        if self.domains.is_empty() {
            wrong("domains", "is empty: name the domains that the certificate is for");
        }
        if self.domains.len() > DOMAINS_MAX {
            wrong("domains", "has more than 100 names, which no CA puts into one certificate");
        }
        if !self.terms_agreed {
            wrong("terms_agreed", "is false: read the terms of service of the CA, and set it to true if you agree");
        }
        if !is_directory(&self.directory) {
            wrong(
                "directory",
                "is no https URL: give the one of the CA's ACME directory, as https://ca.example/directory",
            );
        }
        if self.email.as_ref().is_some_and(|email| !is_email(email)) {
            wrong("email", "is no address: give one as operator@example.com, or none");
        }
        found
    }
}

fn bad_domain(domain: &str) -> Option<Mistake> {
    let what = match () {
        () if domain.starts_with("*.") => "a wildcard needs a proof by DNS, which is not offered: name each domain",
        () if !domain.is_ascii() => "is not ASCII: write it as DNS has it, beginning with xn--",
        () if domain.parse::<std::net::IpAddr>().is_ok() => "is an address: certificates are ordered for names",
        () if !is_name(domain) => "is no public DNS name: give one such as mail.example.com",
        () => return None,
    };
    Some(Mistake { key: "domains", what: format!("{domain:?} {what}") })
}

/// At least two labels of letters, digits and inner hyphens (RFC 1123 §2.1).
fn is_name(domain: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    domain.len() <= NAME_MAX && domain.contains('.') && domain.split('.').all(is_label)
}

fn is_directory(url: &str) -> bool {
    let Ok(uri) = url.parse::<hyper::Uri>() else { return false };
    uri.scheme_str() == Some("https") && uri.host().is_some_and(|host| !host.is_empty())
}

/// It is the CA that knows whether mail gets there; here only what would break the account's JSON or URI is kept out.
fn is_email(email: &str) -> bool {
    let plain = email.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b',' | b'?' | b'%'));
    plain && matches!(email.split_once('@'), Some((local, domain)) if !local.is_empty() && !domain.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    struct Nobody;

    impl crate::client::Fetch for Nobody {
        fn fetch(&self, _: Option<&std::path::Path>, _: hyper::Request<bytes::Bytes>) -> crate::client::Fetching {
            unreachable!("nobody is asked")
        }
    }

    fn settings() -> Settings {
        Settings {
            domains: vec!["mail.example.com".into()],
            email: None,
            directory: "https://ca.example/directory".into(),
            ca: None,
            terms_agreed: true,
            folder: "tls".into(),
            pace: Pace::default(),
            fetcher: Fetcher(Arc::new(Nobody)),
        }
    }

    fn check(settings: &Settings, expected: &[(&str, &str)]) {
        let found = settings.mistakes();
        let found: Vec<_> = found.iter().map(|mistake| (mistake.key, mistake.what.as_str())).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((key, what), (expected_key, part)) in found.iter().zip(expected) {
            assert_eq!(key, expected_key, "{what}");
            assert!(what.contains(part), "{what:?} does not say {part:?}");
        }
    }

    #[test]
    fn what_is_complete_has_no_mistakes() {
        check(&settings(), &[]);
        check(&Settings { email: Some("a@example.com".into()), ..settings() }, &[]);
        check(&Settings { domains: vec!["xn--bcher-kva.example".into(), "a-b.c1.example".into()], ..settings() }, &[]);
        check(&Settings { directory: "https://127.0.0.1:14000/dir".into(), ..settings() }, &[]);
    }

    #[test]
    fn terms_must_be_agreed_to() {
        check(&Settings { terms_agreed: false, ..settings() }, &[("terms_agreed", "set it to true")]);
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let bad = Settings {
            domains: Vec::new(),
            email: Some("nobody".into()),
            directory: "http://ca.example/".into(),
            terms_agreed: false,
            ..settings()
        };
        check(&bad, &[("domains", "is empty"), ("terms_agreed", ""), ("directory", "https"), ("email", "or none")]);
    }

    #[test]
    fn domains_are_names_that_http_01_can_prove() {
        for (domain, part) in [
            ("*.example.com", "wildcard"),
            ("bücher.example", "xn--"),
            ("127.0.0.1", "is an address"),
            ("::1", "is an address"),
            ("localhost", "no public DNS name"),
            ("a..example", "no public DNS name"),
            ("-a.example", "no public DNS name"),
            ("a.example.", "no public DNS name"),
            ("a_b.example", "no public DNS name"),
            ("", "no public DNS name"),
        ] {
            check(&Settings { domains: vec![domain.into()], ..settings() }, &[("domains", part)]);
        }
        let many = (0..101).map(|number| format!("d{number}.example")).collect();
        check(&Settings { domains: many, ..settings() }, &[("domains", "more than 100")]);
    }
}
