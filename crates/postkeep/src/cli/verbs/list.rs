//! `postkeep list`: what lies in a mailbox, or the newest of all.

use clap::Args;
use client::Summary;
use serde_json::Value;

use super::at::At;
use super::table::{Table, moment, size};
use super::{Failure, exit_codes, print, remark, where_from};

pub(crate) const LIST_EXAMPLES: &str = concat!(
    "\
Without a mailbox, and without POSTKEEP_MAILBOX, the newest messages of all mailboxes are listed. A query is words and keys, \
all of which must hold: from:@shop.test subject:\"reset link\" has:attachment -welcome.

",
    where_from!(),
    "

",
    exit_codes!(),
    "

Examples:
  postkeep list alice
  postkeep list alice --query 'from:@shop.test has:attachment'
  postkeep list alice --json | jq -r '.items[].subject'
  since=$(postkeep list alice --cursor)"
);

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The mailbox, or an address that leads to it [env: POSTKEEP_MAILBOX]
    #[arg(value_name = "MAILBOX")]
    mailbox: Option<String>,
    /// Only what this query finds
    #[arg(long, short, value_name = "QUERY")]
    query: Option<String>,
    /// At most so many
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Print where the mailbox is now, to wait from there on
    #[arg(long, conflicts_with_all = ["query", "limit", "json"])]
    cursor: bool,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

pub(super) async fn list(args: ListArgs) -> Result<(), Failure> {
    let client = args.at.client()?;
    let mailbox = super::mailbox(args.mailbox.clone()).ok();
    if args.cursor {
        let mailbox = super::mailbox(mailbox)?;
        let handle = client.mailbox(&mailbox).await?;
        return print(format!("{}\n", handle.since().unwrap_or_default()).as_bytes());
    }
    let json = client.list_json(mailbox.as_deref(), args.query.as_deref(), args.limit).await?;
    if args.json {
        return print(format!("{json}\n").as_bytes());
    }
    let items = items(&json)?;
    if items.is_empty() {
        let place = mailbox.map_or("any mailbox".to_owned(), |name| crate::log::escaped(&name));
        remark(&format!("there is no mail in {place}{}", if args.query.is_some() { " that this finds" } else { "" }));
        return Ok(());
    }
    print(table(&items, mailbox.is_none()).as_bytes())?;
    if !json["next"].is_null() {
        remark("there are more; --limit shows them");
    }
    Ok(())
}

fn items(json: &Value) -> Result<Vec<Summary>, Failure> {
    serde_json::from_value(json["items"].clone())
        .map_err(|error| Failure { code: super::FAULT, why: format!("the server's list is not understood: {error}") })
}

fn table(items: &[Summary], with_mailbox: bool) -> String {
    let heading = ["MAILBOX", "ID", "RECEIVED", "FROM", "SIZE", "SUBJECT"];
    let from = usize::from(!with_mailbox);
    let mut table = Table::new(&heading[from..]);
    for item in items {
        let sender = item.from.as_ref().map(|person| person.email.clone()).unwrap_or_default();
        let row = [
            item.mailbox.clone(),
            item.id.clone(),
            moment(item.received_at),
            sender,
            size(item.size),
            item.subject.clone(),
        ];
        table.row(&row[from..]);
    }
    table.text()
}
