//! The part of the command line for the owner of a store: options and help of `postkeep store …`, and exit codes.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::verbs::token_for;
use super::{FAILED, Given, MISUSED, complain, told};
use crate::assembly;
use crate::assembly::checking::Depth;
use crate::config::{Checked, Config};
use crate::owner::{self, Ended, Export, Import, Misuse, To};

pub(super) const STORE_EXAMPLES: &str = "\
The store is the directory that store.disk.path names, found by the same --config and --set as serve takes; or give it \
with --path. Only import needs it for itself: the others work beside a running server.

Examples:
  postkeep store check --config postkeep.toml
  postkeep store backup /backups/monday --path postkeep-data
  postkeep store export --all --format eml --to mail.tar --path postkeep-data
  postkeep store import mail.tar --format eml --server http://127.0.0.1:8025";

const CHECK_EXAMPLES: &str = "\
Every message is read and held against its checksums, a server may be at work meanwhile. Each fault is a line on stdout: \
mailbox, id, what was found, what to do. It changes nothing.

Exit codes:
  0  sound
  1  something is damaged, or the store cannot be read
  2  a mistake in the configuration or on the command line, or no store is there

Examples:
  postkeep store check --set store.engine=disk
  postkeep store check --path /backups/monday
  postkeep store check --path postkeep-data > faults.txt";

const BACKUP_EXAMPLES: &str = "\
The backup is the store as it was when the backup began: every message acknowledged before is in it. Mail is taken and \
handed out as usual meanwhile; only SQLite's log grows until it is done. The directory TO must not exist, or be empty; it \
can be served, checked and copied like any store. What is damaged is copied as it is: check the backup, or the store. A backup that was cut off is never one: it has no postkeep.db.

To restore, stop the server and point store.disk.path at the backup, or copy it to where that points.

Exit codes:
  0  the backup is on the disk
  1  there is none
  2  a mistake in the configuration or on the command line, or no store is there

Examples:
  postkeep store backup /backups/monday --config postkeep.toml
  postkeep store backup /backups/monday --path postkeep-data
  postkeep serve --set store.engine=disk --set store.disk.path=/backups/monday";

const EXPORT_EXAMPLES: &str = "\
Bytes are exact in every format, and import reads all of them back. What else is kept:
  mbox     a file NAME.mbox for each mailbox (mboxrd): sender, and receipt to the microsecond
  maildir  a Maildir NAME for each mailbox: receipt to the microsecond, as name and time of a file
  eml      one tar of NAME/ID.eml: sender, all recipients, receipt to the microsecond (by pax)
In names of files whatever is no lower-case letter, digit or one of -_@. is written as % and two hexadecimal digits.

--to names a directory that does not exist or is empty; for eml a file that does not exist, or - for stdout. Mail that comes \
or goes meanwhile may be in it or not. A message that is damaged is named on stderr and left out.

Exit codes:
  0  everything was exported
  1  something was left out, or the export failed
  2  a mistake in the configuration or on the command line, or no store is there

Examples:
  postkeep store export --all --format maildir --to mail --path postkeep-data
  postkeep store export --mailbox alice --mailbox bob --format mbox --to saved -c postkeep.toml
  postkeep store export --all --format eml --to - --path postkeep-data | gzip > mail.tar.gz";

const IMPORT_EXAMPLES: &str = "\
Bytes are kept exactly, no trace field is added, no policy is asked. Messages get new ids, in the order they are read.
  mbox     a file, a directory of NAME.mbox files, or - for stdin; receipt as the From line says
  maildir  a Maildir, or a directory of them; receipt as a file's name says, else its time
  eml      a tar of NAME/ANYTHING.eml, or - for stdin; receipt as a file's time says, 0 is now
The mailbox is NAME unless --mailbox says another. Where no sender is told, the Return-Path field counts. A receipt in the \
future becomes now. Links, and what is no message, are named and passed over.

Without --server the store is opened, and no server may have it. With --server each message is handed to that server, \
whatever its engine; that is slower. Where it asks for a token, one with admin:* is needed: --token-file, else \
POSTKEEP_TOKEN, else the one in postkeep/client.toml. Mail older than mailbox.retention is not taken, for it would go at once; beyond \
mailbox.messages_max the server lets the oldest of a mailbox go. Both are counted by the configuration given here: give \
the server's. What the store holds already stays as it is. Nothing remembers what was imported before: a second import \
makes second copies.

Exit codes:
  0  everything was taken, but for what is older than mailbox.retention
  1  something was passed over, or the import failed
  2  a mistake in the configuration or on the command line

