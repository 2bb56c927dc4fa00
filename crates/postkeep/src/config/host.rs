//! This machine's name, for a server that was given none.

use super::values::is_hostname;

/// The machine's own name when it is a sound host name, else `localhost`.
pub(super) fn name() -> String {
    machine().filter(|name| is_hostname(name)).unwrap_or_else(|| "localhost".into())
}

#[cfg(unix)]
fn machine() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

#[cfg(not(unix))]
fn machine() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}
