//! What is asked, and what came back.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// Where, as it was written: it is read here, by the rules that browsers have.
    pub url: String,
    /// Fields to send. Those that say where the message ends or whom it is for are refused: they are the client's.
    pub headers: HeaderMap,
    /// What to send.
    pub body: Bytes,
    /// Who wrote the URL.
    pub trust: Trust,
    /// When to give up; none for what is usual.
    pub timeout: Option<Duration>,
    /// Whether to go where the answer points.
    pub redirects: Redirects,
}

impl Request {
    /// A request without fields and body, that follows redirections.
    pub fn new(method: Method, url: impl Into<String>, trust: Trust) -> Self {
        Self {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            trust,
            timeout: None,
            redirects: Redirects::Follow,
        }
    }
}

/// Who wrote a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Whoever runs the server, in its configuration: its own host may be anywhere.
    Configured,
    /// Anybody.
    Stranger,
}

/// Whether to go where an answer points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Redirects {
    /// As far as the rules allow.
    Follow,
    /// No: the answer that points elsewhere is the answer.
    Stop,
}

/// An answer, whole.
#[derive(Clone, Debug)]
pub struct Response {
    /// How it went.
    pub status: StatusCode,
    /// Its fields.
    pub headers: HeaderMap,
    /// Its body as it came: nothing is unpacked.
    pub body: Bytes,
    /// Who answered in the end, without credentials.
    pub url: String,
}
