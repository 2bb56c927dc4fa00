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
    let of_summary = ["id", "mailbox", "receivedAt", "size", "envelope", "from", "subject", "tags"];
    assert_eq!(keys, [&of_summary[..], &["transaction", "otherRecipients"]].concat());
    assert_eq!(page["items"][0]["otherRecipients"], 0);
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

#[tokio::test]
async fn some_messages_are_listed_by_their_ids() {
    let house = house_with(4).await;
    let all = house.json(MESSAGES).await;
    let id = |place: usize| all["items"][place]["id"].as_str().unwrap();
    let query = format!("ids={}&ids=0000000000000&ids=nonsense&ids={}&ids={}", id(3), id(1), id(1));
    let page = house.json(&format!("{MESSAGES}?{query}")).await;
    assert_eq!(subjects(&page), ["n2", "n0"], "in the list's order, each once");
    assert_eq!((&page["next"], &page["total"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert!(page["cursor"].is_string());
    let oldest = house.json(&format!("{MESSAGES}?{query}&order=oldest&fields=subject,preview")).await;
    assert_eq!(
        oldest["items"],
        serde_json::json!([{"subject": "n0", "preview": "words"}, {"subject": "n2", "preview": "words"}])
    );
    assert_eq!(
        house.json(&format!("/api/v2/mailboxes/bob/messages?ids={}", id(0))).await["items"],
        serde_json::json!([])
    );
    for other in ["q=x", "since=x", "page=nx", "limit=2"] {
        let refused = house.get(&format!("{MESSAGES}?{other}&ids={}", id(0))).await;
        assert!(refused.status == 400, "{other}: {}", refused.text());
    }
    let many = vec!["ids=0000000000000"; 21].join("&");
    house.get(&format!("{MESSAGES}?{many}")).await.expect_problem(400, "bad-request");
    assert_eq!(house.get(&format!("{MESSAGES}?{}", &many[..many.len() - 18])).await.status, 200);
}

#[tokio::test]
async fn some_messages_of_all_mailboxes_are_listed_by_their_ids() {
    let house = house_with(1).await;
    let of_bob = house.deliver("bob", letter("b")).await;
    let of_alice = newest(&house).await;
    let path = format!("/api/v2/messages?ids=alice/{of_alice}&ids=bob/{of_bob}&ids=alice/{of_bob}&ids=/x&ids=a/b/c");
    let page = house.json(&path).await;
    assert_eq!(subjects(&page), ["b", "n0"], "newest first, and only where it lies");
    super::schema::fits(&page, "/api/v2/messages", "get", 200);
    house.get("/api/v2/messages?ids=alice").await.expect_problem(400, "bad-request");
    house.get(&format!("/api/v2/messages?q=x&ids=alice/{of_alice}")).await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn a_transaction_is_told_in_each_of_its_mailboxes() {
    let house = House::open().await;
    let path = "/api/v2/messages?rcptTo=alice@x.test&rcptTo=bob@x.test&rcptTo=carol@x.test";
    assert_eq!(house.send("POST", path, "message/rfc822", letter("one").as_bytes()).await.status, 201);
    let page = house.json("/api/v2/messages").await;
    let items = page["items"].as_array().unwrap();
    assert_eq!(items.len(), 3);
    for item in items {
        assert_eq!((&item["transaction"], &item["otherRecipients"]), (&items[0]["transaction"], &2.into()));
    }
    let whole = house.json("/api/v2/mailboxes/alice/messages/latest").await;
    assert_eq!(whole["transaction"], whole["transport"]["transaction"]);
    assert_eq!((&whole["otherRecipients"], whole["envelope"]["rcptTo"].as_array().unwrap().len()), (&0.into(), 3));
}

#[tokio::test]
async fn a_mailbox_is_emptied_up_to_a_cursor() {
    let house = house_with(2).await;
    let cursor = house.json(MESSAGES).await["cursor"].as_str().unwrap().to_owned();
    house.deliver("alice", letter("later")).await;
    assert_eq!(house.ask("DELETE", &format!("{MESSAGES}?until={cursor}"), "").await.status, 204);
    assert_eq!(subjects(&house.json(MESSAGES).await), ["later"]);
    assert_eq!(house.ask("DELETE", &format!("{MESSAGES}?until={cursor}"), "").await.status, 204, "and once more");
    assert_eq!(subjects(&house.json(MESSAGES).await), ["later"]);
    let other = format!("/api/v2/mailboxes/bob/messages?until={cursor}");
    house.ask("DELETE", &other, "").await.expect_problem(400, "bad-cursor");
    house.ask("DELETE", &format!("{MESSAGES}?until="), "").await.expect_problem(400, "bad-cursor");
    house.ask("DELETE", &format!("{MESSAGES}?untill={cursor}"), "").await.expect_problem(400, "bad-request");
    assert_eq!(subjects(&house.json(MESSAGES).await), ["later"], "a mistake empties nothing");
}

#[tokio::test]
async fn all_mailboxes_are_emptied_up_to_a_cursor() {
    let house = house_with(1).await;
    house.deliver("bob", letter("b")).await;
    let cursor = house.json("/api/v2/messages").await["cursor"].as_str().unwrap().to_owned();
    house.deliver("bob", letter("later")).await;
    let of_one = house.json(MESSAGES).await["cursor"].as_str().unwrap().to_owned();
    let path = "/api/v2/messages?all=true&until=";
    house.ask("DELETE", &format!("{path}{of_one}"), "").await.expect_problem(400, "bad-cursor");
    assert_eq!(house.ask("DELETE", &format!("{path}{cursor}"), "").await.status, 204);
    assert_eq!(subjects(&house.json("/api/v2/messages").await), ["later"]);
}
