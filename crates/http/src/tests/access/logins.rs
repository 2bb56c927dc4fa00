//! Logins of the page (T101).

use mailroom::access::Mode;

use super::super::House;
use super::{Bunch, bearer, house, value};
use crate::Settings;

async fn login(house: &House, token: &str, fields: &str) -> (String, String) {
    let answer = house.send_json("POST", "/api/v2/login", fields, &format!("{{\"token\":{token:?}}}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let set = answer.field("set-cookie").unwrap().to_owned();
    (set.split(';').next().unwrap().to_owned(), set)
}

fn cookie(pair: &str) -> String {
    format!("Cookie: {pair}\r\n")
}

#[tokio::test]
async fn t101_a_login_is_rotated_and_over_after_logout() {
    let (house, bunch) = house(Mode::Token).await;
    let list = async |pair: &str| house.ask("GET", "/api/v1/mailbox/box", &cookie(pair)).await.status;
    let (first, set) = login(&house, bunch.of("ro:box"), "").await;
    assert!(first.starts_with(&format!("postkeep-{}=pks_", house.addr.port())), "{first}");
    assert!(set.contains("; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200") && !set.contains("Secure"), "{set}");
    assert_eq!(list(&first).await, 200);
    assert_eq!(house.ask("GET", "/api/v1/mailbox/other", &cookie(&first)).await.status, 403, "no more than the token");
    let (second, _) = login(&house, bunch.of("ro:box"), &cookie(&first)).await;
    assert_ne!(first, second);
    assert_eq!((list(&first).await, list(&second).await), (401, 200), "rotated");
    let out = house.ask("DELETE", "/api/v2/login", &cookie(&second)).await;
    assert_eq!(out.status, 204);
    assert!(out.field("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(list(&second).await, 401, "over");
    assert_eq!(list("postkeep-1=pks_00000000000000000000000000000000").await, 401);
    assert_eq!(house.ask("GET", "/", &cookie(&second)).await.status, 200, "a dead login keeps nobody from the page");
}

#[tokio::test]
async fn t101_on_https_the_cookie_belongs_to_the_host_and_leaves_under_tls_alone() {
    let bunch = Bunch::new();
    let settings = Settings { public_url: Some("https://mail.example.test/pk".into()), ..Settings::default() };
    let house = House::ruled(bunch.rules(Mode::Token), settings).await;
    let (pair, set) = login(&house, bunch.of("ro:box"), "").await;
    assert!(pair.starts_with("__Host-postkeep=pks_"), "{pair}");
    assert!(set.contains("; Path=/; Secure; HttpOnly; SameSite=Strict;"), "{set}");
    assert_eq!(house.ask("GET", "/pk/api/v1/mailbox/box", &cookie(&pair)).await.status, 200);
    let plain = Settings { public_url: Some("http://mail.example.test:81/pk".into()), ..Settings::default() };
    let house = House::ruled(bunch.rules(Mode::Token), plain).await;
    let (pair, set) = login(&house, bunch.of("ro:box"), "").await;
    assert!(pair.starts_with("postkeep-81=") && set.contains("; Path=/pk/; HttpOnly"), "{set}");
}

#[tokio::test]
async fn t101_a_token_wins_over_a_cookie_and_a_wrong_one_is_not_forgiven() {
    let (house, bunch) = house(Mode::Token).await;
    let (pair, _) = login(&house, bunch.of("admin:*"), "").await;
    let both = format!("{}{}", cookie(&pair), bearer(bunch.of("ro:other")));
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", &both).await.status, 403);
    let wrong = format!("{}{}", cookie(&pair), bearer("pkt_wrong"));
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", &wrong).await.status, 401);
    let refused = house.send_json("POST", "/api/v2/login", "", r#"{"token":"pkt_wrong"}"#).await;
    refused.expect_problem(401, "unauthorized");
    assert!(refused.field("set-cookie").is_none());
}

#[tokio::test]
async fn the_secret_of_an_inbox_logs_in_to_that_inbox() {
    let (house, bunch) = house(Mode::Token).await;
    let opened = value(&house.send_json("POST", "/api/v2/inboxes", &bearer(bunch.of("ro:box")), "{}").await);
    let (pair, _) = login(&house, opened["secret"].as_str().unwrap(), "").await;
    let path = format!("/api/v1/mailbox/{}", opened["mailbox"].as_str().unwrap());
    assert_eq!(house.ask("GET", &path, &cookie(&pair)).await.status, 200);
    assert_eq!(house.ask("GET", "/api/v1/mailbox/box", &cookie(&pair)).await.status, 403);
}

/// What a page of another site can send is no JSON, or brings an Origin.
#[tokio::test]
async fn t056_another_site_logs_nobody_in_or_out() {
    let (house, bunch) = house(Mode::Token).await;
    let body = format!("{{\"token\":{:?}}}", bunch.of("admin:*"));
    let evil = "Origin: http://evil.example\r\n";
    house.send_json("POST", "/api/v2/login", evil, &body).await.expect_problem(403, "origin-refused");
    house.send("POST", "/api/v2/login", "text/plain", body.as_bytes()).await.expect_problem(415, "media-type");
    let (pair, _) = login(&house, bunch.of("admin:*"), "").await;
    let fields = format!("{evil}{}", cookie(&pair));
    house.ask("DELETE", "/api/v2/login", &fields).await.expect_problem(403, "origin-refused");
    house.ask("DELETE", "/api/v1/mailbox/box", &fields).await.expect_problem(403, "origin-refused");
}
