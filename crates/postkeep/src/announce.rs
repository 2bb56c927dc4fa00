//! What a start tells: a person on stderr, and a program that waits for it on stdout.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::log::Format;

/// What was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Each listener by its name, with the address it is bound to.
    pub(crate) listeners: Vec<(String, String)>,
    /// Where to look at mail, when it is another place than that of our own listener.
    pub(crate) look: Option<String>,
    /// Where it is kept, and for how long.
    pub(crate) kept: String,
    /// The certificate for clients to trust, when it is one that nobody knows.
    pub(crate) trust: Option<PathBuf>,
}

impl Started {
    /// Tell a person; in a log for machines it is an event like any other.
    pub(crate) fn tell(&self, format: Format) {
        let send = self.reached(&["smtp", "smtps", "lmtp"]);
        let look = self.look.clone().unwrap_or_else(|| self.reached(&["http", "https"]));
        let read = self.reached(&["pop3", "pop3s"]);
        let trust = self.trust.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let lines = [
            ("Send mail to   ", &send),
            ("Look at it on  ", &look),
            ("Or fetch it by ", &read),
            ("It is kept     ", &self.kept),
            ("Let TLS trust  ", &trust),
        ];
        match format {
            Format::Text => {
                let told =
                    lines.iter().filter(|(_, what)| !what.is_empty()).map(|(front, what)| format!("{front}{what}\n"));
                // Whoever closed stderr does not want to know.
                let _ = io::stderr().lock().write_all(told.collect::<String>().as_bytes());
            }
            Format::Json => tracing::info!(%send, %look, %read, kept = %self.kept, %trust, "started"),
        }
    }

    /// What links to the page begin with.
    pub(crate) fn base_url(&self) -> String {
        let first = |door: &str| {
            let (_, place) = self.listeners.iter().find(|(name, place)| name == door && !place.starts_with("unix:"))?;
            Some(format!("{door}://{}", dialled(place)))
        };
        let own = || first("http").or_else(|| first("https")).unwrap_or_default();
        self.look.as_ref().map_or_else(own, |url| url.trim_end_matches('/').to_owned())
    }

    /// Where some doors are reached, one address each.
    fn reached(&self, doors: &[&str]) -> String {
        let of = |door: &&str| {
            let (_, place) = self.listeners.iter().find(|(name, _)| name == door)?;
            Some(match place.starts_with("unix:") {
                true => format!("{door} on {place}"),
                false => format!("{door}://{}", dialled(place)),
            })
        };
        doors.iter().filter_map(of).collect::<Vec<_>>().join(", ")
    }

    /// Write the one line on stdout that says where the listeners are.
    pub(crate) fn ready(&self) {
        let mut out = io::stdout().lock();
        // Without a reader nobody waits for it.
        let _ = out.write_all(self.line().as_bytes()).and_then(|()| out.flush());
    }

    fn line(&self) -> String {
        let addresses = self.listeners.iter().map(|(name, place)| (name.clone(), place.clone().into()));
        format!("ready {}\n", serde_json::Value::Object(addresses.collect()))
    }
}

/// An address that can be dialled: a listener on every address of the machine is reached by `localhost`.
fn dialled(place: &str) -> String {
    match place.parse::<SocketAddr>() {
        Ok(addr) if addr.ip().is_unspecified() => format!("localhost:{}", addr.port()),
        _ => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(listeners: &[(&str, &str)]) -> Started {
        let listeners = listeners.iter().map(|(name, place)| ((*name).to_owned(), (*place).to_owned())).collect();
        Started { listeners, look: None, kept: String::new(), trust: None }
    }

    #[test]
    fn the_ready_line_keeps_the_order_of_the_listeners() {
        let started = started(&[("smtp", "127.0.0.1:1025"), ("smtp.2", "unix:/run/a.sock"), ("http", "[::1]:8025")]);
        let line = "ready {\"smtp\":\"127.0.0.1:1025\",\"smtp.2\":\"unix:/run/a.sock\",\"http\":\"[::1]:8025\"}\n";
        assert_eq!(started.line(), line);
    }

    #[test]
    fn every_door_is_told_once() {
        let started = started(&[("smtp", "0.0.0.0:25"), ("smtp.2", "[::1]:25"), ("lmtp", "unix:/run/a.sock")]);
        assert_eq!(started.reached(&["smtp", "smtps", "lmtp"]), "smtp://localhost:25, lmtp on unix:/run/a.sock");
        assert_eq!(started.reached(&["pop3", "pop3s"]), "");
    }

    #[test]
    fn an_address_for_all_is_dialled_as_localhost() {
        assert_eq!(dialled("0.0.0.0:25"), "localhost:25");
        assert_eq!(dialled("[::]:25"), "localhost:25");
        assert_eq!(dialled("[::1]:25"), "[::1]:25");
        assert_eq!(dialled("10.0.0.1:25"), "10.0.0.1:25");
    }
}
