//! `postkeep release` and `postkeep releases`: a message sent on to real people, and what became of those that were.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::at::At;
use super::table::Table;
use super::{Failure, exit_codes, print, remark};

pub(crate) const RELEASE_EXAMPLES: &str = concat!(
    "\
The server sends it through its smart host (relay.host), to recipients that its configuration allows (relay.allow).

",
    exit_codes!(),
    "

Examples:
  postkeep release alice latest --to alice@example.com
  postkeep release alice 1nbmq3r7c0v8h --to alice@example.com --wait"
);

pub(crate) const RELEASES_EXAMPLES: &str = concat!(
    exit_codes!(),
    "

Examples:
  postkeep releases
  postkeep releases alice --json | jq -r '.items[0].recipients[].reply'"
);

/// Between two looks at what became of a release.
const LOOK_EVERY: Duration = Duration::from_millis(250);

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The mailbox, or an address that leads to it
    #[arg(value_name = "MAILBOX")]
    mailbox: String,
    /// The message's id, or latest
    #[arg(value_name = "ID")]
    id: String,
    /// To whom; may be repeated
    #[arg(long, value_name = "ADDRESS", required = true)]
    to: Vec<String>,
    /// The sender of the envelope
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    /// Wait until all have it; the answer is no when somebody will not
    #[arg(long)]
    wait: bool,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct ReleasesArgs {
    /// The mailbox, or an address that leads to it; left out, all
    #[arg(value_name = "MAILBOX")]
    mailbox: Option<String>,
    /// At most so many
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

pub(super) async fn release(args: ReleaseArgs) -> Result<(), Failure> {
    let client = args.at.client()?;
    let mut release = client.release_json(&args.mailbox, &args.id, &args.to, args.from.as_deref()).await?;
    let id = release["id"].as_str().unwrap_or_default().to_owned();
    while args.wait && matches!(release["state"].as_str(), Some("queued" | "sending")) {
        tokio::time::sleep(LOOK_EVERY).await;
        release = client.read_release_json(&id).await?;
    }
    if args.json {
        print(format!("{release}\n").as_bytes())?;
    } else {
        print(table(std::slice::from_ref(&release)).as_bytes())?;
    }
    match release["state"].as_str() {
        Some("failed" | "partial") => Err(Failure::no("not all of them will get it; see what was replied")),
        _ => Ok(()),
    }
}

pub(super) async fn releases(args: ReleasesArgs) -> Result<(), Failure> {
    let json = args.at.client()?.list_releases_json(args.mailbox.as_deref(), args.limit).await?;
    if args.json {
        return print(format!("{json}\n").as_bytes());
    }
    match json["items"].as_array() {
        Some(items) if !items.is_empty() => print(table(items).as_bytes()),
        _ => {
            remark("nothing was released");
            Ok(())
        }
    }
}

/// A row for each recipient.
fn table(releases: &[Value]) -> String {
    let mut table = Table::new(&["RELEASE", "MAILBOX", "MESSAGE", "TO", "STATE", "TRIES", "REPLY"]);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    for release in releases {
        for one in release["recipients"].as_array().into_iter().flatten() {
            table.row(&[
                text(&release["id"]),
                text(&release["mailbox"]),
                text(&release["messageId"]),
                text(&one["address"]),
                text(&one["state"]),
                one["attempts"].to_string(),
                text(&one["reply"]),
            ]);
        }
    }
    table.text()
}
