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
    assert!(html.contains("Hello") && html.contains("<img src=\"data:image/png;base64,iVBORw0KGgo=\">"), "{html}");
    assert!(!html.contains("script") && !html.contains("onerror"), "{html}");
    let policy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; \
                  style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
    assert_eq!(answer.field("content-security-policy"), Some(policy));
    assert_eq!(answer.field("x-frame-options"), Some("SAMEORIGIN"));
    assert_eq!(answer.field("x-dns-prefetch-control"), Some("off"));
    assert_eq!(answer.field("referrer-policy"), Some("no-referrer"));
    house.deliver("alice", "Subject: plain\r\n\r\nwords").await;
    house.get(&format!("{PATH}/html")).await.expect_problem(404, "part-unknown");
}

#[tokio::test]
async fn t046_other_hosts_are_asked_only_when_the_reader_says_so() {
    let house = House::open().await;
    house.deliver("alice", MAIL).await;
    let (quiet, asked) =
        (house.get(&format!("{PATH}/html")).await, house.get(&format!("{PATH}/html?remote=true")).await);
    let policy = asked.field("content-security-policy").unwrap();
    for part in ["img-src data: http: https:", "style-src 'unsafe-inline' http: https:", "font-src data: http: https:"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(policy.starts_with("sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';"), "{policy}");
    assert!(
        !policy.contains("allow-scripts") && !policy.contains("allow-same-origin") && !policy.contains("script-src")
    );
    assert!(!quiet.field("content-security-policy").unwrap().contains("http"));
    assert_ne!(quiet.field("etag"), asked.field("etag"));
    house.get(&format!("{PATH}/html?remote=yes")).await.expect_problem(400, "bad-request");
}

#[tokio::test]
async fn t032_a_picture_that_is_named_often_does_not_grow_without_end() {
    let house = House::open().await;
    let picture = "iVBORw0KGgo".to_owned() + &"A".repeat(400_000);
    let names = "<img src=cid:a>".repeat(10_000);
    let mail = format!(
        "Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n{names}\r\n\
         --b\r\nContent-Type: image/png\r\nContent-ID: <a>\r\nContent-Transfer-Encoding: base64\r\n\r\n{picture}\r\n--b--\r\n"
    );
    let size = mail.len();
    house.deliver("alice", mail).await;
    let html = house.get(&format!("{PATH}/html")).await;
    assert!(html.body.len() > 400_000 && html.body.len() < 4 * size, "{} of {size}", html.body.len());
}

#[tokio::test]
async fn html_is_whole_however_long_and_begins_at_a_root_with_a_name() {
    let house = House::open().await;
    let long = format!("<!doctype html>\r\n<html lang=en><p>{}\r\n<p>the end", "words and more\r\n".repeat(100_000));
    house.deliver("alice", format!("Content-Type: text/html\r\n\r\n{long}")).await;
    let message = house.json(PATH).await;
    assert_eq!(message["truncated"][0], "text");
    let answer = house.get(&format!("{PATH}/html")).await;
    let html = answer.text();
    assert!(html.starts_with("<!DOCTYPE html><html id=\"mail\">"), "{}", &html[..100]);
    assert!(html.contains("<html lang=\"en\">") && html.ends_with("<p>the end"), "{}", &html[html.len() - 50..]);
    house.deliver("alice", "Content-Type: text/html\r\n\r\n<p>quirks").await;
    assert_eq!(house.get(&format!("{PATH}/html")).await.text(), "<html id=\"mail\"><p>quirks");
}

#[tokio::test]
async fn what_a_message_would_load_and_really_is_is_told() {
    let house = House::open().await;
    let mail =
        MAIL.replace("<p>Hello", "<p>Hello<img src=https://t.test/o width=1 height=1><img src=https://a.test/i>");
    house
        .deliver("alice", mail.replace("<script>alert(1)</script>\r\n--b--", "<html><script>x</script>\r\n--b--"))
        .await;
    let message = house.json(PATH).await;
    super::schema::fits(&message, "/api/v2/mailboxes/{name}/messages/{id}", "get", 200);
    let expected = serde_json::json!({"images": 1, "pixels": 1, "hosts": ["a.test", "t.test"]});
    assert_eq!(message["remoteContent"], expected);
    assert_eq!(message["htmlSize"], message["html"].as_str().unwrap().len());
    assert_eq!(
        (&message["attachments"][0]["realType"], &message["parts"]["realType"]),
        (&"image/png".into(), &serde_json::Value::Null)
    );
    assert_eq!(message["attachments"][1]["realType"], "text/html");
    assert_eq!(message["parts"]["subParts"][1]["realType"], "image/png");
    house.deliver("alice", "Subject: plain\r\n\r\nwords").await;
    let plain = house.json(PATH).await;
    assert!(plain["remoteContent"].is_null() && plain["htmlSize"].is_null());
}
