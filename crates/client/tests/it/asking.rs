//! Everything but waits: inboxes, lists, parts, deliveries, who asks.

use std::time::Duration;

use postkeep_client::{Client, Error};
use serde_json::{Value, json};

use crate::stub::{Reply, Stub};

fn client(stub: &Stub) -> Client {
    Client::new(&stub.url()).unwrap()
}

#[tokio::test]
async fn an_inbox_is_opened_and_read_by_its_secret() {
    let stub = Stub::start(|_, asked| match asked.line.as_str() {
        "POST /api/v2/inboxes" => Reply::Json(
            201,
            json!({"mailbox": "signup-1f", "address": "signup-1f@inbox.example.com", "secret": "pki_1", "cursor": "AQ0",
                "expiresAt": "2026-11-14T10:00:00.000000+00:00", "url": "http://h/m/signup-1f"}),
        ),
        _ => Reply::Json(204, Value::Null),
    });
    let inbox = client(&stub).token("pkt_all").open_inbox("signup").ttl(Duration::from_secs(1800)).await.unwrap();
    let asked = stub.asked();
    assert_eq!(asked.json(), json!({"label": "signup", "ttl": "1800000ms"}));
    assert_eq!(asked.field("authorization"), Some("Bearer pkt_all"));
    assert_eq!(
        (inbox.address(), inbox.name(), inbox.since()),
        ("signup-1f@inbox.example.com", "signup-1f", Some("AQ0"))
    );
    assert!(!format!("{inbox:?}").contains("pki_1"), "{inbox:?}");
    inbox.purge().await.unwrap();
    let asked = stub.asked();
    assert_eq!(
        (asked.line.as_str(), asked.field("authorization")),
        ("DELETE /api/v2/mailboxes/signup-1f/messages", Some("Bearer pki_1"))
    );
    inbox.close().await.unwrap();
    assert_eq!(stub.asked().line, "DELETE /api/v2/inboxes/signup-1f");
}

#[tokio::test]
async fn a_mailbox_takes_a_cursor_when_it_is_made() {
    let stub =
        Stub::start(|_, _| Reply::Json(200, json!({"mailbox": "alice", "messages": 3, "bytes": 9, "cursor": "AQ7"})));
    let mailbox = client(&stub).mailbox("Ann/1+x@example.com").await.unwrap();
    assert_eq!(stub.asked().line, "GET /api/v2/mailboxes/Ann%2F1%2Bx%40example.com");
    assert_eq!(mailbox.since(), Some("AQ7"));
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let item =
        |id: &str| json!({"id": id, "mailbox": "a", "receivedAt": "2026-11-14T09:30:00Z", "size": 1, "later": {}});
    let stub = Stub::start(move |number, _| {
        let next = if number == 0 { json!("p 2") } else { Value::Null };
        Reply::Json(200, json!({"items": [item(&number.to_string())], "total": 2, "next": next, "cursor": "AQ"}))
    });
    let list = client(&stub).whole_mailbox("a").list().await.unwrap();
    assert_eq!(list.iter().map(|summary| summary.id.as_str()).collect::<Vec<_>>(), ["0", "1"]);
    assert_eq!(list[0].json()["later"], json!({}), "what is new is kept");
    let lines: Vec<_> = stub.rest().into_iter().map(|asked| asked.line).collect();
    let path = "GET /api/v2/mailboxes/a/messages?order=oldest";
    assert_eq!(lines, [path.to_owned(), format!("{path}&page=p%202")]);
}

#[tokio::test]
async fn an_attachment_comes_by_its_name() {
    let stub = Stub::start(|_, asked| match asked.line.as_str() {
        "GET /api/v2/mailboxes/a/messages/latest" => Reply::Json(
            200,
            json!({"id": "7", "mailbox": "a", "receivedAt": "2026-11-14T09:30:00Z", "size": 1, "subject": "Bill",
                "attachments": [{"partId": "2.1", "name": "bill.pdf", "type": "application/pdf", "size": 3}]}),
        ),
        "GET /api/v2/mailboxes/a/messages/7/parts/2.1" => {
            Reply::Raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nPDF".to_owned())
        }
        other => panic!("{other}"),
    });
    let mail = client(&stub).read("a", "latest").await.unwrap();
    assert_eq!(mail.attachment("bill.pdf").await.unwrap(), "PDF");
    let error = mail.attachment("no.pdf").await.unwrap_err().to_string();
    assert_eq!(error, "the mail \"Bill\" has no attachment \"no.pdf\"; it has \"bill.pdf\"");
}

#[tokio::test]
async fn a_delivery_carries_a_key_that_repeats_with_it() {
    let stub = Stub::start(|number, _| match number {
        0 => Reply::Json(503, json!({"title": "busy"})),
        _ => Reply::Json(201, json!({"deliveries": [{"mailbox": "bob", "id": "1"}]})),
    });
    let raw = "Subject: Hi\r\n\r\n";
    let delivered = client(&stub).deliver(raw).mail_from("ann@x.test").rcpt_to("bob+1@x.test").await.unwrap();
    assert_eq!(delivered[0].mailbox, "bob");
    let (first, second) = (stub.asked(), stub.asked());
    assert_eq!(first.line, "POST /api/v2/messages?mailFrom=ann%40x.test&rcptTo=bob%2B1%40x.test");
    assert_eq!((first.field("content-type"), first.body.as_slice()), (Some("message/rfc822"), raw.as_bytes()));
    let key = first.field("idempotency-key").unwrap();
    assert_eq!((key.len(), Some(key)), (32, second.field("idempotency-key")));
    client(&stub).compose().from("ann@x.test").to("bob@x.test").subject("Hi").text("Ho").await.unwrap();
    let third = stub.asked();
    assert_eq!(third.json(), json!({"from": "ann@x.test", "to": ["bob@x.test"], "subject": "Hi", "text": "Ho"}));
    assert_ne!(third.field("idempotency-key"), Some(key));
}

#[tokio::test]
async fn a_path_before_the_api_and_a_token_in_the_url_count() {
    let stub = Stub::start(|_, _| Reply::Json(200, json!({"items": []})));
    let url = format!("http://x:pkt_2@{}/mail/", stub.addr);
    Client::new(&url).unwrap().recent().await.unwrap();
    let asked = stub.asked();
    assert_eq!(asked.line, "GET /mail/api/v2/messages");
    assert_eq!(
        (asked.field("authorization"), asked.field("host")),
        (Some("Bearer pkt_2"), Some(stub.addr.to_string().as_str()))
    );
}

#[tokio::test]
async fn readiness_is_asked_once() {
    let stub = Stub::start(|number, _| match number {
        0 => Reply::Json(200, json!({})),
        _ => Reply::Json(503, json!({"title": "Not ready", "detail": "The store does not answer."})),
    });
    client(&stub).ready().await.unwrap();
    let error = client(&stub).ready().await.unwrap_err();
    assert!(matches!(&error, Error::Problem(problem) if problem.status == 503), "{error}");
    assert_eq!(stub.rest().iter().map(|asked| asked.line.as_str()).collect::<Vec<_>>(), ["GET /readyz"; 2]);
}

/// A client may be shared by tests that have a runtime each.
#[test]
fn a_client_outlives_a_runtime() {
    let stub = Stub::start(|_, _| Reply::Json(200, json!({"items": []})));
    let client = client(&stub);
    for _ in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(client.recent()).unwrap().is_empty());
    }
}
