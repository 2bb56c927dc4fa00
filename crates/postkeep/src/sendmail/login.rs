//! Who runs the program, and on which machine.

use jiff::Timestamp;
use mail::address::Charset;
use mail::{Address, Domain};

use super::letter::Origin;

/// Who sends, from where and when.
pub(super) fn origin() -> Origin {
    let host = host();
    let user = user().and_then(|user| Address::parse(&format!("{user}@{host}"), Charset::Utf8).ok());
    let now = Timestamp::now();
    Origin { user: user.unwrap_or_else(|| nobody(&host)), host, now, unique: unique(now) }
}

/// The machine's name when it can stand in an address, else `localhost`.
fn host() -> String {
    machine().filter(|name| Domain::parse(name).is_ok()).unwrap_or_else(|| "localhost".to_owned())
}

fn nobody(host: &str) -> Address {
    Address::parse(&format!("nobody@{host}"), Charset::Utf8).unwrap_or_else(|_| Address::postmaster(host))
}

/// Time, process and chance: no other run of any program has the three.
fn unique(now: Timestamp) -> String {
    use std::hash::{BuildHasher, RandomState};
    let chance = RandomState::new().hash_one(now);
    format!("{}.{:09}.{}.{chance:016x}", now.as_second(), now.subsec_nanosecond().unsigned_abs(), std::process::id())
}

#[cfg(unix)]
fn machine() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// The name of the account, as the system's list of them has it: web servers and cron often set no variable.
#[cfg(unix)]
fn user() -> Option<String> {
    let accounts = std::fs::read("/etc/passwd").ok();
    let listed =
        accounts.and_then(|accounts| account(&String::from_utf8_lossy(&accounts), rustix::process::getuid().as_raw()));
    listed.or_else(|| std::env::var("LOGNAME").ok()).or_else(|| std::env::var("USER").ok())
}

/// The name of an account in `name:password:uid:…`.
#[cfg(unix)]
fn account(accounts: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    accounts.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == uid).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn machine() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

#[cfg(not(unix))]
fn user() -> Option<String> {
    std::env::var("USERNAME").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn accounts_are_found_by_number() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\n\nbad\nwww-data:x:33:33::/var/www:/usr/sbin/nologin\n";
        for (uid, expected) in [(0, Some("root")), (33, Some("www-data")), (3, None)] {
            assert_eq!(account(accounts, uid).as_deref(), expected);
        }
    }

    #[test]
    fn no_two_letters_have_one_id() {
        let now = Timestamp::UNIX_EPOCH;
        assert_ne!(unique(now), unique(now));
        let origin = origin();
        assert!(Address::parse(&origin.user.to_string(), Charset::Utf8).is_ok(), "{origin:?}");
    }
}
