//! In place of `/usr/sbin/sendmail`: a message from stdin is handed to an SMTP server, and the exit code says how that
//! went. For PHP, cron and whatever else calls sendmail; started under that name it behaves so, too.
//!
//! [`options`], [`letter`] and [`dialogue`] are pure; [`link`] has the socket, [`login`] knows the machine. It knows nothing
//! of the server that this program also is: it would hand mail to any.

mod dialogue;
mod ending;
mod handing;
mod header;
mod letter;
mod link;
mod login;
mod name;
mod options;
mod recipients;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use handing::{Draft, Ready, Unsent};

use dialogue::{Act, Dialogue};
use ending::{Ending, Failure};
use letter::{Letter, Unsendable};
use link::{Broken, Link};
use net::Place;
use options::{Options, Wish};

const SERVER: &str = "127.0.0.1:1025";
const SERVER_VARIABLE: &str = "POSTKEEP_SENDMAIL_SERVER";
const TIMEOUT_VARIABLE: &str = "POSTKEEP_SENDMAIL_TIMEOUT";
/// Seconds for each answer, and the most that can be asked for.
const TIMEOUT: u64 = 60;
const TIMEOUT_MAX: u64 = 3600;
/// Octets of a message; what a server takes is usually less, and it says so.
const INPUT_MAX: u64 = 256 << 20;

/// The arguments for sendmail, when the program was started as such: by a link of that name, or by `postkeep sendmail`.
pub(crate) fn asked(mut words: impl Iterator<Item = OsString>) -> Option<Vec<OsString>> {
    let program = words.next()?;
    let name = Path::new(&program).file_name()?;
    if name == "sendmail" || name == "sendmail.exe" || words.next()? == "sendmail" {
        Some(words.collect())
    } else {
        None
    }
}

