//! Waits: what goes over the wire, what is repeated, and what a handle hands out.

use std::time::{Duration, Instant};

use postkeep_client::{Client, Error, Kind, Mailbox};
use serde_json::{Value, json};

use crate::stub::{Reply, Stub};

fn message(id: &str) -> Value {
    json!({"id": id, "mailbox": "alice", "receivedAt": "2026-11-14T09:30:00.123456+00:00", "size": 10, "subject": "Your code",
        "text": "884201", "codes": [{"value": "884201", "raw": "884 201", "confidence": 0.99, "where": "text"}],
        "links": [{"href": "https://shop.test/reset?t=1", "kind": "reset", "action": true, "confidence": 0.9, "new": [1]}]})
}

fn matched(ids: &[&str]) -> Reply {
    let messages: Vec<Value> = ids.iter().map(|id| message(id)).collect();
    Reply::Json(200, json!({"outcome": "matched", "messages": messages, "cursor": "AQ2", "waited": "0.1s"}))
}

fn timed_out() -> Reply {
    let problem = "urn:postkeep:problem:wait-timeout";
    Reply::Json(409, json!({"type": problem, "title": "No mail matched in time", "detail": "Look.", "arrived": 0}))
}

fn alice(stub: &Stub) -> Mailbox {
    Client::new(&stub.url()).unwrap().mailbox_since("alice", "AQ1")
}

