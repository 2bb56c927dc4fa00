//! The routes: one table, and nothing is public that is not in it (T066).
//!
//! A path is matched as it was sent, segment by segment; the first route that fits is it, so one with a word stands before
//! one with a parameter in the same place.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use bytes::Bytes;

use crate::asked::Asked;
use crate::live::monitor::Dialect;
use crate::problem::{Doing, Problem};
use crate::shared::Shared;
use crate::v2::About;
use crate::{attachment, counters, health, import, live, page, v1, v2};

/// A path and what can be done there. HEAD works wherever GET does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    /// Segments in braces are parameters.
    pub(crate) path: &'static str,
    /// At most one for each method.
    pub(crate) operations: &'static [Operation],
}

/// Everything a client can ask for. Those of v2 are called by their operation ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// The page, at each of its addresses.
    Page,
    Asset,
    Favicon,
    /// The page for a person who asked for what is not there; no route leads to it.
    Lost,
    Live,
    Ready,
    Counters,
    List,
    Purge,
    Read,
    Delete,
    Source,
    Download,
    View,
    Import,
    ReadServer,
    ReadOpenapi,
    ListRecent,
    ListMessages,
    PurgeMailbox,
    DeleteMessages,
    ReadMessage,
    DeleteMessage,
    ReadSource,
    WatchEvents,
    /// All mailboxes, to Inbucket's clients.
    Monitor(Dialect),
    /// One mailbox, to the same.
    MonitorOne(Dialect),
    Wait,
    WaitMatching,
    WaitAnywhere,
    OpenInbox,
    ReadInbox,
    CloseInbox,
    ListTokens,
    IssueToken,
    RevokeToken,
    ReleaseMessage,
    ListReleases,
    ReadRelease,
    ListDeadWebhooks,
    ReplayWebhook,
    ListFaults,
    PlanFault,
    RemoveFault,
    Login,
    Logout,
    ReadHtml,
    ReadPart,
    ListMailboxes,
    ReadMailbox,
    ExportMailbox,
    DeliverMessage,
    PurgeAll,
}

/// What an operation does with the body of its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// It is read and dropped, within `http.body_max`.
    Nothing,
    /// JSON within `http.body_max`.
    Json,
    /// A message, within the size of one.
    Message,
}

/// Who watches the time until an answer begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// The door, by `http.request_timeout`.
    Door,
    /// The operation, by a key of its own.
    Own,
}

