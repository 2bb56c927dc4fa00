//! What is not understood is told with what was meant; v1 is told as ever.

use super::{Answer, House};
use crate::Settings;

#[tokio::test]
async fn an_unknown_parameter_is_refused_with_the_nearest() {
    let house = House::open().await;
    let answer = house.get("/api/v2/mailboxes/alice/messages?lmit=3&x%ff=1&order=up").await;
    answer.expect_problem(400, "bad-request");
    let problem = answer.value();
    assert_eq!(problem["errors"][0]["in"], "query");
    assert_eq!((&problem["errors"][0]["name"], &problem["errors"][0]["nearest"]), (&"lmit".into(), &"limit".into()));
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2);
    for query in ["limit=x", "limit=-1", "limit=1&limit=2", "order=up", "page=x", "page=n", "limit=%ff", "limit"] {
        let path = format!("/api/v2/mailboxes/alice/messages?{query}");
        house.get(&path).await.expect_problem(400, "bad-request");
    }
    house.get("/api/v2?verbose=1").await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn problems_of_v2_name_the_request_and_where_help_is() {
    let house = House::open().await;
    let (one, two) = (house.get("/api/v2/nothing").await, house.get("/api/v2/nothing").await);
    one.expect_problem(404, "route-unknown");
    assert_eq!(one.field("link"), Some("</api/v2/openapi.json>; rel=\"help\""));
    assert_eq!(one.value()["requestId"].as_str().unwrap().len(), 16);
    assert_ne!(one.value()["requestId"], two.value()["requestId"]);
    for path in ["/api/v1/mailbox/a/b", "/nothing"] {
        let plain = house.get(path).await;
        assert_eq!(plain.field("link"), None);
        let problem = plain.value();
        let members: Vec<_> = problem.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["type", "title", "status", "detail"], "{path}");
    }
}

#[tokio::test]
async fn below_a_prefix_v2_is_there_too() {
    let public_url = Some("https://mail.example.com/post".into());
    let house = House::with(Settings { public_url, ..Settings::default() }).await;
    let problem = house.get("/post/api/v2/nothing").await;
    assert_eq!(problem.field("link"), Some("</post/api/v2/openapi.json>; rel=\"help\""));
    for number in 0..2 {
        house.deliver("a", format!("Subject: {number}\r\n\r\n")).await;
    }
    let page = house.get("/post/api/v2/mailboxes/a/messages?limit=1").await;
    let link = page.field("link").unwrap();
    assert!(link.starts_with("</post/api/v2/mailboxes/a/messages?limit=1&page=n"), "{link}");
}

#[tokio::test]
async fn t058_json_is_bounded_in_size_and_depth() {
    let house = House::with(Settings { body_max: 4096, json_depth_max: 8, ..Settings::default() }).await;
    let path = "/api/v2/mailboxes/alice/messages/delete";
    let post = async |body: &str| -> Answer { house.send("POST", path, "application/json", body.as_bytes()).await };
    post(&"[".repeat(4097)).await.expect_problem(413, "body-too-large");
    let deep = post(&"[".repeat(4096)).await;
    deep.expect_problem(400, "bad-request");
    assert!(deep.text().contains("http.json_depth_max"), "{}", deep.text());
    house.is_sound().await;
}
