//! The command line: what can be asked of the program, and how it ends. It does none of it itself.

mod script;
mod sendmail;
mod store;
mod token;
mod users;
mod verbs;
mod webhook;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Error;
use clap::{Args, Parser, Subcommand};

use crate::assembly;
use crate::config::{Checked, DEFAULTS, Sources};
use script::{SCRIPT_EXAMPLES, ScriptCommand};
use sendmail::{SENDMAIL_OPTIONS, SendmailArgs};
use store::{STORE_EXAMPLES, StoreCommand};
use token::{TOKEN_EXAMPLES, TokenCommand};
use users::{USERS_EXAMPLES, UsersCommand};
use verbs::Verb;
use webhook::{WEBHOOK_EXAMPLES, WebhookCommand};

/// The program could not start or had to give up.
const FAILED: u8 = 1;
/// What was asked makes no sense; the same code that a wrong option ends with.
const MISUSED: u8 = 2;

const ABOUT: &str = "\
Keeps received e-mail in named mailboxes and hands it back.

Without a command it serves: it takes mail over SMTP on 127.0.0.1:1025, and hands it back over HTTP on 127.0.0.1:8025. \
No configuration is needed.";

const EXAMPLES: &str = "\
Examples:
  postkeep                                     serve with the defaults
  postkeep wait alice --has code               wait for a mail to alice, in another terminal
  postkeep --set smtp.addr=127.0.0.1:2525      serve, SMTP on another port
  postkeep --config postkeep.toml              serve as a file says
  postkeep config default > postkeep.toml      begin a file of your own
  postkeep config show --config postkeep.toml  see every value and where it came from";

const SERVE_EXAMPLES: &str = "\
Once it accepts connections it writes one line to stdout, which names the addresses:
  ready {\"smtp\":\"127.0.0.1:1025\",\"http\":\"127.0.0.1:8025\"}

It ends on SIGTERM or SIGINT (Ctrl-C): running transactions finish, within stop.grace. A second signal ends it at once.

Exit codes:
  0         ended as asked
  1         could not start, such as when a port is in use
  2         a mistake in the configuration or on the command line
  130, 143  ended at once by a second SIGINT or SIGTERM

Examples:
  postkeep serve
  postkeep serve --set smtp.addr=127.0.0.1:0 --set http.addr=127.0.0.1:0
  POSTKEEP_MAILBOX__RETENTION=1h postkeep serve";

const CONFIG_EXAMPLES: &str = "\
A value is looked for in this order, and the last one found holds: the defaults; the file; the environment, as \
POSTKEEP_SMTP__ADDR; --set.

Examples:
  postkeep config default > postkeep.toml
  postkeep config check --config postkeep.toml
  postkeep config show --config postkeep.toml --set smtp.addr=127.0.0.1:2525";

const CHECK_EXAMPLES: &str = "\
Every mistake is told at once, with its line. Exit codes: 0 for none, 1 for some.

Examples:
  postkeep config check --config postkeep.toml";

const SHOW_EXAMPLES: &str = "\
Examples:
  postkeep config show --config postkeep.toml
  postkeep config show | grep -v '# default'";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "postkeep", version, about = ABOUT, after_help = EXAMPLES)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    given: Given,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Take mail and hand it back, until stopped
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Given),
    #[command(flatten)]
    Verb(Verb),
    /// Check, show or begin a configuration
    #[command(subcommand, arg_required_else_help = true, after_help = CONFIG_EXAMPLES)]
    Config(ConfigCommand),
    /// Check, back up, export from or import into a store on a disk
    #[command(subcommand, arg_required_else_help = true, after_help = STORE_EXAMPLES)]
    Store(StoreCommand),
    /// Check scripts, or try them with a mail
    #[command(subcommand, arg_required_else_help = true, after_help = SCRIPT_EXAMPLES)]
    Script(ScriptCommand),
    /// Make tokens, which say what their bearers may do
    #[command(subcommand, arg_required_else_help = true, after_help = TOKEN_EXAMPLES)]
    Token(TokenCommand),
    /// Try webhooks, and send those again that were given up
    #[command(subcommand, arg_required_else_help = true, after_help = WEBHOOK_EXAMPLES)]
    Webhook(WebhookCommand),
    /// Make hashes of passwords, for those who sign in by a list
    #[command(subcommand, arg_required_else_help = true, after_help = USERS_EXAMPLES)]
    Users(UsersCommand),
    /// Hand on a message from stdin, in place of /usr/sbin/sendmail
    #[command(disable_help_flag = true, override_usage = sendmail::USAGE, after_help = SENDMAIL_OPTIONS)]
    Sendmail(SendmailArgs),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// List every mistake
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Given),
    /// Print every key with its value and where it came from
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Given),
    /// Print every key with its default and what it does
    Default,
}