Examples:
  postkeep store import mail --format maildir --path postkeep-data
  postkeep store import archive.mbox --format mbox --mailbox alice --config postkeep.toml
  gzip -dc mail.tar.gz | postkeep store import - --format eml --server http://127.0.0.1:8025
  postkeep store import old --format mbox --path postkeep-data --set mailbox.retention=0";

#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// Look through everything and name what is damaged
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Copy the store as it is now, beside a running server
    #[command(after_help = BACKUP_EXAMPLES)]
    Backup(BackupArgs),
    /// Write messages to files that other programs read
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Take in messages from files, as they are
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArgs),
}

/// Which store is meant.
#[derive(Debug, Args)]
pub(super) struct Place {
    #[command(flatten)]
    given: Given,
    /// The store's directory, instead of what the configuration says
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    place: Place,
    /// Have SQLite check the pages of a store over 1 GiB whole, too; its log grows meanwhile
    #[arg(long)]
    whole: bool,
}

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// The directory to make
    #[arg(value_name = "TO")]
    to: PathBuf,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true).args(["mailbox", "all"])))]
pub(super) struct ExportArgs {
    /// Export this mailbox; may be repeated
    #[arg(long, value_name = "NAME")]
    mailbox: Vec<String>,
    /// Export every mailbox
    #[arg(long)]
    all: bool,
    /// How to write them
    #[arg(long, value_enum)]
    format: Format,
    /// Where to write them
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// What to read
    #[arg(value_name = "PATH")]
    from: PathBuf,
    /// How it is written
    #[arg(long, value_enum)]
    format: Format,
    /// Put all of it into this mailbox
    #[arg(long, value_name = "NAME")]
    mailbox: Option<String>,
    /// Hand it to this running server
    #[arg(long, value_name = "URL", conflicts_with = "path")]
    server: Option<String>,
    /// Read the token for that server from this file [env: POSTKEEP_TOKEN]
    #[arg(long, value_name = "FILE", requires = "server", conflicts_with = "path")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

/// How mail is written outside of a store.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Mbox,
    Maildir,
    Eml,
}

impl From<Format> for owner::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Mbox => Self::Mbox,
            Format::Maildir => Self::Maildir,
            Format::Eml => Self::Eml,
        }
    }
}

/// Do what is asked of a store.
pub(super) fn run(given: Given, command: StoreCommand) -> ExitCode {
    match command {
        StoreCommand::Check(CheckArgs { place, whole }) => {
            let depth = if whole { Depth::Whole } else { Depth::Usual };
            with_store(given, place, |_, path| owner::check(&path, depth))
        }
        StoreCommand::Backup(BackupArgs { to, place }) => with_store(given, place, |_, path| owner::backup(&path, &to)),
        StoreCommand::Export(ExportArgs { mailbox, all: _, format, to, place }) => {
            let wish = Export { mailboxes: mailbox, format: format.into(), to };
            with_store(given, place, |config, path| owner::export(config, &path, &wish))
        }
        StoreCommand::Import(ImportArgs { from, format, mailbox, server: Some(url), token_file, place }) => {
            let token = match token_for(&url, token_file) {
                Ok(token) => token,
                Err(why) => return complain(&format!("postkeep: {why}\n"), MISUSED),
            };
            let wish = Import { from, format: format.into(), mailbox, to: To::Server { url, token } };
            with_config(given, place.given, |config| ended(owner::import(config, &wish)))
        }
        StoreCommand::Import(ImportArgs { from, format, mailbox, server: None, place, .. }) => {
            with_store(given, place, |config, path| {
                owner::import(config, &Import { from, format: format.into(), mailbox, to: To::Store(path) })
            })
        }
    }
}

fn with_config(given: Given, more: Given, verb: impl FnOnce(&Config) -> ExitCode) -> ExitCode {
    match Checked::of(&given.over(more)) {
        Ok(checked) => verb(&checked.config()),
        Err(report) => complain(&report.to_string(), MISUSED),
    }
}

fn with_store(given: Given, place: Place, verb: impl FnOnce(&Config, PathBuf) -> Result<Ended>) -> ExitCode {
    with_config(given, place.given, |config| match owner::directory(config, place.path) {
        Ok(path) => ended(verb(config, path)),
        Err(why) => complain(&format!("postkeep: {why}\n"), MISUSED),
    })
}

fn ended(verb: Result<Ended>) -> ExitCode {
    match verb {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::Short) => ExitCode::from(FAILED),
        Err(error) => {
            complain(&format!("postkeep: {}\n", told(&error)), if is_misuse(&error) { MISUSED } else { FAILED })
        }
    }
}

fn is_misuse(error: &Error) -> bool {
    error.is::<Misuse>() || assembly::is_no_store(error)
}
