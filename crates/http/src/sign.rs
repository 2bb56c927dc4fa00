//! Who asks, by what a request shows: one place for all routes, between the guard and the operation. What they may do is
//! the mailroom's business.
//!
//! A credential comes in a field: a token or an inbox's secret as Bearer, or as the password of Basic; the name of a user
//! from a proxy that is trusted; the cookie of a login. Never in a query, which is written into logs and histories.

use std::borrow::Cow;
use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mailroom::{Caller, Credential};

use crate::asked::Peer;
use crate::host::Authority;
use crate::problem::{Doing, Problem};
use crate::router::Operation;
use crate::shared::Shared;

/// Characters of a credential; none is longer, and more need not be looked at.
const SECRET_MAX: usize = 1024;

/// Who asks, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    /// For the mailroom.
    pub(crate) caller: Caller,
    /// Where the request came from, behind the proxies that are trusted.
    pub(crate) client: Option<IpAddr>,
}

/// Who asks for this. What is for everybody asks nobody. Whoever has shown nothing gets no further where that is never
/// enough: what a stranger may not have is not read first, and looks the same whatever it would have been.
pub(crate) async fn identify(
    shared: &Shared,
    head: &Parts,
    peer: Peer,
    wanted: Option<Operation>,
) -> Result<Asker, Problem> {
    let client = shared.guard.client(&head.headers, peer);
    shared.take_turn(client)?;
    let nobody = Caller::Anonymous { peer: client };
    if wanted == Some(Operation::ReadServer) {
        // It is for everybody, and tells those whom it knows what they may. A login that is over is nobody's.
        return Ok(Asker { caller: known(shared, head, peer, client).await.unwrap_or(nobody), client });
    }
    if wanted.is_some_and(Operation::is_for_everybody) {
        return Ok(Asker { caller: nobody, client });
    }
    let caller = known(shared, head, peer, client).await?;
    shared.mailroom.admit(&caller).map_err(|denied| Problem::of(&denied, Doing::Reading))?;
    Ok(Asker { caller, client })
}

/// The caller by what a request shows.
async fn known(shared: &Shared, head: &Parts, peer: Peer, client: Option<IpAddr>) -> Result<Caller, Problem> {
    let caller = match shown(shared, &head.headers, peer)? {
        Shown::Nothing => shared.mailroom.identify(Credential::Nothing, client).await,
        Shown::Secret(secret) => shared.mailroom.identify(Credential::Secret(&secret), client).await,
        Shown::User(name) => shared.mailroom.identify(Credential::User(name), client).await,
        Shown::Cookie(cookie) => shared.mailroom.identify(Credential::Cookie(cookie), client).await,
    };
    caller.map_err(Problem::not_signed_in)
}

/// What a request shows.
enum Shown<'a> {
    Nothing,
    Secret(Cow<'a, str>),
    User(&'a str),
    Cookie(&'a str),
}

fn shown<'a>(shared: &Shared, fields: &'a HeaderMap, peer: Peer) -> Result<Shown<'a>, Problem> {
    if let Some(secret) = secret(fields)? {
        return Ok(Shown::Secret(secret));
    }
    if let Some(user) = shared.settings.user_header.as_ref().filter(|_| shared.guard.trusts(peer)) {
        let mut names = fields.get_all(user.as_str()).iter();
        match (names.next(), names.next()) {
            (None, _) => {}
            (Some(name), None) if !name.is_empty() => {
                let bad = |_| Problem::bad_request("The name of the user is not plain text. Have the proxy encode it.");
                return Ok(Shown::User(name.to_str().map_err(bad)?));
            }
            _ => return Err(Problem::bad_request("The proxy does not name one user. Have it set its field once.")),
        }
    }
    // A page of another origin that may call brings no login of ours.
    if shared.guard.listed_origin(fields).is_some() {
        return Ok(Shown::Nothing);
    }
    let name = cookie_name(&shared.guard.base_url(fields, peer));
    Ok(cookie(fields, &name).map_or(Shown::Nothing, Shown::Cookie))
}

/// What stands in the Authorization field. Whatever cannot be read there is no secret that anybody has.
fn secret(fields: &HeaderMap) -> Result<Option<Cow<'_, str>>, Problem> {
    let mut all = fields.get_all(AUTHORIZATION).iter();
    let Some(field) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(Problem::bad_request("There are two Authorization fields. Send one."));
    }
    let text = field.to_str().ok().filter(|text| text.len() <= SECRET_MAX).unwrap_or_default();
    let (scheme, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    Ok(Some(match scheme {
        _ if scheme.eq_ignore_ascii_case("bearer") => Cow::Borrowed(rest),
        _ if scheme.eq_ignore_ascii_case("basic") => Cow::Owned(password(rest).unwrap_or_default()),
        _ => Cow::Borrowed(""),
    }))
}

/// The password of Basic (RFC 7617); the user's name is nobody's. Some write the token as the name alone.
fn password(coded: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(coded).ok()?).ok()?;
    let (name, password) = text.split_once(':')?;
    Some(if password.is_empty() { name } else { password }.to_owned())
}

/// The cookie of this name, the first if there are several.
pub(crate) fn cookie<'a>(fields: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = fields.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    let mut pairs = all.flat_map(|field| field.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// What the cookie of a login is called, where people reach this server so. On https a browser keeps `__Host-` to this
/// host, as sent by it under TLS (T101). On plain http all ports of a host share their cookies, so it names its own.
pub(crate) fn cookie_name(base_url: &str) -> String {
    match base_url.strip_prefix("http://") {
        None => "__Host-postkeep".to_owned(),
        Some(rest) => {
            let authority = rest.split('/').next().and_then(Authority::parse);
            format!("postkeep-{}", authority.and_then(|authority| authority.port).unwrap_or(80))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_secret_comes_as_bearer_or_as_the_password_of_basic() {
        let check = |field: &str, expected: &str| {
            assert_eq!(secret(&fields(&[("authorization", field)])).unwrap().unwrap(), expected, "{field}");
        };
        check("Bearer pkt_a", "pkt_a");
        check("bearer  pkt_a ", "pkt_a");
        check("Basic eDpwa3RfYQ==", "pkt_a");
        check("basic cGt0X2E6", "pkt_a");
        for none in ["Basic !", "Basic eA==", "Digest x", "Bearer", "pkt_a", &format!("Bearer {}", "a".repeat(2000))] {
            check(none, "");
        }
        assert!(secret(&fields(&[])).unwrap().is_none());
        assert!(secret(&fields(&[("authorization", "Bearer a"), ("authorization", "Bearer b")])).is_err());
    }

    #[test]
    fn t101_cookies_are_told_apart_by_scheme_and_port() {
        assert_eq!(cookie_name("https://mail.test:8443/x"), "__Host-postkeep");
        assert_eq!(cookie_name("http://127.0.0.1:8025"), "postkeep-8025");
        assert_eq!(cookie_name("http://[::1]:1/x"), "postkeep-1");
        assert_eq!(cookie_name("http://mail.test/x"), "postkeep-80");
        let sent = fields(&[("cookie", "a=b; postkeep-80=one;postkeep-80=two"), ("cookie", "postkeep-8025=three")]);
        assert_eq!(cookie(&sent, "postkeep-80"), Some("one"));
        assert_eq!(cookie(&sent, "postkeep-8025"), Some("three"));
        assert_eq!(cookie(&sent, "postkeep-8"), None);
    }
}
