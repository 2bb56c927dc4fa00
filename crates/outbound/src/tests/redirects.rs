//! T071: where an answer may send a request on to, and what goes along.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode};

use crate::redirect;
use crate::target::Target;
use crate::tests::kit::{Names, Server, answer, client, get, sent_on, settings};
use crate::{Client, Error, Redirects, Request, Settings, Strangers, Trust};

const ALLOWED: &str = "127.0.0.2";
const OTHER: &str = "127.0.0.3";

/// A server that sends everybody on.
async fn sending_on(status: &str, location: &str) -> Server {
    Server::saying(ALLOWED, &sent_on(status, location)).await
}

#[tokio::test]
async fn t071_no_answer_sends_a_request_inside() {
    let canary = Server::saying("127.0.0.1", &answer("200 OK", "", "inside")).await;
    let port = canary.address.port();
    for (status, location) in [
        ("301 Moved Permanently", "http://127.0.0.1:PORT/"),
        ("302 Found", "http://127.0.0.1:PORT/"),
        ("303 See Other", "http://127.0.0.1:PORT/"),
        ("307 Temporary Redirect", "http://127.0.0.1:PORT/"),
        ("308 Permanent Redirect", "http://127.0.0.1:PORT/"),
        ("302 Found", "http://[::ffff:127.0.0.1]:PORT/"),
        ("302 Found", "http://[::ffff:7f00:1]:PORT/"),
        ("302 Found", "http://2130706433:PORT/"),
        ("302 Found", "http://0x7f.1:PORT/"),
        ("302 Found", "http://0177.0.0.1:PORT/"),
        ("302 Found", "//127.0.0.1:PORT/"),
        ("302 Found", "\\\\127.0.0.1:PORT\\"),
        ("302 Found", "http:\\\\127.0.0.1:PORT"),
        ("302 Found", "http://0:PORT/"),
        ("302 Found", "http://localhost:PORT/"),
        ("302 Found", "http://inside.example:PORT/"),
        ("302 Found", "https://127.0.0.1:PORT/"),
        ("302 Found", "http://127.0.0.2@127.0.0.1:PORT/"),
        ("302 Found", "http://user:secret@127.0.0.2:PORT/"),
        ("302 Found", "file:///etc/passwd"),
        ("302 Found", "ftp://127.0.0.1:PORT/"),
        ("302 Found", "gopher://127.0.0.1:PORT/_EHLO"),
        ("302 Found", "data:text/plain,inside"),
        ("302 Found", "javascript:alert(1)"),
        ("302 Found", "http://"),
        ("302 Found", "http://[::1/"),
        ("302 Found", "http://169.254.169.254/latest/meta-data/"),
    ] {
        let location = location.replace("PORT", &port.to_string());
        let server = sending_on(status, &location).await;
        let names = Names::default().with("inside.example", &[&["127.0.0.1"]]).with("localhost", &[&["127.0.0.1"]]);
        let (client, _) = client(&[ALLOWED], names);
        let error = client.send(get(server.url())).await.expect_err(&location);
        assert!(error.is_refusal(), "{location}: {error:?}");
        assert_eq!((server.connections(), canary.connections()), (1, 0), "{location}: {error}");
    }
}

#[tokio::test]
async fn t071_three_times_on_and_no_more() {
    for (from, reached) in [(3, true), (4, false), (40, false)] {
        let server = Server::start(ALLOWED, 0, |head| {
            let left: usize = head.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            let next = format!("/{}", left.saturating_sub(1));
            let said = if left == 0 { answer("200 OK", "", "arrived") } else { sent_on("302 Found", &next) };
            vec![(Default::default(), said.into())]
        });
        let server = server.await;
        let (client, _) = client(&[ALLOWED], Names::default());
        let answer = client.send(get(format!("{}{from}", server.url()))).await;
        match answer {
            Ok(answer) => assert!(reached && answer.body == "arrived" && answer.url.ends_with("/0"), "{answer:?}"),
            Err(error) => assert!(!reached && error == Error::Redirects { max: 3 }, "{error}"),
        }
        assert_eq!(server.requests().len(), 4);
    }
}

