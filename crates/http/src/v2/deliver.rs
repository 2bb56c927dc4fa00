//! `POST /api/v2/messages`: a message comes in over HTTP, through the same door as over SMTP: policy, trace fields, the
//! same limits, one append. All recipients get it or none.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use mail::address::Charset;
use mail::{Address, Door, Envelope, Mailbox, Recipient, ReversePath, TransactionId, Transport};
use mailroom::{Decision, Delivered, Once, Outcome, Parcel, Refusal, Stage, Status, Verdict, Visit};
use serde::Serialize;
use utoipa::ToSchema;

use super::compose::{self, DeliverRequest, Draft};
use super::params::{Params, refuse};
use super::{About, Answer, Kind, Param, Shape, body, json};
use crate::asked::Asked;
use crate::problem::{Doing, Mistake, Problem};
use crate::shared::Shared;

pub(crate) const DELIVER: About = About {
    id: "deliverMessage",
    summary: "Deliver a message",
    detail: "As over SMTP: policy, trace fields, smtp.message_max, one append; all recipients get it or none. A message as \
             it is (message/rfc822), or its pieces as JSON. With an Idempotency-Key the same request delivers once within \
             deliver.idempotency_window.",
    params: &[
        Param::new("mailFrom", Kind::Text, "The sender of the envelope, or empty for none; From unless said."),
        Param::new("rcptTo", Kind::Texts, "The recipients of the envelope; To, Cc and Bcc unless said."),
    ],
    bodies: &[
        (
            "application/json",
            Shape::of::<DeliverRequest>(
                r#"{"from":"Shop <no-reply@shop.test>","to":["alice@example.com"],"subject":"Your code","text":"It is 884201."}"#,
            ),
        ),
        ("message/rfc822", Shape::Bytes),
    ],
    answers: &[Answer {
        status: 201,
        about: "Where it is. Empty when policy threw it away.",
        media_type: "application/json",
        shape: Shape::of::<DeliverAnswer>(r#"{"deliveries":[{"mailbox":"alice","id":"1nbmq3r7c0v8h"}]}"#),
    }],
    problems: &["refused", "idempotency-conflict", "not-in-public-mode", "store-full", "outcome-unknown"],
};

/// Characters of an Idempotency-Key.
const KEY_MAX: usize = 64;

/// Where a message is.
#[derive(Serialize, ToSchema)]
struct DeliverAnswer {
    /// One for each mailbox.
    deliveries: Vec<DeliveredCopy>,
}

/// A message in one mailbox.
#[derive(Serialize, ToSchema)]
struct DeliveredCopy {
    /// The mailbox.
    mailbox: String,
    /// Its id there.
    id: String,
}

/// What SMTP would have said.
#[derive(Serialize)]
struct Said {
    code: u16,
    enhanced: String,
    text: String,
}

pub(crate) async fn deliver(shared: &Shared, asked: &Asked, content: Bytes) -> Result<Response, Problem> {
    let params = Params::read(asked, DELIVER.params)?;
    let key = key(asked)?;
    let mail_from = params.exact("mailFrom").map(|text| sender(&text)).transpose()?;
    let rcpt_to = params.exacts("rcptTo").map(|text| recipient(&text)).collect::<Result<Vec<_>, _>>()?;
    let sum = sum(asked, &content);
    let transaction = shared.mailroom.begin();
    let draft = draft(shared, asked, content, transaction)?;
    let mail_from = mail_from.unwrap_or(draft.mail_from);
    let rcpt_to = if rcpt_to.is_empty() { draft.rcpt_to } else { rcpt_to };
    let envelope = judge(shared, asked, transaction, mail_from, rcpt_to).await?;
    let parcel = parcel(shared, envelope, &draft.content)?;
    let envelope = Arc::clone(&parcel.envelope);
    let delivered = match hand_in(shared, asked, parcel, key.as_deref(), sum).await {
        Err(mailroom::Error::Refused(verdict)) => return Err(refused_whole(shared, asked, *verdict, &envelope).await),
        handed => handed.map_err(|error| Problem::of(&error, Doing::Adding))?.ok_or_else(conflict)?,
    };
    if let Some(delay) = delivered.delay {
        tokio::time::sleep(delay).await;
    }
    let copy = |filed: &mailroom::Filed| DeliveredCopy {
        mailbox: shared.mailroom.spelling(&filed.mailbox).into_owned(),
        id: filed.id.to_string(),
    };
    let deliveries = delivered.filed.iter().map(copy).collect();
    json(shared, StatusCode::CREATED, &DeliverAnswer { deliveries })
}

/// The message, and whom it names for an envelope that was not told.
fn draft(shared: &Shared, asked: &Asked, content: Bytes, transaction: TransactionId) -> Result<Draft, Problem> {
    let settings = &shared.settings;
    let draft = if body::is_of_type(asked, "application/json") {
        let request = body::read(shared, asked, &content)?;
        compose::write(request, shared.mailroom.now(), transaction, &settings.deliver.hostname)?
    } else if body::is_of_type(asked, "message/rfc822") {
        compose::read(content)
    } else {
        return Err(Problem::media_type("message/rfc822 or application/json"));
    };
    if draft.content.len() as u64 > settings.message_max {
        return Err(Problem::message_too_large(settings.message_max));
    }
    Ok(draft)
}

/// The envelope, if policy takes its sender and every recipient, and the recipients whose mail is thrown away.
async fn judge(
    shared: &Shared,
    asked: &Asked,
    transaction: TransactionId,
    mail_from: ReversePath,
    rcpt_to: Vec<Address>,
) -> Result<(Envelope, Vec<usize>), Problem> {
    let max = shared.settings.deliver.recipients_max;
    if rcpt_to.is_empty() || rcpt_to.len() > max {
        let detail = format!("A message goes to 1 to {max} recipients (smtp.recipients_max). Name them by rcptTo.");
        return Err(refuse("rcptTo", detail));
    }
    for address in &rcpt_to {
        // Who may not is told so in the words of this API; policy speaks those of SMTP.
        if let Ok(mailbox) = shared.mailroom.named(&address.to_string()) {
            let may = shared.mailroom.may_deliver(&asked.caller, &mailbox);
            may.map_err(|error| Problem::of(&error, Doing::Adding))?;
        }
    }
    let mut envelope = envelope(asked, transaction, mail_from);
    let verdict = shared.mailroom.judge_sender(&Visit::of(&asked.caller, &envelope.reverse_path)).await;
    let discards_all = verdict.decision == Decision::Discard;
    pass(shared, asked, verdict, Stage::Mail, &envelope, None).await?;
    let mut discarded = Vec::new();
    for address in rcpt_to {
        let visit = Visit { accepted: &envelope.recipients, ..Visit::of(&asked.caller, &envelope.reverse_path) };
        let (verdict, mailbox) = shared.mailroom.judge_recipient(&visit, &address).await;
        if discards_all || verdict.decision == Decision::Discard {
            discarded.push(envelope.recipients.len());
        }
        pass(shared, asked, verdict, Stage::Rcpt, &envelope, Some((&address, mailbox.as_ref()))).await?;
        let mailbox = mailbox.ok_or_else(Problem::internal)?;
        envelope.recipients.push(Recipient { address, mailbox });
    }
    Ok((envelope, discarded))
}

fn envelope(asked: &Asked, transaction: TransactionId, reverse_path: ReversePath) -> Envelope {
    let transport =
        Transport { door: Door::Http, utf8: false, helo: String::new(), peer: asked.ip(), tls: None, auth_user: None };
    Envelope { transaction, reverse_path, recipients: Vec::new(), transport }
}

/// Go on, or tell a refusal as SMTP would; it is remembered as those of SMTP are.
async fn pass(
    shared: &Shared,
    asked: &Asked,
    verdict: Verdict,
    stage: Stage,
    envelope: &Envelope,
    recipient: Option<(&Address, Option<&Mailbox>)>,
) -> Result<(), Problem> {
    if let Some(delay) = verdict.delay {
        tokio::time::sleep(delay).await;
    }
    let Decision::Refuse(status) = verdict.decision else { return Ok(()) };
    let (known, address) = (&envelope.recipients, recipient.map(|(address, _)| address));
    let mailbox = recipient.and_then(|(_, mailbox)| mailbox);
    let refusal = Refusal {
        at: shared.mailroom.now(),
        stage,
        mail_from: Some(envelope.reverse_path.clone()),
        rcpt_to: known.iter().map(|one| one.address.clone()).chain(address.cloned()).collect(),
        mailboxes: known.iter().map(|one| one.mailbox.clone()).chain(mailbox.cloned()).collect(),
        helo: None,
        peer: asked.client,
        reply: status.clone(),
        fault: verdict.fault.as_deref().cloned(),
    };
    shared.mailroom.refused(&asked.caller, refusal);
    let whom = if stage == Stage::Data { "The message" } else { "The sender" };
    let fault = verdict.fault.map(|fault| fault.name().to_owned());
    Err(refused(&status, whom, address).with("fault", fault))
}

fn refused(status: &Status, whom: &str, recipient: Option<&Address>) -> Problem {
    let (class, subject, detail) = status.enhanced;
    let said = Said { code: status.code, enhanced: format!("{class}.{subject}.{detail}"), text: status.text.clone() };
    let whom = recipient.map_or_else(|| whom.to_owned(), |address| format!("The recipient {address}"));
    let detail = format!("{whom} is refused: {}. Nothing was delivered.", status.text.trim_end_matches('.'));
    Problem::named(StatusCode::UNPROCESSABLE_ENTITY, "refused", "Mail refused", detail).with("smtp", said)
}

/// Trace fields above the content, as over SMTP.
fn parcel(shared: &Shared, (envelope, discarded): (Envelope, Vec<usize>), content: &[u8]) -> Result<Parcel, Problem> {
    let (deliver, now) = (&shared.settings.deliver, shared.mailroom.now());
    if mail::header::received_count(content) > deliver.received_max {
        let text = "The message has gone round too often: too many Received fields";
        let status = Status { code: 554, enhanced: (5, 4, 6), text: text.to_owned() };
        return Err(refused(&status, "The message", None));
    }
    let mut raw = Vec::with_capacity(content.len() + 512);
    mail::trace::write(&mut raw, &envelope, &deliver.hostname, deliver.trace_peer, now);
    raw.extend_from_slice(content);
    Ok(Parcel { raw: raw.into(), envelope: Arc::new(envelope), discarded, received_at: now })
}

/// None: the key came before with something else.
async fn hand_in(
    shared: &Shared,
    asked: &Asked,
    parcel: Parcel,
    key: Option<&str>,
    sum: [u8; 32],
) -> mailroom::Result<Option<Delivered>> {
    let Some(key) = key else { return shared.mailroom.deliver(&asked.caller, parcel).await.map(Some) };
    let once = Once { key, sum, window: shared.settings.deliver.idempotency_window };
    match shared.mailroom.deliver_once(&asked.caller, parcel, once).await? {
        Outcome::Delivered(delivered) => Ok(Some(delivered)),
        Outcome::Conflict => Ok(None),
    }
}

fn conflict() -> Problem {
    let detail = "This Idempotency-Key came before with another message or envelope. Take a new key for each.";
    Problem::named(StatusCode::CONFLICT, "idempotency-conflict", "Key used already", detail)
}

/// The message itself was not taken; it is remembered as a refusal of SMTP is.
async fn refused_whole(shared: &Shared, asked: &Asked, verdict: Verdict, envelope: &Envelope) -> Problem {
    match pass(shared, asked, verdict, Stage::Data, envelope, None).await {
        Err(problem) => problem,
        // To cut the line is all that was said.
        Ok(()) => Problem::internal(),
    }
}

/// What makes a request the same as another: what was sent, and for whom.
fn sum(asked: &Asked, content: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    hasher.update((asked.query().len() as u64).to_le_bytes());
    hasher.update(asked.query());
    hasher.update(content);
    hasher.finalize().into()
}

fn key(asked: &Asked) -> Result<Option<String>, Problem> {
    let Some(value) = asked.fields().get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > KEY_MAX {
        let detail = format!("It has 1 to {KEY_MAX} printable ASCII characters. Take a random one for each message.");
        let name = "Idempotency-Key".to_owned();
        return Err(Problem::mistakes(&[Mistake { place: "header", name, detail, nearest: None }]));
    }
    Ok(Some(text.to_owned()))
}

fn sender(text: &str) -> Result<ReversePath, Problem> {
    if text.is_empty() {
        return Ok(ReversePath(None));
    }
    let address = Address::parse(text, Charset::Utf8);
    address.map(|address| ReversePath(Some(address))).map_err(|_| refuse("mailFrom", no_address(text)))
}

fn recipient(text: &str) -> Result<Address, Problem> {
    Address::parse(text, Charset::Utf8).map_err(|_| refuse("rcptTo", no_address(text)))
}

fn no_address(text: &str) -> String {
    let shown: String = text.chars().take(80).collect();
    format!("{shown:?} is no address. Write it as alice@example.com, a plus sign as it is or as %2B.")
}
