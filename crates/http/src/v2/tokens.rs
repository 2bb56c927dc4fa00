//! `/api/v2/tokens`: who may do what, for those who run the server. A token is told once, when it is issued.

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use jiff::Timestamp;
use mailroom::access::{Grant, Origin};
use mailroom::{NewToken, Revoked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::Params;
use super::wire::time;
use super::{About, Answer, Shape, body, changing, done, json, reading};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const LIST: About = About {
    id: "listTokens",
    summary: "List tokens",
    detail: "Those that are good, of the configuration and issued ones. What opens with them is not told.",
    params: &[],
    bodies: &[],
    answers: &[Answer {
        status: 200,
        about: "The tokens.",
        media_type: "application/json",
        shape: Shape::of::<TokenList>(
            r#"{"items":[{"id":"7h2k9m4n","name":"ci","scopes":["rw:ci-*"],"origin":"issued",
            "createdAt":"2026-11-14T09:30:00.000000+00:00","expiresAt":null}]}"#,
        ),
    }],
    problems: &["not-in-public-mode"],
};

pub(crate) const ISSUE: About = About {
    id: "issueToken",
    summary: "Issue a token",
    detail: "It is good at once, on every node.",
    params: &[],
    bodies: &[(
        "application/json",
        Shape::of::<TokenRequest>(r#"{"name":"ci","scopes":["rw:ci-*"],"expiresAt":"2027-01-01T00:00:00Z"}"#),
    )],
    answers: &[Answer {
        status: 201,
        about: "The token, which is told only here.",
        media_type: "application/json",
        shape: Shape::of::<IssuedToken>(
            r#"{"id":"7h2k9m4n","name":"ci","scopes":["rw:ci-*"],"origin":"issued",
            "createdAt":"2026-11-14T09:30:00.000000+00:00","expiresAt":"2027-01-01T00:00:00.000000+00:00",
            "token":"pkt_7h2k9m4n_8p3q6r1s5t0v7w2x9y4z8abcd3e6f1g5"}"#,
        ),
    }],
    problems: &["not-in-public-mode", "not-in-open-mode", "outcome-unknown", "store-full"],
};

pub(crate) const REVOKE: About = About {
    id: "revokeToken",
    summary: "Revoke a token",
    detail: "It is good for nothing on every node within a second, also for those who are let in already.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 204, about: "It is good for nothing.", media_type: "", shape: Shape::Nothing }],
    problems: &["not-in-public-mode", "not-in-open-mode", "token-unknown", "token-in-file", "outcome-unknown"],
};

/// How a token is asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct TokenRequest {
    /// What people call it.
    #[serde(default)]
    name: String,
    /// What it is good for, each as `verbs:pattern`.
    #[schema(min_items = 1)]
    scopes: Vec<String>,
    /// Until when; for ever when it is left out.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// A token.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Token {
    /// What it goes by.
    id: String,
    /// What people call it.
    name: String,
    /// What it is good for.
    scopes: Vec<String>,
    /// `file` or `issued`.
    origin: &'static str,
    /// When it was issued.
    #[schema(format = DateTime)]
    created_at: Option<String>,
    /// Until when it is good.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// All of them.
#[derive(Serialize, ToSchema)]
struct TokenList {
    /// Those of the configuration first.
    items: Vec<Token>,
}

/// A token that was issued.
#[derive(Serialize, ToSchema)]
struct IssuedToken {
    #[serde(flatten)]
    kept: Token,
    /// The token itself.
    token: String,
}

pub(crate) async fn list(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, LIST.params)?;
    let grants = shared.mailroom.list_tokens(&asked.caller).map_err(reading)?;
    json(shared, StatusCode::OK, &TokenList { items: grants.iter().map(|grant| told(shared, grant)).collect() })
}

pub(crate) async fn issue(shared: &Shared, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    Params::read(asked, ISSUE.params)?;
    let TokenRequest { name, scopes, expires_at } = body::read(shared, asked, &body)?;
    let scopes = shared.mailroom.scopes(&scopes).map_err(|bad| body::refuse("scopes", format!("{bad}.")))?;
    let expires: Option<Timestamp> = match expires_at {
        Some(text) => {
            let bad = |_| body::refuse("expiresAt", "It is a time such as 2027-01-01T00:00:00Z.");
            Some(text.parse().map_err(bad)?)
        }
        None => None,
    };
    let issued = shared.mailroom.issue_token(&asked.caller, NewToken { name, scopes, expires }).await;
    let issued = issued.map_err(changing)?;
    let token = issued.token.text().to_owned();
    json(shared, StatusCode::CREATED, &IssuedToken { kept: told(shared, &issued.grant), token })
}

pub(crate) async fn revoke(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let [id] = asked.tail();
    Params::read(asked, REVOKE.params)?;
    let id = percent_encoding::percent_decode_str(id).decode_utf8_lossy();
    match shared.mailroom.revoke_token(&asked.caller, &id).await.map_err(changing)? {
        Revoked::Done => Ok(done()),
        Revoked::Unknown => Err(Problem::token_unknown()),
        Revoked::InFile => Err(Problem::token_in_file()),
    }
}

fn told(shared: &Shared, grant: &Grant) -> Token {
    Token {
        id: grant.id.clone(),
        name: grant.name.clone(),
        scopes: shared.mailroom.spelled_scopes(&grant.scopes),
        origin: match grant.origin {
            Origin::File => "file",
            Origin::Issued => "issued",
            Origin::Proxy => "proxy",
        },
        created_at: grant.created.map(time),
        expires_at: grant.expires.map(time),
    }
}
