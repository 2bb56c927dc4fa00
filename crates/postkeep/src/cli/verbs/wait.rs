//! `postkeep wait`: a mail that must come, or must not.

use clap::Args;
use client::{Mailbox, Message};

use super::matchers::Matchers;
use super::show::page;
use super::{Failure, exit_codes, print};

pub(crate) const WAIT_EXAMPLES: &str = concat!(
    "\
All that is asked for must hold. What lies in the mailbox counts, the newest first; with --since, what came after that, the \
first first. When nothing comes in time, what came instead, and which part of it did not match, is told on stderr.

",
    exit_codes!(),
    "

Examples:
  postkeep wait alice --subject Reset --has code --timeout 20s
  postkeep wait alice --from @shop.test --header X-Test-Run=42 --json | jq .messages[0].text
  postkeep wait alice --none --subject Reset --timeout 2s
  since=$(postkeep list alice --cursor); ./act; postkeep wait alice --since \"$since\""
);

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    matchers: Matchers,
    /// Wait for so many
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    count: usize,
    /// See that none comes, for as long as --timeout says
    #[arg(long, conflicts_with = "count")]
    none: bool,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn wait(args: WaitArgs) -> Result<(), Failure> {
    let mailbox = args.matchers.mailbox()?;
    if args.none {
        args.matchers.apply(mailbox.expect_none(args.matchers.timeout)).await?;
        return if args.json { told(&mailbox, "quiet", &[]) } else { Ok(()) };
    }
    let messages = args.matchers.apply(mailbox.messages(args.count)).await?;
    if args.json {
        return told(&mailbox, "matched", &messages);
    }
    let pages: Vec<String> = messages.iter().map(page).collect();
    print(pages.join("\n").as_bytes())
}

/// As the API answers, however many calls it took.
fn told(mailbox: &Mailbox, outcome: &str, messages: &[Message]) -> Result<(), Failure> {
    let messages: Vec<_> = messages.iter().map(Message::json).collect();
    let json = serde_json::json!({"outcome": outcome, "messages": messages, "cursor": mailbox.cursor()});
    print(format!("{json}\n").as_bytes())
}