/// Do what the arguments ask; `help` makes the text for those who ask for it.
pub(crate) fn run(arguments: Vec<OsString>, help: impl FnOnce() -> String) -> ExitCode {
    let done = match options::read(arguments) {
        Ok(Wish::Send(options)) => caught(&options),
        Ok(Wish::Help) => print(&help()),
        Ok(Wish::Version) => print(concat!("postkeep ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Wish::RunQueue) => Ok(()),
        Err(misuse) => Err(Failure::new(Ending::Usage, misuse.to_string())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { ending, what }) => {
            // If stderr is gone, the exit code still tells.
            let _ = writeln!(io::stderr(), "sendmail: {what}");
            ending.into()
        }
    }
}

/// A fault of ours ends with its own code: 101 would mean nothing to those who call sendmail.
fn caught(options: &Options) -> Result<(), Failure> {
    let fault = |_| Failure::new(Ending::Internal, "a fault in Postkeep, please report it with the lines above");
    std::panic::catch_unwind(|| send(options)).map_err(fault)?
}

fn send(options: &Options) -> Result<(), Failure> {
    let place = place(options)?;
    let timeout = timeout(options)?;
    let input = input(io::stdin().lock())?;
    let origin = login::origin();
    let letter = letter::compose(&input, options, &origin).map_err(unsendable)?;
    drop(input);
    let link = Link::connect(&place, timeout, options.verbose).map_err(|error| {
        let what = format!(
            "cannot reach {place}: {error}; is the server running there? -S or {SERVER_VARIABLE} names another"
        );
        Failure::new(Ending::Temporary, what)
    })?;
    converse(link, &letter, &origin.host)
        .map_err(|failure| Failure { what: format!("{place}: {}", failure.what), ..failure })
}

/// Where the server is.
fn place(options: &Options) -> Result<Place, Failure> {
    let variable = || std::env::var(SERVER_VARIABLE).ok().filter(|value| !value.is_empty());
    let text = options.server.clone().or_else(variable).unwrap_or_else(|| SERVER.to_owned());
    let place = Place::parse(&text);
    let is_sound = match &place {
        Place::Tcp(address) => {
            address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        }
        Place::Unix(path) => !path.as_os_str().is_empty(),
    };
    let what = || format!("{} is no place of a server; give HOST:PORT or unix:PATH", crate::log::escaped(&text));
    if is_sound { Ok(place) } else { Err(Failure::new(Ending::Usage, what())) }
}

fn timeout(options: &Options) -> Result<Duration, Failure> {
    let variable = || std::env::var(TIMEOUT_VARIABLE).ok().filter(|value| !value.is_empty());
    let Some(text) = options.timeout.clone().or_else(variable) else { return Ok(Duration::from_secs(TIMEOUT)) };
    let seconds = text.parse().ok().filter(|seconds| (1..=TIMEOUT_MAX).contains(seconds));
    let what = || format!("the time for an answer is a number of seconds from 1 to {TIMEOUT_MAX}; give one");
    seconds.map(Duration::from_secs).ok_or_else(|| Failure::new(Ending::Usage, what()))
}

fn input(from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut input = Vec::new();
    let read = from.take(INPUT_MAX + 1).read_to_end(&mut input);
    read.map_err(|error| {
        Failure::new(Ending::Internal, format!("cannot read the message from stdin: {error}; pipe one in"))
    })?;
    if input.len() as u64 > INPUT_MAX {
        let what = format!("the message is larger than {} MiB; send a smaller one", INPUT_MAX >> 20);
        return Err(Failure::new(Ending::Data, what));
    }
    Ok(input)
}

fn unsendable(why: Unsendable) -> Failure {
    let ending = match &why {
        Unsendable::BadArgument(_) | Unsendable::BadSender(_) | Unsendable::BadName => Ending::Usage,
        Unsendable::NoRecipients | Unsendable::BadField(..) | Unsendable::Header(_) => Ending::Data,
    };
    Failure::new(ending, why.to_string())
}

/// The whole dialogue.
fn converse(mut link: Link, letter: &Letter, host: &str) -> Result<(), Failure> {
    let mut dialogue = Dialogue::new(letter, host);
    loop {
        let reply = link.reply().map_err(|broken| broken_off(&dialogue, broken))?;
        let sent = match dialogue.hear(&reply) {
            Act::Say(line) => link.say(&line),
            Act::Data => link.data(&letter.content),
            Act::Chunk(line) => link.say(&line).and_then(|()| link.chunk(&letter.content)),
            Act::End(ended) => {
                link.quit();
                return ended;
            }
        };
        if let Err(broken) = sent {
            // A server that closes while it is written to has often said why.
            return match link.reply().map(|reply| dialogue.hear(&reply)) {
                Ok(Act::End(Err(failure))) => Err(failure),
                _ => Err(broken_off(&dialogue, broken)),
            };
        }
    }
}

fn broken_off(dialogue: &Dialogue<'_>, broken: Broken) -> Failure {
    match broken {
        Broken::Lost(why) => dialogue.lost(&why),
        Broken::Strange => dialogue.strange(),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    let written = io::stdout().lock().write_all(text.as_bytes());
    written.map_err(|error| Failure::new(Ending::Internal, format!("cannot write to stdout: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Option<Vec<OsString>> {
        asked(words.iter().map(OsString::from))
    }

    #[test]
    fn the_name_of_the_program_counts() {
        let some = |words: &[&str]| Some(words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(words(&["/usr/sbin/sendmail", "-t"]), some(&["-t"]));
        assert_eq!(words(&["sendmail", "sendmail"]), some(&["sendmail"]));
        assert_eq!(words(&["postkeep", "sendmail", "-t", "--", "-x"]), some(&["-t", "--", "-x"]));
        assert_eq!(words(&["postkeep", "serve", "sendmail"]), None);
        assert_eq!(words(&["/opt/sendmail/postkeep", "-t"]), None);
        assert_eq!((words(&["postkeep"]), words(&[])), (None, None));
    }

    #[test]
    fn a_message_is_bounded() {
        assert_eq!(input(io::repeat(b'x').take(INPUT_MAX)).map(|input| input.len() as u64), Ok(INPUT_MAX));
        assert_eq!(input(io::repeat(b'x')).map_err(|failure| failure.ending), Err(Ending::Data));
    }
}
