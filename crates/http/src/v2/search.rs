//! The parameter `q`, wherever a list takes it.

use mail::Query;

use super::params::Params;
use super::{Kind, Param};
use crate::problem::{Mistake, Problem};

/// What it takes.
pub(crate) const Q: Param = Param::new(
    "q",
    Kind::Text,
    "Only what this finds: words, \"phrases\", -not, and from: to: cc: rcpt: subject: body: filename: header:Name=value \
     has: larger: smaller: after: before: tag:. A plus sign is written %2B.",
);

/// What is searched for; none when nothing is.
pub(crate) fn query(params: &Params<'_>) -> Result<Option<Query>, Problem> {
    let Some(text) = params.text("q") else { return Ok(None) };
    match Query::parse(&text) {
        Ok(query) if query.is_empty() => Ok(None),
        Ok(query) => Ok(Some(query)),
        Err(bad) => {
            let (detail, nearest) = (sentence(&bad.to_string()), bad.nearest().map(str::to_owned));
            let mistake = Mistake { place: "query", name: "q".to_owned(), detail: detail.clone(), nearest };
            Err(Problem::bad_search(detail).with("errors", [mistake]))
        }
    }
}

fn sentence(text: &str) -> String {
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}.", first.to_uppercase())
}
