//! One line of a list of users: a name, a colon, a secret. What is wrong with it is told without repeating it, since any
//! of it may be a password.

use argon2::Params;
use argon2::password_hash::phc::PasswordHash;

use super::{HASH_MEMORY_MAX, HASH_PASSES_MAX, NAME_MAX, SECRET_MAX, is_bearable};

const HASH: &str = "$argon2id$";
const AGAIN: &str = "make the line anew with `postkeep users hash NAME`";
/// How hashes of other kinds begin, as htpasswd, shadow files and Dovecot have them. Taken for a password, such a line
/// would let in whoever has read it, and not the user.
const FOREIGN: &[&str] = &[
    "$1$",
    "$2a$",
    "$2b$",
    "$2x$",
    "$2y$",
    "$5$",
    "$6$",
    "$7$",
    "$y$",
    "$gy$",
    "$apr1$",
    "$argon2d$",
    "$argon2i$",
    "$pbkdf2",
    "$scrypt$",
    "{ARGON2",
    "{BLF-CRYPT}",
    "{CRYPT}",
    "{MD5",
    "{PBKDF2}",
    "{PLAIN",
    "{SCRAM-",
    "{SHA",
    "{SMD5",
    "{SSHA",
];

/// What stands behind the colon.
pub(super) enum Secret<'a> {
    Plain(&'a str),
    Hashed(Box<PasswordHash>),
}

/// Read a line; none for one that is blank or a comment.
pub(super) fn read(line: &str) -> Result<Option<(&str, Secret<'_>)>, String> {
    if line.trim().is_empty() || line.trim_start().starts_with('#') {
        return Ok(None);
    }
    let (name, secret) =
        line.split_once(':').ok_or("there is no colon; write name:password, or begin a comment with #")?;
    if let Some(why) = bad_name(name) {
        return Err(why.to_owned());
    }
    if secret.starts_with(HASH) {
        return Ok(Some((name, Secret::Hashed(hash(secret.trim_ascii_end())?))));
    }
    match bad_secret(secret) {
        Some(why) => Err(why.to_owned()),
        None if is_foreign(secret) => Err(format!("this is a hash of a kind that is not taken here; {AGAIN}")),
        None => Ok(Some((name, Secret::Plain(secret)))),
    }
}

fn is_foreign(secret: &str) -> bool {
    FOREIGN.iter().any(|start| secret.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)))
}

/// Why this cannot be the name of a user.
pub(super) fn bad_name(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("the name is empty; write name:password"),
        _ if name.len() > NAME_MAX => Some("the name is longer than 255 octets; give a shorter one"),
        _ if name.trim() != name => Some("there is white space around the name; remove it"),
        _ if name.contains(char::is_control) => Some("there are control characters in the name; remove them"),
        _ if name.starts_with(['#', '\u{feff}']) => Some("a name cannot begin with # here; choose another"),
        _ if name.contains(':') => Some("a name cannot hold a colon; choose another"),
        _ => None,
    }
}

/// Why this cannot be a password.
pub(super) fn bad_secret(secret: &str) -> Option<&'static str> {
    match secret {
        "" => Some("the password is empty; write one behind the colon, or remove the line"),
        _ if secret.len() > SECRET_MAX => Some("the password is longer than 1024 octets; give a shorter one"),
        _ if secret.contains(['\0', '\r', '\n']) => Some("there is a line break or a NUL in the password; remove it"),
        _ => None,
    }
}

/// A whole hash whose cost is bearable.
fn hash(text: &str) -> Result<Box<PasswordHash>, String> {
    let broken = || format!("this hash is damaged or cut off; {AGAIN}");
    let hash = PasswordHash::new(text).map_err(|_| broken())?;
    let params = Params::try_from(&hash).map_err(|_| broken())?;
    // Else it could never be verified, and the line would look like a wrong password for ever.
    let is_whole = hash.salt.as_ref().is_some_and(|salt| salt.len() >= argon2::MIN_SALT_LEN) && hash.hash.is_some();
    let is_known = hash.version.is_none_or(|version| argon2::Version::try_from(version).is_ok());
    if !is_whole || !is_known {
        return Err(broken());
    }
    if !is_bearable(&params) {
        return Err(format!(
            "this hash asks for more than {} MiB or {HASH_PASSES_MAX} passes each time; {AGAIN}",
            HASH_MEMORY_MAX >> 10
        ));
    }
    Ok(Box::new(hash))
}
