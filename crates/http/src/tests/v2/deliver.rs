//! Mail that comes in over HTTP: as it is and from its pieces, refused, and only once.

use mailroom::Policy;
use serde_json::{Value, json};

use super::{Answer, House};
use crate::Settings;

const RAW: &[u8] = b"From: Ann <ann@x.test>\r\nTo: alice@example.test\r\nSubject: hi\r\n\r\nwords \xff\r\n";

async fn post(house: &House, query: &str, media_type: &str, body: &[u8]) -> Answer {
    house.send("POST", &format!("/api/v2/messages{query}"), media_type, body).await
}

async fn post_json(house: &House, body: Value) -> Answer {
    post(house, "", "application/json", body.to_string().as_bytes()).await
}

#[tokio::test]
async fn a_message_is_kept_as_it_is_below_its_trace() {
    let house = House::open().await;
    let query = "?mailFrom=bounce@x.test&rcptTo=alice+7@example.test&rcptTo=bob@example.test";
    let answer = post(&house, query, "message/rfc822", RAW).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let told = answer.value();
    assert_eq!(
        (&told["deliveries"][0]["mailbox"], &told["deliveries"][1]["mailbox"]),
        (&"alice".into(), &"bob".into())
    );
    let source = house.get("/api/v2/mailboxes/alice/messages/latest/source").await.body;
    assert!(source.ends_with(RAW));
    let trace = String::from_utf8_lossy(&source[..source.len() - RAW.len()]).into_owned();
    assert!(trace.starts_with("Return-Path: <bounce@x.test>\r\nReceived: from "), "{trace}");
    assert!(trace.contains(" with HTTP id "), "{trace}");
    let message = house.json("/api/v2/mailboxes/alice/messages/latest").await;
    assert_eq!(message["envelope"]["rcptTo"], json!(["alice+7@example.test", "bob@example.test"]));
    assert_eq!(message["transport"]["protocol"], "HTTP");
}

#[tokio::test]
async fn without_an_envelope_the_header_is_it() {
    let house = House::open().await;
    assert_eq!(post(&house, "", "message/rfc822", RAW).await.status, 201);
    let message = house.json("/api/v2/mailboxes/alice/messages/latest").await;
    assert_eq!(message["envelope"], json!({"mailFrom": "ann@x.test", "rcptTo": ["alice@example.test"]}));
    post(&house, "?mailFrom=", "message/rfc822", b"Subject: x\r\n\r\n").await.expect_problem(400, "bad-request");
    assert_eq!(post(&house, "?mailFrom=&rcptTo=a@x.test", "message/rfc822", b"").await.status, 201);
}

#[tokio::test]
async fn a_message_is_made_from_its_pieces() {
    let house = House::open().await;
    let answer = post_json(
        &house,
        json!({"from": "Shöp <no-reply@shop.test>", "to": ["alice@example.test", {"name": "B, b", "email": "bob@example.test"}],
            "cc": "carol@example.test", "bcc": ["dave@example.test"], "replyTo": "help@shop.test", "subject": "Grüße\u{a0}🙂",
            "text": "Dein Code: 884201\n.\nFrom here", "html": "<p>884201 <img src=\"cid:logo\">", "headers": {"X-Test-Run": "42"},
            "attachments": [{"name": "ä.pdf", "type": "application/pdf", "content": "JVBERi0="},
                {"name": "logo.png", "type": "image/png", "content": "iVBORw0KGgo=", "cid": "logo"}]}),
    )
    .await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(answer.value()["deliveries"].as_array().unwrap().len(), 4);
    let message = house.json("/api/v2/mailboxes/dave/messages/latest").await;
    assert_eq!(message["from"], json!({"name": "Shöp", "email": "no-reply@shop.test"}));
    assert_eq!(message["to"][1], json!({"name": "B, b", "email": "bob@example.test"}));
    assert_eq!((&message["subject"], &message["bcc"]), (&"Grüße\u{a0}🙂".into(), &json!([])));
    assert_eq!(message["text"].as_str().unwrap().trim_end(), "Dein Code: 884201\n.\nFrom here");
    assert_eq!(message["attachments"][0]["name"], "ä.pdf");
    assert_eq!((&message["attachments"][0]["size"], &message["attachments"][1]["cid"]), (&5.into(), &"logo".into()));
    assert!(message["sentAt"].is_string() && message["messageId"].as_str().unwrap().ends_with("@localhost"));
    assert_eq!(message["defects"], json!([]));
    let source = house.get("/api/v2/mailboxes/dave/messages/latest/source").await;
    assert!(source.text().contains("X-Test-Run: 42\r\n") && !source.text().contains("dave@"), "a blind copy is blind");
}

