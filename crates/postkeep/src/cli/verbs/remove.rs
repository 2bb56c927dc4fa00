//! `postkeep delete` and `postkeep purge`.

use clap::Args;

use super::at::At;
use super::{Failure, exit_codes};

pub(crate) const DELETE_EXAMPLES: &str = concat!(
    exit_codes!(),
    "

Examples:
  postkeep delete alice 1nbmq3r7c0v8h
  postkeep delete alice latest"
);

pub(crate) const PURGE_EXAMPLES: &str = concat!(
    exit_codes!(),
    "

Examples:
  postkeep purge alice
  postkeep purge --all"
);

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The mailbox, or an address that leads to it
    #[arg(value_name = "MAILBOX")]
    mailbox: String,
    /// The messages' ids, or latest
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    /// The mailbox, or an address that leads to it [env: POSTKEEP_MAILBOX]
    #[arg(value_name = "MAILBOX")]
    mailbox: Option<String>,
    /// Empty every mailbox of the server
    #[arg(long, conflicts_with = "mailbox")]
    all: bool,
    #[command(flatten)]
    at: At,
}

pub(super) async fn delete(args: DeleteArgs) -> Result<(), Failure> {
    let mailbox = args.at.client()?.whole_mailbox(&args.mailbox);
    for id in &args.ids {
        mailbox.delete(id).await?;
    }
    Ok(())
}

pub(super) async fn purge(args: PurgeArgs) -> Result<(), Failure> {
    let client = args.at.client()?;
    if args.all {
        return Ok(client.purge_all().await?);
    }
    Ok(client.whole_mailbox(&super::mailbox(args.mailbox)?).purge().await?)
}
