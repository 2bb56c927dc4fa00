//! What to say to an SMTP server and what its replies mean. It hears one reply at a time and says what comes next; it has
//! no socket and no clock.
//!
//! All recipients of a transaction get the message, or none: when one is refused nothing is handed on, so that whoever
//! tries again makes no second copies. Only those for whom a server has no room in one transaction come in another.

use courier::relay::reply::Reply;
use mail::Address;

use super::ending::{Ending, Failure};
use super::letter::Letter;

/// What to do next; a reply is awaited after each but the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// Send this line.
    Say(String),
    /// Send the content as DATA carries it, with its end.
    Data,
    /// Send this line and the content as it is.
    Chunk(String),
    /// It is over.
    End(Result<(), Failure>),
}

/// What the next reply answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaited {
    Greeting,
    Ehlo,
    Helo,
    Mail,
    Recipient,
    Data,
    Content,
}

/// What a server can do, as EHLO tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Offers {
    has_size: bool,
    /// Octets; 0 means that none is told.
    size_max: u64,
    has_8bitmime: bool,
    has_smtputf8: bool,
    has_chunking: bool,
}

/// One letter on its way to a server.
#[derive(Debug)]
pub(super) struct Dialogue<'a> {
    letter: &'a Letter,
    host: &'a str,
    awaited: Awaited,
    offers: Offers,
    /// Recipients that have the letter.
    delivered: usize,
    /// Recipients that were taken, the delivered included: the next one to name.
    taken: usize,
}

impl<'a> Dialogue<'a> {
    /// The server speaks first.
    pub(super) fn new(letter: &'a Letter, host: &'a str) -> Self {
        Self { letter, host, awaited: Awaited::Greeting, offers: Offers::default(), delivered: 0, taken: 0 }
    }

    /// What comes after this reply.
    pub(super) fn hear(&mut self, reply: &Reply) -> Act {
        match (self.awaited, reply.code) {
            (Awaited::Greeting, 220) => self.say(Awaited::Ehlo, format!("EHLO {}", self.host)),
            (Awaited::Ehlo, 250) => {
                self.offers = Offers::read(reply);
                self.transaction()
            }
            (Awaited::Ehlo, 500..=504) => self.say(Awaited::Helo, format!("HELO {}", self.host)),
            (Awaited::Helo, 250) => self.transaction(),
            (Awaited::Mail, 250) => self.recipient(),
            (Awaited::Recipient, 250..=252) => {
                self.taken += 1;
                if self.taken < self.letter.recipients.len() { self.recipient() } else { self.content() }
            }
            // No room for more in this transaction (RFC 5321 §4.5.3.1.10).
            (Awaited::Recipient, 452) if self.taken > self.delivered => self.content(),
            (Awaited::Data, 354) => {
                self.awaited = Awaited::Content;
                Act::Data
            }
            (Awaited::Content, 250) => self.next_batch(),
            _ => Act::End(Err(self.refused(reply))),
        }
    }

    /// What it means that the connection broke here, and why.
    pub(super) fn lost(&self, why: &str) -> Failure {
        let whether = match self.awaited {
            Awaited::Content => {
                "; whether it took the message is not known: look for it there before you send it again"
            }
            _ => "; nothing was handed on: try again",
        };
        Failure::new(Ending::Temporary, format!("{why}{whether}{}", self.told_delivered()))
    }

    /// What it means that something else than an SMTP server answers.
    pub(super) fn strange(&self) -> Failure {
        Failure::new(Ending::Unavailable, "what answers there is no SMTP server; check the address")
    }

    fn say(&mut self, awaited: Awaited, line: String) -> Act {
        self.awaited = awaited;
        Act::Say(line)
    }

    fn transaction(&mut self) -> Act {
        if let Some(failure) = self.cannot() {
            return Act::End(Err(failure));
        }
        let traits = self.letter.traits;
        let mut line =
            format!("MAIL FROM:<{}>", self.letter.sender.as_ref().map(Address::to_string).unwrap_or_default());
        if self.offers.has_size {
            line.push_str(&format!(" SIZE={}", self.letter.content.len()));
        }
        if traits.has_8bit && self.offers.has_8bitmime {
            line.push_str(" BODY=8BITMIME");
        }
        if (traits.has_utf8_header || traits.has_utf8_address) && self.offers.has_smtputf8 {
            line.push_str(" SMTPUTF8");
        }
        self.say(Awaited::Mail, line)
    }

