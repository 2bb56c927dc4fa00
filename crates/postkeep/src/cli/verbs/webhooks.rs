//! `postkeep webhook dead` and `postkeep webhook replay`: events that a running server has given up.

use std::process::ExitCode;

use clap::Args;

use super::at::At;
use super::table::Table;
use super::{Failure, ended, exit_codes, where_from};
use crate::cli::print;

pub(crate) const DEAD_EXAMPLES: &str = concat!(
    where_from!(),
    " Where tokens are asked for, it takes an admin's.\n\n",
    exit_codes!(),
    "

Examples:
  postkeep webhook dead
  postkeep webhook dead --json | jq -r '.items[].reason'"
);

pub(crate) const REPLAY_EXAMPLES: &str = concat!(
    where_from!(),
    " Where tokens are asked for, it takes an admin's.\n\n",
    exit_codes!(),
    "

Examples:
  postkeep webhook replay 42 43
  postkeep webhook replay --all"
);

#[derive(Debug, Args)]
pub(crate) struct DeadArgs {
    /// Print the answer of the server
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The events' ids
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All that are listed, the oldest first
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    at: At,
}

/// List the events that a server has given up.
pub(crate) fn dead(args: DeadArgs) -> ExitCode {
    ended(super::block(listed(args)))
}

/// Have some sent again.
pub(crate) fn replay(args: ReplayArgs) -> ExitCode {
    ended(super::block(async move {
        let client = args.at.client()?;
        let mut ids = args.ids;
        if args.all {
            let answer = client.list_dead_webhooks_json().await?;
            let items = answer["items"].as_array().into_iter().flatten().rev();
            ids = items.filter_map(|item| item["id"].as_str().map(str::to_owned)).collect();
        }
        for id in &ids {
            client.replay_webhook(id).await?;
        }
        Ok(())
    }))
}

async fn listed(args: DeadArgs) -> Result<(), Failure> {
    let answer = args.at.client()?.list_dead_webhooks_json().await?;
    if args.json {
        print(&format!("{answer}\n"));
        return Ok(());
    }
    let mut table = Table::new(&["ID", "TARGET", "EVENT", "MAILBOX", "MESSAGE", "ATTEMPTS", "DIED", "REASON"]);
    for item in answer["items"].as_array().into_iter().flatten() {
        let text = |name: &str| item[name].as_str().unwrap_or("-").to_owned();
        let attempts = item["attempts"].to_string();
        let (id, target, event, mailbox) = (text("id"), text("target"), text("event"), text("mailbox"));
        table.row(&[id, target, event, mailbox, text("messageId"), attempts, text("diedAt"), text("reason")]);
    }
    print(&table.text());
    Ok(())
}
