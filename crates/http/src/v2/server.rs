//! `GET /api/v2`: what this server is, what its engine can, its limits, how mail gets to it, and what the caller may.

use axum::http::StatusCode;
use axum::response::Response;
use mail::{Naming, query};
use mailroom::Caller;
use serde::Serialize;
use utoipa::ToSchema;

use super::params::Params;
use super::{About, Answer, Shape, json};
use crate::asked::Asked;
use crate::live::duration;
use crate::problem::Problem;
use crate::settings::{Settings, SmtpDoor};
use crate::shared::Shared;

pub(crate) const READ: About = About {
    id: "readServer",
    summary: "What this server is",
    detail: "Its version, what the caller may do, how mail gets to it, what its engine promises and can, and the limits of \
             requests. It is for everybody; where tokens are asked for, it tells strangers no way in for mail.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The server.",
        media_type: "application/json",
        shape: Shape::of::<Server>(include_str!("examples/server.json")),
    }],
    problems: &[],
};

/// This server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Server {
    /// `postkeep`.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// What people call it (`http.label`).
    #[schema(example = "staging-eu")]
    label: Option<String>,
    /// `access.mode`.
    mode: &'static str,
    /// What the caller may do on one mailbox at least.
    verbs: Vec<&'static str>,
    /// Whom the server takes the caller for; null for nobody.
    signed_in: Option<SignedIn>,
    /// Where mail is taken over SMTP.
    smtp: Vec<Smtp>,
    /// A domain to write behind the name of a mailbox; null when any will do.
    domain: Option<String>,
    /// `mailbox.naming`.
    naming: &'static str,
    /// How long a message is kept, as `7d`; null when it does not age.
    retention: Option<String>,
    /// Messages that a mailbox keeps; null when there is no limit.
    messages_max: Option<usize>,
    /// To whom the caller may release mail; null when it may not, or when there is no smart host.
    release: Option<Release>,
    /// How many fault plans are in force for mail that the caller may see.
    faults: usize,
    /// What can be searched for.
    search: Words,
    /// What keeps the mail.
    engine: Engine,
    /// What a request may be.
    limits: Limits,
}

/// Whom the server takes a caller for.
#[derive(Serialize, ToSchema)]
struct SignedIn {
    /// Of the token, or of the user whom a proxy named.
    name: Option<String>,
    /// Of the inbox.
    mailbox: Option<String>,
    /// Of the token.
    scopes: Vec<String>,
}

/// Mail that leaves for real people.
#[derive(Serialize, ToSchema)]
#[schema(as = Releasing)]
struct Release {
    /// Whether it does.
    enabled: bool,
    /// Addresses and patterns of them (`relay.allow`).
    allow: Vec<String>,
}

/// A listener of SMTP.
#[derive(Serialize, ToSchema)]
struct Smtp {
    /// An address, or `*` for all that the machine has.
    host: String,
    /// Its port.
    port: u16,
    /// `none`, `starttls` or `implicit`.
    tls: &'static str,
    /// `none`, `any` when one may sign in, `required` when one must.
    auth: &'static str,
}

/// The words of the language of searches.
#[derive(Serialize, ToSchema)]
struct Words {
    /// What may stand before a colon.
    keys: &'static [&'static str],
    /// What may stand behind `has:`.
    has: &'static [&'static str],
}

/// What keeps the mail.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Engine {
    /// `memory`, `disk` or `jetstream`.
    name: &'static str,
    /// What a delivery promises.
    promise: &'static str,
    /// Whether lists over all mailboxes are complete, or only what this node knows.
    whole_view: bool,
}

/// What a request may be.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Limits {
    /// Bytes of a JSON body.
    body_max: u64,
    /// Bytes of a message.
    message_max: u64,
    /// Levels of a JSON body.
    json_depth_max: usize,
    /// Messages that one request may delete.
    bulk_max: usize,
    /// Messages of a page.
    page_default: usize,
    /// Messages of a page at most.
    page_max: usize,
    /// Messages of a page with more than summaries.
    page_full_max: usize,
}

pub(crate) async fn read(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, READ.params)?;
    let (mailroom, settings) = (&shared.mailroom, &shared.settings);
    let abilities = mailroom.abilities();
    let is_stranger = mailroom.admit(&asked.caller).is_err();
    let told = &settings.told;
    let server = Server {
        name: "postkeep",
        version: env!("CARGO_PKG_VERSION"),
        label: told.label.clone(),
        mode: mailroom.mode(),
        verbs: mailroom.verbs(&asked.caller),
        signed_in: signed_in(shared, &asked.caller),
        smtp: if is_stranger { Vec::new() } else { told.smtp.iter().map(Smtp::of).collect() },
        domain: told.domain.clone().filter(|_| !is_stranger),
        naming: match mailroom.naming() {
            Naming::Local => "local",
            Naming::Full => "full",
            Naming::Domain => "domain",
        },
        retention: settings.kept.retention.map(duration),
        messages_max: Some(settings.kept.messages_max).filter(|max| *max != 0),
        release: mailroom.releases_to(&asked.caller).map(|allow| Release { enabled: true, allow }),
        faults: if is_stranger { 0 } else { mailroom.faults_in_force(&asked.caller) },
        search: Words { keys: &query::KEYS, has: query::THINGS },
        engine: Engine { name: abilities.engine, promise: abilities.promise, whole_view: abilities.whole_view },
        limits: Limits::of(settings),
    };
    json(shared, StatusCode::OK, &server)
}

fn signed_in(shared: &Shared, caller: &Caller) -> Option<SignedIn> {
    match caller {
        Caller::Token { grant } => Some(SignedIn {
            name: Some(grant.name.clone()),
            mailbox: None,
            scopes: shared.mailroom.spelled_scopes(&grant.scopes),
        }),
        Caller::Inbox { mailbox } => Some(SignedIn {
            name: None,
            mailbox: Some(shared.mailroom.spelling(mailbox).into_owned()),
            scopes: Vec::new(),
        }),
        _ => None,
    }
}

impl Smtp {
    fn of(door: &SmtpDoor) -> Self {
        Self { host: door.host.clone(), port: door.port, tls: door.tls, auth: door.auth }
    }
}

impl Limits {
    fn of(settings: &Settings) -> Self {
        Self {
            body_max: settings.body_max,
            message_max: settings.message_max,
            json_depth_max: settings.json_depth_max,
            bulk_max: settings.bulk_max,
            page_default: settings.page_default,
            page_max: settings.page_max,
            page_full_max: settings.page_full_max,
        }
    }
}
