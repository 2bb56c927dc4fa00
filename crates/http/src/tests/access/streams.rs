//! Streams and who may watch: what is told to whom, and how a stream ends whose caller may no more.

use mailroom::access::Mode;

use super::super::events::Stream;
use super::super::letter;
use super::{bearer, house, value};

#[tokio::test]
async fn a_stream_of_all_tells_what_the_token_may_watch() {
    let (house, bunch) = house(Mode::Token).await;
    let mut stream = Stream::with(&house, "", &bearer(bunch.of("ro:box"))).await;
    stream.expect("hello").await;
    for name in ["other", "box"] {
        house.deliver(name, letter(name)).await;
    }
    assert_eq!(stream.expect("deliver").await["mailbox"], "box", "and nothing of the other");
    house
        .ask("GET", "/api/v2/events?mailbox=other", &bearer(bunch.of("ro:box")))
        .await
        .expect_problem(403, "forbidden");
    assert_eq!(house.get("/api/v2/events").await.status, 401);
}

#[tokio::test]
async fn in_public_mode_a_stream_has_names() {
    let (house, _bunch) = house(Mode::Public).await;
    assert_eq!(house.get("/api/v2/events").await.status, 403);
    Stream::with(&house, "?mailbox=box", "").await.expect("hello").await;
}

#[tokio::test]
async fn a_stream_ends_with_the_token_it_was_opened_by() {
    let (house, bunch) = house(Mode::Token).await;
    let admin = bearer(bunch.of("admin:*"));
    let issued =
        value(&house.send_json("POST", "/api/v2/tokens", &admin, r#"{"name":"ci","scopes":["ro:box"]}"#).await);
    let mut stream = Stream::with(&house, "?mailbox=box", &bearer(issued["token"].as_str().unwrap())).await;
    stream.expect("hello").await;
    let revoke = format!("/api/v2/tokens/{}", issued["id"].as_str().unwrap());
    assert_eq!(house.ask("DELETE", &revoke, &admin).await.status, 204);
    house.deliver("box", letter("too late")).await;
    assert_eq!(stream.next().await, None, "though there was something to tell");
    // One that has nothing to tell finds out by itself.
    let issued =
        value(&house.send_json("POST", "/api/v2/tokens", &admin, r#"{"name":"ci","scopes":["ro:box"]}"#).await);
    let mut quiet = Stream::with(&house, "?mailbox=box", &bearer(issued["token"].as_str().unwrap())).await;
    quiet.expect("hello").await;
    let revoke = format!("/api/v2/tokens/{}", issued["id"].as_str().unwrap());
    assert_eq!(house.ask("DELETE", &revoke, &admin).await.status, 204);
    assert_eq!(quiet.next().await, None);
}
