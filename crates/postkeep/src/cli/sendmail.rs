//! The help of `postkeep sendmail`. Its options are sendmail's own and are read there; here stands what people read.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, CommandFactory};

use super::Cli;
use crate::sendmail;

pub(super) const USAGE: &str =
    "postkeep sendmail [OPTIONS] [--] [RECIPIENT]...\n       sendmail [OPTIONS] [--] [RECIPIENT]...";

pub(super) const SENDMAIL_OPTIONS: &str = "\
A message from stdin is handed to an SMTP server, so that programs that call /usr/sbin/sendmail, such as PHP and cron, send \
to Postkeep. The program behaves so, too, when it is started through a link of the name sendmail.

Options:
  -t                     Take recipients from To, Cc and Bcc as well; if there are any, from
                         Resent-To, Resent-Cc and Resent-Bcc instead
  -i, -oi                A line with a single dot is a line like any other, and not the end
  -f ADDRESS             The envelope's sender, <> for none; -r is the same
  -F NAME                The name in the From field, where the message has none
  -B BINARYMIME          Line feeds are octets like any other; else each ends a line
  -S, --server PLACE     The server, as HOST:PORT or unix:PATH; else as the environment has it in
                         POSTKEEP_SENDMAIL_SERVER; else 127.0.0.1:1025
      --timeout SECONDS  Time for each answer of the server; else as the environment has it in
                         POSTKEEP_SENDMAIL_TIMEOUT; else 60
  -v                     Show the dialogue with the server on stderr
  -h, --help             Print help
      --version          Print version

-bm is what it does. -A -C -G -L -M -N -O -R -U -V -X -c -d -e -m -n -o -p -s -x are taken and change nothing, and -q \
finds no queue. Other modes, such as -bs, are refused.

Lines become CRLF. Bcc and Resent-Bcc are left out. From, Date and Message-ID are added where they are missing, and the empty \
line before a body that has none; nothing else is changed. An address without a domain is at this machine. When one recipient \
is refused, none gets the message.

Exit codes, as in sysexits.h:
  0   the server has the message
  64  a mistake on the command line
  65  the message cannot be sent as it is: no recipients, a bad address in it, too large
  67  the server does not have a recipient
  69  the server does not take it; trying again would not help
  70  a fault of the program, or stdin cannot be read
  75  no connection, or the server cannot take it now: try again later

Examples:
  postkeep sendmail -t -i < message.eml
  printf 'Subject: Hello\\n\\nHi.\\n' | postkeep sendmail -f ann@example.com bob@example.com
  ln -s \"$(command -v postkeep)\" /usr/sbin/sendmail
  php -d sendmail_path='/usr/local/bin/postkeep sendmail -t -i' script.php";

#[derive(Debug, Args)]
pub(super) struct SendmailArgs {
    /// As sendmail takes them
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// When options of the program stand before the command.
pub(super) fn run(args: SendmailArgs) -> ExitCode {
    sendmail::run(args.words, help)
}

/// When the program was started as sendmail; else none.
pub(super) fn started() -> Option<ExitCode> {
    sendmail::asked(std::env::args_os()).map(|words| sendmail::run(words, help))
}

fn help() -> String {
    let mut program = Cli::command();
    let command = program.find_subcommand_mut("sendmail").map(|command| command.render_help().to_string());
    command.unwrap_or_default()
}
