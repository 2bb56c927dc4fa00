//! `postkeep watch`: a line for everything that happens.

use clap::Args;
use client::{Event, Summary};

use super::at::At;
use super::table::moment;
use super::{Failure, exit_codes, tell, where_from};
use crate::log::escaped;

pub(crate) const WATCH_EXAMPLES: &str = concat!(
    "\
From now on, until it is stopped; without a mailbox, everything that the token may list. A connection that breaks is taken up \
again where it was. A + is a mail that came, a - one that was deleted.

",
    where_from!(),
    "

",
    exit_codes!(),
    "

Examples:
  postkeep watch
  postkeep watch alice bob
  postkeep watch alice --count 1 --json | jq -r .data.message.subject"
);

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The mailboxes, or addresses that lead to them
    #[arg(value_name = "MAILBOX")]
    mailboxes: Vec<String>,
    /// From this cursor on
    #[arg(long, value_name = "CURSOR")]
    since: Option<String>,
    /// End after so many events
    #[arg(long, value_name = "COUNT")]
    count: Option<u64>,
    /// Print a JSON object for each, in a line of its own
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

pub(super) async fn watch(args: WatchArgs) -> Result<(), Failure> {
    let client = args.at.client()?;
    let mut watch = match &args.since {
        Some(cursor) => client.watch_since(&args.mailboxes, cursor.trim()).await?,
        None => client.watch(&args.mailboxes).await?,
    };
    let mut count = 0;
    while args.count.is_none_or(|wanted| count < wanted) {
        let event = watch.next().await?;
        count += 1;
        let text = if args.json { watch.json().to_string() } else { line(&event) };
        if !tell(format!("{text}\n").as_bytes())? {
            break;
        }
    }
    Ok(())
}

fn line(event: &Event) -> String {
    let now = || moment(std::time::SystemTime::now());
    match event {
        Event::Deliver(summary) => delivered(summary),
        Event::Delete { mailbox, id } => format!("{}  -  {}  {}", now(), escaped(mailbox), escaped(id)),
        Event::Purge { mailbox } => format!("{}  -  {}  all", now(), escaped(mailbox)),
        Event::Resync { reason } => format!("{}  !  some events are missing ({}); list anew", now(), escaped(reason)),
        Event::Skipped { count } => format!("{}  !  {count} events were left out, as there were too many", now()),
        _ => format!("{}  ?", now()),
    }
}

fn delivered(summary: &Summary) -> String {
    let sender = summary.from.as_ref().map(|person| person.email.as_str()).unwrap_or_default();
    let words = [&summary.mailbox, &summary.id, sender, &summary.subject].map(escaped);
    format!("{}  +  {}", moment(summary.received_at), words.join("  "))
}
