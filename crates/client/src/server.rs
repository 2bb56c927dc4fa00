//! Where a server is: a URL taken apart. It opens no connection.

use std::fmt;

use hyper::Uri;
use percent_encoding::percent_decode_str;

use crate::error::Error;

/// How a server is spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// One address of a service; several nodes of it hold the same mail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Server {
    pub(crate) scheme: Scheme,
    /// Without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// As `Host` has it.
    pub(crate) authority: String,
    /// In front of every path; empty, or begins with a slash and does not end with one.
    pub(crate) prefix: String,
    /// The password of `http://x:token@host`.
    pub(crate) token: Option<Token>,
}

/// Who asks. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) String);

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

impl Server {
    /// One URL or several, parted by commas or white space.
    pub(crate) fn parse_all(urls: &str) -> Result<Vec<Self>, Error> {
        let words = urls.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty());
        let servers: Vec<Self> = words.map(Self::parse).collect::<Result<_, _>>()?;
        if servers.is_empty() {
            Err(Error::misuse("no server is named; give one as http://127.0.0.1:8025"))
        } else {
            Ok(servers)
        }
    }

    fn parse(url: &str) -> Result<Self, Error> {
        let bad = || {
            Error::misuse(format!("{} is no URL of a server; give one as http://127.0.0.1:8025", without_secret(url)))
        };
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") if cfg!(feature = "https") => Scheme::Https,
            Some("https") => {
                return Err(Error::misuse(
                    "https is not built in; add the feature `https` of postkeep-client, or name http://",
                ));
            }
            _ => return Err(bad()),
        };
        let whole = uri.authority().ok_or_else(bad)?;
        let (user, authority) =
            whole.as_str().rsplit_once('@').map_or((None, whole.as_str()), |(user, rest)| (Some(user), rest));
        if uri.query().is_some() || whole.host().is_empty() {
            return Err(bad());
        }
        let host = whole.host().trim_matches(['[', ']']).to_owned();
        let port = whole.port_u16().unwrap_or(if scheme == Scheme::Http { 80 } else { 443 });
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { scheme, host, port, authority: authority.to_owned(), prefix, token: user.and_then(password) })
    }

    /// As it was given, without the password.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.scheme == Scheme::Http { "http" } else { "https" };
        format!("{scheme}://{}{}", self.authority, self.prefix)
    }
}

fn password(user: &str) -> Option<Token> {
    let (_, password) = user.split_once(':')?;
    let text = percent_decode_str(password).decode_utf8_lossy().into_owned();
    (!text.is_empty()).then_some(Token(text))
}

/// A URL as it may be shown: what stands before the @ may be a password.
fn without_secret(url: &str) -> String {
    let shown = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
    crate::text::quoted(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_by_example() {
        for (url, host, port, authority, prefix, token) in [
            ("http://127.0.0.1:8025", "127.0.0.1", 8025, "127.0.0.1:8025", "", None),
            ("http://mail.test/", "mail.test", 80, "mail.test", "", None),
            ("http://[::1]:8025/post/keep/", "::1", 8025, "[::1]:8025", "/post/keep", None),
            ("http://x:pkt_1%2F2@mail.test:80", "mail.test", 80, "mail.test:80", "", Some("pkt_1/2")),
            ("http://x@mail.test", "mail.test", 80, "mail.test", "", None),
        ] {
            let server = Server::parse(url).unwrap();
            let token_found = server.token.as_ref().map(|token| token.0.as_str());
            let found =
                (server.host.as_str(), server.port, server.authority.as_str(), server.prefix.as_str(), token_found);
            assert_eq!(found, (host, port, authority, prefix, token), "{url}");
            assert!(!format!("{server:?}{}", server.url()).contains("pkt_1"), "no token is printed");
        }
    }

    #[test]
    fn several_nodes_may_be_named() {
        let urls: Vec<_> =
            Server::parse_all(" http://a:1, http://b:2\nhttp://c:3,").unwrap().iter().map(Server::url).collect();
        assert_eq!(urls, ["http://a:1", "http://b:2", "http://c:3"]);
    }

    #[test]
    fn what_is_no_url_is_told_without_its_password() {
        for url in [
            "",
            "127.0.0.1:8025",
            "ftp://x",
            "http://",
            "http://x:secret@",
            "http://a:secret@b?c",
            "http://a b:secret@c",
        ] {
            let error = Server::parse_all(url).unwrap_err().to_string();
            assert!(error.contains("http://127.0.0.1:8025") && !error.contains("secret"), "{url}: {error}");
        }
    }
}
