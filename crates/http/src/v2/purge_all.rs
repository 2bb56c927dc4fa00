//! `DELETE /api/v2/messages?all=true`: every mailbox is emptied.

use axum::response::Response;

use super::params::{Params, refuse};
use super::{About, Answer, Kind, Param, Shape, changing, done};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) const PURGE: About = About {
    id: "purgeAll",
    summary: "Empty all mailboxes",
    detail: "Only with all=true, so that nothing shorter does it. An engine that keeps no list of mailboxes answers 501.",
    params: &[
        Param::new("all", Kind::Flag, "Must be true."),
        Param::new("until", Kind::Text, "A cursor over all mailboxes: what came behind it stays."),
    ],
    bodies: &[],
    answers: &[Answer { status: 204, about: "They are empty.", media_type: "", shape: Shape::Nothing }],
    problems: &["bad-cursor", "not-in-public-mode", "outcome-unknown"],
};

pub(crate) async fn purge(shared: &Shared, asked: &Asked) -> Result<Response, Problem> {
    let params = Params::read(asked, PURGE.params)?;
    if params.flag("all")? != Some(true) {
        return Err(refuse("all", "This empties all mailboxes. Say all=true if that is meant, or empty one mailbox."));
    }
    shared.mailroom.purge_all(&asked.caller, params.exact("until").as_deref()).await.map_err(changing)?;
    Ok(done())
}
