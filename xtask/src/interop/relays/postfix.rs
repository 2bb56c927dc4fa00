//! Postfix. It pipelines, asks for SMTPUTF8 and 8BITMIME as needed, and keeps connections for several letters.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::jail::{PACKAGE, SAID, WORK};
use super::package::Package;
use super::{Agent, HOSTNAME, Onward, Route};
use crate::interop::corpus::Letter;
use crate::interop::program::Transport;
use crate::interop::site::HOST;

pub(super) struct Postfix;

/// Its commands, its daemons and its libraries below its root.
const COMMANDS: &str = "usr/sbin";
const DAEMONS: &str = "usr/lib/postfix/sbin";
const LIBRARIES: &str = "usr/lib/postfix";

impl Agent for Postfix {
    const PACKAGE: Package = Package("postfix");
    const LMTP_STARTTLS: bool = true;

    fn configure(&self, folder: &Path, route: &Route) -> Result<String> {
        let conf = folder.join("conf");
        fs::create_dir_all(&conf)?;
        fs::write(conf.join("main.cf"), settings(route))?;
        fs::write(conf.join("master.cf"), format!("127.0.0.1:{} inet n - n - - smtpd\n{SERVICES}", route.intake))?;
        Ok(format!(
            "mkdir queue data
             chown postfix data
             export LD_LIBRARY_PATH={PACKAGE}/{LIBRARIES}
             exec {PACKAGE}/{COMMANDS}/postfix -c {WORK}/conf start-fg"
        ))
    }

    fn cannot(&self, letter: &Letter, _onward: &Onward) -> Option<&'static str> {
        letter.has.bare.then_some("it keeps lines without their ends, so an LF that stands alone becomes CRLF")
    }
}

fn settings(route: &Route) -> String {
    let onward = match &route.onward {
        Onward::Smtp(port) => format!("smtp:[{HOST}]:{port}"),
        Onward::Lmtp(port) => format!("lmtp:inet:{HOST}:{port}"),
        Onward::LmtpSocket(path) => format!("lmtp:unix:{}", path.display()),
    };
    let clients = ["smtp", "lmtp"].map(|client| client_settings(client, route.transport)).concat();
    format!(
        "compatibility_level = 3.6
myhostname = {HOSTNAME}
queue_directory = {WORK}/queue
data_directory = {WORK}/data
command_directory = {PACKAGE}/{COMMANDS}
daemon_directory = {PACKAGE}/{DAEMONS}
shlib_directory = {PACKAGE}/{LIBRARIES}
meta_directory = {PACKAGE}/etc/postfix
sendmail_path = {PACKAGE}/{COMMANDS}/sendmail
mailq_path = {PACKAGE}/{COMMANDS}/sendmail
newaliases_path = {PACKAGE}/{COMMANDS}/sendmail
import_environment = MAIL_CONFIG LANG=C LD_LIBRARY_PATH={PACKAGE}/{LIBRARIES}
maillog_file = {WORK}/{SAID}
maillog_file_prefixes = /mnt
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mydestination =
mynetworks = 127.0.0.0/8
smtpd_recipient_restrictions = permit_mynetworks, reject
alias_maps =
alias_database =
biff = no
message_size_limit = 0
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
mailbox_size_limit = 0
default_transport = {onward}
{clients}header_size_limit = 1000000
message_drop_headers =
local_header_rewrite_clients =
"
    )
}

/// What holds for one of its two clients.
fn client_settings(client: &str, transport: Transport) -> String {
    let (level, wrapped) = match transport {
        Transport::Plain => ("none", "no"),
        Transport::StartTls => ("secure", "no"),
        Transport::Tls => ("secure", "yes"),
    };
    format!(
        "{client}_host_lookup = native
{client}_tls_security_level = {level}
{client}_tls_wrappermode = {wrapped}
{client}_tls_CAfile = {WORK}/etc/trust
{client}_tls_secure_cert_match = nexthop
{client}_line_length_limit = 0
"
    )
}

/// What it needs besides the listener. The columns: private, unprivileged, chroot, wakeup, processes at most, program.
const SERVICES: &str = "\
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
";
