//! Which mailboxes there are, what one holds, and emptying all.

use serde_json::Value;

use super::{House, letter};

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["mailbox"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn mailboxes_are_listed_by_name_and_by_newest() {
    let house = House::open().await;
    for name in ["bob", "alice", "ci-1", "ci-2", "alice"] {
        house.deliver(name, letter(name)).await;
    }
    let all = house.json("/api/v2/mailboxes").await;
    assert_eq!((names(&all), &all["next"]), (vec!["alice", "bob", "ci-1", "ci-2"], &Value::Null));
    assert_eq!(all["items"][0]["messages"], 2);
    for item in all["items"].as_array().unwrap() {
        let newest =
            house.json(&format!("/api/v2/mailboxes/{}/messages?limit=1", item["mailbox"].as_str().unwrap())).await;
        assert_eq!(item["newestAt"], newest["items"][0]["receivedAt"], "{item}");
    }
    assert_eq!(names(&house.json("/api/v2/mailboxes?prefix=CI-").await), ["ci-1", "ci-2"]);
    assert_eq!(names(&house.json("/api/v2/mailboxes?order=newest&limit=2").await), ["alice", "ci-2"]);
    for order in ["name", "newest"] {
        let (mut seen, mut path) = (0, format!("/api/v2/mailboxes?limit=1&order={order}"));
        loop {
            let answer = house.get(&path).await;
            seen += names(&answer.value()).len();
            let Some(link) = answer.field("link") else { break };
            path = link.split(['<', '>']).nth(1).unwrap().to_owned();
        }
        assert_eq!(seen, 4, "{order}");
    }
    house.get("/api/v2/mailboxes?page=x").await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn a_mailbox_tells_what_it_holds_and_where_to_go_on() {
    let house = House::open().await;
    let empty = house.json("/api/v2/mailboxes/alice").await;
    assert_eq!((&empty["messages"], &empty["bytes"]), (&0.into(), &0.into()));
    let cursor = empty["cursor"].as_str().unwrap();
    house.deliver("alice", letter("a")).await;
    // Another mailbox whose name begins so is none of it.
    house.deliver("alice2", letter("b")).await;
    let new = house.json(&format!("/api/v2/mailboxes/alice/messages?since={cursor}")).await;
    assert_eq!(new["items"].as_array().unwrap().len(), 1);
    let held = house.json("/api/v2/mailboxes/Alice%2Bx@example.com").await;
    assert_eq!(
        (&held["mailbox"], &held["messages"], &held["bytes"]),
        (&"alice".into(), &1.into(), &letter("a").len().into())
    );
    let tag = house.get("/api/v2/mailboxes/alice").await.field("etag").unwrap().to_owned();
    assert!(tag.starts_with("W/"));
    house.deliver("alice", letter("c")).await;
    assert_eq!(house.ask("GET", "/api/v2/mailboxes/alice", &format!("If-None-Match: {tag}\r\n")).await.status, 200);
}

#[tokio::test]
async fn all_mailboxes_are_emptied_only_when_that_is_said() {
    let house = House::open().await;
    for number in 0..600 {
        house.deliver(&format!("m{number}"), letter("x")).await;
    }
    for query in ["", "?all=false", "?all", "?all=1"] {
        house.ask("DELETE", &format!("/api/v2/messages{query}"), "").await.expect_problem(400, "bad-request");
    }
    assert_eq!(house.count("m599").await, 1);
    assert_eq!(house.ask("DELETE", "/api/v2/messages?all=true", "").await.status, 204);
    assert_eq!(names(&house.json("/api/v2/mailboxes").await).len(), 0);
}
