//! The part of the command line for webhooks: `postkeep webhook list` and `try`, which read the configuration, and the ways to
//! those that a running server has given up.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use courier::webhook::{Answer, Webhook, judge};

use super::verbs::table::Table;
use super::verbs::webhooks;
use super::{FAILED, Given, MISUSED, complain, print};
use crate::assembly;
use crate::config::{Checked, Config};

pub(super) const WEBHOOK_EXAMPLES: &str = "\
Whom a server tells of mail is said by tables of its file:
  [[webhook]]
  name = \"shop\"
  url = \"https://shop.example/hooks/mail\"
  secret = \"whsec_…\"          # echo whsec_$(openssl rand -base64 32)
  mailboxes = [\"orders-*\"]    # all, when it is left out
  events = [\"deliver\"]        # and delete, purge
  message = true              # the message whole, as the API shows it

Examples:
  postkeep webhook try shop --config postkeep.toml
  postkeep webhook dead
  postkeep webhook replay 42";

const TRY_EXAMPLES: &str = "\
It posts one signed event of the type webhook.tried, from here and not from the server, and prints the answer.

Exit codes:
  0  the target took it
  1  it did not, or there is no such target
  2  a mistake in the configuration or on the command line

Examples:
  postkeep webhook try shop --config postkeep.toml";

#[derive(Debug, Subcommand)]
pub(super) enum WebhookCommand {
    /// List the targets of a configuration
    List(Given),
    /// Send a signed event to a target of a configuration, and print its answer
    #[command(after_help = TRY_EXAMPLES)]
    Try(TryArgs),
    /// List the events that a running server has given up
    #[command(after_help = webhooks::DEAD_EXAMPLES)]
    Dead(webhooks::DeadArgs),
    /// Have events sent again that a running server has given up
    #[command(after_help = webhooks::REPLAY_EXAMPLES)]
    Replay(webhooks::ReplayArgs),
}

#[derive(Debug, Args)]
pub(super) struct TryArgs {
    /// The name of the target
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    given: Given,
}

/// Do what is asked about webhooks.
pub(super) fn run(given: Given, command: WebhookCommand) -> ExitCode {
    match command {
        WebhookCommand::List(more) => with_config(given, more, list),
        WebhookCommand::Try(TryArgs { name, given: more }) => with_config(given, more, |config| tried(config, &name)),
        WebhookCommand::Dead(args) => webhooks::dead(args),
        WebhookCommand::Replay(args) => webhooks::replay(args),
    }
}

fn with_config(given: Given, more: Given, run: impl FnOnce(&Config) -> ExitCode) -> ExitCode {
    match Checked::of(&given.over(more)) {
        Ok(checked) => run(&checked.config()),
        Err(report) => complain(&report.to_string(), MISUSED),
    }
}

fn list(config: &Config) -> ExitCode {
    let mut table = Table::new(&["NAME", "URL", "MAILBOXES", "EVENTS"]);
    for webhook in &config.webhooks {
        let events: Vec<_> = webhook.events.iter().map(|event| event.word()).collect();
        table.row(&[webhook.name.clone(), webhook.shown_url(), webhook.mailboxes.join(" "), events.join(" ")]);
    }
    print(&table.text())
}

fn tried(config: &Config, name: &str) -> ExitCode {
    let failed = |why: &dyn std::fmt::Display| complain(&format!("postkeep: {why}\n"), FAILED);
    let Some(webhook) = config.webhooks.iter().find(|webhook| webhook.name == name) else {
        return failed(&format!(
            "the configuration has no [[webhook]] of the name {name:?}; postkeep webhook list names them"
        ));
    };
    let target = match assembly::webhook(webhook) {
        Ok(target) => target,
        Err(error) => return failed(&super::told(&error)),
    };
    let client = assembly::outside(config);
    let asked = assembly::block_on(Webhook::try_out(&client, &target, config.webhook_limits.timeout));
    let response = match asked {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return failed(&error),
        Err(error) => return failed(&super::told(&error)),
    };
    let body = String::from_utf8_lossy(&response.body);
    let shown: String = body.chars().map(|char| if char.is_control() && char != '\n' { ' ' } else { char }).collect();
    print(&format!("{}\n{}\n", response.status, shown.trim_end()));
    match judge(Ok(&response)) {
        Answer::Taken => ExitCode::SUCCESS,
        Answer::Gone | Answer::Failed { .. } => failed(&"the target did not take it: a webhook is taken with 2xx"),
    }
}
