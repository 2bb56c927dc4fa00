//! Paths as MAIL, RCPT and EHLO carry them: raw bytes from the wire, of which the parameters are left to the caller.

use super::{Address, BadAddress, Charset, Domain};

/// What stands behind `MAIL FROM:` or `RCPT TO:`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Path {
    /// `<>`
    Null,
    /// `<postmaster>` without a domain, in any case (RFC 5321 §4.5.1).
    Postmaster,
    /// `<user@domain>`; a source route before it is gone (RFC 5321 appendix C).
    Address(Address),
}

/// Read a path and return what follows it: nothing, or a space and the parameters.
///
/// Spaces before it are forgiven, and so are missing angle brackets: then it ends at the first space outside quotes.
pub fn path(input: &[u8], charset: Charset) -> Result<(Path, &[u8]), BadAddress> {
    let input = &input[input.iter().take_while(|byte| **byte == b' ').count()..];
    let (inside, rest) = match input.strip_prefix(b"<") {
        Some(bracketed) => {
            let end = find_unquoted(bracketed, b'>').ok_or(BadAddress::Syntax)?;
            (&bracketed[..end], &bracketed[end + 1..])
        }
        None if input.is_empty() => return Err(BadAddress::Syntax),
        None => input.split_at(find_unquoted(input, b' ').unwrap_or(input.len())),
    };
    if !rest.is_empty() && rest[0] != b' ' {
        return Err(BadAddress::Syntax);
    }
    let text = std::str::from_utf8(inside).map_err(|_| BadAddress::Syntax)?;
    Ok((read(text, charset)?, rest))
}

fn read(text: &str, charset: Charset) -> Result<Path, BadAddress> {
    if text.is_empty() {
        return Ok(Path::Null);
    }
    if text.eq_ignore_ascii_case("postmaster") {
        return Ok(Path::Postmaster);
    }
    Address::parse(without_route(text)?, charset).map(Path::Address)
}

/// Where a byte stands outside quoted strings.
fn find_unquoted(input: &[u8], wanted: u8) -> Option<usize> {
    let mut quoted = false;
    let mut bytes = input.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => drop(bytes.next()),
            _ if byte == wanted && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// Cut `@one,@two:` (RFC 5321 §4.1.2 `A-d-l`), which must be followed but may be ignored.
fn without_route(text: &str) -> Result<&str, BadAddress> {
    let mut rest = text;
    while let Some(hop) = rest.strip_prefix('@') {
        // A literal may hold colons of its own.
        let literal = if hop.starts_with('[') { hop.find(']').unwrap_or(0) } else { 0 };
        let end = literal + hop[literal..].find([',', ':']).ok_or(BadAddress::Syntax)?;
        Domain::parse(&hop[..end])?;
        rest = &hop[end + 1..];
        if hop.as_bytes()[end] == b':' {
            return if rest.starts_with('@') { Err(BadAddress::Syntax) } else { Ok(rest) };
        }
        if !rest.starts_with('@') {
            return Err(BadAddress::Syntax);
        }
    }
    Ok(rest)
}

/// Octets of a name in EHLO or HELO.
const HELO_MAX: usize = 255;

/// Read the name of EHLO or HELO: host names, single labels, `_`, literals of any make. Nobody believes it, so it is
/// taken as loosely as it can still stand in a trace field: printable ASCII without the specials of RFC 5322.
pub fn helo(input: &[u8]) -> Result<&str, BadAddress> {
    let name = input.trim_ascii();
    let inside = name.strip_prefix(b"[").and_then(|literal| literal.strip_suffix(b"]"));
    let sound = match inside {
        Some(literal) => !literal.is_empty() && literal.iter().all(|&byte| byte == b':' || is_helo(byte)),
        None => !name.is_empty() && name.iter().all(|&byte| is_helo(byte)),
    };
    if !sound {
        return Err(BadAddress::Syntax);
    }
    if name.len() > HELO_MAX {
        return Err(BadAddress::TooLong);
    }
    std::str::from_utf8(name).map_err(|_| BadAddress::Syntax)
}

fn is_helo(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>[]:;@\\,\"".contains(&byte)
}
