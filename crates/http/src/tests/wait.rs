//! Waiting over HTTP: the words of a request, the answer, and what a wait in vain tells.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{Answer, House, read_all};

const WAIT: &str = "/api/v2/mailboxes/alice/wait";

async fn get(house: &House, query: &str) -> (u16, Value) {
    told(house.get(&format!("{WAIT}?{query}")).await)
}

async fn post(house: &House, body: &Value) -> (u16, Value) {
    told(house.send("POST", WAIT, "application/json", body.to_string().as_bytes()).await)
}

fn told(answer: Answer) -> (u16, Value) {
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
}

#[tokio::test]
async fn a_mail_is_handed_out_whole_with_its_code() {
    let house = House::open().await;
    let text = "From: Shop <no-reply@shop.test>\r\nSubject: Your code\r\n\r\nYour code is 884201\r\n";
    let id = house.deliver("alice", text).await.to_string();
    let (status, waited) = get(&house, "has=code&timeout=0s").await;
    assert_eq!((status, &waited["outcome"]), (200, &json!("matched")), "{waited}");
    let message = &waited["messages"][0];
    assert_eq!((&message["id"], &message["codes"][0]["value"]), (&json!(id), &json!("884201")));
    assert_eq!(message["text"], "Your code is 884201\n");
}

