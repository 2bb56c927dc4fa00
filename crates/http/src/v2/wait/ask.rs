//! What a request says it waits for, from a query or from a body, made into what the mailroom takes.

use std::time::Duration;

use axum::http::StatusCode;
use mail::MessageId;
use mailroom::wait::matchers::{AddressMatch, BadRegex, Has, TextMatch};
use mailroom::wait::{Ask, Expect, Limits, Matchers};
use mailroom::{Order, Scope};

use crate::asked::Asked;
use crate::problem::Problem;
use crate::v2::Param;
use crate::v2::params::{Params, duration, refuse};
use crate::v2::wire::wait::{Asked as Wanted, Manner, Matching, Text};

/// From a query.
pub(super) fn of_query(asked: &Asked, known: &[Param]) -> Result<Wanted, Problem> {
    let params = Params::read(asked, known)?;
    let exact = |name: &str| params.exact(name).map(String::from);
    let commas = |name: &'static str| -> Vec<String> {
        let all = params.exacts(name).collect::<Vec<_>>();
        let words = all.iter().flat_map(|text| text.split(','));
        words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    let header = params.exacts("header").map(|text| field(&text)).collect::<Result<_, _>>()?;
    let matching = Matching {
        from: exact("from"),
        to: exact("to"),
        subject: text(&params, ["subject", "subject.is", "subject.contains", "subject.regex"])?,
        body: text(&params, ["body", "body.is", "body.contains", "body.regex"])?,
        header,
        has: commas("has"),
    };
    let order = params.word("order", ORDERS)?.map(|word| ORDERS[word].to_owned());
    let expect = params.word("expect", EXPECTED)?.map(|word| EXPECTED[word].to_owned());
    let count = params.number("count")?;
    Ok(Wanted {
        matching,
        since: exact("since"),
        timeout: exact("timeout"),
        count,
        exclude: commas("exclude"),
        order,
        expect,
    })
}

const ORDERS: &[&str] = &["newest", "oldest"];
const EXPECTED: &[&str] = &["mail", "none"];

/// `X-Test-Run=42`.
fn field(text: &str) -> Result<(String, String), Problem> {
    let named = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = named.ok_or_else(|| refuse("header", "It is a name and a value, as X-Test-Run=42."))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// One text, said in one of four ways.
fn text(params: &Params<'_>, names: [&'static str; 4]) -> Result<Option<Text>, Problem> {
    let [plain, is, contains, regex] = names;
    let said = [
        params.text(plain).map(Text::Contains),
        params.text(is).map(|text| Text::Said(Manner::Is(text))),
        params.text(contains).map(|text| Text::Said(Manner::Contains(text))),
        params.text(regex).map(|text| Text::Said(Manner::Regex(text))),
    ];
    let mut said = said.into_iter().flatten();
    let first = said.next();
    match said.next() {
        None => Ok(first),
        Some(_) => Err(refuse(plain, "It is said in several ways. Say one; an expression can hold the others.")),
    }
}

/// Ready to be asked for; the cursor is still to be read.
pub(super) fn ready(wanted: &Wanted, scope: &Scope, limits: &Limits) -> Result<Ask, Problem> {
    Ok(Ask {
        scope: scope.clone(),
        matchers: matchers(&wanted.matching, limits)?,
        since: None,
        order: wanted.order.as_deref().map(order).transpose()?,
        count: count(wanted.count, limits)?,
        exclude: exclude(&wanted.exclude, limits)?,
        expect: wanted.expect.as_deref().map(expect).transpose()?.unwrap_or_default(),
        timeout: timeout(wanted.timeout.as_deref(), limits)?,
    })
}

fn matchers(matching: &Matching, limits: &Limits) -> Result<Matchers, Problem> {
    let address = |name: &str, given: &Option<String>| match given.as_deref() {
        Some("" | "@") => Err(refuse(name, "It is empty. Name an address, or @host for all of a domain.")),
        given => Ok(given.map(AddressMatch::parse)),
    };
    let has = |word: &String| Has::parse(word).map_err(|error| refuse("has", format!("{error}, not {word:?}.")));
    Ok(Matchers {
        from: address("from", &matching.from)?,
        to: address("to", &matching.to)?,
        subject: text_match("subject", matching.subject.as_ref(), limits)?,
        body: text_match("body", matching.body.as_ref(), limits)?,
        header: matching.header.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        has: matching.has.iter().map(has).collect::<Result<_, _>>()?,
    })
}

fn text_match(name: &str, text: Option<&Text>, limits: &Limits) -> Result<Option<TextMatch>, Problem> {
    let bad = |bad: BadRegex| refuse(name, format!("{bad}. Look-around and back-references are not known here."));
    Ok(Some(match text {
        None => return Ok(None),
        Some(Text::Contains(text) | Text::Said(Manner::Contains(text))) => TextMatch::contains(text),
        Some(Text::Said(Manner::Is(text))) => TextMatch::is(text),
        Some(Text::Said(Manner::Regex(text))) => TextMatch::regex(text, limits.regex_max).map_err(bad)?,
    }))
}

fn order(word: &str) -> Result<Order, Problem> {
    match word {
        "newest" => Ok(Order::Newest),
        "oldest" => Ok(Order::Oldest),
        _ => Err(refuse("order", "order is newest or oldest.")),
    }
}

fn expect(word: &str) -> Result<Expect, Problem> {
    match word {
        "mail" => Ok(Expect::Mail),
        "none" => Ok(Expect::Nothing),
        _ => Err(refuse("expect", "expect is mail or none.")),
    }
}

fn count(count: Option<u64>, limits: &Limits) -> Result<usize, Problem> {
    let most = limits.count_max as u64;
    match count.unwrap_or(1) {
        count if (1..=most).contains(&count) => Ok(count as usize),
        _ => Err(refuse("count", format!("One can wait for 1 to {most} mails at once (wait.count_max)."))),
    }
}

fn exclude(ids: &[String], limits: &Limits) -> Result<Vec<MessageId>, Problem> {
    if ids.len() > limits.exclude_max {
        let most = limits.exclude_max;
        return Err(refuse("exclude", format!("{most} ids can be left out (wait.exclude_max). Take a later cursor.")));
    }
    let id = |id: &String| id.parse().map_err(|_| refuse("exclude", "It holds something that is no id of a message."));
    ids.iter().map(id).collect()
}

/// A wait that was cut short in silence would be a failure that is none.
fn timeout(text: Option<&str>, limits: &Limits) -> Result<Duration, Problem> {
    let Some(text) = text else { return Ok(limits.timeout_default) };
    let timeout = duration(text).ok_or_else(|| refuse("timeout", "timeout is a duration such as 10s, 500ms or 2m."))?;
    if timeout <= limits.timeout_max {
        return Ok(timeout);
    }
    let most = limits.timeout_max.as_secs();
    let detail = format!("One request waits for {most}s at most (wait.timeout_max). Ask again to wait longer.");
    Err(Problem::named(StatusCode::BAD_REQUEST, "timeout-too-long", "Timeout too long", detail))
}
