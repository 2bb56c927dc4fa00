//! Where the certificate comes from: files, our own making, or ACME; or from nowhere.

use std::path::PathBuf;
use std::time::Duration;

use net::Place;

use super::ready::{Clash, Values};

/// The sections `tls` and `acme`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tls {
    /// Where the certificate comes from; none: there is no TLS.
    pub(crate) source: Option<Source>,
    /// How handshakes are held.
    pub(crate) settings: net::tls::Settings,
}

/// Where a certificate comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// `tls.cert` and `tls.key`, looked at again so often.
    Files { cert: PathBuf, key: PathBuf, check_every: Duration },
    /// Made once for these names, and kept here.
    SelfSigned { folder: PathBuf, names: Vec<String> },
    /// Ordered from an authority.
    Acme(Acme),
}

/// The section `acme`, and where what it brings is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is named as its key")]
pub(crate) struct Acme {
    pub(crate) domains: Vec<String>,
    pub(crate) email: Option<String>,
    pub(crate) directory: String,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) addr: Vec<Place>,
}

pub(super) fn tls(values: Values<'_>) -> Tls {
    Tls {
        source: source(values),
        settings: net::tls::Settings { handshake_timeout: values.time("tls.handshake_timeout") },
    }
}

fn source(values: Values<'_>) -> Option<Source> {
    let folder = || PathBuf::from(values.text("tls.folder"));
    if let (Some(cert), Some(key)) = (values.file("tls.cert"), values.file("tls.key")) {
        return Some(Source::Files { cert, key, check_every: values.time("tls.check_every") });
    }
    if values.flag("tls.self_signed") {
        return Some(Source::SelfSigned { folder: folder(), names: values.list("tls.names").to_vec() });
    }
    let domains = values.list("acme.domains").to_vec();
    (!domains.is_empty()).then(|| {
        Source::Acme(Acme {
            domains,
            email: Some(values.text("acme.email").to_owned()).filter(|email| !email.is_empty()),
            directory: values.text("acme.directory").to_owned(),
            ca: values.file("acme.ca"),
            folder: folder(),
            addr: values.places("acme.addr"),
        })
    })
}

/// What does not go together.
pub(super) fn clashes(values: Values<'_>) -> Vec<Clash> {
    let clash = |keys, text: &str| Clash { keys, text: text.to_owned() };
    let (has_files, is_own) = (values.file("tls.cert").is_some(), values.flag("tls.self_signed"));
    let has_acme = !values.list("acme.domains").is_empty();
    let mut clashes = Vec::new();
    if has_files != values.file("tls.key").is_some() {
        clashes.push(clash(["tls.cert", "tls.key"], "tls.cert and tls.key go together; name both files or none"));
    }
    if has_files && is_own {
        let text = "tls.cert and tls.self_signed are two certificates; choose one";
        clashes.push(clash(["tls.cert", "tls.self_signed"], text));
    }
    if has_acme && (has_files || is_own) {
        let other = if is_own { "tls.self_signed" } else { "tls.cert" };
        let text = format!("{other} and acme.domains are two certificates; choose one");
        clashes.push(Clash { keys: [other, "acme.domains"], text });
    }
    if has_acme && !values.flag("acme.terms_agreed") {
        let text = "acme.domains orders a certificate; read the authority's terms and set acme.terms_agreed = true";
        clashes.push(clash(["acme.domains", "acme.terms_agreed"], text));
    }
    #[cfg(feature = "acme")]
    if has_acme {
        clashes.extend(unorderable(values));
    }
    if !(has_files || is_own || has_acme) {
        clashes.extend(without_certificate(values));
    }
    clashes
}

/// What no authority would take.
#[cfg(feature = "acme")]
fn unorderable(values: Values<'_>) -> Vec<Clash> {
    let Some(Source::Acme(keys)) = source(values) else { return Vec::new() };
    let key = |name: &str| ["acme.domains", "acme.email", "acme.directory"].into_iter().find(|key| key.ends_with(name));
    let mistakes = crate::certificate::authority::settings(&keys).mistakes().into_iter();
    let told = mistakes.filter_map(|mistake| {
        let key = key(mistake.key)?;
        Some(Clash { keys: [key, key], text: format!("{key} {}", mistake.what) })
    });
    told.collect()
}

/// Doors and rules that need a certificate where there is none.
fn without_certificate(values: Values<'_>) -> Vec<Clash> {
    let doors = ["smtps.addr", "pop3s.addr", "https.addr"].into_iter().filter(|key| !values.places(key).is_empty());
    let rules = ["smtp.tls", "pop3.tls"].into_iter().filter(|key| values.text(key) == "require");
    let told = doors.chain(rules).map(|key| Clash {
        keys: [key, "tls.cert"],
        text: format!("{key} needs a certificate; set tls.self_signed = true, or name files in tls.cert and tls.key"),
    });
    told.collect()
}