/// Every route there is.
pub(crate) const ROUTES: &[Route] = {
    use Operation::*;
    &[
        Route { path: "/", operations: &[Page] },
        Route { path: "/latest", operations: &[Page] },
        Route { path: "/monitor", operations: &[Page] },
        Route { path: "/faults", operations: &[Page] },
        Route { path: "/connect", operations: &[Page] },
        Route { path: "/help", operations: &[Page] },
        Route { path: "/login", operations: &[Page] },
        Route { path: "/m/{name}", operations: &[Page] },
        Route { path: "/m/{name}/{id}", operations: &[Page] },
        Route { path: "/m/{name}/{id}/{tab}", operations: &[Page] },
        Route { path: "/assets/{file}", operations: &[Asset] },
        Route { path: "/favicon.svg", operations: &[Favicon] },
        Route { path: "/livez", operations: &[Live] },
        Route { path: "/readyz", operations: &[Ready] },
        Route { path: "/metrics", operations: &[Counters] },
        Route { path: "/api/v1/mailbox/{name}", operations: &[List, Purge] },
        Route { path: "/api/v1/mailbox/{name}/{id}", operations: &[Read, Delete] },
        Route { path: "/api/v1/mailbox/{name}/{id}/source", operations: &[Source] },
        Route { path: "/mailbox/dattach/{name}/{id}/{index}/{filename}", operations: &[Download] },
        Route { path: "/mailbox/vattach/{name}/{id}/{index}/{filename}", operations: &[View] },
        Route { path: "/api/v2", operations: &[ReadServer] },
        Route { path: "/api/v2/openapi.json", operations: &[ReadOpenapi] },
        Route { path: "/api/v2/import", operations: &[Import] },
        Route { path: "/api/v2/messages", operations: &[ListRecent, DeliverMessage, PurgeAll] },
        Route { path: "/api/v2/events", operations: &[WatchEvents] },
        Route { path: "/api/v1/monitor/messages", operations: &[Monitor(Dialect::V1)] },
        Route { path: "/api/v1/monitor/messages/{name}", operations: &[MonitorOne(Dialect::V1)] },
        Route { path: "/api/v2/monitor/messages", operations: &[Monitor(Dialect::V2)] },
        Route { path: "/api/v2/monitor/messages/{name}", operations: &[MonitorOne(Dialect::V2)] },
        Route { path: "/api/v2/messages/wait", operations: &[WaitAnywhere] },
        Route { path: "/api/v2/mailboxes/{name}/wait", operations: &[Wait, WaitMatching] },
        Route { path: "/api/v2/mailboxes", operations: &[ListMailboxes] },
        Route { path: "/api/v2/mailboxes/{name}", operations: &[ReadMailbox] },
        Route { path: "/api/v2/mailboxes/{name}/export", operations: &[ExportMailbox] },
        Route { path: "/api/v2/mailboxes/{name}/messages", operations: &[ListMessages, PurgeMailbox] },
        Route { path: "/api/v2/mailboxes/{name}/messages/delete", operations: &[DeleteMessages] },
        Route { path: "/api/v2/mailboxes/{name}/messages/{id}", operations: &[ReadMessage, DeleteMessage] },
        Route { path: "/api/v2/mailboxes/{name}/messages/{id}/source", operations: &[ReadSource] },
        Route { path: "/api/v2/mailboxes/{name}/messages/{id}/html", operations: &[ReadHtml] },
        Route { path: "/api/v2/mailboxes/{name}/messages/{id}/parts/{partId}", operations: &[ReadPart] },
        Route { path: "/api/v2/mailboxes/{name}/messages/{id}/release", operations: &[ReleaseMessage] },
        Route { path: "/api/v2/releases", operations: &[ListReleases] },
        Route { path: "/api/v2/releases/{id}", operations: &[ReadRelease] },
        Route { path: "/api/v2/inboxes", operations: &[OpenInbox] },
        Route { path: "/api/v2/inboxes/{name}", operations: &[ReadInbox, CloseInbox] },
        Route { path: "/api/v2/tokens", operations: &[ListTokens, IssueToken] },
        Route { path: "/api/v2/tokens/{id}", operations: &[RevokeToken] },
        Route { path: "/api/v2/webhooks/dead", operations: &[ListDeadWebhooks] },
        Route { path: "/api/v2/webhooks/dead/{id}/replay", operations: &[ReplayWebhook] },
        Route { path: "/api/v2/faults", operations: &[ListFaults, PlanFault] },
        Route { path: "/api/v2/faults/{id}", operations: &[RemoveFault] },
        Route { path: "/api/v2/login", operations: &[Login, Logout] },
    ]
};

impl Operation {
    /// The method that asks for it.
    pub(crate) const fn method(self) -> Method {
        match self {
            Self::Purge | Self::Delete | Self::PurgeMailbox | Self::DeleteMessage | Self::PurgeAll => Method::DELETE,
            Self::CloseInbox | Self::RevokeToken | Self::RemoveFault | Self::Logout => Method::DELETE,
            Self::Import | Self::DeleteMessages | Self::DeliverMessage | Self::WaitMatching => Method::POST,
            Self::OpenInbox | Self::IssueToken | Self::Login => Method::POST,
            Self::ReleaseMessage | Self::ReplayWebhook | Self::PlanFault => Method::POST,
            _ => Method::GET,
        }
    }

    /// What it does with a body.
    pub(crate) const fn takes(self) -> Takes {
        match self {
            Self::Import | Self::DeliverMessage => Takes::Message,
            Self::DeleteMessages | Self::WaitMatching => Takes::Json,
            Self::OpenInbox | Self::IssueToken | Self::Login => Takes::Json,
            Self::ReleaseMessage | Self::PlanFault => Takes::Json,
            _ => Takes::Nothing,
        }
    }

    /// Whether it holds nothing that anybody would have to show something for.
    pub(crate) const fn is_for_everybody(self) -> bool {
        use Operation::{Asset, Counters, Favicon, Live, Login, Logout, Lost, Page, ReadOpenapi, ReadServer, Ready};
        let is_page = matches!(self, Page | Asset | Favicon | Lost);
        is_page || matches!(self, Live | Ready | Counters | ReadServer | ReadOpenapi | Login | Logout)
    }

