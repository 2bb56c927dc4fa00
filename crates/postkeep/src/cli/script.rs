//! The part of the command line for scripts: `postkeep script check` and `postkeep script try`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Given;
#[cfg(feature = "script")]
use trying::{check, try_out};

#[cfg(feature = "script")]
mod trying;

pub(super) const SCRIPT_EXAMPLES: &str = "\
A script is a file of Lua (Luau), or a folder of them, that script.path names. It may refuse mail, send it to other \
mailboxes, tag it, and hear of it afterwards. The server reads it again when it changes.

Examples:
  postkeep script check route.lua
  postkeep script try route.lua --eml mail.eml --to alice+news@example.com
  postkeep serve --set script.path=route.lua";

const CHECK_EXAMPLES: &str = "\
It reads the scripts as a server would, and lists what each of them handles.

Exit codes:
  0  they are sound
  1  there is a mistake, told with its file and line
  2  a mistake in the configuration or on the command line

Examples:
  postkeep script check route.lua
  postkeep script check /etc/postkeep/scripts";

const TRY_EXAMPLES: &str = "\
It asks the scripts about one mail as a server would, from its sender on until it would be kept, and prints what they say. \
Nothing is kept. What scripts ask of the network is shown; with --http it is asked.

Sender and recipients are those of --from and --to, else those of the header.

Exit codes:
  0  no script failed
  1  a script failed, or could not be read
  2  a mistake in the configuration or on the command line

Examples:
  postkeep script try route.lua --eml mail.eml
  postkeep script try route.lua --eml - --to alice@example.com < mail.eml
  postkeep script try scripts/ --eml mail.eml --peer 192.0.2.1 --http";

#[derive(Debug, Subcommand)]
pub(super) enum ScriptCommand {
    /// Look for mistakes in scripts, and list what they handle
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Show what scripts would do with a mail
    #[command(after_help = TRY_EXAMPLES)]
    Try(TryArgs),
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// A script, or a folder of them
    #[arg(value_name = "FILE|FOLDER")]
    path: PathBuf,
    #[command(flatten)]
    given: Given,
}

#[derive(Debug, Args)]
pub(super) struct TryArgs {
    /// A script, or a folder of them
    #[arg(value_name = "FILE|FOLDER")]
    path: PathBuf,
    /// The mail, as a file; - for stdin
    #[arg(long, value_name = "FILE")]
    eml: PathBuf,
    /// Its sender in the envelope; <> for none [default: the address of its From field]
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    /// A recipient in the envelope; may be repeated [default: the addresses of its To and Cc fields]
    #[arg(long, value_name = "ADDRESS")]
    to: Vec<String>,
    /// Where it comes from
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    peer: std::net::IpAddr,
    /// What the client calls itself
    #[arg(long, value_name = "NAME", default_value = "localhost")]
    helo: String,
    /// Let scripts ask the network
    #[arg(long)]
    http: bool,
    #[command(flatten)]
    given: Given,
}

/// Do what is asked about scripts.
#[cfg(feature = "script")]
pub(super) fn run(given: Given, command: ScriptCommand) -> ExitCode {
    match command {
        ScriptCommand::Check(args) => check(given, args),
        ScriptCommand::Try(args) => try_out(given, args),
    }
}

#[cfg(not(feature = "script"))]
pub(super) fn run(_given: Given, _command: ScriptCommand) -> ExitCode {
    let text = "postkeep: this program was built without scripts; build it with the feature script\n";
    super::complain(text, super::FAILED)
}
