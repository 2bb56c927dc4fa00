//! The routes: one table, and nothing is public that is not in it (T066).

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter};
use bytes::Bytes;

use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::{attachment, counters, health, home, import, v1};

/// A path and what can be done there. HEAD works wherever GET does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    /// Segments in braces are parameters.
    pub(crate) path: &'static str,
    /// At most one for each method.
    pub(crate) operations: &'static [Operation],
}

/// Everything a client can ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Home,
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
}

/// Every route there is.
pub(crate) const ROUTES: &[Route] = {
    use Operation::{Counters, Delete, Download, Home, Import, List, Live, Purge, Read, Ready, Source, View};
    &[
        Route { path: "/", operations: &[Home] },
        Route { path: "/livez", operations: &[Live] },
        Route { path: "/readyz", operations: &[Ready] },
        Route { path: "/metrics", operations: &[Counters] },
        Route { path: "/api/v1/mailbox/{name}", operations: &[List, Purge] },
        Route { path: "/api/v1/mailbox/{name}/{id}", operations: &[Read, Delete] },
        Route { path: "/api/v1/mailbox/{name}/{id}/source", operations: &[Source] },
        Route { path: "/mailbox/dattach/{name}/{id}/{index}/{filename}", operations: &[Download] },
        Route { path: "/mailbox/vattach/{name}/{id}/{index}/{filename}", operations: &[View] },
        Route { path: import::PATH, operations: &[Import] },
    ]
};

impl Operation {
    /// The method that asks for it.
    pub(crate) const fn method(self) -> Method {
        match self {
            Self::Purge | Self::Delete => Method::DELETE,
            Self::Import => Method::POST,
            _ => Method::GET,
        }
    }

    async fn answer(self, shared: &Arc<Shared>, asked: &Asked, body: Bytes) -> Result<Response, Problem> {
        match self {
            Self::Home => Ok(home::page(shared, asked)),
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
        }
    }
}

/// Whether this is the request whose body is kept: a message on its way in. All others have theirs read and dropped.
pub(crate) fn brings_mail(head: &Parts, prefix: &str) -> bool {
    let path = head.uri.path();
    head.method == Method::POST && (path == import::PATH || path.strip_prefix(prefix) == Some(import::PATH))
}

/// The table as a service: at the root, and under the prefix of the public URL when it has one.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let prefix = shared.guard.prefix().to_owned();
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, methods(route));
        if !prefix.is_empty() {
            router = router.route(&format!("{prefix}{}", route.path), methods(route));
        }
    }
    if !prefix.is_empty() {
        // The base itself, which people type without the slash.
        router = router.route(&prefix, methods(&ROUTES[0]));
    }
    router
        .fallback(|| async { Problem::route_unknown() })
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed() })
        .with_state(shared)
}

fn methods(route: &Route) -> MethodRouter<Arc<Shared>> {
    route.operations.iter().fold(MethodRouter::new(), |methods, operation| {
        let operation = *operation;
        let filter = MethodFilter::try_from(operation.method()).expect("a method that axum knows");
        methods.on(filter, move |State(shared): State<Arc<Shared>>, request: Request| async move {
            let (head, body) = request.into_parts();
            // It lies in memory already, within its limit; what takes none gets an empty one.
            let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
            operation.answer(&shared, &Asked::new(head), body).await.into_response()
        })
    })
}
