//! Ids ascend: within a list, in the order of arrival, and over restarts, deletes and everything else.

use super::super::history::{Canary, Look, Outcome, Scope, Tick};
use super::{Entry, Kind, Ledger, Violation};

pub(super) fn judge(ledger: &Ledger, looks: &[&Look]) -> Vec<Violation> {
    let lists = looks.iter().filter(|look| look.scope == Scope::Mailbox);
    let mut found: Vec<_> = lists.filter_map(|look| list(look)).collect();
    for mailbox in ledger.mailboxes.keys() {
        found.extend(arrival(ledger, mailbox));
    }
    found
}

/// A list is in the order of its ids, each once.
fn list(look: &Look) -> Option<Violation> {
    let pair = look.rows.windows(2).find(|pair| pair[0].id >= pair[1].id)?;
    let what = format!("{}: {} stands before {}; {look}", look.mailbox, pair[0].id, pair[1].id);
    Some(Violation::new(Kind::Order, what))
}

/// What was sent after another message's 250 has a higher id than that; what was sent in this round has a higher one
/// than all that were seen before it.
fn arrival(ledger: &Ledger, mailbox: &str) -> Vec<Violation> {
    let mut copies: Vec<(&str, &Canary)> = ledger
        .messages
        .iter()
        .filter_map(|(canary, message)| Some((message.copies.get(mailbox)?.id.as_deref()?, canary)))
        .collect();
    copies.sort_unstable();
    let mut found = Vec::new();
    let mut first: Option<(Tick, &Canary)> = None;
    let highest = ledger.mailboxes[mailbox].highest.as_deref();
    for (id, canary) in copies.into_iter().rev() {
        let message = &ledger.messages[canary];
        let sent = message.send.span.begin;
        if let Some((_, other)) = first.filter(|(done, _)| *done < sent) {
            let what = format!("{mailbox}/{id} is {canary}, below {other}, which was there before it was sent");
            found.push(Violation::new(Kind::Order, what));
        }
        if message.entry != Entry::Before && highest.is_some_and(|highest| id <= highest) {
            let what = format!("{mailbox}/{id} is {canary}, not above {}, seen rounds before", highest.unwrap_or("?"));
            found.push(Violation::new(Kind::Order, what));
        }
        if message.send.outcome == Outcome::Done && first.is_none_or(|(done, _)| message.send.span.end < done) {
            first = Some((message.send.span.end, canary));
        }
    }
    found
}
