//! One letter told to a server, from its greeting to the last reply, and what became of it for each recipient.
//!
//! What is asked for by the configuration and missing there (TLS, a login) is no fault of the letter: it is tried again,
//! until that is set right. What the letter needs and the server has not is: its bytes are never changed to fit.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mail::Address;
use tokio::time::Instant;

use super::letter::Letter;
use super::link::{Broken, Link};
use super::offers::Offers;
use super::reply::Reply;
use super::smart_host::{Login, SmartHost, Tls};
use super::stuff::stuffed;

/// What became of a letter for one recipient, and the words to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The server has it.
    Sent(String),
    /// Not now: try again.
    Later(String),
    /// Not ever.
    Never(String),
}

/// Send a letter. The answer has a fate for each recipient, in their order.
pub async fn send(smart_host: &SmartHost, letter: &Letter) -> Vec<Fate> {
    let end = Instant::now() + smart_host.attempt_max;
    match Link::connect(&smart_host.host, smart_host.port, smart_host.timeout, end).await {
        Ok(link) => converse(smart_host, letter, link).await,
        Err(broken) => vec![Fate::from(&broken); letter.recipients.len()],
    }
}

/// The same over a connection that is there.
pub(super) async fn converse(smart_host: &SmartHost, letter: &Letter, link: Link) -> Vec<Fate> {
    let (mut link, offers) = match open(smart_host, link).await {
        Ok(opened) => opened,
        Err(fate) => return vec![fate; letter.recipients.len()],
    };
    let fates = match transaction(&mut link, offers, letter).await {
        Ok(fates) => fates,
        Err(fate) => vec![fate; letter.recipients.len()],
    };
    link.quit().await;
    fates
}

/// Until the server knows who we are, as far as the configuration wants it.
async fn open(smart_host: &SmartHost, mut link: Link) -> Result<(Link, Offers), Fate> {
    let encrypt = |link: Link| link.encrypt(smart_host.roots.clone(), smart_host.name.clone());
    if smart_host.tls == Tls::Implicit {
        link = encrypt(link).await?;
    }
    expect(link.reply().await?, "the connection", 220)?;
    let mut offers = hello(&mut link, &smart_host.helo).await?;
    let wants_tls = matches!(smart_host.tls, Tls::Required | Tls::Opportunistic) && !link.is_encrypted;
    if wants_tls && offers.starttls {
        expect(link.ask("STARTTLS").await?, "STARTTLS", 220)?;
        link = encrypt(link).await?;
        // What was offered in the clear counts for nothing (RFC 3207 §4.2).
        offers = hello(&mut link, &smart_host.helo).await?;
    } else if wants_tls && smart_host.tls == Tls::Required {
        let what = "the smart host offers no STARTTLS and relay.tls is \"required\": nothing was sent";
        return Err(Fate::Later(what.to_owned()));
    }
    if let Some(login) = &smart_host.login {
        sign_in(&mut link, offers, login).await?;
    }
    Ok((link, offers))
}

async fn hello(link: &mut Link, name: &str) -> Result<Offers, Fate> {
    let reply = link.ask(&format!("EHLO {name}")).await?;
    if matches!(reply.code, 500..=504) && !link.is_encrypted {
        expect(link.ask(&format!("HELO {name}")).await?, "HELO", 250)?;
        return Ok(Offers::default());
    }
    Ok(Offers::read(&expect(reply, "EHLO", 250)?))
}

/// A password leaves only under TLS, or to this machine.
async fn sign_in(link: &mut Link, offers: Offers, login: &Login) -> Result<(), Fate> {
    if !link.is_encrypted && !link.is_local {
        let what = "no password is sent in the clear: set relay.tls to \"required\" or \"implicit\"";
        return Err(Fate::Later(what.to_owned()));
    }
    let encoded = |text: &str| BASE64_STANDARD.encode(text);
    let reply = if offers.auth_plain {
        link.ask(&format!("AUTH PLAIN {}", encoded(&format!("\0{}\0{}", login.user, login.password)))).await?
    } else if offers.auth_login {
        expect(link.ask("AUTH LOGIN").await?, "AUTH", 334)?;
        expect(link.ask(&encoded(&login.user)).await?, "the user's name", 334)?;
        link.ask(&encoded(&login.password)).await?
    } else {
        let what = "relay.user is set, and the smart host offers neither AUTH PLAIN nor LOGIN; leave relay.user empty";
        return Err(Fate::Later(what.to_owned()));
    };
    match reply.code {
        235 => Ok(()),
        _ => Err(Fate::Later(format!("the smart host refused relay.user and its password: {}", reply.shown()))),
    }
}

