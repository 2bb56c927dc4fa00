//! Attachments: whatever a stranger put into a part, the browser sees a fixed set of fields and passive bytes.

use super::{Answer, House};

fn mail(fields: &str, content: &str) -> String {
    format!("Subject: x\r\n{fields}\r\n\r\n{content}")
}

fn attached(content_type: &str) -> String {
    mail(
        &format!("Content-Type: {content_type}\r\nContent-Disposition: attachment; filename=file.png"),
        "<script>1</script>",
    )
}

/// Both links of the only attachment.
async fn links(house: &House, raw: String) -> [Answer; 2] {
    house.deliver("box", raw).await;
    let message = house.json("/api/v1/mailbox/box/latest").await;
    let entry = &message["attachments"][0];
    let path = |key: &str| {
        let link = entry[key].as_str().unwrap_or_else(|| panic!("{message}"));
        link.strip_prefix(&format!("http://{}", house.addr)).unwrap().to_owned()
    };
    [house.get(&path("download-link")).await, house.get(&path("view-link")).await]
}

fn expect_hardened(answer: &Answer) {
    assert_eq!(answer.status, 200);
    assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.field("cross-origin-resource-policy"), Some("same-origin"));
    let policy = answer.field("content-security-policy").unwrap();
    assert!(policy.split("; ").any(|directive| directive == "sandbox"), "{policy}");
    assert!(!policy.contains("allow-"), "{policy}");
}

#[tokio::test]
async fn t040_only_passive_types_are_shown() {
    let house = House::open().await;
    let passive = "image/png image/jpeg image/gif image/webp image/avif text/plain audio/mpeg audio/ogg audio/wav \
                   audio/mp4 video/mp4 video/webm IMAGE/PNG Image/Jpeg;x=y";
    for kind in passive.split_whitespace() {
        let [download, view] = links(&house, attached(kind)).await;
        let plain = kind.to_ascii_lowercase().replace(";x=y", "");
        let shown = if plain == "text/plain" { "text/plain; charset=utf-8" } else { &plain };
        assert_eq!(view.field("content-type"), Some(shown));
        assert!(view.field("content-disposition").unwrap().starts_with("inline; "));
        assert_eq!(download.field("content-type"), Some("application/octet-stream"));
        for answer in [download, view] {
            expect_hardened(&answer);
        }
    }
    let active = "text/html TEXT/HTML text/html;charset=utf-8 application/xhtml+xml image/svg+xml Image/SVG+xml text/xml \
                  application/xml application/rss+xml application/atom+xml application/xslt+xml text/xsl text/css \
                  application/mathml+xml application/pdf text/javascript application/javascript application/ecmascript \
                  application/wasm application/json application/ld+json application/x-shockwave-flash text/vtt \
                  application/octet-stream text/cache-manifest application/x-nobody-knows multipart/x-mixed-replace \
                  image/png,text/html text/plain/html html/text/plain text image/* */* ; image image/ /png image/pngx \
                  ximage/png application/vnd.mozilla.xul+xml application/x-java-applet image/vnd.adobe.photoshop \
                  image/tiff image/bmp image/x-icon audio/midi video/ogg video/quicktime font/woff2 message/partial \
                  message/external-body application/zip application/gzip application/hta text/x-component \
                  application/x-msdownload application/java-archive text/scriptlet model/vrml text/rtf text/csv \
                  text/markdown application/manifest+json application/x-xpinstall text/x-server-parsed-html";
    assert!(active.split_whitespace().count() >= 60);
    for kind in active.split_whitespace() {
        for answer in links(&house, attached(kind)).await {
            expect_hardened(&answer);
            let shown = answer.field("content-type").unwrap();
            assert!(["application/octet-stream", "text/plain; charset=utf-8"].contains(&shown), "{kind}: {shown}");
            if shown == "application/octet-stream" {
                assert!(answer.field("content-disposition").unwrap().starts_with("attachment; "), "{kind}");
            }
        }
    }
}

#[tokio::test]
async fn t041_bytes_that_look_like_a_page_stay_what_they_are_called() {
    let house = House::open().await;
    for content in
        ["GIF89a<script>alert(1)</script>", "<html><script>1</script>", "%PDF-1.4 <script>", "\u{feff}<svg onload=1>"]
    {
        for kind in ["image/gif", "image/png", "text/plain"] {
            let raw =
                mail(&format!("Content-Type: {kind}\r\nContent-Disposition: attachment; filename=x.html"), content);
            let [download, view] = links(&house, raw).await;
            for answer in [&download, &view] {
                expect_hardened(answer);
                assert_eq!(answer.body, content.as_bytes());
            }
            assert_eq!(view.field("content-type").unwrap().split(';').next(), Some(kind));
        }
    }
}

