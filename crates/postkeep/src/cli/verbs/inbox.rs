//! `postkeep inbox`: fresh addresses for tests, also as variables of a shell.

use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use client::Inbox;

use super::at::At;
use super::matchers::duration;
use super::table::moment;
use super::{Failure, exit_codes, print};
use crate::config::Time;
use crate::log::escaped;

pub(crate) const INBOX_EXAMPLES: &str = "\
An inbox is an address that nobody else has, with a secret that reads it, for one test. It goes away by itself, with all mail \
in it.

Examples:
  postkeep inbox new signup
  eval \"$(postkeep inbox new signup --export)\"
  postkeep inbox close \"$POSTKEEP_MAILBOX\"";

const NEW_EXAMPLES: &str = concat!(
    "\
With --export it prints lines for a shell, which set POSTKEEP_MAILBOX, POSTKEEP_ADDRESS and POSTKEEP_TOKEN; the other verbs \
then mean this inbox.

",
    exit_codes!(),
    "

Examples:
  postkeep inbox new signup --ttl 30m
  eval \"$(postkeep inbox new signup --export)\" && ./sign-up \"$POSTKEEP_ADDRESS\" && postkeep code
  postkeep inbox new --json | jq -r .address"
);

#[derive(Debug, Subcommand)]
pub(crate) enum InboxCommand {
    /// Open an inbox
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Empty an inbox for good
    #[command(after_help = exit_codes!())]
    Close(CloseArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// A word to begin the address with, so that people see what it was for
    #[arg(value_name = "LABEL", default_value = "", hide_default_value = true)]
    label: String,
    /// How long it lives; else as the server is configured
    #[arg(long, value_name = "TIME", value_parser = duration)]
    ttl: Option<Duration>,
    /// The domain of its address, one that the server takes
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// Print it as variables for a shell
    #[arg(long, conflicts_with = "json")]
    export: bool,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// The inbox [env: POSTKEEP_MAILBOX]
    #[arg(value_name = "MAILBOX")]
    mailbox: Option<String>,
    #[command(flatten)]
    at: At,
}

pub(super) async fn inbox(command: InboxCommand) -> Result<(), Failure> {
    match command {
        InboxCommand::New(args) => new(args).await,
        InboxCommand::Close(args) => Ok(args.at.client()?.close_inbox(&super::mailbox(args.mailbox)?).await?),
    }
}

async fn new(args: NewArgs) -> Result<(), Failure> {
    let mut opening = args.at.client()?.open_inbox(&args.label);
    if let Some(ttl) = args.ttl {
        opening = opening.ttl(ttl);
    }
    if let Some(domain) = args.domain {
        opening = opening.domain(domain);
    }
    let inbox = opening.await?;
    let text = if args.json {
        format!("{}\n", inbox.json())
    } else if args.export {
        export(&inbox)
    } else {
        page(&inbox)
    };
    print(text.as_bytes())
}

fn page(inbox: &Inbox) -> String {
    let left = inbox.expires_at().duration_since(SystemTime::now()).unwrap_or_default();
    let left = Time(Duration::from_secs((left.as_secs() + 30) / 60 * 60));
    let [address, secret] = [inbox.address(), inbox.secret()].map(escaped);
    format!("address  {address}\nsecret   {secret}\nexpires  {} ({left})\n", moment(inbox.expires_at()))
}

fn export(inbox: &Inbox) -> String {
    let line = |name: &str, value: &str| format!("export {name}={}\n", quoted(value));
    line("POSTKEEP_MAILBOX", inbox.name())
        + &line("POSTKEEP_ADDRESS", inbox.address())
        + &line("POSTKEEP_TOKEN", inbox.secret())
}

/// For a shell of the POSIX kind: whatever stands there is a word and no command.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_no_command() {
        assert_eq!(quoted("a-1@x.test"), "'a-1@x.test'");
        assert_eq!(quoted("'; rm -rf $HOME `x`"), "''\\''; rm -rf $HOME `x`'");
    }
}