/// The transaction itself; an error is the fate of all.
async fn transaction(link: &mut Link, offers: Offers, letter: &Letter) -> Result<Vec<Fate>, Fate> {
    if let Some(what) = lacking(offers, letter) {
        return Err(Fate::Never(what));
    }
    let reply = link.ask(&mail_from(offers, letter)).await?;
    if reply.code != 250 {
        return Err(Fate::refused(&reply));
    }
    let mut fates = Vec::with_capacity(letter.recipients.len());
    for recipient in &letter.recipients {
        fates.push(match link.ask(&format!("RCPT TO:<{recipient}>")).await? {
            reply if matches!(reply.code, 250..=252) => None,
            reply => Some(Fate::refused(&reply)),
        });
    }
    if fates.iter().any(Option::is_none) {
        let fate = match content(link, offers, letter).await {
            Ok(reply) if reply.code == 250 => Fate::Sent(reply.shown()),
            Ok(reply) => Fate::refused(&reply),
            Err(broken) => Fate::from(&broken),
        };
        return Ok(fates.into_iter().map(|refused| refused.unwrap_or_else(|| fate.clone())).collect());
    }
    Ok(fates.into_iter().flatten().collect())
}

/// What the letter needs and the server does not have.
fn lacking(offers: Offers, letter: &Letter) -> Option<String> {
    let (needs, size) = (letter.needs, letter.content.len() as u64);
    let lacks = |what: &str, extension: &str| {
        Some(format!(
            "{what}, and the smart host does not offer {extension}: the bytes would not come through as they are"
        ))
    };
    if offers.size_max > 0 && size > offers.size_max {
        return Some(format!("the message has {size} octets and the smart host takes {}", offers.size_max));
    }
    match () {
        () if needs.utf8 && !offers.utf8 => lacks("an address or the header has letters beyond ASCII", "SMTPUTF8"),
        () if needs.binary && !(offers.binary && offers.chunking) => {
            lacks("the message has a lone carriage return, a lone line feed or a NUL", "BINARYMIME and CHUNKING")
        }
        () if needs.eight_bit && !offers.eight_bit => lacks("the message has octets beyond ASCII", "8BITMIME"),
        () => None,
    }
}

fn mail_from(offers: Offers, letter: &Letter) -> String {
    let needs = letter.needs;
    let mut line = format!("MAIL FROM:<{}>", letter.sender.0.as_ref().map(Address::to_string).unwrap_or_default());
    if offers.size {
        line.push_str(&format!(" SIZE={}", letter.content.len()));
    }
    if needs.binary {
        line.push_str(" BODY=BINARYMIME");
    } else if needs.eight_bit {
        line.push_str(" BODY=8BITMIME");
    }
    if needs.utf8_wanted && offers.utf8 {
        line.push_str(" SMTPUTF8");
    }
    line
}

/// By BDAT where it is offered, for then no octet has a meaning (RFC 3030).
async fn content(link: &mut Link, offers: Offers, letter: &Letter) -> Result<Reply, Broken> {
    if offers.chunking {
        link.say(&format!("BDAT {} LAST", letter.content.len())).await?;
        return link.hand_over(&letter.content).await;
    }
    let reply = link.ask("DATA").await?;
    match reply.code {
        354 => link.hand_over(&stuffed(&letter.content)).await,
        // That it takes what was not sent is no success.
        200..=399 => Err(Broken::Strange),
        _ => Ok(reply),
    }
}

/// Before the transaction nothing is said about this letter, so whatever is refused may be taken another time.
fn expect(reply: Reply, what: &str, code: u16) -> Result<Reply, Fate> {
    if reply.code == code {
        return Ok(reply);
    }
    Err(Fate::Later(format!("the smart host refused {what}: {}", reply.shown())))
}

impl Fate {
    fn refused(reply: &Reply) -> Self {
        if reply.code >= 500 { Self::Never(reply.shown()) } else { Self::Later(reply.shown()) }
    }
}

impl From<&Broken> for Fate {
    fn from(broken: &Broken) -> Self {
        Self::Later(broken.to_string())
    }
}

impl From<Broken> for Fate {
    fn from(broken: Broken) -> Self {
        Self::from(&broken)
    }
}
