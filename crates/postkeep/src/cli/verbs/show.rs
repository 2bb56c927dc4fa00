//! `postkeep show` and `postkeep source`: one message, for a person or to the byte.

use clap::Args;
use client::{Message, Person};

use super::at::At;
use super::table::{day_and_time, lines, size};
use super::{Failure, exit_codes, print};
use crate::log::escaped;

pub(crate) const SHOW_EXAMPLES: &str = concat!(
    "\
Sender, subject, what is attached, the code and the link if there is one, and the text. What a terminal would obey is shown as \
an escape.

",
    exit_codes!(),
    "

Examples:
  postkeep show alice
  postkeep show alice 1nbmq3r7c0v8h --headers
  postkeep show alice latest --html > mail.html
  postkeep show alice --json | jq .attachments"
);

pub(crate) const SOURCE_EXAMPLES: &str = concat!(
    "\
The bytes as they are kept: what was sent, below the fields that the server added.

",
    exit_codes!(),
    "

Examples:
  postkeep source alice latest > mail.eml"
);

/// Which message.
#[derive(Debug, Args)]
struct Which {
    /// The mailbox, or an address that leads to it [env: POSTKEEP_MAILBOX]
    #[arg(value_name = "MAILBOX")]
    mailbox: Option<String>,
    /// The message's id
    #[arg(value_name = "ID", default_value = "latest")]
    id: String,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    which: Which,
    /// Print its HTML
    #[arg(long, conflicts_with_all = ["headers", "json"])]
    html: bool,
    /// Print every field of its header
    #[arg(long, conflicts_with = "json")]
    headers: bool,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    at: At,
}

pub(super) async fn show(args: ShowArgs) -> Result<(), Failure> {
    let mailbox = super::mailbox(args.which.mailbox)?;
    let message = args.at.client()?.read(&mailbox, &args.which.id).await?;
    let text = if args.json {
        format!("{}\n", message.json())
    } else if args.html {
        message.html.clone().ok_or_else(|| Failure::no("this mail has no HTML; show it without --html"))?
    } else if args.headers {
        message.headers.iter().map(|field| format!("{}: {}\n", escaped(&field.name), escaped(&field.value))).collect()
    } else {
        page(&message)
    };
    print(text.as_bytes())
}

pub(super) async fn source(args: SourceArgs) -> Result<(), Failure> {
    let mailbox = super::mailbox(args.which.mailbox)?;
    let bytes = args.at.client()?.source(&mailbox, &args.which.id).await?;
    print(&bytes)
}

/// A message as a page of text.
pub(super) fn page(message: &Message) -> String {
    let mut page = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            page.push_str(&format!("{name:8}  {}\n", escaped(&value)));
        }
    };
    line("From", message.from.as_ref().map(person).unwrap_or_default());
    line("To", people(&message.to));
    line("Cc", people(&message.cc));
    line("Subject", message.subject.clone());
    line("Received", format!("{}  (id {})", day_and_time(message.received_at), message.id));
    line("Envelope", message.envelope.as_ref().map(envelope).unwrap_or_default());
    for file in &message.attachments {
        line("Attached", format!("{} ({})", file.name.as_deref().unwrap_or("without a name"), size(file.size)));
    }
    line("Code", message.code().unwrap_or_default().to_owned());
    line("Link", message.link().unwrap_or_default().to_owned());
    page + "\n" + &lines(&message.text)
}

fn envelope(envelope: &client::Envelope) -> String {
    let sender = envelope.mail_from.as_deref().filter(|sender| !sender.is_empty()).unwrap_or("<>");
    format!("{sender} to {}", envelope.rcpt_to.join(", "))
}

fn people(people: &[Person]) -> String {
    people.iter().map(person).collect::<Vec<_>>().join(", ")
}

fn person(person: &Person) -> String {
    match person.name.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => format!("{name} <{}>", person.email),
        None => person.email.clone(),
    }
}
