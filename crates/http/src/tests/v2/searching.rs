//! Searches, and lists over all mailboxes.

use serde_json::json;

use super::{House, letter};

const MESSAGES: &str = "/api/v2/mailboxes/alice/messages";
const ALL: &str = "/api/v2/messages";

async fn house() -> House {
    let house = House::open().await;
    for subject in ["needle one", "hay", "needle two"] {
        house.deliver("alice", letter(subject)).await;
    }
    house.deliver("bob", letter("needle three")).await;
    house
}

fn subjects(page: &serde_json::Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["subject"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_mailbox_is_searched() {
    let house = house().await;
    let page = house.json(&format!("{MESSAGES}?q=needle")).await;
    assert_eq!(subjects(&page), ["needle two", "needle one"]);
    assert_eq!((&page["total"], &page["next"]), (&json!(null), &json!(null)));
    let search = json!({"engine": "scan", "scope": "mailbox", "scanned": 3, "complete": true, "reason": null});
    assert_eq!(page["search"], search);
    for (query, expected) in [
        ("q=needle+-two", vec!["needle one"]),
        ("q=subject%3A%22needle%20two%22", vec!["needle two"]),
        ("q=from:jane@host.test&order=oldest&limit=1", vec!["needle one"]),
        ("q=nothing", vec![]),
        ("q=&limit=1", vec!["needle two"]),
    ] {
        assert_eq!(subjects(&house.json(&format!("{MESSAGES}?{query}")).await), expected, "{query}");
    }
    assert!(house.json(&format!("{MESSAGES}?limit=1")).await.get("search").is_none(), "a list is no search");
}

#[tokio::test]
async fn a_search_goes_on_page_by_page() {
    let house = house().await;
    for (path, expected) in
        [(MESSAGES, vec!["needle two", "needle one"]), (ALL, vec!["needle three", "needle two", "needle one"])]
    {
        let (mut page, mut seen) = (String::new(), Vec::new());
        loop {
            let answer = house.json(&format!("{path}?q=needle&limit=1{page}")).await;
            seen.extend(subjects(&answer).into_iter().map(str::to_owned));
            let Some(next) = answer["next"].as_str() else { break };
            page = format!("&page={next}");
        }
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_search_goes_on_from_a_cursor() {
    let house = house().await;
    for path in [MESSAGES, ALL] {
        let cursor = house.json(path).await["cursor"].as_str().unwrap().to_owned();
        let since = format!("{path}?q=needle&since={cursor}");
        assert_eq!(subjects(&house.json(&since).await), Vec::<&str>::new());
        house.deliver("alice", letter("needle new")).await;
        assert_eq!(subjects(&house.json(&since).await), ["needle new"]);
    }
}

#[tokio::test]
async fn all_mailboxes_are_listed() {
    let house = house().await;
    let page = house.json(ALL).await;
    assert_eq!(subjects(&page), ["needle three", "needle two", "hay", "needle one"]);
    assert_eq!((&page["total"], &page["next"], &page["items"][0]["mailbox"]), (&json!(4), &json!(null), &json!("bob")));
    assert_eq!(page["scope"], json!({"complete": true, "nodesAsked": 1, "nodesAnswered": 1}));
    let found = house.json(&format!("{ALL}?q=two&fields=subject,text")).await;
    assert_eq!(found["search"]["scope"], "all");
    assert_eq!(found["items"][0].as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn mistakes_in_a_search_name_the_nearest_key() {
    let house = house().await;
    for path in [MESSAGES, ALL] {
        let answer = house.get(&format!("{path}?q=subjct:x")).await;
        answer.expect_problem(400, "bad-query");
        assert_eq!(answer.value()["errors"][0]["nearest"], "subject");
        house.get(&format!("{path}?q=%22open")).await.expect_problem(400, "bad-query");
        house.get(&format!("{path}?limit=1000000000")).await.expect_problem(400, "bad-request");
        house.get(&format!("{path}?page=zz")).await.expect_problem(400, "bad-request");
        house.get(&format!("{path}?qq=x")).await.expect_problem(400, "bad-request");
    }
}

#[tokio::test]
async fn t059_more_than_a_page_is_refused_and_not_cut() {
    let house = house().await;
    for path in [MESSAGES, ALL] {
        for query in ["limit=1000000000", "limit=501&q=needle", "limit=0"] {
            house.get(&format!("{path}?{query}")).await.expect_problem(400, "bad-request");
        }
    }
}
