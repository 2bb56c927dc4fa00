//! `postkeep send`: a message from a file, or one made of what is given. SMTP is spoken as `postkeep sendmail` speaks it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::at::At;
use super::{FAULT, Failure, REFUSED, UNREACHABLE, block, exit_codes, print};
use crate::sendmail::{Draft, Ready, Unsent};

pub(crate) const SEND_EXAMPLES: &str = concat!(
    "\
A file goes to those that --to names, else to those in its To, Cc and Bcc; - is stdin. Without a file a message is made of \
--to, --subject, --text and --html, where - is stdin as well.

Over SMTP it goes to --smtp, else to POSTKEEP_SENDMAIL_SERVER, else to port 1025 of the host that is asked for mail. With --http \
it goes over the API, and where it lies is printed.

",
    exit_codes!(),
    "

Examples:
  postkeep send mail.eml
  postkeep send mail.eml --to bob@example.com --from bounce@example.com
  echo 'Your code is 884201' | postkeep send --to alice@example.com --subject 'Your code' --text -
  postkeep send mail.eml --http --json"
);

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// A message each, or - for stdin
    #[arg(value_name = "FILE", conflicts_with_all = ["subject", "text", "html"])]
    files: Vec<PathBuf>,
    /// The envelope's sender
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    /// A recipient; may be repeated
    #[arg(long, value_name = "ADDRESS", required_unless_present = "files")]
    to: Vec<String>,
    /// The subject
    #[arg(long, value_name = "WORDS")]
    subject: Option<String>,
    /// The text, or - for stdin
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// The HTML, or - for stdin
    #[arg(long, value_name = "HTML")]
    html: Option<String>,
    /// The SMTP server, as HOST:PORT or unix:PATH
    #[arg(long, value_name = "PLACE", conflicts_with = "http")]
    smtp: Option<String>,
    /// Hand it over by HTTP
    #[arg(long)]
    http: bool,
    /// Print the API's JSON
    #[arg(long, requires = "http")]
    json: bool,
    #[command(flatten)]
    at: At,
}

pub(super) fn send(args: SendArgs) -> Result<(), Failure> {
    let mut letters = Vec::new();
    for file in &args.files {
        let input = input(file)?;
        letters.push(Ready::compose(&input, args.from.as_deref(), &args.to)?);
    }
    if letters.is_empty() {
        letters.push(Ready::compose(&made(&args)?, args.from.as_deref(), &args.to)?);
    }
    for letter in &letters {
        if args.http {
            block(over_http(&args, letter))?;
        } else {
            letter.send(&place(&args)?)?;
        }
    }
    Ok(())
}

async fn over_http(args: &SendArgs, letter: &Ready) -> Result<(), Failure> {
    let mut deliver = args.at.client()?.deliver(letter.content().to_vec()).mail_from(&letter.sender());
    for recipient in letter.recipients() {
        deliver = deliver.rcpt_to(&recipient);
    }
    let delivered = deliver.await?;
    if args.json {
        let all: Vec<_> = delivered.iter().map(|at| serde_json::json!({"mailbox": at.mailbox, "id": at.id})).collect();
        return print(format!("{}\n", serde_json::json!({"deliveries": all})).as_bytes());
    }
    let lines: String =
        delivered.iter().map(|at| format!("{}  {}\n", crate::log::escaped(&at.mailbox), at.id)).collect();
    print(lines.as_bytes())
}

/// Where SMTP is spoken: usually beside HTTP.
fn place(args: &SendArgs) -> Result<String, Failure> {
    let variable = || std::env::var("POSTKEEP_SENDMAIL_SERVER").ok().filter(|place| !place.is_empty());
    if let Some(place) = args.smtp.clone().or_else(variable) {
        return Ok(place);
    }
    let url = args.at.url()?;
    let first = url.split(',').next().unwrap_or_default();
    let uri: hyper::Uri =
        first.trim().parse().map_err(|_| Failure::misused("the server's URL is none; give --smtp"))?;
    Ok(format!("{}:1025", uri.host().unwrap_or("127.0.0.1")))
}

fn made(args: &SendArgs) -> Result<Vec<u8>, Failure> {
    let part = |text: &Option<String>| -> Result<Option<String>, Failure> {
        match text.as_deref() {
            Some("-") => Ok(Some(String::from_utf8_lossy(&input(Path::new("-"))?).into_owned())),
            text => Ok(text.map(str::to_owned)),
        }
    };
    if args.text.as_deref() == Some("-") && args.html.as_deref() == Some("-") {
        return Err(Failure::misused("--text and --html cannot both be stdin; give one of them as it is"));
    }
    let (text, html) = (part(&args.text)?, part(&args.html)?);
    let draft = Draft { to: &args.to, subject: args.subject.as_deref().unwrap_or_default(), text, html };
    Ok(draft.write()?)
}

fn input(file: &Path) -> Result<Vec<u8>, Failure> {
    const INPUT_MAX: u64 = 256 << 20;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(INPUT_MAX).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(INPUT_MAX).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::misused(format!("cannot read {}: {error}; check its path", file.display())))?;
    Ok(bytes)
}

impl From<Unsent> for Failure {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Misused(why) => Self::misused(why),
            Unsent::Unreachable(why) => Self { code: UNREACHABLE, why },
            Unsent::Refused(why) => Self { code: REFUSED, why },
            Unsent::Later(why) => Self { code: FAULT, why },
        }
    }
}
