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

#[tokio::test]
async fn who_else_got_a_message_is_no_strangers_business() {
    let (house, bunch) = house(Mode::Public).await;
    let admin = bearer(bunch.of("admin:*"));
    let mut strange = Stream::with(&house, "?mailbox=box", "").await;
    let mut known = Stream::with(&house, "?mailbox=box", &bearer(bunch.of("ro:box"))).await;
    strange.expect("hello").await;
    known.expect("hello").await;
    house.deliver("box", letter("x")).await;
    let path = "/api/v2/mailboxes/box/messages";
    let list = async |fields: &str| value(&house.ask("GET", path, fields).await)["items"][0].clone();
    let strangers = [strange.expect("deliver").await["message"].clone(), list("").await];
    let knowers = [known.expect("deliver").await["message"].clone(), list(&admin).await];
    for item in strangers {
        assert!(item["transaction"].is_null() && item["otherRecipients"].is_null(), "{item}");
    }
    for item in knowers {
        assert!(item["transaction"].is_string() && item["otherRecipients"] == 0, "{item}");
    }
    assert!(value(&house.get(&format!("{path}/latest")).await)["otherRecipients"].is_null());
}

#[tokio::test]
async fn ids_of_mailboxes_that_may_not_be_listed_are_left_out() {
    let (house, bunch) = house(Mode::Token).await;
    let (own, other) = (house.deliver("box", letter("own")).await, house.deliver("other", letter("other")).await);
    let path = format!("/api/v2/messages?ids=box/{own}&ids=other/{other}");
    let page = value(&house.ask("GET", &path, &bearer(bunch.of("ro:box"))).await);
    assert_eq!((page["items"].as_array().unwrap().len(), &page["items"][0]["mailbox"]), (1, &"box".into()));
}

#[tokio::test]
async fn what_is_refused_is_told_to_those_who_may_list_all() {
    let (house, bunch) = house(Mode::Token).await;
    let admin = bearer(bunch.of("admin:*"));
    let path = "/api/v2/events?refusals=true";
    house.ask("GET", path, &bearer(bunch.of("ro:box"))).await.expect_problem(403, "forbidden");
    house.ask("GET", &format!("{path}&mailbox=box"), &admin).await.expect_problem(400, "bad-request");
    assert_eq!(house.get(path).await.status, 401);
    let mut stream = Stream::with(&house, "?refusals=true", &admin).await;
    let mut plain = Stream::with(&house, "", &admin).await;
    stream.expect("hello").await;
    plain.expect("hello").await;
    let address = |text: &str| mail::Address::parse(text, mail::address::Charset::Utf8).unwrap();
    let refusal = mailroom::Refusal {
        at: jiff::Timestamp::UNIX_EPOCH,
        stage: mailroom::Stage::Rcpt,
        mail_from: Some(mail::ReversePath(Some(address("a@x.test")))),
        rcpt_to: vec![address("b@x.test")],
        mailboxes: Vec::new(),
        helo: Some("app".into()),
        peer: Some([10, 0, 0, 7].into()),
        reply: mailroom::Status { code: 550, enhanced: (5, 1, 1), text: "no".into() },
        fault: Some(mailroom::ByFault::Address("b@x.test".into())),
    };
    house.mailroom.refused(&mailroom::Caller::Program, refusal);
    let expected = serde_json::json!({
        "at": "1970-01-01T00:00:00.000000+00:00", "stage": "RCPT", "mailFrom": "a@x.test", "rcptTo": ["b@x.test"],
        "helo": "app", "peer": "10.0.0.7", "reply": "550 5.1.1 no", "fault": "b@x.test",
    });
    assert_eq!(stream.expect("refuse").await, expected);
    let (caller, sender) = (mailroom::Caller::Program, mail::ReversePath(Some(address("a@x.test"))));
    let visit = mailroom::Visit::of(&caller, &sender);
    house.mailroom.judge_recipient(&visit, &address("delay-1ms@fault.example.com")).await;
    let acted = stream.expect("fault").await;
    assert_eq!((&acted["stage"], &acted["what"]), (&"RCPT".into(), &"held back for 1 ms".into()), "{acted}");
    assert_eq!(acted["fault"], "delay-1ms@fault.example.com");
    house.deliver("box", letter("x")).await;
    stream.expect("deliver").await;
    plain.expect("deliver").await;
}

#[tokio::test]
async fn in_public_mode_strangers_hear_of_no_refusal() {
    let (house, _bunch) = house(Mode::Public).await;
    assert_eq!(house.get("/api/v2/events?refusals=true").await.status, 403);
}
