//! Mutt, which opens the mailbox over POP3 as a folder of its own: it lists by LIST and UIDL, reads headers by TOP and
//! messages by RETR. It is for people at a terminal, so it gets one, and keys pushed into it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Ends, Errand, Reader, Then, files, private, version_word, with_ended_header};
use crate::interop::corpus::Letter;
use crate::interop::program::Transport;
use crate::interop::site::{HOST, SECRET};

pub(super) struct Mutt;

/// What is typed when it asks about a certificate that it does not trust. It asks for nothing else.
const REJECT: &str = "r";

/// Fields that it writes at the end of a header when it copies a message into a folder.
const OWN: [&[u8]; 2] = [b"Content-Length: ", b"Lines: "];

impl Reader for Mutt {
    const NAME: &'static str = "mutt";
    const PACKAGES: &'static [&'static str] = &["mutt", "bsdutils"];
    const ENDS: Ends = Ends::Lf;
    const REMEMBERS: bool = false;

    fn version(&self) -> Result<String, String> {
        version_word(Command::new("mutt").arg("-v"), 1)
    }

    fn fetch(&self, errand: &Errand<'_>) -> Result<Vec<Vec<u8>>> {
        private(&errand.folder.join("muttrc"), &configuration(errand))?;
        let scheme = if errand.transport == Transport::Tls { "pops" } else { "pop" };
        let mailbox = format!("{scheme}://{}@{HOST}:{}", errand.user, errand.port());
        let delete = if errand.then == Then::Delete { "<delete-pattern>~A<enter>" } else { "" };
        let keys = format!("<tag-pattern>~A<enter><tag-prefix><copy-message>=out<enter>{delete}<quit>");
        let words = format!("exec mutt -n -F muttrc -f {mailbox} -e 'push \"{keys}\"'");
        let mut terminal = Command::new("script");
        terminal
            .args(["-qec", &words, "/dev/null"])
            .env("TERM", "vt100")
            .env("HOME", &errand.folder)
            .env_remove("MAIL");
        let ended = errand.end_typing(&mut terminal, REJECT)?;
        ensure!(ended.status.success(), "it ended with {}", ended.status);
        stored(&errand.folder.join("out"))
    }

    fn claims(&self, letter: &Letter, source: Vec<u8>) -> Vec<u8> {
        if matches!(letter.name, "nothing-of-both" | "dot-is-all") { source } else { with_ended_header(source) }
    }

    fn spoils(&self, letter: &Letter) -> Option<&'static str> {
        match letter.name {
            "nul-octets" => Some("it takes a NUL for the end of a line"),
            "nothing-of-both" | "dot-is-all" => Some("it parts the trace from the text by an empty line"),
            _ => None,
        }
    }
}

fn configuration(errand: &Errand<'_>) -> String {
    let secured = if errand.transport == Transport::Plain { "no" } else { "yes" };
    format!(
        "set folder=\"{folder}\" tmpdir=\"{folder}\" mbox_type=Maildir
set pop_user=\"{}\" pop_pass=\"{SECRET}\" pop_authenticators=\"user\"
set ssl_starttls={secured} ssl_force_tls={secured} certificate_file=\"{}\"
set confirmcreate=no confirmappend=no delete=yes quit=yes move=no wait_key=no sleep_time=0
set net_inc=0 read_inc=0 write_inc=0
set record=\"\" postponed=\"\" beep=no mark_old=no
",
        errand.user,
        errand.trust().display(),
        folder = errand.folder.display(),
    )
}

/// The messages of a maildir, without the fields that Mutt writes.
fn stored(maildir: &Path) -> Result<Vec<Vec<u8>>> {
    if !fs::exists(maildir)? {
        return Ok(Vec::new());
    }
    let all = [files(&maildir.join("new"))?, files(&maildir.join("cur"))?].concat();
    Ok(all.into_iter().map(without_own).collect())
}

pub(super) fn without_own(message: Vec<u8>) -> Vec<u8> {
    let end = message.windows(2).position(|end| end == b"\n\n").map_or(message.len(), |end| end + 1);
    let (header, rest) = message.split_at(end);
    let own = |line: &&[u8]| OWN.iter().any(|name| line.starts_with(name));
    let lines = header.split_inclusive(|byte| *byte == b'\n').filter(|line| !own(line));
    [lines.collect::<Vec<_>>().concat(), rest.to_vec()].concat()
}
