//! The verbs of those who read mail, on the command line: each asks a server and tells a person, or with `--json` a program.
//! What is asked over the wire, the client knows; how it ends is said here once.

mod at;
mod fault;
mod find;
mod health;
mod inbox;
mod list;
mod matchers;
mod release;
mod remove;
mod send;
mod show;
pub(super) mod table;
pub(super) mod tokens;
mod wait;
mod watch;
pub(super) mod webhooks;

use std::future::Future;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Subcommand;

use super::{FAILED, Given, complain};

/// What went wrong, and what to end with.
#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    why: String,
}

/// The answer is no.
const NO: u8 = 1;
const MISUSED: u8 = 2;
const UNREACHABLE: u8 = 3;
const REFUSED: u8 = 4;
const FAULT: u8 = 5;

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List a mailbox, the newest first
    #[command(after_help = list::LIST_EXAMPLES)]
    List(list::ListArgs),
    /// Show a message
    #[command(after_help = show::SHOW_EXAMPLES)]
    Show(show::ShowArgs),
    /// Print the bytes of a message
    #[command(after_help = show::SOURCE_EXAMPLES)]
    Source(show::SourceArgs),
    /// Wait for a mail, or see that none comes
    #[command(after_help = wait::WAIT_EXAMPLES)]
    Wait(wait::WaitArgs),
    /// Wait for a mail with a code, and print the code
    #[command(after_help = find::CODE_EXAMPLES)]
    Code(find::CodeArgs),
    /// Wait for a mail with a link, and print the link
    #[command(after_help = find::LINK_EXAMPLES)]
    Link(find::LinkArgs),
    /// Tell what happens in mailboxes, as it happens
    #[command(after_help = watch::WATCH_EXAMPLES)]
    Watch(watch::WatchArgs),
    /// Send a message, from a file or from what is given
    #[command(after_help = send::SEND_EXAMPLES)]
    Send(send::SendArgs),
    /// Delete messages
    #[command(after_help = remove::DELETE_EXAMPLES)]
    Delete(remove::DeleteArgs),
    /// Empty a mailbox
    #[command(after_help = remove::PURGE_EXAMPLES)]
    Purge(remove::PurgeArgs),
    /// Send a message on to real people
    #[command(after_help = release::RELEASE_EXAMPLES)]
    Release(release::ReleaseArgs),
    /// List what was sent on to real people, the newest first
    #[command(after_help = release::RELEASES_EXAMPLES)]
    Releases(release::ReleasesArgs),
    /// Open or close an inbox: a fresh address for one test
    #[command(subcommand, arg_required_else_help = true, after_help = inbox::INBOX_EXAMPLES)]
    Inbox(inbox::InboxCommand),
    /// Plan faults: mail that fails as a test wants it
    #[command(subcommand, arg_required_else_help = true, after_help = fault::FAULT_EXAMPLES)]
    Fault(fault::FaultCommand),
    /// Ask whether a server takes mail
    #[command(after_help = health::HEALTH_EXAMPLES)]
    Health(health::HealthArgs),
}

/// What all verbs end with; stands in the help of each.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  done
  1  the answer is no: nothing came in time, no such message, several codes
  2  a mistake on the command line
  3  no server answers
  4  the server refuses: a token is missing, or too much was asked
  5  the server cannot"
    };
}
pub(super) use exit_codes;

/// Where the server is told; stands in the help of the verbs that have room for it.
macro_rules! where_from {
    () => {
        "\
The server is named by --server, else POSTKEEP_URL, else postkeep/client.toml in the folder for configurations, else it is \
http://127.0.0.1:8025; the token by --token-file, else POSTKEEP_TOKEN, else that file."
    };
}
pub(super) use where_from;

pub(super) use at::token_for;