    /// What the letter needs and the server does not have.
    fn cannot(&self) -> Option<Failure> {
        let (letter, offers) = (self.letter, self.offers);
        let size = letter.content.len() as u64;
        let what = if offers.size_max > 0 && size > offers.size_max {
            format!("the message has {size} octets and the server takes {}; send a smaller one", offers.size_max)
        } else if letter.traits.has_utf8_address && !offers.has_smtputf8 {
            "an address has letters beyond ASCII, and the server does not offer SMTPUTF8; write it in ASCII".to_owned()
        } else if letter.traits.is_binary && !offers.has_chunking {
            "the message has a lone carriage return, a lone line feed or a NUL, and the server does not offer CHUNKING; \
             encode it as base64"
                .to_owned()
        } else {
            return None;
        };
        Some(Failure::new(Ending::Data, what))
    }

    fn recipient(&mut self) -> Act {
        self.say(Awaited::Recipient, format!("RCPT TO:<{}>", self.letter.recipients[self.taken]))
    }

    fn content(&mut self) -> Act {
        if self.letter.traits.is_binary {
            self.awaited = Awaited::Content;
            return Act::Chunk(format!("BDAT {} LAST", self.letter.content.len()));
        }
        self.say(Awaited::Data, "DATA".to_owned())
    }

    fn next_batch(&mut self) -> Act {
        self.delivered = self.taken;
        if self.taken < self.letter.recipients.len() { self.transaction() } else { Act::End(Ok(())) }
    }

    /// A reply that ends it.
    fn refused(&self, reply: &Reply) -> Failure {
        let (ending, advice) = self.judged(reply);
        let what = match self.awaited {
            Awaited::Recipient => format!("the recipient {}", self.letter.recipients[self.taken]),
            Awaited::Greeting | Awaited::Ehlo | Awaited::Helo => "the connection".to_owned(),
            Awaited::Mail => "the sender".to_owned(),
            Awaited::Data | Awaited::Content => "the message".to_owned(),
        };
        Failure::new(ending, format!("the server refused {what}: {}; {advice}{}", reply.shown(), self.told_delivered()))
    }

    /// How it ends, and what to do.
    fn judged(&self, reply: &Reply) -> (Ending, &'static str) {
        match (reply.class(), reply.code) {
            (4, _) => (Ending::Temporary, "try again later"),
            (5, 530 | 538) => (
                Ending::Unavailable,
                "it wants TLS or a password first, which are not spoken here, on a Unix socket no more than on a port: set \
                 smtp.auth_required = false and smtp.tls = \"offer\" there, or hand it on by `postkeep send --http`",
            ),
            (5, 552) => (Ending::Data, "send a smaller message"),
            (5, 550 | 551 | 553) if self.awaited == Awaited::Recipient => (Ending::NoUser, "correct the address"),
            (5, _) => (Ending::Unavailable, "do as it says; trying again would not help"),
            _ => (Ending::Unavailable, "this is not what SMTP has here; check that it is a mail server"),
        }
    }

    fn told_delivered(&self) -> String {
        match self.delivered {
            0 => String::new(),
            some => format!(" (the first {some} of {} recipients have it)", self.letter.recipients.len()),
        }
    }
}

impl Offers {
    /// The first line is a greeting; a keyword may be in any case.
    fn read(reply: &Reply) -> Self {
        let mut offers = Self::default();
        for line in reply.lines.iter().skip(1) {
            let (keyword, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            match keyword.to_ascii_uppercase().as_str() {
                "SIZE" => (offers.has_size, offers.size_max) = (true, value.trim().parse().unwrap_or(0)),
                "8BITMIME" => offers.has_8bitmime = true,
                "SMTPUTF8" => offers.has_smtputf8 = true,
                "CHUNKING" => offers.has_chunking = true,
                _ => {}
            }
        }
        offers
    }
}

#[cfg(test)]
mod tests;
