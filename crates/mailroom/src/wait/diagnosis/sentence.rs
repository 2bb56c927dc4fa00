//! The one sentence that says why: the first cause that holds, in the order in which a person would check them.

use store::Scope;

use super::{Diagnosis, seconds};
use crate::access::Shape;
use crate::refusals::ByFault;
use crate::room::Mailroom;
use crate::wait::Ask;
use crate::wait::matchers::Failed;

/// A cause as a sentence, if it holds.
type Cause = fn(&Mailroom, &Ask, &Diagnosis) -> Option<String>;

/// In this order.
const CAUSES: [Cause; 9] =
    [too_few, handed_out, before_cursor, near_miss, refused, similar, mistyped, nobody_connected, nothing_came];

/// Why the mail did not come.
pub(super) fn of(room: &Mailroom, ask: &Ask, found: &Diagnosis) -> String {
    CAUSES.iter().find_map(|cause| cause(room, ask, found)).unwrap_or_default()
}

fn place(room: &Mailroom, ask: &Ask) -> String {
    match &ask.scope {
        Scope::Mailbox(mailbox) => room.spelling(mailbox).into_owned(),
        Scope::All => "any mailbox".to_owned(),
    }
}

fn mails(count: usize) -> String {
    if count == 1 { "1 mail".to_owned() } else { format!("{count} mails") }
}

fn too_few(_: &Mailroom, ask: &Ask, found: &Diagnosis) -> Option<String> {
    let (there, wanted) = (found.matched.len(), ask.count);
    (there > 0).then(|| {
        format!("{} of {wanted} matched: the others did not come in time. See matched for their ids.", mails(there))
    })
}

fn handed_out(_: &Mailroom, _: &Ask, found: &Diagnosis) -> Option<String> {
    (found.excluded > 0).then(|| {
        format!(
            "{} matched, but exclude names it as seen already: was the application to send another one?",
            mails(found.excluded)
        )
    })
}

fn before_cursor(_: &Mailroom, _: &Ask, found: &Diagnosis) -> Option<String> {
    (found.before_cursor > 0).then(|| {
        format!(
            "{} matched, but came shortly before the cursor in since: take the cursor before the act that sends the mail.",
            mails(found.before_cursor)
        )
    })
}

fn near_miss(room: &Mailroom, ask: &Ask, found: &Diagnosis) -> Option<String> {
    let nearest = found.near_misses.first()?;
    let why = phrase(nearest.fared.failed.first()?);
    let which = if found.arrived == 1 { "" } else { "of the nearest one, " };
    Some(format!("{} arrived in {}, but {which}{why}: compare nearMisses[0].", mails(found.arrived), place(room, ask)))
}

/// One matcher that failed, as a clause.
fn phrase(failed: &Failed) -> String {
    let Failed { matcher, wanted, got } = failed;
    let (field, manner) = matcher.split_once('.').unwrap_or((matcher, ""));
    let whose = if field == "body" { "text" } else { field };
    match (field, manner) {
        ("from", _) => format!("it is from {got}, not from {wanted}"),
        ("to", _) => format!("it was sent to {got}, not to {wanted}"),
        ("header", name) => format!("its {name} is {got:?}, not {wanted:?}"),
        ("has", "attachment") => "it has no attachment".to_owned(),
        ("has", _) if got.starts_with("ambiguous") => format!("{wanted} was wanted and it is {got}"),
        ("has", _) => format!("it does not hold {wanted}"),
        (_, "is") => format!("its {whose} is not {wanted:?}"),
        (_, "regex") => format!("its {whose} does not match /{wanted}/"),
        _ => format!("its {whose} does not contain {wanted:?}"),
    }
}

fn refused(_: &Mailroom, _: &Ask, found: &Diagnosis) -> Option<String> {
    let last = found.refusals.first()?;
    let code = format!("{} {}", last.reply.code, last.reply.text);
    match &last.fault {
        Some(fault @ ByFault::Plan { id, .. }) => {
            return Some(format!(
                "Mail for this mailbox was refused by {fault}: {code:?}. Remove it by DELETE /api/v2/faults/{id}, or send \
                 again as often as it wants."
            ));
        }
        Some(fault) => {
            return Some(format!("Mail for this mailbox was refused by {fault}, as it asks: {code:?}. See refusals."));
        }
        None => {}
    }
    Some(format!(
        "Mail for this mailbox was refused at SMTP: {code:?}. See refusals; mend what the reply names and send again."
    ))
}

fn similar(room: &Mailroom, ask: &Ask, found: &Diagnosis) -> Option<String> {
    let near = found.similar.first()?;
    let (here, there) = (place(room, ask), room.spelling(&near.mailbox));
    Some(format!(
        "Nothing came to {here}, but {there} has {}: is one of the two names mistyped?",
        mails(near.messages as usize)
    ))
}

fn mistyped(room: &Mailroom, ask: &Ask, _: &Diagnosis) -> Option<String> {
    let Scope::Mailbox(mailbox) = &ask.scope else { return None };
    (room.shape(mailbox) == Shape::Mistyped).then(|| {
        "The name looks like an inbox of this server but is none: it was mistyped or cut, or another server or key made it."
            .to_owned()
    })
}

fn nobody_connected(_: &Mailroom, ask: &Ask, found: &Diagnosis) -> Option<String> {
    let waited = seconds(ask.timeout);
    let advice = "Does the application send to another server? Compare its SMTP host and port with smtp.addr.";
    match found.smtp.last_at {
        None => Some(format!("No SMTP client has connected since this server started. {advice}")),
        Some(at) if at < found.from => {
            Some(format!("No SMTP client connected in these {waited}; the last one did at {at:.0}. {advice}"))
        }
        Some(_) => None,
    }
}

fn nothing_came(room: &Mailroom, ask: &Ask, _: &Diagnosis) -> Option<String> {
    let (place, waited) = (place(room, ask), seconds(ask.timeout));
    Some(format!(
        "Nothing came to {place} in {waited}, though clients connected: see whom the application addressed in its own log."
    ))
}
