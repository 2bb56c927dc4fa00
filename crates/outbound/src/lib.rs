//! The one HTTP client for everything that leaves the process, and which addresses it may dial.
//!
//! A URL is either [configured](Trust::Configured), written by whoever runs the server, or a [stranger's](Trust::Stranger): out
//! of a script, the API or a mail. A stranger's may lead to the open network and nowhere else, whatever it says, resolves to
//! or is redirected to. A name is resolved once and what was judged is what is dialled. Every answer is bounded in size
//! and time. There are no proxies of the environment, no cookies, no decompression and no credentials carried on.
//!
//! This room knows nothing of mail, of jobs or of scripts: who asks, how often, and what the answer means is theirs.

mod client;
mod error;
mod reach;
mod redirect;
mod request;
mod resolver;
mod roots;
mod settings;
mod target;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use error::Error;
pub use reach::{Place, place};
pub use request::{Redirects, Request, Response, Trust};
pub use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Method, StatusCode, Url};
pub use resolver::{Resolver, System};
pub use settings::{Roots, Settings, Strangers};
