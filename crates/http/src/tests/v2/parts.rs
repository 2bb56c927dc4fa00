//! Parts as files, and HTML made harmless.

use super::House;

const MAIL: &str = "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hello<script>alert(1)</script><img src=\"cid:a\" onerror=x>\r\n\
    --b\r\nContent-Type: image/png; name=\"a.png\"\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n\
    --b\r\nContent-Type: text/html; name=\"evil.html\"\r\nContent-Disposition: attachment\r\n\r\n<script>alert(1)</script>\r\n--b--\r\n";
const PATH: &str = "/api/v2/mailboxes/alice/messages/latest";

#[tokio::test]
async fn t040_a_part_is_shown_only_when_nothing_in_it_can_act() {
    let house = House::open().await;
    house.deliver("alice", MAIL).await;
    let cases = [
        ("2", "", "application/octet-stream", "attachment"),
        ("2", "?view=true", "image/png", "inline"),
        ("2", "?view=false", "application/octet-stream", "attachment"),
        ("3", "?view=true", "application/octet-stream", "attachment"),
        ("1", "?view=true", "application/octet-stream", "attachment"),
    ];
    for (part, query, media_type, disposition) in cases {
        let answer = house.get(&format!("{PATH}/parts/{part}{query}")).await;
        assert_eq!((answer.status, answer.field("content-type")), (200, Some(media_type)), "{part}{query}");
        assert!(answer.field("content-disposition").unwrap().starts_with(disposition), "{part}{query}");
        assert!(answer.field("content-security-policy").unwrap().starts_with("sandbox;"));
        assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
        let tag = answer.field("etag").unwrap().to_owned();
        let again =
            house.ask("GET", &format!("{PATH}/parts/{part}{query}"), &format!("If-None-Match: {tag}\r\n")).await;
        assert_eq!(again.status, 304);
    }
    assert_eq!(house.get(&format!("{PATH}/parts/2")).await.body, b"\x89PNG\r\n\x1a\n");
    for unknown in ["0", "4", "2.1", "x", "%00", "-1", "2%0d%0aX:1"] {
        house.get(&format!("{PATH}/parts/{unknown}")).await.expect_problem(404, "part-unknown");
    }
    house.get(&format!("{PATH}/parts/2?view=yes")).await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn t039_html_is_harmless_and_alone() {
    let house = House::open().await;
    house.deliver("alice", MAIL).await;
    let answer = house.get(&format!("{PATH}/html")).await;
    assert_eq!(answer.status, 200);
    let html = answer.text();
    assert!(html.contains("Hello") && html.contains("src=\"cid:a\""), "{html}");
    assert!(!html.contains("script") && !html.contains("onerror"), "{html}");
    let policy = answer.field("content-security-policy").unwrap();
    assert!(
        policy.starts_with("sandbox;") && policy.contains("default-src 'none'") && !policy.contains("allow-"),
        "{policy}"
    );
    house.deliver("alice", "Subject: plain\r\n\r\nwords").await;
    house.get(&format!("{PATH}/html")).await.expect_problem(404, "part-unknown");
}
