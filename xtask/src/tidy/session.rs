//! The SMTP session is pure: no I/O, no clock, no chance. Time and ids are arguments, so a dialogue can be replayed.

use super::source::{line, without_tests, words};
use super::{Tree, Violation};

const IMPURE: &[&str] =
    &["async", "await", "tokio", "Instant::now", "SystemTime", "Timestamp::now", "Zoned::now", "rand", "TcpStream"];

pub(super) fn rule(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let sessions =
        |path: &str| ["smtp", "pop3"].iter().any(|edge| path.starts_with(&format!("crates/{edge}/src/session")));
    for file in tree.rust().filter(|file| sessions(&file.path) && !file.is_test()) {
        let code = without_tests(&file.code);
        for word in IMPURE {
            let what = format!("the session is pure and does not know `{word}`: make it an argument");
            found.extend(words(&code, word).map(|at| Violation::new(&file.path, line(&code, at), &*what)));
        }
    }
    found
}
