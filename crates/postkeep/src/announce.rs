//! What a start tells: a person on stderr, and a program that waits for it on stdout.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};

use crate::log::Format;

/// What was started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Each listener by its name, with the address it is bound to.
    pub(crate) listeners: Vec<(&'static str, SocketAddr)>,
    /// Where to send mail.
    pub(crate) send: String,
    /// Where to look at it.
    pub(crate) look: String,
    /// Where it is kept, and for how long.
    pub(crate) kept: String,
}

impl Started {
    /// Tell a person; in a log for machines it is an event like any other.
    pub(crate) fn tell(&self, format: Format) {
        let Self { send, look, kept, .. } = self;
        match format {
            Format::Text => {
                let lines = format!("Send mail to   {send}\nLook at it on  {look}\nIt is kept     {kept}\n");
                // Whoever closed stderr does not want to know.
                let _ = io::stderr().lock().write_all(lines.as_bytes());
            }
            Format::Json => tracing::info!(%send, %look, %kept, "started"),
        }
    }

    /// Write the one line on stdout that says where the listeners are.
    pub(crate) fn ready(&self) {
        let mut out = io::stdout().lock();
        // Without a reader nobody waits for it.
        let _ = out.write_all(self.line().as_bytes()).and_then(|()| out.flush());
    }

    fn line(&self) -> String {
        let addresses = self.listeners.iter().map(|(name, addr)| ((*name).to_owned(), addr.to_string().into()));
        format!("ready {}\n", serde_json::Value::Object(addresses.collect()))
    }
}

/// An address that can be dialled: a listener on every address of the machine is reached by `localhost`.
pub(crate) fn dialled(addr: SocketAddr) -> String {
    let everywhere = match addr.ip() {
        IpAddr::V4(ip) => ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_unspecified(),
    };
    if everywhere { format!("localhost:{}", addr.port()) } else { addr.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_keeps_the_order_of_the_listeners() {
        let listeners = vec![("smtp", "127.0.0.1:1025".parse().unwrap()), ("http", "[::1]:8025".parse().unwrap())];
        let started = Started { listeners, send: String::new(), look: String::new(), kept: String::new() };
        assert_eq!(started.line(), "ready {\"smtp\":\"127.0.0.1:1025\",\"http\":\"[::1]:8025\"}\n");
    }

    #[test]
    fn an_address_for_all_is_dialled_as_localhost() {
        assert_eq!(dialled("0.0.0.0:25".parse().unwrap()), "localhost:25");
        assert_eq!(dialled("[::]:25".parse().unwrap()), "localhost:25");
        assert_eq!(dialled("[::1]:25".parse().unwrap()), "[::1]:25");
        assert_eq!(dialled("10.0.0.1:25".parse().unwrap()), "10.0.0.1:25");
    }
}
