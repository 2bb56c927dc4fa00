//! `/api/v2/login`: a token or an inbox's secret is exchanged for a cookie, so that the page need not keep it, and back.

use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use mailroom::Caller;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::params::Params;
use super::wire::time;
use super::{About, Answer, Shape, body, changing, done, json};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::sign::{cookie, cookie_name};

pub(crate) const LOGIN: About = About {
    id: "login",
    summary: "Log in",
    detail: "Sets a cookie that stands for the token or the secret, for access.login_ttl. One that was there is over.",
    params: &[],
    bodies: &[(
        "application/json",
        Shape::of::<LoginRequest>(r#"{"token":"pkt_7h2k9m4n_8p3q6r1s5t0v7w2x9y4z8abcd3e6f1g5"}"#),
    )],
    answers: &[Answer {
        status: 200,
        about: "Who logged in, and the cookie.",
        media_type: "application/json",
        shape: Shape::of::<LoggedIn>(
            r#"{"id":"7h2k9m4n","name":"ci","scopes":["rw:ci-*"],"mailbox":null,
            "expiresAt":"2026-11-14T21:30:00.000000+00:00"}"#,
        ),
    }],
    problems: &["outcome-unknown", "store-full"],
};

pub(crate) const LOGOUT: About = About {
    id: "logout",
    summary: "Log out",
    detail: "The login is over, on every node.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 204, about: "It is over.", media_type: "", shape: Shape::Nothing }],
    problems: &["outcome-unknown"],
};

/// What to log in with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LoginRequest {
    /// A token, or the secret of an inbox.
    token: String,
}

/// Who logged in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LoggedIn {
    /// Of the token.
    id: Option<String>,
    /// Of the token.
    name: Option<String>,
    /// Of the token.
    scopes: Vec<String>,
    /// Of the inbox.
    mailbox: Option<String>,
    /// Until when the login is good.
    #[schema(format = DateTime)]
    expires_at: String,
}

pub(crate) async fn login(shared: &Shared, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
    Params::read(asked, LOGIN.params)?;
    let LoginRequest { token } = body::read(shared, asked, &body)?;
    let name = cookie_name(&asked.base_url(shared));
    let before = cookie(asked.fields(), &name);
    let (caller, login) = shared.mailroom.login(&token, before, asked.client).await.map_err(changing)?;
    let mut logged_in =
        LoggedIn { id: None, name: None, scopes: Vec::new(), mailbox: None, expires_at: time(login.expires) };
    match caller {
        Caller::Token { grant } => {
            logged_in.scopes = shared.mailroom.spelled_scopes(&grant.scopes);
            (logged_in.id, logged_in.name) = (Some(grant.id.clone()), Some(grant.name.clone()));
        }
        Caller::Inbox { mailbox } => logged_in.mailbox = Some(shared.mailroom.spelling(&mailbox).into_owned()),
        _ => {}
    }
    let left = login.expires.duration_since(shared.mailroom.now());
    let seconds = left.as_secs().max(0) + i64::from(left.subsec_nanos() > 0);
    let mut response = json(shared, StatusCode::OK, &logged_in)?;
    set_cookie(shared, &mut response, &name, &login.cookie, seconds);
    Ok(response)
}

pub(crate) async fn logout(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, LOGOUT.params)?;
    let name = cookie_name(&asked.base_url(shared));
    if let Some(cookie) = cookie(asked.fields(), &name) {
        shared.mailroom.logout(cookie).await.map_err(changing)?;
    }
    let mut response = done();
    set_cookie(shared, &mut response, &name, "", 0);
    Ok(response)
}

/// No script reads it and no other site sends it; on https nothing but https does, for the whole host as its name demands.
fn set_cookie(shared: &Shared, response: &mut Response, name: &str, value: &str, seconds: i64) {
    let reach = match name.starts_with("__Host-") {
        true => "Path=/; Secure".to_owned(),
        false => format!("Path={}/", shared.guard.prefix()),
    };
    let field = format!("{name}={value}; {reach}; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    if let Ok(field) = HeaderValue::try_from(field) {
        response.headers_mut().insert(SET_COOKIE, field);
    }
}