#[tokio::test]
async fn t042_no_field_of_a_part_reaches_the_answer() {
    let house = House::open().await;
    let known = [
        "date",
        "content-type",
        "content-length",
        "content-disposition",
        "content-security-policy",
        "cache-control",
        "referrer-policy",
        "x-content-type-options",
        "x-frame-options",
        "cross-origin-resource-policy",
        "connection",
    ];
    for field in [
        "Set-Cookie: canary=1",
        "Location: http://canary.test/",
        "Refresh: 0;url=http://canary.test/",
        "Access-Control-Allow-Origin: canary",
        "Content-Encoding: canary",
        "Content-Security-Policy: canary",
        "Content-Language: canary",
        "X-Canary: 1",
        "Content-Disposition: attachment; filename=\"a\\\"; x=canary\"",
        "Content-Disposition: attachment; filename*=utf-8''a%0D%0AX-Canary:%201%00.png",
        "Content-Type: image/png; name=\"a\r\n X-Canary: 1\"",
    ] {
        let raw = mail(&format!("Content-Type: image/png; name=file\r\n{field}"), "x");
        for answer in links(&house, raw).await {
            expect_hardened(&answer);
            for (name, value) in &answer.fields {
                assert!(known.contains(&name.as_str()), "{name}: {value}");
                assert!(name == "content-disposition" || !value.contains("canary"), "{name}: {value}");
            }
        }
    }
}

#[tokio::test]
async fn t034_what_is_compressed_is_never_unpacked() {
    let house = House::open().await;
    let bomb = "\u{1f}pretend-gzip";
    for kind in ["application/gzip", "application/zip", "application/x-zstd"] {
        let raw = mail(&format!("Content-Type: {kind}; name=a\r\nContent-Encoding: gzip"), bomb);
        for answer in links(&house, raw).await {
            assert_eq!(answer.body, bomb.as_bytes());
            assert_eq!(answer.field("content-encoding"), None);
        }
    }
    // A body that calls itself compressed is bytes like any other, counted as they come and thrown away.
    let fields = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", bomb.len());
    let raw = format!("DELETE /api/v1/mailbox/box HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n{bomb}");
    assert_eq!(Answer::read(&house.exchange(raw).await).status, 200);
}

#[tokio::test]
async fn t035_a_calendar_or_a_card_is_an_attachment_and_stays_inert() {
    let house = House::open().await;
    for kind in ["text/calendar", "text/vcard", "text/x-vcard", "text/directory"] {
        let raw = mail(&format!("Content-Type: {kind}"), "BEGIN:VCALENDAR\r\nX-ALT-DESC:<script>1</script>\r\n");
        for answer in links(&house, raw).await {
            expect_hardened(&answer);
            assert_eq!(answer.field("content-type"), Some("application/octet-stream"));
        }
        let message = house.json("/api/v1/mailbox/box/latest").await;
        assert_eq!(message["body"], serde_json::json!({"text": "", "html": ""}));
    }
}

#[tokio::test]
async fn unknown_attachments_are_404_and_the_file_name_is_not_compared() {
    let house = House::open().await;
    let id = house.deliver("box", attached("image/png")).await;
    let long = "9".repeat(30);
    for kind in ["dattach", "vattach"] {
        for index in ["1", "100", "-1", "x", "0x0", "1.0", "%20", "00", &long] {
            house.get(&format!("/mailbox/{kind}/box/{id}/{index}/a")).await.expect_problem(404, "part-unknown");
        }
        house.get(&format!("/mailbox/{kind}/box/none/0/a")).await.expect_problem(404, "message-unknown");
        house.get(&format!("/mailbox/{kind}/other/{id}/0/a")).await.expect_problem(404, "message-unknown");
        house.get(&format!("/mailbox/{kind}/a,b/{id}/0/a")).await.expect_problem(400, "bad-mailbox");
        for name in ["other.html", "x%20y", "%C3%A9", "%FF", "-", "latest"] {
            assert_eq!(house.get(&format!("/mailbox/{kind}/box/{id}/0/{name}")).await.status, 200, "{name}");
        }
        assert_eq!(house.get(&format!("/mailbox/{kind}/box/latest/0/a")).await.status, 200);
    }
    house.ask("DELETE", "/api/v1/mailbox/box", "").await;
    house.get(&format!("/mailbox/vattach/box/{id}/0/a")).await.expect_problem(404, "message-unknown");
}