#[tokio::test]
async fn pieces_cannot_begin_another_field() {
    let house = House::open().await;
    let to = "alice@example.test";
    for body in [
        json!({"to": to, "subject": "a\r\nBcc: x@y.test"}),
        json!({"to": to, "headers": {"X-A\r\nB": "c"}}),
        json!({"to": to, "headers": {"X-A": "c\nB: d"}}),
        json!({"to": to, "headers": {"": "c"}}),
        json!({"to": to, "headers": {"From": "a@b.test"}}),
        json!({"to": to, "headers": {"Content-Type": "text/html"}}),
        json!({"to": "nobody"}),
        json!({"to": {"email": "a\r\nb@x.test"}}),
        json!({"to": [to, ""]}),
        json!({"to": to, "from": {"name": "a\r\nb", "email": to}}),
        json!({"to": to, "attachments": [{"name": "a", "content": "!!"}]}),
        json!({"to": to, "attachments": [{"name": "a\r\nb", "content": ""}]}),
        json!({"to": to, "attachments": [{"name": "a", "type": "x\r\ny/z", "content": ""}]}),
        json!({"to": to, "attachments": [{"name": "a", "cid": "x>\r\n", "content": ""}]}),
        json!({"subject": "for nobody"}),
        json!({"to": to, "txt": "x"}),
    ] {
        let answer = post_json(&house, body.clone()).await;
        assert_eq!((answer.status, house.count("alice").await), (400, 0), "{body}: {}", answer.text());
    }
    post(&house, "?rcptTo=alice@x.test", "text/plain", RAW).await.expect_problem(415, "media-type");
    post(&house, "?rcptTo=not%20one", "message/rfc822", RAW).await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn what_policy_refuses_is_told_as_smtp_would() {
    let policy = Policy { reject: vec!["spam.test".parse().unwrap()], ..Policy::default() };
    let house = House::with_policy(policy).await;
    let both = "?rcptTo=alice@example.test&rcptTo=x@spam.test";
    let answer = post(&house, both, "message/rfc822", RAW).await;
    answer.expect_problem(422, "refused");
    let problem = answer.value();
    assert_eq!(problem["smtp"]["code"].as_u64().unwrap() / 100, 5, "{problem}");
    assert!(problem["smtp"]["enhanced"].as_str().unwrap().starts_with("5."), "{problem}");
    assert_eq!(house.count("alice").await, 0, "all get it or none");
    let refusals = house.mailroom.refusals(&mailroom::Caller::Program, &mailroom::Scope::All, 10).unwrap();
    assert_eq!(refusals.items.len(), 1);
    let looped = "Received: x\r\n".repeat(101) + "\r\n";
    let answer = post(&house, "?rcptTo=alice@example.test", "message/rfc822", looped.as_bytes()).await;
    answer.expect_problem(422, "refused");
    assert_eq!(
        answer.value()["smtp"],
        json!({"code": 554, "enhanced": "5.4.6",
        "text": "The message has gone round too often: too many Received fields"})
    );
}

#[tokio::test]
async fn t058_a_delivery_is_bounded_as_over_smtp() {
    let settings = Settings { message_max: 1000, import_max: 2000, ..Settings::default() };
    let house = House::with(settings).await;
    let query = "?rcptTo=alice@x.test";
    assert_eq!(post(&house, query, "message/rfc822", &[b'x'; 1000]).await.status, 201);
    for length in [1001, 2001] {
        post(&house, query, "message/rfc822", &vec![b'x'; length]).await.expect_problem(413, "body-too-large");
    }
    let many: String = (0..1001).map(|number| format!("&rcptTo=a{number}@x.test")).collect();
    let answer = post(&house, &format!("?{}", &many[1..]), "message/rfc822", b"x").await;
    answer.expect_problem(400, "bad-request");
    assert_eq!(house.count("alice").await, 1);
}

#[tokio::test]
async fn the_same_key_delivers_once() {
    let house = House::open().await;
    let ask = async |key: &str, subject: &str| {
        let body = json!({"to": "alice@x.test", "subject": subject}).to_string();
        let head = format!(
            "POST /api/v2/messages HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Idempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
            house.addr,
            body.len()
        );
        Answer::read(&house.exchange(head).await)
    };
    let (first, again) = (ask("k1", "a").await, ask("k1", "a").await);
    assert_eq!((first.status, first.value()), (201, again.value()));
    ask("k1", "b").await.expect_problem(409, "idempotency-conflict");
    assert_eq!(ask("k2", "a").await.status, 201);
    assert_eq!(house.count("alice").await, 2);
    ask(&"k".repeat(65), "a").await.expect_problem(400, "bad-request");
}
