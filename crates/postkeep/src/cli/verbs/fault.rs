//! `postkeep fault`: plans by which a server misbehaves on demand.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::at::At;
use super::matchers::duration;
use super::table::Table;
use super::{Failure, exit_codes, print, where_from};
use crate::log::escaped;

pub(crate) const FAULT_EXAMPLES: &str = "\
A fault plan makes mail fail exactly as a test wants it, for a while: refused, held back, dropped or read slowly. It meets the \
mail for a mailbox, from a sender, or all mail.

Examples:
  postkeep fault add --mailbox alice --reply \"451 4.7.1\" --first 2
  postkeep fault list
  postkeep fault remove 7h2k9m4n";

const ADD_EXAMPLES: &str = concat!(
    where_from!(),
    " It prints the id of the plan.\n\n",
    exit_codes!(),
    "

Examples:
  postkeep fault add --mailbox alice --reply \"451 4.7.1 Greylisted\" --first 2 --per pair
  postkeep fault add --sender @shop.example --stage mail --reply \"421 4.3.2\" --ttl 1m
  postkeep fault add --percent 30 --seed 7 --reply 451
  postkeep fault add --mailbox slow --slow 1KiB --delay 2s"
);

const LIST_EXAMPLES: &str = concat!(
    where_from!(),
    "\n\n",
    exit_codes!(),
    "

Examples:
  postkeep fault list --json | jq '.items[].fired'"
);

#[derive(Debug, Subcommand)]
pub(crate) enum FaultCommand {
    /// List the plans in force, with what they met
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Plan a fault
    #[command(after_help = ADD_EXAMPLES)]
    Add(Box<AddArgs>),
    /// Remove plans
    #[command(after_help = exit_codes!())]
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The plans' ids
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Mail for this mailbox
    #[arg(long, value_name = "MAILBOX", conflicts_with = "sender")]
    mailbox: Option<String>,
    /// Mail from this address, or from a domain, as @example.com
    #[arg(long, value_name = "ADDRESS")]
    sender: Option<String>,
    /// At which command: mail, rcpt or data [default: rcpt]
    #[arg(long, value_name = "STAGE", value_parser = ["mail", "rcpt", "data"], hide_possible_values = true)]
    stage: Option<String>,
    /// What is answered: a code, an enhanced code and a text, of which the last two may be left out
    #[arg(long, value_name = "REPLY")]
    reply: Option<String>,
    /// Only at the first so many attempts
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["nth", "percent"])]
    first: Option<u64>,
    /// Only at this attempt
    #[arg(long, value_name = "NUMBER", conflicts_with = "percent")]
    nth: Option<u64>,
    /// At so many of a hundred attempts
    #[arg(long, value_name = "PERCENT")]
    percent: Option<u64>,
    /// What those are drawn from [default: 0]
    #[arg(long, value_name = "NUMBER", requires = "percent")]
    seed: Option<u64>,
    /// What is counted together: plan, recipient or pair [default: plan]
    #[arg(long, value_name = "WHAT", value_parser = ["plan", "recipient", "pair"], hide_possible_values = true)]
    per: Option<String>,
    /// Hold the answer back so long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    delay: Option<Duration>,
    /// Cut the connection, behind the reply or without one
    #[arg(long)]
    drop: bool,
    /// Read the content at so many bytes a second, as 1KiB
    #[arg(long, value_name = "SIZE")]
    slow: Option<String>,
    /// How long it is in force; else as the server is configured
    #[arg(long, value_name = "TIME", value_parser = duration)]
    ttl: Option<Duration>,
    /// What people see of it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: At,
}

pub(super) async fn fault(command: FaultCommand) -> Result<(), Failure> {
    match command {
        FaultCommand::List(args) => list(args).await,
        FaultCommand::Add(args) => add(*args).await,
        FaultCommand::Remove(args) => {
            let client = args.at.client()?;
            for id in &args.ids {
                client.remove_fault(id).await?;
            }
            Ok(())
        }
    }
}

