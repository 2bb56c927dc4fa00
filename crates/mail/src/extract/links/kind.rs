//! What a link is for: by the words of its path and parameters, then by what is shown for it.

use super::collect::Found;
use super::url::Url;
use crate::extract::Kind;
use crate::extract::words::{self, Hit, Topic};

/// Words of addresses, the first kind that fits wins: `/password/reset/confirm` is a reset.
const WORDS: &[(Kind, &[&str])] = &[
    (Kind::Unsubscribe, UNSUBSCRIBE),
    (Kind::Reset, RESET),
    (Kind::MagicLogin, LOGIN),
    (Kind::Verify, VERIFY),
    (Kind::Other, OTHER),
];

const UNSUBSCRIBE: &[&str] = &[
    "unsubscribe",
    "unsub",
    "optout",
    "unsubscription",
    "unsubscriptions",
    "preferences",
    "subscriptions",
    "abmelden",
    "abmeldung",
];

const RESET: &[&str] = &[
    "reset",
    "resetpassword",
    "passwordreset",
    "password",
    "passwd",
    "pwreset",
    "pwd",
    "recover",
    "recovery",
    "forgot",
    "forgotten",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrasena",
    "senha",
    "wachtwoord",
    "losenord",
    "adgangskode",
    "passord",
    "salasana",
    "haslo",
    "heslo",
    "jelszo",
    "parola",
    "lozinka",
    "geslo",
    "sifre",
];

const LOGIN: &[&str] = &[
    "magic",
    "magiclink",
    "login",
    "signin",
    "logon",
    "passwordless",
    "sso",
    "sesame",
    "onetimelogin",
    "anmelden",
    "connexion",
    "entrar",
    "acceder",
    "accedi",
    "inloggen",
    "loggain",
    "zaloguj",
    "prihlasit",
    "giris",
];

const VERIFY: &[&str] = &[
    "verify",
    "verification",
    "verifyemail",
    "verified",
    "confirm",
    "confirmation",
    "confirmemail",
    "confirmed",
    "activate",
    "activation",
    "validate",
    "validation",
    "signup",
    "optin",
    "register",
    "registration",
    "bestaetigen",
    "bestatigen",
    "aktivieren",
    "confirmer",
    "confirmar",
    "confirmacion",
    "verificar",
    "conferma",
    "bevestigen",
    "bekrafta",
    "bekraeft",
    "bekreft",
    "vahvista",
    "potwierdz",
    "aktywuj",
    "potvrdit",
    "overit",
    "confirma",
    "onayla",
    "dogrula",
];

/// What else a receiver is asked to do.
const OTHER: &[&str] =
    &["invite", "invitation", "invitations", "invites", "accept", "join", "approve", "approval", "pay", "payment"];

/// Pairs of words in an address that are one.
const PAIRS: &[(&str, &str, Kind)] = &[
    ("opt", "out", Kind::Unsubscribe),
    ("log", "in", Kind::MagicLogin),
    ("sign", "in", Kind::MagicLogin),
    ("opt", "in", Kind::Verify),
    ("sign", "up", Kind::Verify),
];

/// What is shown, the first topic that is found wins: "confirm your new password" is a reset.
const TOPICS: &[(Topic, Kind)] = &[
    (Topic::Unsubscribe, Kind::Unsubscribe),
    (Topic::Reset, Kind::Reset),
    (Topic::Login, Kind::MagicLogin),
    (Topic::Verify, Kind::Verify),
];

/// Characters of an address that are read for words.
const READ_MAX: usize = 300;

impl Found {
    /// None if neither the address nor the text says it.
    pub(super) fn kind(&self) -> Option<Kind> {
        let by_address = Url::read(&self.href).and_then(|url| by_address(&url));
        by_address.or_else(|| by_words(&self.hits()))
    }
}

/// By what is shown.
pub(super) fn by_words(hits: &[Hit]) -> Option<Kind> {
    TOPICS.iter().find(|(topic, _)| words::tells(hits, *topic)).map(|(_, kind)| *kind)
}

/// By the words of the path and the parameters.
pub(super) fn by_address(url: &Url<'_>) -> Option<Kind> {
    let words: Vec<String> = [url.path, url.query, url.fragment].iter().flat_map(|piece| words(piece)).collect();
    let by_word =
        |(kind, known): &(Kind, &[&str])| words.iter().any(|word| known.contains(&word.as_str())).then_some(*kind);
    let by_pair = words.windows(2).find_map(|two| PAIRS.iter().find(|pair| two[0] == pair.0 && two[1] == pair.1));
    let by_pair = by_pair.map(|(.., kind)| *kind);
    WORDS
        .iter()
        .find_map(by_word)
        .into_iter()
        .chain(by_pair)
        .min_by_key(|kind| WORDS.iter().position(|(one, _)| one == kind))
}

/// In lower case, split at marks and where a capital follows.
fn words(piece: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut was_lower = false;
    for letter in piece.chars().take(READ_MAX) {
        let begins = !letter.is_ascii_alphabetic() || (was_lower && letter.is_ascii_uppercase());
        if begins {
            found.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_ascii_alphabetic(), found.last_mut()) {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    found.retain(|word| !word.is_empty());
    found
}
