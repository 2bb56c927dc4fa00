//! Mail released to real people: who may ask, for whom, and what an address is (T075, T076).

use std::sync::Arc;

use mail::View;
use mail::address::Charset;
use mailroom::access::Mode;
use mailroom::outgoing::relay::{Allowed, Rules};
use mailroom::outgoing::release::{Errand, KIND};
use mailroom::{Caller, Mailroom, SystemClock};

use super::super::*;

const PATH: &str = "/api/v2/mailboxes/box/messages/latest/release";

/// A house with a smart host, of which the courier is on holiday, and a message in `box`.
async fn house(allow: &str) -> House {
    let memory = store::Memory::new(store::memory::Settings::default(), Arc::new(SystemClock));
    let allow = vec![Allowed::parse(allow).unwrap()];
    let relay = Rules { enabled: true, allow, rate: None, ..Rules::default() };
    let settings = mailroom::Settings { relay, access: Mode::Open.into(), ..mailroom::Settings::default() };
    let house = House::over(Mailroom::new(Arc::new(memory), settings), Settings::default(), View::of, None);
    house.deliver("box", "Subject: x\r\n\r\nx\r\n").await;
    house
}

async fn errands(house: &House) -> Vec<Vec<String>> {
    let jobs = house.mailroom.take_jobs(&Caller::Program, KIND, 10_000, PATIENCE).await.unwrap();
    let to =
        |job: &mailroom::Job| Errand::of(job).unwrap().recipients.iter().map(|one| one.address.to_string()).collect();
    jobs.iter().map(to).collect()
}

fn body(to: &str) -> Vec<u8> {
    serde_json::to_vec(&serde_json::json!({ "to": [to] })).unwrap()
}

#[tokio::test]
async fn a_release_is_told_as_described_and_found_again() {
    let house = house("*@real.test").await;
    let answer = house.send("POST", PATH, "application/json", &body("a@real.test")).await;
    assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
    let told = answer.value();
    super::schema::fits(&told, "/api/v2/mailboxes/{name}/messages/{id}/release", "post", 202);
    assert_eq!((told["state"].as_str(), told["from"].as_str()), (Some("queued"), Some("sender@origin.test")));
    let path = format!("/api/v2/releases/{}", told["id"].as_str().unwrap());
    assert_eq!(house.ask("GET", &path, "").await.value(), told);
    let list = house.ask("GET", "/api/v2/releases?mailbox=box", "").await.value();
    super::schema::fits(&list, "/api/v2/releases", "get", 200);
    assert_eq!(list["items"], serde_json::json!([told]));
    assert_eq!(house.ask("GET", "/api/v2/releases?mailbox=other", "").await.value()["items"], serde_json::json!([]));
    let server = house.ask("GET", "/api/v2", "").await.value();
    assert_eq!(server["release"], serde_json::json!({ "enabled": true, "allow": ["*@real.test"] }));
}

#[tokio::test]
async fn t075_strangers_and_those_behind_a_proxy_are_refused() {
    let house = house("*@real.test").await;
    let refused = house.send("POST", PATH, "application/json", &body("eve@evil.test")).await;
    assert_eq!((refused.status, refused.value()["recipients"][0].as_str()), (403, Some("eve@evil.test")));
    for field in ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy", "X-Real-IP: ::1"] {
        let text = String::from_utf8(body("a@real.test")).unwrap();
        let raw = format!(
            "POST {PATH} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n{field}\r\n\
             Content-Length: {}\r\n\r\n{text}",
            house.addr,
            text.len()
        );
        let answer = Answer::read(&house.exchange(raw).await);
        assert_eq!(answer.status, 403, "{field}");
        assert!(answer.value()["type"].as_str().unwrap().ends_with("release-needs-token"), "{field}");
    }
    // A page of another site: a simple request cannot be JSON, and one that is names its origin.
    assert_eq!(house.send("POST", PATH, "text/plain", &body("a@real.test")).await.status, 415);
    assert_eq!(errands(&house).await, Vec::<Vec<String>>::new());
}

/// T013's set through the API: each byte at each place of an address is refused, or is an address that stands on one line
/// and reads back as it was.
#[tokio::test]
async fn t076_no_recipient_is_more_than_an_address() {
    let house = house("*@real.test").await;
    let address = "ab@real.test";
    let (mut sent, mut refused) = (Vec::new(), 0);
    for place in 0..=address.len() {
        for byte in 0..=255_u8 {
            let to = format!("{}{}{}", &address[..place], char::from(byte), &address[place..]);
            match house.send("POST", PATH, "application/json", &body(&to)).await.status {
                202 => sent.push(to),
                400 | 403 => refused += 1,
                other => panic!("{to:?}: {other}"),
            }
        }
    }
    for injected in [
        "a@real.test>\r\nRCPT TO:<eve@evil.test",
        "a@real.test\r\nDATA",
        "<a@real.test>",
        "A <a@real.test>",
        "a@real.test, eve@evil.test",
        "a@real.test> SIZE=1",
        "\"a\r\n\"@real.test",
        "@evil.test:a@real.test",
    ] {
        let status = house.send("POST", PATH, "application/json", &body(injected)).await.status;
        assert_eq!(status, 400, "{injected:?}");
    }
    assert!(sent.len() > 300 && refused > 2000, "{} {refused}", sent.len());
    let errands = errands(&house).await;
    assert_eq!(errands.len(), sent.len());
    for to in errands.iter().flatten() {
        assert!(!to.contains(char::is_control) && to.ends_with("real.test"), "{to:?}");
        assert_eq!(mail::Address::parse(to, Charset::Utf8).unwrap().to_string(), *to);
    }
}
