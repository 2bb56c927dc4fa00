//! REST v1 to the byte.

use jiff::Timestamp;

use super::{House, letter};
use crate::Settings;

const MOMENT: &str = "2026-11-14T09:30:00.123456Z";

fn moment() -> Timestamp {
    MOMENT.parse().unwrap()
}

#[tokio::test]
async fn an_unknown_mailbox_is_an_empty_one() {
    let house = House::open().await;
    let list = house.get("/api/v1/mailbox/nobody").await;
    assert_eq!((list.status, list.body.as_slice()), (200, &b"[]\n"[..]));
    assert_eq!(list.field("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(list.field("expires"), Some("-1"));
    assert_eq!(list.field("content-length"), Some("3"));
    let purge = house.ask("DELETE", "/api/v1/mailbox/nobody", "").await;
    assert_eq!((purge.status, purge.text()), (200, "\"OK\"\n"));
    assert_eq!(purge.field("content-length"), Some("5"));
    for path in ["latest", "latest/source"] {
        house.get(&format!("/api/v1/mailbox/nobody/{path}")).await.expect_problem(404, "message-unknown");
    }
    house.ask("DELETE", "/api/v1/mailbox/nobody/latest", "").await.expect_problem(404, "message-unknown");
}

#[tokio::test]
async fn a_list_is_compact_ordered_and_exact() {
    let house = House::open().await;
    let first = letter("one \"two\" \\ grüße <b>");
    let a = house.deliver_at("alice", first.clone(), moment()).await;
    let b = house.deliver_at("Alice+tag", "Subject:\r\n\r\n", moment()).await;
    let expected = format!(
        concat!(
            r#"[{{"mailbox":"alice","id":"{}","from":"Jane Doe <jane@host.test>","subject":"one \"two\" \\ grüße <b>","#,
            r#""date":"2026-11-14T09:30:00.123456+00:00","size":{}}},"#,
            r#"{{"mailbox":"alice","id":"{}","from":"sender@origin.test","subject":"","#,
            r#""date":"2026-11-14T09:30:00.123456+00:00","size":12}}]"#,
            "\n"
        ),
        a,
        first.len(),
        b
    );
    let list = house.get("/api/v1/mailbox/alice").await;
    assert_eq!(list.text(), expected);
    assert_eq!(list.field("content-length"), Some(&*expected.len().to_string()));
    assert_eq!(list.field("transfer-encoding"), None);
}

#[tokio::test]
async fn a_message_has_the_fields_of_the_contract_in_their_order() {
    let house = House::open().await;
    let raw = concat!(
        "x-thing: 1\r\nFrom: jane@host.test\r\nSubject: hi\r\nX-THING: =?utf-8?Q?caf=C3=A9?=\r\n folded\r\n",
        "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n",
        "--b\r\nContent-Type: text/plain\r\n\r\none\r\ntwo\r\n",
        "--b\r\nContent-Type: text/html\r\n\r\n<p>\"hi\"</p>\r\n",
        "--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=\"a b?.png\"\r\n\r\nxyz\r\n--b--\r\n",
    );
    let id = house.deliver_at("alice", raw, moment()).await;
    let addr = house.addr;
    let expected = format!(
        concat!(
            r#"{{"mailbox":"alice","id":"{id}","from":"jane@host.test","subject":"hi","#,
            r#""date":"2026-11-14T09:30:00.123456+00:00","size":{size},"#,
            r#""body":{{"text":"one\ntwo","html":"<p>\"hi\"</p>"}},"#,
            r#""header":{{"X-Thing":["1","=?utf-8?Q?caf=C3=A9?= folded"],"From":["jane@host.test"],"Subject":["hi"],"#,
            r#""Mime-Version":["1.0"],"Content-Type":["multipart/mixed; boundary=b"]}},"#,
            r#""attachments":[{{"filename":"a b?.png","content-type":"image/png","#,
            r#""download-link":"http://{addr}/mailbox/dattach/alice/{id}/0/a%20b%3F.png","#,
            r#""view-link":"http://{addr}/mailbox/vattach/alice/{id}/0/a%20b%3F.png","#,
            r#""md5":"d16fb36f0911f878998c136191af705e"}}]}}"#,
            "\n"
        ),
        id = id,
        size = raw.len(),
        addr = addr
    );
    for name in [id.to_string().as_str(), "latest"] {
        let answer = house.get(&format!("/api/v1/mailbox/alice/{name}")).await;
        assert_eq!(answer.text(), expected);
        assert_eq!(answer.field("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(answer.field("expires"), Some("-1"));
    }
}

#[tokio::test]
async fn an_empty_message_has_all_fields() {
    let house = House::open().await;
    house.deliver_at("alice", "", moment()).await;
    let body = house.get("/api/v1/mailbox/alice/latest").await;
    assert!(
        body.text().ends_with("\"size\":0,\"body\":{\"text\":\"\",\"html\":\"\"},\"header\":{},\"attachments\":[]}\n")
    );
}

#[tokio::test]
async fn the_source_is_every_byte_as_stored() {
    let house = House::open().await;
    let mut raw = b"Subject: x\r\n\r\n".to_vec();
    raw.extend((0..=255).cycle().take(300_000));
    let id = house.deliver("alice", raw.clone()).await;
    for path in [format!("/api/v1/mailbox/alice/{id}/source"), "/api/v1/mailbox/alice/latest/source".into()] {
        let source = house.get(&path).await;
        assert!(source.body == raw, "{path}");
        assert_eq!(source.field("content-type"), Some("text/plain"));
        assert_eq!(source.field("x-content-type-options"), Some("nosniff"));
        assert_eq!(source.field("expires"), Some("-1"));
        assert_eq!(source.field("content-length"), Some(&*raw.len().to_string()));
    }
}

#[tokio::test]
async fn delete_takes_one_message_and_purge_all_of_one_mailbox() {
    let house = House::open().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(house.deliver("alice", letter(&number.to_string())).await);
    }
    house.deliver("bob", letter("other")).await;
    let path = format!("/api/v1/mailbox/alice/{}", ids[1]);
    assert_eq!(house.ask("DELETE", &path, "").await.text(), "\"OK\"\n");
    house.ask("DELETE", &path, "").await.expect_problem(404, "message-unknown");
    house.get(&path).await.expect_problem(404, "message-unknown");
    assert_eq!(house.ask("DELETE", "/api/v1/mailbox/alice/latest", "").await.status, 200);
    let list = house.json("/api/v1/mailbox/alice").await;
    let subjects: Vec<_> = list.as_array().unwrap().iter().map(|entry| entry["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["0", "2"]);
    assert_eq!(house.ask("DELETE", "/api/v1/mailbox/alice", "").await.text(), "\"OK\"\n");
    assert_eq!((house.count("alice").await, house.count("bob").await), (0, 1));
}

#[tokio::test]
async fn unknown_ids_are_404_and_bad_names_400() {
    let house = House::open().await;
    let id = house.deliver("alice", letter("x")).await;
    let long = "x".repeat(500);
    for unknown in ["no-such-id", "0", "-1", "Latest", "a%20b", "%00", "%FF", long.as_str(), "..%2falice"] {
        for (method, suffix) in [("GET", ""), ("GET", "/source"), ("DELETE", "")] {
            let path = format!("/api/v1/mailbox/alice/{unknown}{suffix}");
            house.ask(method, &path, "").await.expect_problem(404, "message-unknown");
        }
    }
    house.get(&format!("/api/v1/mailbox/bob/{id}")).await.expect_problem(404, "message-unknown");
    let long = "a".repeat(2000);
    let bad =
        ["two%20words", "a%00b", "a%0D%0Ab", "a%FFb", "a,b", "a..b", ".a", "a@b@c", "@host", "%22abc", "+tag", &long];
    for name in bad {
        for (method, suffix) in [("GET", ""), ("DELETE", ""), ("GET", "/1"), ("GET", "/1/source"), ("DELETE", "/1")] {
            let path = format!("/api/v1/mailbox/{name}{suffix}");
            house.ask(method, &path, "").await.expect_problem(400, "bad-mailbox");
        }
    }
    assert_eq!(house.count("alice").await, 1);
}

#[tokio::test]
async fn names_are_mapped_by_the_policy_and_read_back_from_the_answer() {
    let house = House::open().await;
    house.deliver("a/b", letter("slash")).await;
    for spelling in ["a%2Fb", "A%2fB", "%61%2Fb+tag", "a%2Fb@example.test", "a%2Fb%40example.test", "%22a%2Fb%22"] {
        let list = house.json(&format!("/api/v1/mailbox/{spelling}")).await;
        assert_eq!(list[0]["mailbox"], "a/b", "{spelling}");
        assert_eq!(house.get(&format!("/api/v1/mailbox/{spelling}/latest/source")).await.status, 200);
    }
    for name in ["\"john doe\"", "\"a@b\"", "\"..\"", "a?b#c%41", "\"q\\\"uote\""] {
        house.deliver(name, letter("odd")).await;
        let encoded =
            |name: &str| percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string();
        let list = house.json(&format!("/api/v1/mailbox/{}", encoded(name))).await;
        let shown = list[0]["mailbox"].as_str().unwrap();
        assert_eq!(house.json(&format!("/api/v1/mailbox/{}", encoded(shown))).await, list, "{name}");
    }
}

#[tokio::test]
async fn head_answers_like_get_without_a_body() {
    let house = House::open().await;
    let id = house.deliver("alice", letter("x")).await;
    let paths =
        ["alice".into(), "alice/latest".into(), format!("alice/{id}/source"), "alice/nothing".into(), "a,b".into()];
    for path in
        paths.iter().map(|path| format!("/api/v1/mailbox/{path}")).chain(["/".into(), "/livez".into(), "/x".into()])
    {
        let (get, head) = (house.get(&path).await, house.ask("HEAD", &path, "").await);
        assert_eq!(head.body, b"", "{path}");
        let without_date = |answer: &super::Answer| {
            answer.fields.iter().filter(|(name, _)| name != "date").cloned().collect::<Vec<_>>()
        };
        assert_eq!((head.status, without_date(&head)), (get.status, without_date(&get)), "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_405_and_changes_nothing() {
    let house = House::open().await;
    house.deliver("alice", letter("x")).await;
    for (path, allow) in [
        ("/api/v1/mailbox/alice", "GET,HEAD,DELETE"),
        ("/api/v1/mailbox/alice/latest", "GET,HEAD,DELETE"),
        ("/api/v1/mailbox/alice/latest/source", "GET,HEAD"),
        ("/mailbox/vattach/alice/latest/0/a", "GET,HEAD"),
        ("/", "GET,HEAD"),
    ] {
        for method in ["POST", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let answer = house.ask(method, path, "").await;
            answer.expect_problem(405, "method-not-allowed");
            assert_eq!(answer.field("allow"), Some(allow), "{method} {path}");
        }
    }
    assert_eq!(house.count("alice").await, 1);
}

#[tokio::test]
async fn a_public_url_is_in_the_links_and_its_prefix_before_the_routes() {
    let public_url = Some("https://mail.example.com/pk".into());
    let house = House::with(Settings { public_url, ..Settings::default() }).await;
    let raw = "Content-Type: image/png; name=a\r\n\r\nx";
    let id = house.deliver("alice", raw).await;
    for prefix in ["", "/pk"] {
        let message = house.json(&format!("{prefix}/api/v1/mailbox/alice/latest")).await;
        let link = format!("https://mail.example.com/pk/mailbox/dattach/alice/{id}/0/a");
        assert_eq!(message["attachments"][0]["download-link"], link);
        assert_eq!(house.get(&format!("{prefix}/mailbox/dattach/alice/{id}/0/a")).await.body, b"x");
        assert_eq!(house.get(&format!("{prefix}/livez")).await.status, 200);
        assert!(house.get(&format!("{prefix}/")).await.text().contains("<base href=\"/pk/\""));
    }
    assert_eq!(house.get("/pk").await.status, 200);
    house.get("/pk/pk/livez").await.expect_problem(404, "route-unknown");
    assert_eq!(house.ask_host("GET", "/livez", "mail.example.com").await.status, 200);
    assert_eq!(house.ask_host("GET", "/livez", "other.example.com").await.status, 421);
}

#[tokio::test]
async fn a_prefix_that_looks_like_a_route_hides_none() {
    let public_url = Some("https://mail.example.com/api".into());
    let house = House::with(Settings { public_url, ..Settings::default() }).await;
    house.deliver("alice", letter("x")).await;
    for path in ["/api/v1/mailbox/alice", "/api/api/v1/mailbox/alice"] {
        assert_eq!(house.json(path).await[0]["mailbox"], "alice");
    }
}

#[tokio::test]
async fn a_thousand_header_names_are_grouped() {
    let house = House::open().await;
    let mut raw = String::new();
    for number in 0..450 {
        raw += &format!("X-N{number}: a\r\n");
    }
    for number in 0..450 {
        raw += &format!("x-n{number}: b\r\n");
    }
    house.deliver("alice", raw + "\r\n").await;
    let message = house.json("/api/v1/mailbox/alice/latest").await;
    let header = message["header"].as_object().unwrap();
    assert_eq!(header.len(), 450);
    for (number, (name, values)) in header.iter().enumerate() {
        assert_eq!((name.as_str(), values), (&*format!("X-N{number}"), &serde_json::json!(["a", "b"])));
    }
}