    /// Who watches its time.
    pub(crate) const fn patience(self) -> Patience {
        match self {
            Self::Wait | Self::WaitMatching | Self::WaitAnywhere => Patience::Own,
            _ => Patience::Door,
        }
    }

    /// What an error in it means.
    pub(crate) fn doing(self) -> Doing {
        match self {
            Self::Import | Self::DeliverMessage => Doing::Adding,
            Self::WaitMatching => Doing::Reading,
            _ if self.method() == Method::GET => Doing::Reading,
            _ => Doing::Changing,
        }
    }

    /// What the API's description says of it; none for what is not of v2.
    pub(crate) const fn about(self) -> Option<&'static About> {
        Some(match self {
            Self::ReadServer => &v2::server::READ,
            Self::ReadOpenapi => &v2::openapi::READ,
            Self::DeleteMessages => &v2::delete_messages::DELETE,
            Self::ListRecent => &v2::recent::LIST,
            Self::ListMessages => &v2::messages::LIST,
            Self::PurgeMailbox => &v2::messages::PURGE,
            Self::ReadMessage => &v2::message::READ,
            Self::DeleteMessage => &v2::message::DELETE,
            Self::ReadHtml => &v2::html::READ,
            Self::ReadPart => &v2::parts::READ,
            Self::ListMailboxes => &v2::mailboxes::LIST,
            Self::ReadMailbox => &v2::mailboxes::READ,
            Self::ExportMailbox => &v2::export::EXPORT,
            Self::DeliverMessage => &v2::deliver::DELIVER,
            Self::PurgeAll => &v2::purge_all::PURGE,
            Self::ReadSource => &v2::source::READ,
            Self::WatchEvents => &live::WATCH,
            Self::Wait => &v2::wait::WAIT,
            Self::WaitMatching => &v2::wait::WAIT_MATCHING,
            Self::WaitAnywhere => &v2::wait::WAIT_ANYWHERE,
            Self::OpenInbox => &v2::inboxes::OPEN,
            Self::ReadInbox => &v2::inboxes::READ,
            Self::CloseInbox => &v2::inboxes::CLOSE,
            Self::ListTokens => &v2::tokens::LIST,
            Self::IssueToken => &v2::tokens::ISSUE,
            Self::RevokeToken => &v2::tokens::REVOKE,
            Self::ReleaseMessage => &v2::releases::RELEASE,
            Self::ListReleases => &v2::releases::LIST,
            Self::ReadRelease => &v2::releases::READ,
            Self::ListDeadWebhooks => &v2::webhooks::LIST,
            Self::ReplayWebhook => &v2::webhooks::REPLAY,
            Self::ListFaults => &v2::faults::LIST,
            Self::PlanFault => &v2::faults::PLAN,
            Self::RemoveFault => &v2::faults::REMOVE,
            Self::Login => &v2::login::LOGIN,
            Self::Logout => &v2::login::LOGOUT,
            Self::Import => &import::ABOUT,
            _ => return None,
        })
    }

    pub(crate) async fn answer(self, shared: &Arc<Shared>, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
        match self {
            Self::Page => Ok(page::shell(shared, asked)),
            Self::Asset => page::asset(shared, asked),
            Self::Favicon => page::favicon(shared, asked),
            Self::Lost => Ok(page::lost(shared, asked)),
            Self::Live => Ok(health::live()),
            Self::Ready => health::ready(shared).await,
            Self::Counters => counters::counters(shared),
            Self::List => v1::list(shared, asked).await,
            Self::Purge => v1::purge(shared, asked).await,
            Self::Read => v1::read(shared, asked).await,
            Self::Delete => v1::delete(shared, asked).await,
            Self::Source => v1::source(shared, asked).await,
            Self::Download => attachment::download(shared, asked).await,
            Self::View => attachment::view(shared, asked).await,
            Self::Import => import::import(shared, asked, body).await,
            Self::ReadServer => v2::server::read(shared, asked).await,
            Self::ReadOpenapi => v2::openapi::read(asked).await,
            Self::DeleteMessages => v2::delete_messages::delete(shared, asked, body).await,
            Self::ListRecent => v2::recent::list(shared, asked).await,
            Self::ListMessages => v2::messages::list(shared, asked).await,
            Self::PurgeMailbox => v2::messages::purge(shared, asked).await,
            Self::ReadMessage => v2::message::read(shared, asked).await,
            Self::DeleteMessage => v2::message::delete(shared, asked).await,
            Self::ReadHtml => v2::html::read(shared, asked).await,
            Self::ReadPart => v2::parts::read(shared, asked).await,
            Self::ListMailboxes => v2::mailboxes::list(shared, asked).await,
            Self::ReadMailbox => v2::mailboxes::read(shared, asked).await,
            Self::ExportMailbox => v2::export::export(shared, asked).await,
            Self::DeliverMessage => v2::deliver::deliver(shared, asked, body).await,
            Self::PurgeAll => v2::purge_all::purge(shared, asked).await,
            Self::ReadSource => v2::source::read(shared, asked).await,
            Self::WatchEvents => live::watch_events(shared, asked).await,
            Self::Monitor(dialect) => live::monitor::all(shared, asked, dialect).await,
            Self::MonitorOne(dialect) => live::monitor::one(shared, asked, dialect).await,
            Self::Wait => v2::wait::wait(shared, asked).await,
            Self::WaitMatching => v2::wait::wait_matching(shared, asked, body).await,
            Self::WaitAnywhere => v2::wait::wait_anywhere(shared, asked).await,
            Self::OpenInbox => v2::inboxes::open(shared, asked, body).await,
            Self::ReadInbox => v2::inboxes::read(shared, asked).await,
            Self::CloseInbox => v2::inboxes::close(shared, asked).await,
            Self::ListTokens => v2::tokens::list(shared, asked).await,
            Self::IssueToken => v2::tokens::issue(shared, asked, body).await,
            Self::RevokeToken => v2::tokens::revoke(shared, asked).await,
            Self::ReleaseMessage => v2::releases::release(shared, asked, body).await,
            Self::ListReleases => v2::releases::list(shared, asked).await,
            Self::ReadRelease => v2::releases::read(shared, asked).await,
            Self::ListDeadWebhooks => v2::webhooks::list(shared, asked).await,
            Self::ReplayWebhook => v2::webhooks::replay(shared, asked).await,
            Self::ListFaults => v2::faults::list(shared, asked).await,
            Self::PlanFault => v2::faults::plan(shared, asked, body).await,
            Self::RemoveFault => v2::faults::remove(shared, asked).await,
            Self::Login => v2::login::login(shared, asked, body).await,
            Self::Logout => v2::login::logout(shared, asked).await,
        }
    }
}

