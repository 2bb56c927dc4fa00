//! The part of the command line for tokens: `postkeep token new`, and the ways to those of a running server. How one is
//! made, the mailroom knows; where it goes is the business of whoever asked.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use mailroom::access::{Scopes, Token};

use super::verbs::tokens;
use super::{FAILED, Given, MISUSED, complain, print};
use crate::config::{Checked, duration};

pub(super) const TOKEN_EXAMPLES: &str = "\
With access.mode = \"token\" or \"public\" a token says what its bearer may do: verbs, a colon and a pattern of mailboxes.
  ro:ci-*           list, read, wait and watch in all mailboxes whose names begin with ci-
  rw,deliver:alice  and delete, purge and deliver, in one
  admin:*           everything, with every mailbox and every inbox, and to issue and revoke tokens

Examples:
  postkeep token new --scope admin:* --name ops >> postkeep.toml
  postkeep token new --scope rw:ci-* --expires 90d
  postkeep token list
  postkeep token revoke 7h2k9m4n";

const NEW_EXAMPLES: &str = "\
It prints the token, which is kept nowhere and shown only now, and the lines for the file of the server, which hold its hash. \
The token itself stands behind a #, so all of it may go into the file; take that line out once you have kept the token. A \
server reads its file when it starts. At a running server an admin issues tokens by POST /api/v2/tokens.

The configuration is read for how mailboxes are named, which decides what a pattern can be.

Exit codes:
  0  printed
  1  no token could be made
  2  a mistake in the configuration or on the command line

Examples:
  postkeep token new --scope admin:* --name ops --config postkeep.toml
  postkeep token new --scope ro:ci-* --scope deliver:ci-* --name ci --expires 2027-01-01T00:00:00Z";

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token, and the lines that make it known to a server
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// List the tokens of a running server
    #[command(after_help = tokens::LIST_EXAMPLES)]
    List(tokens::ListArgs),
    /// Revoke tokens of a running server
    #[command(after_help = tokens::REVOKE_EXAMPLES)]
    Revoke(tokens::RevokeArgs),
}

#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// What it is good for; may be repeated
    #[arg(long, value_name = "SCOPE", required = true)]
    scope: Vec<String>,
    /// What people call it [default: its id]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Until when: a time as 2027-01-01T00:00:00Z, or from now on as 90d [default: for ever]
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    #[command(flatten)]
    given: Given,
}

/// Do what is asked about tokens.
pub(super) fn run(given: Given, command: TokenCommand) -> ExitCode {
    match command {
        TokenCommand::New(args) => new(given, args),
        TokenCommand::List(args) => tokens::list(args),
        TokenCommand::Revoke(args) => tokens::revoke(args),
    }
}

fn new(given: Given, NewArgs { scope, name, expires, given: more }: NewArgs) -> ExitCode {
    let naming = match Checked::of(&given.over(more)) {
        Ok(checked) => checked.config().mailroom.naming,
        Err(report) => return complain(&report.to_string(), MISUSED),
    };
    let misused = |why: &dyn std::fmt::Display| complain(&format!("postkeep: {why}\n"), MISUSED);
    let scopes = match Scopes::parse(scope.iter().map(String::as_str), naming) {
        Ok(scopes) => scopes,
        Err(bad) => return misused(&bad),
    };
    let expires = match expires.as_deref().map(until).transpose() {
        Ok(expires) => expires,
        Err(why) => return misused(&why),
    };
    if name.as_ref().is_some_and(|name| name.is_empty() || name.len() > 100 || name.contains(char::is_control)) {
        return misused(&"a name has 1 to 100 bytes, on one line");
    }
    match Token::make() {
        Ok(token) => print(&lines(&token, name.as_deref(), &scopes.spelled(naming), expires)),
        Err(why) => complain(&format!("postkeep: {why}\n"), FAILED),
    }
}

/// A time, or one so long from now.
fn until(text: &str) -> Result<Timestamp, String> {
    let from_now = |time| Timestamp::now().checked_add(SignedDuration::try_from(time).ok()?).ok();
    let at = text.parse().ok().or_else(|| duration(text).and_then(from_now));
    at.filter(|at| *at > Timestamp::now())
        .ok_or_else(|| format!("--expires takes a time to come such as 2027-01-01T00:00:00Z or 90d, not {text:?}"))
}

/// The token, and what a file says of it.
fn lines(token: &Token, name: Option<&str>, scopes: &[String], expires: Option<Timestamp>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# token: {}", token.text());
    let _ = writeln!(out, "[[access.tokens]]");
    let _ = writeln!(out, "name = {}", toml::Value::from(name.unwrap_or(token.id())));
    let _ = writeln!(out, "hash = \"{}\"", token.digest());
    let _ = writeln!(out, "scopes = {}", toml::Value::from(scopes.to_vec()));
    if let Some(expires) = expires {
        let _ = writeln!(out, "expires = \"{}\"", expires.round(jiff::Unit::Second).unwrap_or(expires));
    }
    out
}
