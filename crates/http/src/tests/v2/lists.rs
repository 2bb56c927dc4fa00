//! Pages, cursors, fields, and what is asked for again.

use super::{House, letter};

const MESSAGES: &str = "/api/v2/mailboxes/alice/messages";

async fn house_with(count: usize) -> House {
    let house = House::open().await;
    for number in 0..count {
        house.deliver("alice", letter(&format!("n{number}"))).await;
    }
    house
}

fn subjects(page: &serde_json::Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["subject"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_list_is_newest_first_and_tells_where_it_ends() {
    let house = house_with(3).await;
    let page = house.json(MESSAGES).await;
    assert_eq!(subjects(&page), ["n2", "n1", "n0"]);
    assert_eq!((&page["total"], &page["next"]), (&3.into(), &serde_json::Value::Null));
    let keys: Vec<_> = page["items"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "mailbox", "receivedAt", "size", "envelope", "from", "subject", "tags"]);
    assert_eq!(page["items"][0]["from"], serde_json::json!({"name": "Jane Doe", "email": "jane@host.test"}));
    assert_eq!(page["items"][0]["envelope"]["rcptTo"], serde_json::json!(["alice@example.test"]));
    assert_eq!(subjects(&house.json(&format!("{MESSAGES}?order=oldest")).await), ["n0", "n1", "n2"]);
    let empty = house.json("/api/v2/mailboxes/nobody/messages").await;
    assert_eq!((&empty["items"], &empty["total"]), (&serde_json::json!([]), &0.into()));
}

#[tokio::test]
async fn pages_follow_each_other_and_arrivals_shift_nothing() {
    let house = house_with(5).await;
    for order in ["newest", "oldest"] {
        let (mut path, mut seen) = (format!("{MESSAGES}?limit=2&order={order}"), Vec::new());
        loop {
            let answer = house.get(&path).await;
            let page = answer.value();
            seen.extend(subjects(&page).into_iter().map(str::to_owned));
            house.deliver("alice", letter("late")).await;
            let Some(next) = page["next"].as_str() else { break };
            path = format!("{MESSAGES}?limit=2&order={order}&page={next}");
            assert_eq!(answer.field("link"), Some(&*format!("<{path}>; rel=\"next\"")));
            if seen.len() >= 5 && order == "oldest" {
                break;
            }
        }
        seen.retain(|subject| subject != "late");
        let mut expected = ["n0", "n1", "n2", "n3", "n4"];
        if order == "newest" {
            expected.reverse();
        }
        assert_eq!(seen, expected, "{order}");
        house.ask("DELETE", MESSAGES, "").await;
        for number in 0..5 {
            house.deliver("alice", letter(&format!("n{number}"))).await;
        }
    }
}

#[tokio::test]
async fn since_tells_only_what_is_new() {
    let house = house_with(2).await;
    let cursor = house.json(MESSAGES).await["cursor"].as_str().unwrap().to_owned();
    let nothing = house.json(&format!("{MESSAGES}?since={cursor}")).await;
    assert_eq!((subjects(&nothing).len(), &nothing["next"]), (0, &serde_json::Value::Null));
    house.deliver("alice", letter("new")).await;
    house.deliver("alice", letter("newer")).await;
    assert_eq!(subjects(&house.json(&format!("{MESSAGES}?since={cursor}")).await), ["newer", "new"]);
    let oldest = house.json(&format!("{MESSAGES}?since={cursor}&order=oldest&limit=1")).await;
    assert_eq!(subjects(&oldest), ["new"]);
    assert!(oldest["next"].is_string() && oldest["total"].is_null(), "{oldest}");
    let last = house
        .json(&format!("{MESSAGES}?since={cursor}&limit=1&page={}", "n".to_owned() + newest(&house).await.as_str()))
        .await;
    assert_eq!(subjects(&last), ["new"]);
    assert!(last["next"].is_null() || subjects(&last).len() == 1);
    house.get(&format!("/api/v2/mailboxes/bob/messages?since={cursor}")).await.expect_problem(400, "bad-cursor");
    house.get(&format!("{MESSAGES}?since=2026-11-14T09:30:00Z")).await.expect_problem(400, "bad-cursor");
}

async fn newest(house: &House) -> String {
    house.json(MESSAGES).await["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn fields_pick_members_and_bodies_make_pages_small() {
    let house = house_with(2).await;
    let picked = house.json(&format!("{MESSAGES}?fields=id,subject")).await;
    assert_eq!(picked["items"][0].as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "subject"]);
    let full = house.json(&format!("{MESSAGES}?fields=*")).await;
    assert_eq!(full["items"][0]["text"], "words\n");
    let one = house.json(&format!("{MESSAGES}?fields=text")).await;
    assert_eq!(one["items"][1], serde_json::json!({"text": "words\n"}));
    let wrong = house.get(&format!("{MESSAGES}?fields=id,sbject")).await;
    wrong.expect_problem(400, "bad-request");
    assert_eq!(wrong.value()["errors"][0]["nearest"], "subject");
    house.get(&format!("{MESSAGES}?fields=*&limit=21")).await.expect_problem(400, "bad-request");
    assert_eq!(house.get(&format!("{MESSAGES}?fields=*&limit=20")).await.status, 200);
    house.get(&format!("{MESSAGES}?limit=501")).await.expect_problem(400, "bad-request");
    house.get(&format!("{MESSAGES}?limit=0")).await.expect_problem(400, "bad-request");
    assert_eq!(house.get(&format!("{MESSAGES}?limit=500")).await.status, 200);
}

#[tokio::test]
async fn a_list_that_is_known_is_not_sent_again() {
    let house = house_with(1).await;
    let tag = house.get(MESSAGES).await.field("etag").unwrap().to_owned();
    assert!(tag.starts_with("W/"), "{tag}");
    let again = house.ask("GET", MESSAGES, &format!("If-None-Match: {tag}\r\n")).await;
    // The minute may have turned meanwhile.
    assert!(again.status == 304 && again.body.is_empty() || again.field("etag") != Some(&tag));
    let other = house.ask("GET", &format!("{MESSAGES}?limit=7"), &format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!(other.status, 200);
    house.deliver("alice", letter("new")).await;
    let changed = house.ask("GET", MESSAGES, &format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!(changed.status, 200);
}