/// Do what is asked of a server.
pub(super) fn run(given: Given, verb: Verb) -> ExitCode {
    let done = match verb {
        Verb::List(args) => block(list::list(args)),
        Verb::Show(args) => block(show::show(args)),
        Verb::Source(args) => block(show::source(args)),
        Verb::Wait(args) => block(wait::wait(args)),
        Verb::Code(args) => block(find::code(args)),
        Verb::Link(args) => block(find::link(args)),
        Verb::Watch(args) => block(watch::watch(args)),
        Verb::Send(args) => send::send(args),
        Verb::Delete(args) => block(remove::delete(args)),
        Verb::Purge(args) => block(remove::purge(args)),
        Verb::Release(args) => block(release::release(args)),
        Verb::Releases(args) => block(release::releases(args)),
        Verb::Inbox(command) => block(inbox::inbox(command)),
        Verb::Fault(command) => block(fault::fault(command)),
        Verb::Health(args) => health::health(given, args),
    };
    ended(done)
}

fn ended(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, why }) => {
            // A wait in vain says by itself whose words these are.
            let who = if why.starts_with("Postkeep") { "" } else { "postkeep: " };
            complain(&format!("{who}{why}\n"), code)
        }
    }
}

/// Run to the end, on this thread.
fn block(verb: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure { code: FAULT, why: format!("cannot begin: {error}") })?;
    runtime.block_on(Box::pin(verb))
}

impl Failure {
    fn misused(why: impl Into<String>) -> Self {
        Self { code: MISUSED, why: why.into() }
    }

    fn no(why: impl Into<String>) -> Self {
        Self { code: NO, why: why.into() }
    }
}

impl From<client::Error> for Failure {
    fn from(error: client::Error) -> Self {
        use client::Error;
        let code = match &error {
            Error::Misuse(_) => MISUSED,
            Error::Unreachable { .. } => UNREACHABLE,
            Error::Timeout(_) | Error::Unexpected(_) | Error::Missing(_) | Error::Ambiguous { .. } => NO,
            Error::Problem(problem) => of_problem(problem.status, &problem.slug),
            _ => FAULT,
        };
        Self { code, why: error.to_string() }
    }
}

/// What a refusal means for the one who asked.
fn of_problem(status: u16, slug: &str) -> u8 {
    match status {
        // A server that does not know the route is an older one, whatever was asked.
        _ if slug == "route-unknown" => FAULT,
        400 | 413 | 415 => MISUSED,
        401 | 403 | 421 | 422 | 429 => REFUSED,
        404 | 409 | 410 => NO,
        _ => FAULT,
    }
}

/// Write to stdout, at once; whether somebody still reads. A reader that has gone away, such as `head`, has seen what it
/// wanted.
fn tell(text: &[u8]) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure { code: FAILED, why: format!("cannot write to stdout: {error}") }),
    }
}

/// The same for what is all that is to be said.
fn print(text: &[u8]) -> Result<(), Failure> {
    tell(text).map(|_| ())
}

/// A sentence for the person, beside what is printed.
fn remark(text: &str) {
    complain(&format!("postkeep: {text}\n"), 0);
}

/// The mailbox that is named, or the one of the environment.
fn mailbox(name: Option<String>) -> Result<String, Failure> {
    let variable = || std::env::var("POSTKEEP_MAILBOX").ok().filter(|name| !name.is_empty());
    name.or_else(variable).ok_or_else(|| Failure::misused("no mailbox is named; name one, or set POSTKEEP_MAILBOX"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_by_example() {
        for (status, slug, code) in [
            (400, "bad-query", 2),
            (401, "unauthorized", 4),
            (403, "forbidden", 4),
            (404, "message-unknown", 1),
            (404, "route-unknown", 5),
            (410, "inbox-expired", 1),
            (421, "host-refused", 4),
            (422, "refused", 4),
            (429, "rate-limited", 4),
            (501, "engine-limit", 5),
            (503, "draining", 5),
            (507, "store-full", 5),
        ] {
            assert_eq!(of_problem(status, slug), code, "{slug}");
        }
    }
}