#[tokio::test]
async fn it_returns_when_the_mail_comes_and_goes_on_from_its_cursor() {
    let house = House::open().await;
    let (_, mailbox) = told(house.get("/api/v2/mailboxes/alice/messages").await);
    let since = mailbox["cursor"].as_str().unwrap().to_owned();
    let begun = Instant::now();
    let query = format!("{WAIT}?since={since}&subject=two&timeout=20s");
    let (answer, _) = tokio::join!(house.get(&query), async {
        house.deliver("alice", "Subject: one\r\n\r\n").await;
        while house.mailroom.waiting() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        house.deliver("alice", "Subject: two\r\n\r\n").await;
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    let (status, waited) = told(answer);
    assert_eq!((status, &waited["messages"][0]["subject"]), (200, &json!("two")));
    house.deliver("alice", "Subject: three\r\n\r\n").await;
    let since = waited["cursor"].as_str().unwrap();
    let (_, waited) = get(&house, &format!("since={since}&timeout=0s")).await;
    assert_eq!(waited["messages"][0]["subject"], "three");
}

#[tokio::test]
async fn a_body_says_the_same_as_a_query() {
    let house = House::open().await;
    house.deliver("alice", "From: a@shop.test\r\nSubject: Reset it\r\nX-Run: 42\r\n\r\nHello\r\n").await;
    let good = [
        json!({}),
        json!({"match": {"from": "@shop.test", "subject": {"regex": "^Re"}, "header": {"X-Run": "42"}}, "timeout": "0s"}),
        json!({"match": {"subject": {"is": "reset IT"}, "body": "hello"}, "timeout": "0s", "count": 1}),
    ];
    for body in good {
        assert_eq!(post(&house, &body).await.0, 200, "{body}");
    }
    for query in ["subject.is=reset+it", "header=X-Run=42&from=a@shop.test", "body.regex=^H.*o", "to=@example.test"] {
        assert_eq!(get(&house, &format!("{query}&timeout=0s")).await.0, 200, "{query}");
    }
}

#[tokio::test]
async fn what_is_not_understood_is_refused_and_the_nearest_word_named() {
    let house = House::open().await;
    let queries = [
        ("subjct=x", "bad-request", "Did you mean subject?"),
        ("has=cod", "bad-request", "has knows code"),
        ("has=link:rest", "bad-request", "has knows code"),
        ("subject.regex=(", "bad-request", "unclosed group"),
        ("subject=a&subject.is=b", "bad-request", "several ways"),
        ("header=X-Run", "bad-request", "X-Test-Run=42"),
        ("from=", "bad-request", "It is empty"),
        ("count=0", "bad-request", "1 to 50"),
        ("count=51", "bad-request", "1 to 50"),
        ("exclude=nothing", "bad-request", "no id"),
        ("timeout=10", "bad-request", "10s"),
        ("timeout=56s", "timeout-too-long", "55s at most"),
        ("order=up", "bad-request", "newest or oldest"),
        ("expect=all", "bad-request", "mail or none"),
        ("since=2026-11-15T09:00:00Z", "bad-cursor", "nor is a time one"),
    ];
    for (query, slug, detail) in queries {
        let (status, problem) = get(&house, query).await;
        assert_eq!((status, &problem["type"]), (400, &json!(format!("urn:postkeep:problem:{slug}"))), "{query}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{query}: {problem}");
    }
    let bodies = [json!({"match": {"subjet": "x"}}), json!({"mach": {}}), json!({"match": {"subject": {"like": "x"}}})];
    for body in bodies {
        assert_eq!(post(&house, &body).await.0, 400, "{body}");
    }
    let ids = vec!["0000000000001"; 501].join(",");
    assert!(get(&house, &format!("exclude={ids}")).await.1["detail"].as_str().unwrap().contains("wait.exclude_max"));
}

#[tokio::test]
async fn silence_is_well_and_a_mail_is_not_when_none_is_expected() {
    let house = House::open().await;
    let (status, waited) = get(&house, "expect=none&timeout=20ms").await;
    assert_eq!((status, &waited["outcome"], &waited["messages"]), (200, &json!("quiet"), &json!([])));
    house.deliver("alice", "Subject: x\r\n\r\n").await;
    let (status, problem) = get(&house, "expect=none&timeout=20s").await;
    assert_eq!((status, &problem["type"]), (409, &json!("urn:postkeep:problem:unexpected-message")));
    assert_eq!(problem["messages"][0]["subject"], "x");
}

#[tokio::test]
async fn a_wait_in_vain_says_why() {
    let house = House::open().await;
    house.deliver("alice", "From: no-reply@shop.test\r\nSubject: Welcome\r\n\r\nCode: 884201\r\n").await;
    let (status, problem) = get(&house, "subject=Reset&has=code&timeout=30ms").await;
    assert_eq!((status, &problem["type"]), (409, &json!("urn:postkeep:problem:wait-timeout")));
    let detail = "1 mail arrived in alice, but its subject does not contain \"Reset\": compare nearMisses[0].";
    assert_eq!(problem["detail"], detail);
    assert_eq!(problem["criteria"], json!({"subject": "Reset", "has": ["code"]}));
    let miss = &problem["nearMisses"][0];
    let failed = json!([{"matcher": "subject.contains", "wanted": "Reset", "got": "Welcome"}]);
    assert_eq!((&miss["failed"], &miss["passed"]), (&failed, &json!(["has.code"])));
    assert_eq!((&problem["arrived"], &problem["smtp"]["connections"]), (&json!(1), &json!(0)));
    assert!(problem["cursor"].is_string() && problem["waited"].is_string());
}

/// Who stops does not let anybody wait: the client asks the next node.
#[tokio::test]
async fn a_stop_ends_a_wait_at_once() {
    let House { addr, mailroom, gate: _gate, mut stopper } = House::open().await;
    let begun = Instant::now();
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(format!("GET {WAIT}?timeout=20s HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    while mailroom.waiting() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    stopper.drain(Duration::from_secs(10), Duration::from_secs(10)).await;
    let (status, problem) = told(Answer::read(&read_all(&mut stream).await));
    assert_eq!((status, &problem["type"]), (503, &json!("urn:postkeep:problem:draining")));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

/// Who hangs up gives the place back.
#[tokio::test]
async fn who_goes_away_waits_no_longer() {
    let house = House::open().await;
    let mut stream = house.connect().await;
    stream.write_all(format!("GET {WAIT}?timeout=50s HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    while house.mailroom.waiting() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(stream);
    while house.mailroom.waiting() == 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn over_all_mailboxes() {
    let house = House::open().await;
    house.deliver("bob", "Subject: x\r\n\r\n").await;
    let (status, waited) = told(house.get("/api/v2/messages/wait?timeout=0s").await);
    assert_eq!((status, &waited["messages"][0]["mailbox"]), (200, &json!("bob")));
}

/// Bodies beyond the bound of an answer are left out, and the message says so.
#[tokio::test]
async fn a_large_answer_leaves_bodies_out() {
    let house = House::open().await;
    for _ in 0..10 {
        house.deliver("alice", format!("Subject: x\r\n\r\n{}", "x".repeat(1 << 20))).await;
    }
    let (status, waited) = get(&house, "count=10&timeout=0s").await;
    let cut = waited["messages"].as_array().unwrap().iter().filter(|message| message["text"] == "").count();
    assert_eq!((status, cut > 0, cut < 10), (200, true, true), "{cut}");
    assert_eq!(waited["messages"][9]["truncated"], json!(["text", "html"]));
}
