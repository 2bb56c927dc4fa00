//! Inboxes over HTTP.

use mailroom::access::Mode;

use super::{bearer, house, value};

#[tokio::test]
async fn an_inbox_is_opened_read_and_closed() {
    let (house, bunch) = house(Mode::Token).await;
    let token = bearer(bunch.of("ro:other"));
    let asked = r#"{"label":"signup","ttl":"30m","domain":"Team.Test"}"#;
    let answer = house.send_json("POST", "/api/v2/inboxes", &token, asked).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let opened = value(&answer);
    let (name, secret) = (opened["mailbox"].as_str().unwrap(), bearer(opened["secret"].as_str().unwrap()));
    assert_eq!(opened["address"], format!("{name}@team.test"));
    assert!(name.starts_with("signup-") && opened["url"].as_str().unwrap().ends_with(&format!("/m/{name}")));
    assert!(opened["cursor"].as_str().unwrap().starts_with("A"));
    let path = format!("/api/v2/inboxes/{name}");
    let read = house.ask("GET", &path, &secret).await;
    assert_eq!((read.status, value(&read)["expiresAt"].clone()), (200, opened["expiresAt"].clone()));
    house.deliver(name, "Subject: hello\r\n\r\n").await;
    let list = house.ask("GET", &format!("/api/v2/mailboxes/{name}/messages"), &secret).await;
    assert_eq!((list.status, value(&list)["items"].as_array().unwrap().len()), (200, 1));
    house.ask("GET", &path, &token).await.expect_problem(403, "inbox-secret-required");
    assert_eq!(house.ask("DELETE", &path, &secret).await.status, 204);
    assert_eq!(house.count(name).await, 0);
    assert_eq!(house.ask("GET", &path, &secret).await.status, 200, "the address lives on");
    house.ask("GET", "/api/v2/inboxes/box", &bearer(bunch.of("ro:box"))).await.expect_problem(404, "inbox-unknown");
}

#[tokio::test]
async fn what_an_inbox_cannot_be_is_said() {
    let (house, _) = house(Mode::Open).await;
    let check = async |body: &str, word: &str| {
        let answer = house.send_json("POST", "/api/v2/inboxes", "", body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.text().contains(word), "{body}: {}", answer.text());
    };
    check(r#"{"lable":"a"}"#, "label").await;
    check(r#"{"label":"A b"}"#, "label").await;
    check(r#"{"ttl":"soon"}"#, "duration").await;
    check(r#"{"ttl":"9d"}"#, "inbox.ttl_max").await;
    check(r#"{"domain":"no domain"}"#, "domain").await;
    assert_eq!(house.ask("POST", "/api/v2/inboxes", "Content-Length: 0\r\n").await.status, 201, "all may be left out");
}

#[tokio::test]
async fn in_public_mode_anybody_opens_and_a_message_tells_no_way() {
    let (house, bunch) = house(Mode::Public).await;
    assert_eq!(house.send_json("POST", "/api/v2/inboxes", "", "{}").await.status, 201);
    house.deliver("box", "Subject: hello\r\n\r\n").await;
    let path = "/api/v2/mailboxes/box/messages/latest";
    let seen = value(&house.ask("GET", path, "").await);
    assert_eq!(seen["transport"], serde_json::Value::Null);
    assert_eq!(seen["envelope"]["rcptTo"], serde_json::json!(["box@example.test"]));
    let seen = value(&house.ask("GET", path, &bearer(bunch.of("ro:box"))).await);
    assert_eq!(seen["transport"]["helo"], "client.test");
}
