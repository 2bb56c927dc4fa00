//! One message: read whole, as source, deleted; and several deleted at once.

use super::{House, letter};

const MIXED: &str = "From: Shop <no-reply@shop.test>\r\nTo: alice@example.test\r\nSubject: Your code\r\n\
    Date: Sat, 14 Nov 2026 11:29:59 +0200\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/html\r\n\r\n<p>Hello<script>alert(1)</script>\r\n\
    --b\r\nContent-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n";

#[tokio::test]
async fn a_message_is_told_whole() {
    let house = House::open().await;
    let id = house.deliver("alice", MIXED).await;
    let message = house.json("/api/v2/mailboxes/alice/messages/latest").await;
    assert_eq!(message["id"], id.to_string());
    assert_eq!(message["sentAt"], "2026-11-14T11:29:59+02:00");
    assert_eq!((&message["text"], &message["textSource"]), (&"Hello".into(), &"html".into()));
    assert_eq!(message["parts"]["subParts"][1]["partId"], "2");
    assert_eq!(message["attachments"][0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(message["transport"]["protocol"], "ESMTP");
    assert_eq!(message["url"], format!("http://{}/m/alice/{id}", house.addr));
    let by_address = house.json(&format!("/api/v2/mailboxes/Alice+tag@x.test/messages/{id}")).await;
    assert_eq!(by_address, message);
}

#[tokio::test]
async fn what_is_known_is_not_sent_again() {
    let house = House::open().await;
    let id = house.deliver("alice", MIXED).await;
    let path = format!("/api/v2/mailboxes/alice/messages/{id}");
    let mut tags = Vec::new();
    for path in [path.clone(), format!("{path}/source")] {
        let tag = house.get(&path).await.field("etag").unwrap().to_owned();
        assert!(tag.starts_with('"'), "{tag} is strong");
        for list in [tag.clone(), format!("\"x\", {tag}"), "*".to_owned()] {
            let again = house.ask("GET", &path, &format!("If-None-Match: {list}\r\n")).await;
            assert_eq!((again.status, again.body.len()), (304, 0), "{list}");
        }
        assert_eq!(house.ask("GET", &path, "If-None-Match: \"x\"\r\n").await.status, 200);
        tags.push(tag);
    }
    assert_ne!(tags[0], tags[1]);
}

#[tokio::test]
async fn the_source_is_the_bytes() {
    let house = House::open().await;
    let raw: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    house.deliver("alice", raw.clone()).await;
    assert_eq!(house.get("/api/v2/mailboxes/alice/messages/latest/source").await.body, raw);
}

#[tokio::test]
async fn a_message_goes_once() {
    let house = House::open().await;
    let first = house.deliver("alice", letter("a")).await;
    house.deliver("alice", letter("b")).await;
    let gone = house.ask("DELETE", "/api/v2/mailboxes/alice/messages/latest", "").await;
    assert_eq!((gone.status, gone.body.len()), (204, 0));
    let path = format!("/api/v2/mailboxes/alice/messages/{first}");
    assert_eq!(house.ask("DELETE", &path, "").await.status, 204);
    house.ask("DELETE", &path, "").await.expect_problem(404, "message-unknown");
    house.get(&path).await.expect_problem(404, "message-unknown");
    assert_eq!(house.ask("DELETE", "/api/v2/mailboxes/alice/messages", "").await.status, 204);
}

#[tokio::test]
async fn several_go_in_one_step_and_none_is_never_all() {
    let house = House::open().await;
    let (first, second) = (house.deliver("alice", letter("a")).await, house.deliver("alice", letter("b")).await);
    let path = "/api/v2/mailboxes/alice/messages/delete";
    for body in ["{}", "{\"ids\":[]}", "[]", "", "{\"ids\":\"x\"}", "{\"ids\":[],\"all\":true}"] {
        house.send("POST", path, "application/json", body.as_bytes()).await.expect_problem(400, "bad-request");
    }
    house.send("POST", path, "text/plain", b"{\"ids\":[\"a\"]}").await.expect_problem(415, "media-type");
    let many = serde_json::json!({"ids": vec!["x"; 1001]}).to_string();
    house.send("POST", path, "application/json", many.as_bytes()).await.expect_problem(400, "bad-request");
    assert_eq!(house.count("alice").await, 2);
    let body = serde_json::json!({"ids": [second.to_string(), "nonsense", "0000000000000"]}).to_string();
    let answer = house.send("POST", path, "application/json; charset=utf-8", body.as_bytes()).await;
    assert_eq!(
        answer.value(),
        serde_json::json!({"deleted": [second.to_string()], "missing": ["nonsense", "0000000000000"]})
    );
    assert_eq!(house.json("/api/v2/mailboxes/alice/messages/latest").await["id"], first.to_string());
}
