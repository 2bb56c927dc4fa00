//! `GET /metrics`.

use super::House;

#[tokio::test]
async fn the_counters_are_told_as_the_program_writes_them() {
    let house = House::open().await;
    let answer = house.get("/metrics").await;
    assert_eq!((answer.status, &*answer.body), (200, &b"postkeep_messages_total 7\n"[..]));
    assert_eq!(answer.field("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(answer.field("cache-control"), Some("no-store"));
    house.ask("POST", "/metrics", "").await.expect_problem(405, "method-not-allowed");
    house.ask_host("GET", "/metrics", "evil.example").await.expect_problem(421, "host-refused");
}

#[tokio::test]
async fn without_them_there_is_nothing() {
    let house = House::without_counters().await;
    for method in ["GET", "HEAD"] {
        assert_eq!(house.ask(method, "/metrics", "").await.status, 404);
    }
}