async fn list(args: ListArgs) -> Result<(), Failure> {
    let answer = args.at.client()?.list_faults_json().await?;
    if args.json {
        return print(format!("{answer}\n").as_bytes());
    }
    let mut table = Table::new(&["ID", "MEETS", "STAGE", "DOES", "WHEN", "FIRED", "EXPIRES", "NOTE"]);
    for plan in answer["items"].as_array().into_iter().flatten() {
        let text = |name: &str| escaped(plan[name].as_str().unwrap_or_default());
        let fired = format!("{} of {}", plan["fired"], plan["attempts"]);
        table.row(&[
            text("id"),
            meets(plan),
            text("stage"),
            does(plan),
            when(plan),
            fired,
            text("expiresAt"),
            text("note"),
        ]);
    }
    print(table.text().as_bytes())
}

fn meets(plan: &Value) -> String {
    let named = plan["mailbox"].as_str().or(plan["sender"].as_str());
    escaped(named.unwrap_or("everything"))
}

fn does(plan: &Value) -> String {
    let reply = plan["reply"]["code"].as_u64().map(|code| code.to_string());
    let told = |name: &str| plan[name].as_str().map(|value| format!("{name} {}", escaped(value)));
    let drop = (plan["drop"] == true).then(|| "drop".to_owned());
    [reply, told("delay"), told("slow"), drop].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn when(plan: &Value) -> String {
    let told = |name: &str| plan[name].as_u64().map(|number| format!("{name} {number}"));
    told("first").or_else(|| told("nth")).or_else(|| told("percent")).unwrap_or_else(|| "always".to_owned())
}

async fn add(args: AddArgs) -> Result<(), Failure> {
    let (as_json, client) = (args.json, args.at.client()?);
    let plan = client.plan_fault_json(&request(args)?).await?;
    let text = if as_json { plan.to_string() } else { escaped(plan["id"].as_str().unwrap_or_default()) };
    print(format!("{text}\n").as_bytes())
}

/// As the API takes it.
fn request(args: AddArgs) -> Result<Value, Failure> {
    let texts = [
        ("mailbox", args.mailbox),
        ("sender", args.sender),
        ("stage", args.stage),
        ("per", args.per),
        ("slow", args.slow),
        ("note", args.note),
        ("delay", args.delay.map(told)),
        ("ttl", args.ttl.map(told)),
    ];
    let numbers = [("first", args.first), ("nth", args.nth), ("percent", args.percent), ("seed", args.seed)];
    let texts = texts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    let mut plan: Map<String, Value> = texts.chain(numbers).collect();
    if args.drop {
        plan.insert("drop".to_owned(), json!(true));
    }
    if let Some(text) = &args.reply {
        plan.insert("reply".to_owned(), reply(text)?);
    }
    Ok(Value::Object(plan))
}

/// In one unit, as the API takes durations.
fn told(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

fn reply(text: &str) -> Result<Value, Failure> {
    let mut words = text.splitn(2, ' ');
    let code: Option<u16> = words.next().and_then(|code| code.parse().ok());
    let code = code.ok_or_else(|| {
        Failure::misused(format!("--reply begins with a code, as in \"451 4.7.1 Come back later\"; got {text:?}"))
    })?;
    let rest = words.next().unwrap_or_default().trim();
    let (enhanced, text) = match rest.split_once(' ').unwrap_or((rest, "")) {
        (enhanced, text) if is_enhanced(enhanced) => (Some(enhanced), text.trim()),
        _ => (None, rest),
    };
    let text = Some(text).filter(|text| !text.is_empty());
    Ok(json!({ "code": code, "enhanced": enhanced, "text": text }))
}

fn is_enhanced(word: &str) -> bool {
    word.split('.').count() == 3 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_as_it_is_written() {
        let read = |text: &str| reply(text).unwrap();
        assert_eq!(read("451"), json!({"code": 451, "enhanced": null, "text": null}));
        assert_eq!(read("451 4.7.1"), json!({"code": 451, "enhanced": "4.7.1", "text": null}));
        assert_eq!(read("451 4.7.1 Come back"), json!({"code": 451, "enhanced": "4.7.1", "text": "Come back"}));
        assert_eq!(read("451 Come back"), json!({"code": 451, "enhanced": null, "text": "Come back"}));
        assert!(reply("later").is_err() && reply("").is_err());
        assert_eq!(told(Duration::from_secs(90)), "90000ms");
    }
}
