//! The part of the command line for the list of users: `postkeep users hash`. How a hash is made, the mailroom knows; how
//! a password is typed, [`password`] does.

mod password;

use std::process::ExitCode;

use anyhow::{Error, anyhow};
use clap::{Args, Subcommand};
use mailroom::users;

use super::{FAILED, MISUSED, complain, print, told};

pub(super) const USERS_EXAMPLES: &str = "\
With smtp.auth = \"list\" those can sign in who stand in the file that smtp.auth_file names: a line name:password for each, \
or name:hash. Blank lines and those that begin with # count for nothing.

Examples:
  postkeep users hash ann >> users.txt
  postkeep serve --set smtp.auth=list --set smtp.auth_file=users.txt";

const HASH_EXAMPLES: &str = "\
On a terminal it asks for the password, twice, and does not show it. Otherwise it reads it from stdin: one line, whose end \
does not count. It prints $argon2id$…, or with a NAME the whole line for the file. The same password gives another hash each \
time.

Exit codes:
  0  printed
  1  no password was given, or it could not be read
  2  a mistake on the command line

Examples:
  postkeep users hash ann >> users.txt
  postkeep users hash ann < password.txt >> users.txt";

#[derive(Debug, Subcommand)]
pub(super) enum UsersCommand {
    /// Make the hash of a password, for a list of users
    #[command(after_help = HASH_EXAMPLES)]
    Hash(HashArgs),
}

#[derive(Debug, Args)]
pub(super) struct HashArgs {
    /// The user: print the whole line
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// Do what is asked about users.
pub(super) fn run(command: UsersCommand) -> ExitCode {
    let UsersCommand::Hash(HashArgs { name }) = command;
    if let Some(why) = name.as_deref().and_then(users::bad_name) {
        return complain(&format!("postkeep: {why}\n"), MISUSED);
    }
    match line(name.as_deref()) {
        Ok(line) => print(&line),
        Err(error) => complain(&format!("postkeep: {}\n", told(&error)), FAILED),
    }
}

fn line(name: Option<&str>) -> Result<String, Error> {
    let secret = password::read()?;
    if let Some(why) = users::bad_secret(&secret) {
        return Err(anyhow!(why));
    }
    let hash = users::hash(&secret)?;
    Ok(name.map_or_else(|| format!("{hash}\n"), |name| format!("{name}:{hash}\n")))
}
