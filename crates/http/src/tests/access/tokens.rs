//! Tokens over HTTP.

use std::time::Duration;

use mailroom::access::{Mode, Rules, Scopes};

use super::super::House;
use super::{Bunch, bearer, house, value};
use crate::Settings;

#[tokio::test]
async fn a_token_is_issued_listed_used_and_revoked() {
    let (house, bunch) = house(Mode::Token).await;
    let admin = bearer(bunch.of("admin:*"));
    let body = r#"{"name":"ci","scopes":["rw:ci-*","deliver:ci-*"],"expiresAt":"2089-01-01T00:00:00Z"}"#;
    let answer = house.send_json("POST", "/api/v2/tokens", &admin, body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let issued = value(&answer);
    let (id, token) = (issued["id"].as_str().unwrap(), bearer(issued["token"].as_str().unwrap()));
    assert_eq!(issued["scopes"], serde_json::json!(["rw:ci-*", "deliver:ci-*"]));
    assert_eq!(issued["expiresAt"], "2089-01-01T00:00:00.000000+00:00");
    assert_eq!(house.ask("GET", "/api/v1/mailbox/ci-1", &token).await.status, 200);
    house.ask("GET", "/api/v2/mailboxes/box/messages", &token).await.expect_problem(403, "forbidden");
    let needs = value(&house.ask("GET", "/api/v2/mailboxes/box/messages", &token).await);
    assert_eq!(needs["needs"], "list:box");
    let listed = house.ask("GET", "/api/v2/tokens", &admin).await;
    assert!(!listed.text().contains(&token[22..]), "a token is told once");
    let items = value(&listed)["items"].as_array().unwrap().clone();
    assert_eq!(items.len(), 6);
    assert_eq!((items[5]["id"].as_str(), items[0]["origin"].as_str()), (Some(id), Some("file")));
    let path = format!("/api/v2/tokens/{id}");
    house.ask("DELETE", &path, &token).await.expect_problem(403, "forbidden");
    assert_eq!(house.ask("DELETE", &path, &admin).await.status, 204);
    house.ask("GET", "/api/v1/mailbox/ci-1", &token).await.expect_problem(401, "unauthorized");
    house.ask("DELETE", &path, &admin).await.expect_problem(404, "token-unknown");
    house.ask("DELETE", "/api/v2/tokens/ro:box", &admin).await.expect_problem(409, "token-in-file");
}

#[tokio::test]
async fn in_open_mode_no_token_is_issued_and_none_revoked() {
    let (house, bunch) = house(Mode::Open).await;
    for credential in [String::new(), bearer(bunch.of("admin:*"))] {
        let issued = house.send_json("POST", "/api/v2/tokens", &credential, r#"{"scopes":["ro:*"]}"#).await;
        issued.expect_problem(403, "not-in-open-mode");
        house.ask("DELETE", "/api/v2/tokens/01234567", &credential).await.expect_problem(403, "not-in-open-mode");
    }
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", &bearer("pkt_stale")).await.status, 200);
}

#[tokio::test]
async fn what_a_token_cannot_be_is_said() {
    let (house, bunch) = house(Mode::Token).await;
    let admin = bearer(bunch.of("admin:*"));
    for (body, word) in [
        (r#"{"scopes":[]}"#, "scopes"),
        (r#"{"scopes":["write:*"]}"#, "write"),
        (r#"{"scopes":["ro:*@team.test"]}"#, "mailbox.naming"),
        (r#"{"scopes":["ro:*"],"expiresAt":"soon"}"#, "expiresAt"),
        (r#"{"scopes":["ro:*"],"expiresAt":"2020-01-01T00:00:00Z"}"#, "future"),
        (r#"{"scope":["ro:*"]}"#, "scopes"),
    ] {
        let answer = house.send_json("POST", "/api/v2/tokens", &admin, body).await;
        assert!(answer.status == 400 && answer.text().contains(word), "{body}: {} {}", answer.status, answer.text());
    }
}

#[tokio::test]
async fn a_401_says_how_to_ask_again() {
    let (house, bunch) = house(Mode::Token).await;
    let answer = house.get("/api/v1/mailbox/box").await;
    answer.expect_problem(401, "unauthorized");
    assert_eq!(answer.field("www-authenticate"), Some("Bearer realm=\"postkeep\""));
    let basic = |text: &str| {
        use base64::Engine;
        format!("Authorization: Basic {}\r\n", base64::engine::general_purpose::STANDARD.encode(text))
    };
    let token = bunch.of("ro:box");
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", &basic(&format!("x:{token}"))).await.status, 200);
    assert_eq!(house.ask("GET", &format!("/api/v1/mailbox/box?token={token}"), "").await.status, 401, "not in a query");
}

#[tokio::test]
async fn t102_wrong_credentials_are_slowed_down_and_right_ones_never() {
    let bunch = Bunch::new();
    let quota = net::Quota { count: 5, per: Duration::from_secs(3600) };
    let rules = Rules { failures_per_ip: Some(quota), ..bunch.rules(Mode::Token) };
    let house = House::ruled(rules, Settings::default()).await;
    let wrong = bearer("pkt_00000000_00000000000000000000000000000000");
    for _ in 0..5 {
        house.ask("GET", "/api/v1/mailbox/box", &wrong).await.expect_problem(401, "unauthorized");
    }
    let slowed = house.ask("GET", "/api/v1/mailbox/box", &wrong).await;
    slowed.expect_problem(429, "rate-limited");
    assert!(slowed.field("retry-after").is_some());
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", &bearer(bunch.of("ro:box"))).await.status, 200);
}

#[tokio::test]
async fn requests_of_one_address_are_bounded() {
    let quota = net::Quota { count: 3, per: Duration::from_secs(3600) };
    let house = House::with(Settings { rate_per_ip: Some(quota), ..Settings::default() }).await;
    for _ in 0..3 {
        assert_eq!(house.get("/api/v1/mailbox/box").await.status, 200);
    }
    house.get("/api/v1/mailbox/box").await.expect_problem(429, "rate-limited");
}

#[tokio::test]
async fn a_user_is_believed_from_a_trusted_proxy_alone() {
    let rules = || Rules { user_scopes: Scopes::parse(["ro:box"], mail::Naming::Local).unwrap(), ..Mode::Token.into() };
    let trusted = vec![net::Network::parse("127.0.0.0/8").unwrap()];
    let settings = || Settings { user_header: Some("x-user".into()), ..Settings::default() };
    let house = House::ruled(rules(), Settings { trusted_proxies: trusted, ..settings() }).await;
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", "X-User: ann\r\n").await.status, 200);
    assert_eq!(house.ask("GET", "/api/v1/mailbox/other", "X-User: ann\r\n").await.status, 403);
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", "X-User: ann\r\nX-User: bob\r\n").await.status, 400);
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", "").await.status, 401);
    let untrusting = House::ruled(rules(), settings()).await;
    assert_eq!(untrusting.ask("GET", "/api/v1/mailbox/box", "X-User: ann\r\n").await.status, 401);
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_rate() {
    let quota = net::Quota { count: 1, per: Duration::from_secs(3600) };
    let trusted = vec![net::Network::parse("127.0.0.0/8").unwrap()];
    let settings = Settings { rate_per_ip: Some(quota), trusted_proxies: trusted, ..Settings::default() };
    let house = House::with(settings).await;
    let asked = async |said: &str| house.ask("GET", "/livez", &format!("X-Forwarded-For: {said}\r\n")).await.status;
    assert_eq!(asked("192.0.2.1").await, 200);
    assert_eq!(asked("192.0.2.1").await, 429);
    assert_eq!(asked("192.0.2.2").await, 200);
    assert_eq!(asked("203.0.113.9, 192.0.2.2").await, 429, "what a client wrote before the proxy does not count");
    assert_eq!(asked("192.0.2.3, 127.0.0.2").await, 200, "a second proxy of ours is passed over");
    assert_eq!(asked("192.0.2.3").await, 429);
}
