//! Where an answer sends a request on to, and what of the request goes there. Pure: whom it asks is the client's.

use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, USER_AGENT};
use reqwest::{Method, StatusCode};

use crate::error::Error;
use crate::request::{Request, Trust};
use crate::target::Target;

/// Fields that another host may see. All others may hold a secret, whatever they are called.
const HARMLESS: &[HeaderName] = &[ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];

/// Where to go on, if the answer says so; the request is changed to what is asked there.
pub(crate) fn next(
    request: &mut Request,
    from: &Target,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Target>, Error> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    let unreadable = |what: String| Error::Url { what: format!("{} sent the request on to no URL: {what}", from.host) };
    let location = location.to_str().map_err(|error| unreadable(error.to_string()))?;
    let url = from.url.join(location).map_err(|error| unreadable(error.to_string()))?;
    let same = from.same_origin(&url);
    if !url.username().is_empty() || url.password().is_some() {
        // A relative one has them from the URL that it is relative to; no other has any business with some.
        let own = same && url.username() == from.url.username() && url.password() == from.url.password();
        own.then_some(()).ok_or(Error::Credentials)?;
    }
    // Another port or scheme of the same host is as trusted, but is told nothing.
    let trust = if url.host_str() == from.url.host_str() { from.trust } else { Trust::Stranger };
    let target = Target::new(url, trust)?;
    if from.url.scheme() == "https" && target.url.scheme() == "http" {
        return Err(Error::Downgrade { host: from.host.clone() });
    }
    change(request, status, same);
    Ok(Some(target))
}

/// As browsers do: 303 asks for the other place, 307 and 308 say the same thing there, and POST is no more after 301 and 302.
fn change(request: &mut Request, status: StatusCode, same_origin: bool) {
    let reading = request.method == Method::GET || request.method == Method::HEAD;
    let reads = match status.as_u16() {
        303 => !reading,
        301 | 302 => request.method == Method::POST,
        _ => false,
    };
    if reads {
        request.method = Method::GET;
        request.body.clear();
        request.headers.remove(CONTENT_TYPE);
    }
    if !same_origin {
        let kept = std::mem::take(&mut request.headers);
        request.headers = kept.iter().filter(|(name, _)| HARMLESS.contains(name)).map(owned).collect();
    }
}

fn owned((name, value): (&HeaderName, &reqwest::header::HeaderValue)) -> (HeaderName, reqwest::header::HeaderValue) {
    (name.clone(), value.clone())
}