/// What is asked for: at the root, and under the prefix of the public URL when it has one.
pub(crate) fn find(method: &Method, path: &str, prefix: &str) -> Result<Operation, Problem> {
    let route = below(path, prefix).and_then(matching).or_else(|| matching(path)).ok_or_else(Problem::route_unknown)?;
    // RFC 9110 §9.3.2: HEAD is GET without its body, which hyper leaves out.
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let found = route.operations.iter().find(|done| done.method() == *method);
    found.copied().ok_or_else(|| Problem::method_not_allowed(&allowed(route)))
}

/// Whether a path is one that programs ask for and people do not.
pub(crate) fn is_api(path: &str, prefix: &str) -> bool {
    let is_api = |path: &str| path == "/api" || path.starts_with("/api/");
    is_api(path) || below(path, prefix).is_some_and(is_api)
}

/// Whether a path is one of v2, whose problems tell more.
pub(crate) fn is_v2(path: &str, prefix: &str) -> bool {
    let is_v2 = |path: &str| path == "/api/v2" || path.starts_with("/api/v2/");
    is_v2(path) || below(path, prefix).is_some_and(is_v2)
}

/// The path behind the prefix. The base itself is typed without the slash by many.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let path = path.strip_prefix(prefix).filter(|_| !prefix.is_empty())?;
    Some(if path.is_empty() { "/" } else { path })
}

fn matching(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| fits(route.path, path))
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (Some(parameter), Some(segment)) if parameter.starts_with('{') && !segment.is_empty() => {}
            (Some(word), Some(segment)) if word == segment => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

/// The methods of a route, as the Allow field names them.
fn allowed(route: &Route) -> String {
    let name =
        |done: &Operation| if done.method() == Method::GET { "GET,HEAD".to_owned() } else { done.method().to_string() };
    route.operations.iter().map(name).collect::<Vec<_>>().join(",")
}
