//! `postkeep token list` and `postkeep token revoke`: the tokens of a running server.

use std::process::ExitCode;

use clap::Args;

use super::at::At;
use super::table::Table;
use super::{Failure, ended, exit_codes, where_from};
use crate::cli::print;

pub(crate) const LIST_EXAMPLES: &str = concat!(
    where_from!(),
    " It takes an admin's token. No token is shown, as none is kept; those of the server's file are listed as well.\n\n",
    exit_codes!(),
    "

Examples:
  POSTKEEP_TOKEN=$ADMIN postkeep token list"
);

pub(crate) const REVOKE_EXAMPLES: &str = concat!(
    where_from!(),
    " It takes an admin's token. A token of the server's file ends when it is taken out of the file.\n\n",
    exit_codes!(),
    "

Examples:
  postkeep token revoke 7h2k9m4n --token-file admin.token"
);

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print the answer of the server
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The tokens' ids
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    at: At,
}

/// List the tokens of a server.
pub(crate) fn list(args: ListArgs) -> ExitCode {
    ended(super::block(listed(args)))
}

/// Revoke tokens of a server.
pub(crate) fn revoke(args: RevokeArgs) -> ExitCode {
    ended(super::block(async move {
        let client = args.at.client()?;
        for id in &args.ids {
            client.revoke_token(id).await?;
        }
        Ok(())
    }))
}

async fn listed(args: ListArgs) -> Result<(), Failure> {
    let answer = args.at.client()?.list_tokens_json().await?;
    if args.json {
        print(&format!("{answer}\n"));
        return Ok(());
    }
    let mut table = Table::new(&["ID", "NAME", "EXPIRES", "FROM", "SCOPES"]);
    for token in answer["items"].as_array().into_iter().flatten() {
        let text = |name: &str| token[name].as_str().unwrap_or("-").to_owned();
        let scopes: Vec<&str> =
            token["scopes"].as_array().into_iter().flatten().filter_map(|one| one.as_str()).collect();
        table.row(&[text("id"), text("name"), text("expiresAt"), text("origin"), scopes.join(" ")]);
    }
    print(&table.text());
    Ok(())
}