#[tokio::test]
async fn matchers_are_sent_as_the_api_has_them() {
    let stub = Stub::start(|_, _| matched(&["1"]));
    let alice = alice(&stub);
    let wait = alice.wait().subject("Reset").from("@shop.test").header("X-Run", "42").has_attachment();
    assert_eq!(wait.timeout(Duration::from_secs(20)).await.unwrap().id, "1");
    let asked = stub.asked();
    assert_eq!(asked.line, "POST /api/v2/mailboxes/alice/wait");
    let mut body = asked.json();
    let time: u64 = body["timeout"].as_str().unwrap().strip_suffix("ms").unwrap().parse().unwrap();
    assert!((19_000..=20_000).contains(&time), "{time}");
    body["timeout"] = Value::Null;
    let expected = json!({"timeout": null, "since": "AQ1", "match": {"subject": {"contains": "Reset"}, "from": "@shop.test",
        "header": {"X-Run": "42"}, "has": ["attachment"]}});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn a_handle_hands_out_each_mail_once() {
    let stub = Stub::start(|number, _| matched(&[["1", "2"], ["3", "4"]][number]));
    let alice = alice(&stub);
    assert_eq!(alice.messages(2).await.unwrap().len(), 2);
    assert_eq!(alice.cursor().as_deref(), Some("AQ2"));
    assert_eq!(stub.asked().json()["count"], 2);
    alice.code().await.unwrap();
    assert_eq!(stub.asked().json()["exclude"], json!(["1", "2"]));
}

#[tokio::test]
async fn two_calls_at_once_never_get_the_same_mail() {
    // The first two questions are answered alike, as two waits that ask at once are.
    let stub = Stub::start(|number, _| matched(&[["1", "1", "2"][number]]));
    let alice = alice(&stub);
    let (one, other) = tokio::join!(alice.message(), alice.message());
    let mut ids = [one.unwrap().id, other.unwrap().id];
    ids.sort();
    assert_eq!(ids, ["1", "2"]);
}

#[tokio::test]
async fn codes_and_links_are_what_is_asked_for() {
    let stub = Stub::start(|number, _| matched(&[&number.to_string()]));
    let alice = alice(&stub);
    assert_eq!(alice.code().await.unwrap(), "884201");
    assert_eq!(stub.asked().json()["match"]["has"], json!(["code"]));
    assert_eq!(alice.link().await.unwrap(), "https://shop.test/reset?t=1");
    assert_eq!(stub.asked().json()["match"]["has"], json!(["link"]));
    assert_eq!(alice.link_of(Kind::Reset).await.unwrap(), "https://shop.test/reset?t=1");
    assert_eq!(stub.asked().json()["match"]["has"], json!(["link:reset"]));
}

#[tokio::test]
async fn a_timeout_says_why_by_itself() {
    let stub = Stub::start(|_, _| timed_out());
    let error = alice(&stub).code().subject("Reset").timeout(Duration::ZERO).await.unwrap_err();
    let text = "PostkeepTimeout: no mail for alice matched in 0 s\n  wanted    a code, subject contains \"Reset\"\n  \
        arrived   nothing\n  hint      Look.";
    assert_eq!(format!("{error:?}"), text, "what unwrap prints is what a person reads");
    assert!(matches!(error, Error::Timeout(_)));
    assert_eq!(stub.rest().len(), 1, "zero looks once");
}

#[tokio::test]
async fn a_long_wait_is_several_short_ones() {
    let stub = Stub::start(|number, _| if number < 2 { timed_out() } else { matched(&["1"]) });
    alice(&stub).wait().timeout(Duration::from_secs(300)).await.unwrap();
    let times: Vec<_> = stub.rest().iter().map(|asked| asked.json()["timeout"].as_str().unwrap().to_owned()).collect();
    assert_eq!(times, ["25000ms"; 3]);
}

#[tokio::test]
async fn a_server_that_wants_shorter_waits_gets_them() {
    let too_long = json!({"type": "urn:postkeep:problem:timeout-too-long", "title": "t", "detail": "d"});
    let stub =
        Stub::start(move |number, _| if number < 2 { Reply::Json(400, too_long.clone()) } else { matched(&["1"]) });
    alice(&stub).wait().timeout(Duration::from_secs(300)).await.unwrap();
    assert_eq!(stub.rest()[2].json()["timeout"], "6250ms");
}

#[tokio::test]
async fn lost_connections_and_busy_servers_are_asked_again() {
    let stub = Stub::start(|number, _| match number {
        0 => timed_out(),
        1 => Reply::HangUp,
        2 => Reply::Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut".to_owned()),
        3 => Reply::Raw("HTTP/1.1 503 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n".to_owned()),
        4 => Reply::Raw("HTTP/1.1 429 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n".to_owned()),
        _ => matched(&["1"]),
    });
    assert_eq!(alice(&stub).wait().timeout(Duration::from_secs(60)).await.unwrap().id, "1");
    assert_eq!(stub.rest().len(), 6);
}

#[tokio::test]
async fn the_next_node_goes_on_from_the_cursor() {
    let dying = Stub::start(|_, _| Reply::HangUp);
    let living = Stub::start(|_, _| matched(&["1"]));
    let client = Client::new(&format!("{},{}", dying.url(), living.url())).unwrap();
    let alice = client.mailbox_since("alice", "AQ1");
    assert_eq!(alice.message().await.unwrap().id, "1");
    assert_eq!(living.asked().json()["since"], "AQ1");
    assert!(alice.message().timeout(Duration::ZERO).await.is_err());
    assert_eq!(dying.rest().len(), 1, "whoever failed is not asked first again");
}

#[tokio::test]
async fn time_is_over_when_it_is_over() {
    let stub = Stub::start(|number, _| if number == 0 { timed_out() } else { Reply::HangUp });
    let begin = Instant::now();
    let error = alice(&stub).wait().timeout(Duration::from_millis(400)).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_server_that_was_never_there_is_told_at_once() {
    let client = Client::new("http://127.0.0.1:1,http://127.0.0.1:2").unwrap();
    let begin = Instant::now();
    let error = client.mailbox_since("alice", "AQ1").wait().timeout(Duration::from_secs(60)).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot reach http://127.0.0.1:2: "), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn none_expected_is_quiet_or_names_the_mail() {
    let problem = json!({"type": "urn:postkeep:problem:unexpected-message", "title": "t", "detail": "d", "messages": [message("1")]});
    let quiet = json!({"outcome": "quiet", "messages": [], "cursor": "AQ2", "waited": "0s"});
    let stub = Stub::start(move |_, asked| {
        if asked.json()["match"]["subject"].is_null() {
            Reply::Json(200, quiet.clone())
        } else {
            Reply::Json(409, problem.clone())
        }
    });
    let alice = alice(&stub);
    alice.expect_none(Duration::from_millis(50)).await.unwrap();
    assert_eq!(stub.asked().json()["expect"], "none");
    let error = alice.expect_none(Duration::from_secs(60)).subject("Your").await.unwrap_err().to_string();
    assert!(error.contains("\"Your code\"") && error.contains("(id 1)"), "{error}");
}

#[tokio::test]
async fn other_refusals_end_the_wait() {
    let problem =
        json!({"type": "urn:postkeep:problem:forbidden", "title": "Forbidden", "detail": "Ask with a token."});
    let stub = Stub::start(move |_, _| Reply::Json(403, problem.clone()));
    let error = alice(&stub).wait().timeout(Duration::from_secs(60)).await.unwrap_err();
    assert_eq!((error.status(), error.to_string().as_str()), (Some(403), "the server says 403: Ask with a token."));
}

#[tokio::test]
async fn what_is_no_postkeep_is_told() {
    let stub = Stub::start(|_, _| Reply::Raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>".to_owned()));
    let error = alice(&stub).wait().timeout(Duration::from_secs(60)).await.unwrap_err();
    assert!(error.to_string().contains("does POSTKEEP_URL name a Postkeep server?"), "{error}");
}