/// May stand before or behind the command; what stands behind it is laid over what stands before.
#[derive(Debug, Default, Args)]
struct Given {
    /// Read this configuration file [env: POSTKEEP_CONFIG]
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set one key, over file and environment; may be repeated
    #[arg(long, short, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Do what the command line asks.
pub(crate) fn run() -> ExitCode {
    if let Some(code) = sendmail::started() {
        return code;
    }
    let Cli { given, command } = Cli::parse();
    match command.unwrap_or(Command::Serve(Given::default())) {
        Command::Serve(more) => serve(&given.over(more)),
        Command::Verb(verb) => verbs::run(given, verb),
        Command::Config(ConfigCommand::Check(more)) => check(&given.over(more)),
        Command::Config(ConfigCommand::Show(more)) => show(&given.over(more)),
        Command::Config(ConfigCommand::Default) => print(DEFAULTS),
        Command::Store(command) => store::run(given, command),
        Command::Script(command) => script::run(given, command),
        Command::Token(command) => token::run(given, command),
        Command::Webhook(command) => webhook::run(given, command),
        Command::Users(command) => users::run(command),
        Command::Sendmail(args) => sendmail::run(args),
    }
}

impl Given {
    /// What is given in both places, and the environment.
    fn over(mut self, more: Self) -> Sources {
        let variable = || std::env::var_os("POSTKEEP_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
        self.set.extend(more.set);
        // A fixed order, so that the same mistakes are told in the same order.
        let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        variables.sort();
        Sources { file: more.config.or(self.config).or_else(variable), variables, set: self.set }
    }
}

fn serve(sources: &Sources) -> ExitCode {
    let checked = match Checked::of(sources) {
        Ok(checked) => checked,
        Err(report) => return complain(&report.to_string(), MISUSED),
    };
    match assembly::serve(checked.config(), &checked.doubts()) {
        Ok(code) => code,
        Err(error) => complain(&format!("postkeep: {}\n", told(&error)), FAILED),
    }
}

fn check(sources: &Sources) -> ExitCode {
    match Checked::of(sources) {
        Ok(checked) => {
            for doubt in checked.doubts() {
                complain(&format!("perhaps not meant: {doubt}\n"), 0);
            }
            print("The configuration is sound.\n")
        }
        Err(report) => complain(&report.to_string(), FAILED),
    }
}

fn show(sources: &Sources) -> ExitCode {
    match Checked::of(sources) {
        Ok(checked) => print(&checked.show()),
        Err(report) => complain(&report.to_string(), MISUSED),
    }
}

/// Write to stdout. A reader that has gone away, such as `head`, has seen what it wanted.
fn print(text: &str) -> ExitCode {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("postkeep: cannot write to stdout: {error}\n"), FAILED)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// An error with its causes, each once: some tell theirs in their own words.
fn told(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    text
}

/// Write to stderr. If that fails, nobody is there to be told.
fn complain(text: &str, code: u8) -> ExitCode {
    let _ = io::stderr().lock().write_all(text.as_bytes());
    ExitCode::from(code)
}