#[tokio::test]
async fn t071_another_host_is_told_no_secret() {
    let other = Server::saying(OTHER, &answer("200 OK", "", "")).await;
    let (client, _) = client(&[ALLOWED, OTHER], Names::default());
    for (status, method) in [("302 Found", "GET"), ("303 See Other", "GET"), ("307 Temporary Redirect", "POST")] {
        let first = sending_on(status, &other.url()).await;
        let mut request = Request::new(Method::POST, first.url(), Trust::Stranger);
        for (name, value) in [
            ("authorization", "Bearer s3cret"),
            ("cookie", "a=s3cret"),
            ("x-api-key", "s3cret"),
            ("webhook-signature", "v1,s3cret"),
            ("accept", "text/plain"),
        ] {
            request.headers.insert(name, HeaderValue::from_static(value));
        }
        request.body = Bytes::from_static(b"words");
        client.send(request).await.unwrap();
        assert!(first.requests()[0].contains("s3cret"));
        let seen = other.requests().pop().unwrap();
        assert!(seen.starts_with(method) && seen.contains("accept: text/plain"), "{seen}");
        assert!(!seen.contains("s3cret") && !seen.to_lowercase().contains("referer"), "{seen}");
    }
}

#[tokio::test]
async fn t071_a_configured_url_may_go_to_its_own_host_and_is_a_stranger_beyond() {
    let inside = Server::saying("127.0.0.1", &answer("200 OK", "", "inside")).await;
    let client = Client::new(settings(&[]));
    let ask = |url: String| Request::new(Method::POST, url, Trust::Configured);
    assert_eq!(client.send(ask(inside.url())).await.unwrap().body, "inside");
    assert!(matches!(client.send(get(inside.url())).await, Err(Error::Address { .. })));

    // Another port of the same host is its own.
    let own = Server::saying("127.0.0.1", &sent_on("307 Temporary Redirect", &inside.url())).await;
    assert_eq!(client.send(ask(own.url())).await.unwrap().body, "inside");
    let beyond = sending_on("307 Temporary Redirect", &inside.url()).await;
    assert!(matches!(client.send(ask(beyond.url())).await, Err(Error::Address { .. })));
    let stopped = client.send(Request { redirects: Redirects::Stop, ..ask(beyond.url()) }).await.unwrap();
    assert_eq!(stopped.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(inside.connections(), 2);
}

#[tokio::test]
async fn a_public_server_asks_nobody_for_strangers() {
    let server = Server::saying(ALLOWED, &answer("200 OK", "", "")).await;
    let closed = Settings { strangers: Strangers::Refused, ..settings(&[ALLOWED]) };
    let client = Client::with_resolver(closed, Arc::new(Names::default()));
    assert_eq!(client.send(get(server.url())).await.unwrap_err(), Error::StrangersRefused);
    let first = Server::saying("127.0.0.1", &sent_on("302 Found", &server.url())).await;
    let request = Request::new(Method::GET, first.url(), Trust::Configured);
    assert_eq!(client.send(request).await.unwrap_err(), Error::StrangersRefused);
    assert_eq!(server.connections(), 0);
}

#[test]
fn t071_from_https_there_is_no_way_back() {
    let from = Target::read("https://a.example/x?y=1", Trust::Stranger).unwrap();
    let next = |location: &'static str| {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
        let next = redirect::next(&mut get("https://a.example/"), &from, StatusCode::FOUND, &headers);
        next.map(|target| target.map(|target| String::from(target.url)))
    };
    assert_eq!(next("http://a.example/"), Err(Error::Downgrade { host: "a.example".into() }));
    assert_eq!(next("http://b.example/"), Err(Error::Downgrade { host: "a.example".into() }));
    assert_eq!(next("/z#there"), Ok(Some("https://a.example/z".into())));
    assert_eq!(next("//b.example/z"), Ok(Some("https://b.example/z".into())));
    assert_eq!(next("https://u:p@a.example/"), Err(Error::Credentials));
}
