//! The shapes of waiting.

use std::collections::BTreeMap;
use std::time::Duration;

use mailroom::wait::diagnosis::NearMiss as Missed;
use mailroom::wait::matchers::Failed;
use mailroom::{Refusal as Refused, wait};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::message::Message;
use super::time;
use crate::shared::Shared;

/// What is waited for.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
#[schema(as = WaitRequest)]
pub(crate) struct Asked {
    /// What the mail must be like; without it any mail will do.
    #[serde(rename = "match")]
    pub(crate) matching: Matching,
    /// Only what came behind this cursor.
    pub(crate) since: Option<String>,
    /// As `20s`.
    #[schema(example = "20s")]
    pub(crate) timeout: Option<String>,
    /// How many mails.
    pub(crate) count: Option<u64>,
    /// Ids that were seen already.
    pub(crate) exclude: Vec<String>,
    /// `newest` or `oldest`.
    pub(crate) order: Option<String>,
    /// `mail` or `none`.
    pub(crate) expect: Option<String>,
}

/// What a mail must be like: all of it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Matching {
    /// The author's address, or `@host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// An envelope recipient that led here, or `@host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// The subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Text>,
    /// The text or the visible HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Text>,
    /// Header fields with their exact values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) header: BTreeMap<String, String>,
    /// `code`, `link`, `link:reset`, `attachment`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) has: Vec<String>,
}

/// A text: contained, or compared as it says.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged, expecting = "a text is a string, or one of {\"is\": …}, {\"contains\": …} and {\"regex\": …}")]
pub(crate) enum Text {
    /// Somewhere in it.
    Contains(String),
    /// In this manner.
    Said(Manner),
}

/// How a text is compared.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Manner {
    /// Equal, but for case.
    Is(String),
    /// Somewhere in it, but for case.
    Contains(String),
    /// By an expression.
    Regex(String),
}

/// A wait that ended well.
#[derive(Serialize, ToSchema)]
pub(crate) struct Waited {
    /// `matched`, or `quiet` when none was expected and none came.
    pub(crate) outcome: &'static str,
    /// The mails in order of arrival, whole.
    pub(crate) messages: Vec<Message>,
    /// The place behind what was looked at, for `since`.
    pub(crate) cursor: String,
    /// How long it took.
    #[schema(example = "1.204s")]
    pub(crate) waited: String,
}

/// Why the mail did not come, as far as it is known.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diagnosis {
    /// How long was waited.
    waited: String,
    /// What was waited for.
    criteria: Matching,
    /// Behind which cursor.
    since: Option<String>,
    /// The place behind what was looked at.
    cursor: String,
    /// How many mails came, whatever they were like.
    arrived: usize,
    /// Those that matched, when more were wanted.
    matched: Vec<String>,
    /// Those that nearly matched, the nearest first.
    near_misses: Vec<NearMiss>,
    /// Of those that were to be left out.
    excluded: Count,
    /// Of those that came in the minute before the cursor was taken.
    before_cursor: Count,
    /// Mailboxes of a similar name that hold mail.
    similar: Vec<Similar>,
    /// What was refused at SMTP on its way here, the newest first.
    refusals: Vec<Refusal>,
    /// Who connected to send.
    smtp: Option<Smtp>,
    /// Which nodes were asked for all this.
    scope: Scope,
}

/// How many would have matched.
#[derive(Serialize, ToSchema)]
pub(crate) struct Count {
    matching: usize,
}

/// A mail that came and is not the one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NearMiss {
    id: String,
    received_at: String,
    from: String,
    subject: String,
    /// The matchers that did not hold.
    failed: Vec<FailedMatcher>,
    /// The names of those that did.
    passed: Vec<String>,
}

/// A matcher that did not hold.
#[derive(Serialize, ToSchema)]
pub(crate) struct FailedMatcher {
    /// As `subject.contains`.
    matcher: String,
    wanted: String,
    got: String,
}

/// A mailbox that was perhaps meant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Similar {
    mailbox: String,
    messages: u64,
    newest_at: String,
}

/// Something that was refused at SMTP.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refusal {
    at: String,
    /// `MAIL`, `RCPT` or `DATA`.
    stage: &'static str,
    mail_from: Option<String>,
    /// What the client was told.
    reply: String,
    /// The fault on demand that it was: the id of its plan, or the address.
    fault: Option<String>,
}

/// Who connected to send.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Smtp {
    /// Since this process started.
    connections: u64,
    last_connection_at: Option<String>,
}

/// Which nodes were asked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scope {
    nodes_asked: usize,
    nodes_answered: usize,
}

impl Diagnosis {
    /// What the mailroom found out, as it is told.
    pub(crate) fn of(shared: &Shared, why: &wait::Diagnosis, asked: Asked, cursor: String, waited: String) -> Self {
        let similar = |near: &mailroom::Similar| Similar {
            mailbox: shared.mailroom.spelling(&near.mailbox).into_owned(),
            messages: near.messages,
            newest_at: time(near.newest_at),
        };
        let smtp = Smtp { connections: why.smtp.count, last_connection_at: why.smtp.last_at.map(time) };
        Self {
            waited,
            criteria: asked.matching,
            since: asked.since,
            cursor,
            arrived: why.arrived,
            matched: why.matched.iter().map(ToString::to_string).collect(),
            near_misses: why.near_misses.iter().map(NearMiss::of).collect(),
            excluded: Count { matching: why.excluded },
            before_cursor: Count { matching: why.before_cursor },
            similar: why.similar.iter().map(similar).collect(),
            refusals: why.refusals.iter().map(Refusal::of).collect(),
            smtp: Some(smtp),
            scope: why
                .nodes
                .map_or(Scope::HERE, |nodes| Scope { nodes_asked: nodes.asked, nodes_answered: nodes.answered }),
        }
    }
}

impl Scope {
    /// Only the node that answers.
    const HERE: Self = Self { nodes_asked: 1, nodes_answered: 1 };
}

impl NearMiss {
    fn of(miss: &Missed) -> Self {
        let failed = |failed: &Failed| FailedMatcher {
            matcher: failed.matcher.clone(),
            wanted: failed.wanted.clone(),
            got: failed.got.clone(),
        };
        let summary = &miss.item.summary;
        Self {
            id: summary.id.to_string(),
            received_at: time(summary.received_at),
            from: summary.from.email.clone(),
            subject: summary.subject.clone(),
            failed: miss.fared.failed.iter().map(failed).collect(),
            passed: miss.fared.passed.clone(),
        }
    }
}

impl Refusal {
    fn of(refused: &Refused) -> Self {
        let sender = refused.mail_from.as_ref().and_then(|path| path.0.as_ref());
        let (class, subject, detail) = refused.reply.enhanced;
        Self {
            at: time(refused.at),
            stage: refused.stage.command(),
            mail_from: sender.map(ToString::to_string),
            reply: format!("{} {class}.{subject}.{detail} {}", refused.reply.code, refused.reply.text),
            fault: refused.fault.as_ref().map(|fault| fault.name().to_owned()),
        }
    }
}

/// As durations are written: `1.204s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let millis = duration.as_millis();
    format!("{}.{:03}s", millis / 1000, millis % 1000)
}
