//! `postkeep code` and `postkeep link`: what a test wants of a mail, and nothing else.

use clap::{Args, ValueEnum};
use client::{Kind, Message};
use serde_json::Value;

use super::matchers::Matchers;
use super::{Failure, exit_codes, print};

pub(crate) const CODE_EXAMPLES: &str = concat!(
    "\
Waits for a mail that has a code to type in, and prints it. When several may be meant, all are told and none is printed.

",
    exit_codes!(),
    "

Examples:
  postkeep code alice
  eval \"$(postkeep inbox new signup --export)\"; ./sign-up \"$POSTKEEP_ADDRESS\"; postkeep code
  postkeep code alice --subject 'Sign in' --json"
);

pub(crate) const LINK_EXAMPLES: &str = concat!(
    "\
Waits for a mail that has a link to press, and prints it. It is never followed.

",
    exit_codes!(),
    "

Examples:
  postkeep link alice
  curl \"$(postkeep link alice --kind reset)\""
);

#[derive(Debug, Args)]
pub(crate) struct CodeArgs {
    #[command(flatten)]
    matchers: Matchers,
    /// Print the API's JSON of it
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    matchers: Matchers,
    /// A link of this kind
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<LinkKind>,
    /// Print the API's JSON of it
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LinkKind {
    Verify,
    Reset,
    MagicLogin,
    Other,
}

impl From<LinkKind> for Kind {
    fn from(kind: LinkKind) -> Self {
        match kind {
            LinkKind::Verify => Self::Verify,
            LinkKind::Reset => Self::Reset,
            LinkKind::MagicLogin => Self::MagicLogin,
            LinkKind::Other => Self::Other,
        }
    }
}

pub(super) async fn code(args: CodeArgs) -> Result<(), Failure> {
    let mailbox = args.matchers.mailbox()?;
    let message = args.matchers.apply(mailbox.wait()).has_code().await?;
    let code = message.code()?;
    tell(&message, args.json, ("codes", "value", code))
}

pub(super) async fn link(args: LinkArgs) -> Result<(), Failure> {
    let mailbox = args.matchers.mailbox()?;
    let wait = args.matchers.apply(mailbox.wait());
    let kind = args.kind.map(Kind::from);
    let message = match kind {
        Some(kind) => wait.has_link_of(kind).await?,
        None => wait.has_link().await?,
    };
    let link = kind.map_or_else(|| message.link(), |kind| message.link_of(kind))?;
    tell(&message, args.json, ("links", "href", link))
}

/// The value alone, or the object that it stands in.
fn tell(message: &Message, json: bool, (list, name, value): (&str, &str, &str)) -> Result<(), Failure> {
    if !json {
        return print(format!("{}\n", crate::log::escaped(value)).as_bytes());
    }
    let all = message.json()[list].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = all.iter().find(|found| found[name] == value).unwrap_or(&Value::Null);
    print(format!("{found}\n").as_bytes())
}
