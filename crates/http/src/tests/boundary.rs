//! The web boundary, walked over every real route: what holds for one holds for all, and for paths that are none.

use super::page::ASSET;
use super::{Answer, House};
use crate::Settings;
use crate::live::Events;
use crate::router::{Operation, ROUTES};
use net::Network;
use std::time::Duration;

const CANARY: &str = "canary-7f3a";

/// A house whose mailbox `box` holds one message with a canary everywhere.
async fn house_with_canary() -> House {
    // A stream would go on and on.
    let events = Events { life_max: Duration::from_millis(20), ..Events::default() };
    let house = House::with(Settings { events, ..Settings::default() }).await;
    deliver_canary(&house).await;
    house
}

async fn deliver_canary(house: &House) {
    let raw = format!(
        "Subject: {CANARY}\r\nX-{CANARY}: {CANARY}\r\nContent-Type: image/png; name={CANARY}\r\n\r\n{CANARY}\r\n"
    );
    house.deliver("box", raw).await;
}

/// A path for each route at which there is something, and its operation.
fn real_routes() -> Vec<(String, Operation)> {
    let fill = |path: &str| {
        let path = path.replace("{name}", "box").replace("{id}", "latest").replace("{index}", "0");
        path.replace("{filename}", "a.png").replace("{partId}", "1").replace("{tab}", "text").replace("{file}", ASSET)
    };
    ROUTES.iter().flat_map(|route| route.operations.iter().map(move |done| (fill(route.path), *done))).collect()
}

/// Every route's path once, and some that are none.
fn all_paths() -> Vec<String> {
    let none = ["/nothing", "/api", "/api/v1/mailbox/", "/api/v1/mailbox/box/", "/debug/vars", "//", "/%2e%2e"];
    let mut paths: Vec<_> = real_routes().into_iter().map(|(path, _)| path).chain(none.map(String::from)).collect();
    paths.dedup();
    paths
}

#[test]
fn t066_the_public_routes_are_these_and_no_others() {
    let table: Vec<String> = ROUTES
        .iter()
        .flat_map(|route| route.operations.iter().map(|done| format!("{} {} {done:?}", done.method(), route.path)))
        .collect();
    let golden = [
        "GET / Page",
        "GET /latest Page",
        "GET /monitor Page",
        "GET /faults Page",
        "GET /connect Page",
        "GET /help Page",
        "GET /login Page",
        "GET /m/{name} Page",
        "GET /m/{name}/{id} Page",
        "GET /m/{name}/{id}/{tab} Page",
        "GET /assets/{file} Asset",
        "GET /favicon.svg Favicon",
        "GET /livez Live",
        "GET /readyz Ready",
        "GET /metrics Counters",
        "GET /api/v1/mailbox/{name} List",
        "DELETE /api/v1/mailbox/{name} Purge",
        "GET /api/v1/mailbox/{name}/{id} Read",
        "DELETE /api/v1/mailbox/{name}/{id} Delete",
        "GET /api/v1/mailbox/{name}/{id}/source Source",
        "GET /mailbox/dattach/{name}/{id}/{index}/{filename} Download",
        "GET /mailbox/vattach/{name}/{id}/{index}/{filename} View",
        "GET /api/v2 ReadServer",
        "GET /api/v2/openapi.json ReadOpenapi",
        "POST /api/v2/import Import",
        "GET /api/v2/messages ListRecent",
        "POST /api/v2/messages DeliverMessage",
        "DELETE /api/v2/messages PurgeAll",
        "GET /api/v2/events WatchEvents",
        "GET /api/v1/monitor/messages Monitor(V1)",
        "GET /api/v1/monitor/messages/{name} MonitorOne(V1)",
        "GET /api/v2/monitor/messages Monitor(V2)",
        "GET /api/v2/monitor/messages/{name} MonitorOne(V2)",
        "GET /api/v2/messages/wait WaitAnywhere",
        "GET /api/v2/mailboxes/{name}/wait Wait",
        "POST /api/v2/mailboxes/{name}/wait WaitMatching",
        "GET /api/v2/mailboxes ListMailboxes",
        "GET /api/v2/mailboxes/{name} ReadMailbox",
        "GET /api/v2/mailboxes/{name}/export ExportMailbox",
        "GET /api/v2/mailboxes/{name}/messages ListMessages",
        "DELETE /api/v2/mailboxes/{name}/messages PurgeMailbox",
        "POST /api/v2/mailboxes/{name}/messages/delete DeleteMessages",
        "GET /api/v2/mailboxes/{name}/messages/{id} ReadMessage",
        "DELETE /api/v2/mailboxes/{name}/messages/{id} DeleteMessage",
        "GET /api/v2/mailboxes/{name}/messages/{id}/source ReadSource",
        "GET /api/v2/mailboxes/{name}/messages/{id}/html ReadHtml",
        "GET /api/v2/mailboxes/{name}/messages/{id}/parts/{partId} ReadPart",
        "POST /api/v2/mailboxes/{name}/messages/{id}/release ReleaseMessage",
        "GET /api/v2/releases ListReleases",
        "GET /api/v2/releases/{id} ReadRelease",
        "POST /api/v2/inboxes OpenInbox",
        "GET /api/v2/inboxes/{name} ReadInbox",
        "DELETE /api/v2/inboxes/{name} CloseInbox",
        "GET /api/v2/tokens ListTokens",
        "POST /api/v2/tokens IssueToken",
        "DELETE /api/v2/tokens/{id} RevokeToken",
        "GET /api/v2/webhooks/dead ListDeadWebhooks",
        "POST /api/v2/webhooks/dead/{id}/replay ReplayWebhook",
        "GET /api/v2/faults ListFaults",
        "POST /api/v2/faults PlanFault",
        "DELETE /api/v2/faults/{id} RemoveFault",
        "POST /api/v2/login Login",
        "DELETE /api/v2/login Logout",
    ];
    assert_eq!(table, golden);
}

#[tokio::test]
async fn t066_what_is_not_in_the_table_is_404() {
    let house = house_with_canary().await;
    let guesses = "/debug/vars /debug/pprof/ /admin /status /server-status /health /healthz /env /actuator /api \
                   /api/ /api/v1 /api/v1/ /api/v1/mailbox /api/v1/monitor /api/v2/ /api/v3 /serve/mailbox/box /mailbox \
                   /mailbox/box /api/v1/mailbox/box/latest/html /api/v1/mailbox/box/latest/source/more /.git/HEAD \
                   /.env /index.html /favicon.ico /robots.txt /livez/x /quit /shutdown";
    for path in guesses.split_whitespace() {
        for method in ["GET", "POST", "DELETE"] {
            house.ask(method, path, "").await.expect_problem(404, "route-unknown");
        }
    }
    assert_eq!(house.count("box").await, 1);
}

/// Other ways to write a path.
pub(super) fn spellings(path: &str) -> Vec<String> {
    let encoded =
        |byte: char, upper: bool| if upper { format!("%{:02X}", byte as u32) } else { format!("%{:02x}", byte as u32) };
    let letter = path.find(|char: char| char.is_ascii_alphabetic());
    let swap_first = |upper: bool| match letter {
        Some(at) => format!("{}{}{}", &path[..at], encoded(path.as_bytes()[at] as char, upper), &path[at + 1..]),
        None => format!("{path}%"),
    };
    let every: String = path.chars().map(|char| if char == '/' { "/".into() } else { encoded(char, true) }).collect();
    vec![
        swap_first(true),
        swap_first(false),
        every,
        path.to_uppercase(),
        format!("/{path}"),
        format!("{path}/"),
        format!("/.{path}"),
        format!("/x/..{path}"),
        format!("/%2e{path}"),
        format!("{path}?x=/../livez"),
        format!("{path};x=y"),
        path.replacen('/', "/%2F", 1),
        path.replace('/', "\\"),
        format!("http://evil.example{path}"),
    ]
}

#[tokio::test]
async fn t054_no_spelling_of_a_path_leads_round_a_check() {
    let house = house_with_canary().await;
    for (path, done) in real_routes() {
        let method = done.method();
        for spelling in spellings(&path) {
            let host = house.ask_host(method.as_str(), &spelling, "evil.example").await;
            assert!([400, 421].contains(&host.status), "{method} {spelling}: {}", host.status);
            let evil = "Origin: http://evil.example\r\n";
            let origin = house.ask("DELETE", &spelling, evil).await;
            assert!([400, 403].contains(&origin.status), "DELETE {spelling}: {}", origin.status);
            for answer in [host, origin] {
                assert!(!String::from_utf8_lossy(&answer.body).contains(CANARY), "{spelling}");
            }
        }
    }
    assert_eq!(house.count("box").await, 1);
}

#[tokio::test]
async fn t054_a_spelling_is_the_same_route_or_none() {
    let house = house_with_canary().await;
    // The first words of a stream, and a problem of v2, are never twice the same.
    let is_still = |path: &str| !path.ends_with("/events") && !path.contains("/v2/monitor/");
    for (path, done) in real_routes().iter().filter(|(path, done)| done.method() == "GET" && is_still(path)) {
        let canonical = house.get(path).await;
        for spelling in spellings(path) {
            let answer = house.get(&spelling).await;
            let same = (answer.status, &answer.body) == (canonical.status, &canonical.body);
            assert!(same || [400, 404].contains(&answer.status), "{spelling}: {} {:?}", answer.status, answer.text());
        }
        // What follows a question mark is no part of the path; v2 refuses what it does not know there.
        let asking = house.get(&format!("{path}?x=y")).await;
        match done.about() {
            Some(_) => asking.expect_problem(400, "bad-request"),
            None => assert_eq!(asking.body, canonical.body),
        }
    }
}

#[tokio::test]
async fn t055_a_foreign_host_gets_421_and_no_data_on_every_path() {
    let house = house_with_canary().await;
    let foreign = [
        "evil.example",
        "evil.example:8025",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "EVIL.EXAMPLE.",
        "test.example",
        "127.1",
    ];
    for path in all_paths() {
        for host in foreign {
            for method in ["GET", "HEAD", "DELETE", "POST", "OPTIONS"] {
                let answer = house.ask_host(method, &path, host).await;
                if method == "HEAD" {
                    assert_eq!(answer.status, 421);
                    continue;
                }
                answer.expect_problem(421, "host-refused");
                assert!(!answer.text().contains(CANARY) && !answer.text().contains("\"id\""), "{path}");
            }
        }
    }
    assert_eq!(house.count("box").await, 1);
}

#[tokio::test]
async fn t055_a_host_that_is_not_one_name_gets_400() {
    let house = house_with_canary().await;
    for hosts in [
        "",
        "Host: \r\n",
        "Host: 127.0.0.1\r\nHost: evil.example\r\n",
        "Host: localhost\r\nHost: localhost\r\n",
        "Host: localhost, evil.example\r\n",
        "Host: localhost@evil.example\r\n",
        "Host: localhost/\r\n",
        "Host: loc\u{e4}l\r\n",
        "Host: a:99999\r\n",
        "Host: [::1\r\n",
    ] {
        for version in ["1.1", "1.0"] {
            let raw = format!("GET /api/v1/mailbox/box HTTP/{version}\r\n{hosts}Connection: close\r\n\r\n");
            let raw = house.exchange(raw).await;
            let raw = String::from_utf8(raw).unwrap().replace("HTTP/1.0", "HTTP/1.1");
            Answer::read(raw.as_bytes()).expect_problem(400, "bad-request");
        }
    }
    for target in ["http://evil.example/livez", "http://127.0.0.1:1/livez", "*", "evil.example:80"] {
        let answer = house.ask("OPTIONS", target, "").await;
        assert_eq!(answer.status, 400, "{target}");
    }
    let absolute = format!("http://{}/livez", house.addr);
    assert_eq!(house.get(&absolute).await.text(), "ok\n", "the target may name the host that Host names");
}

#[tokio::test]
async fn t055_hosts_that_no_stranger_can_name_are_served() {
    let allowed_hosts = vec!["mail.example.com".into(), "*.dev.example.com".into()];
    let house = House::with(Settings { allowed_hosts, ..Settings::default() }).await;
    for host in "127.0.0.1 127.0.0.1:8025 [::1] [::1]:8025 localhost LocalHost:1 localhost. app.localhost mailhost \
                 box.local box.internal box.test 192.168.1.7:80 mail.example.com MAIL.Example.com:443 a.b.dev.example.com"
        .split_whitespace()
    {
        assert_eq!(house.ask_host("GET", "/api/v1/mailbox/box", host).await.status, 200, "{host}");
    }
    for host in ["example.com", "x.mail.example.com", "dev.example.com", "xdev.example.com"] {
        assert_eq!(house.ask_host("GET", "/api/v1/mailbox/box", host).await.status, 421, "{host}");
    }
}

const FOREIGN_ORIGINS: [&str; 10] = [
    "Origin: http://evil.example\r\n",
    "Origin: null\r\n",
    "Origin: http://127.0.0.1:1\r\n",
    "Origin: http://127.0.0.1\r\n",
    "Origin: file://\r\n",
    "Origin: \r\n",
    "Origin: http://evil.example\r\nSec-Fetch-Site: same-origin\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "Sec-Fetch-Site: same-site\r\n",
    "Origin: chrome-extension://abcdef\r\n",
];

#[tokio::test]
async fn t056_a_foreign_page_changes_nothing_on_any_path() {
    let house = house_with_canary().await;
    for path in all_paths() {
        for fields in FOREIGN_ORIGINS {
            for method in ["DELETE", "POST", "PUT", "PATCH", "BREW"] {
                house.ask(method, &path, fields).await.expect_problem(403, "origin-refused");
            }
        }
        // What a form or an image can send without asking.
        for body in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            let fields = format!("Origin: http://evil.example\r\nContent-Type: {body}\r\n");
            for method in ["GET", "HEAD", "POST"] {
                house.ask(method, &path, &fields).await;
            }
        }
        let overridden = "X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\n";
        house.get(&format!("{path}?_method=DELETE")).await;
        house.ask("GET", &path, overridden).await;
        assert_eq!(house.count("box").await, 1, "{path}");
    }
}

#[tokio::test]
async fn t056_own_pages_and_programs_may_change_mail() {
    let public_url = Some("https://mail.example.com".into());
    let house = House::with(Settings { public_url, ..Settings::default() }).await;
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", house.addr);
    for fields in ["", &own, "Origin: https://mail.example.com\r\n", "Sec-Fetch-Site: none\r\n"] {
        assert_eq!(house.ask("DELETE", "/api/v1/mailbox/box", fields).await.status, 200, "{fields}");
    }
    for fields in ["Origin: http://mail.example.com\r\n", "Origin: https://mail.example.com:8443\r\n"] {
        assert_eq!(house.ask("DELETE", "/api/v1/mailbox/box", fields).await.status, 403, "{fields}");
    }
}

#[tokio::test]
async fn t057_no_origin_is_ever_allowed_to_read() {
    let house = house_with_canary().await;
    for path in all_paths() {
        for fields in FOREIGN_ORIGINS {
            let asking =
                format!("{fields}Access-Control-Request-Method: DELETE\r\nAccess-Control-Request-Headers: x\r\n");
            for method in ["GET", "OPTIONS", "DELETE"] {
                let answer = house.ask(method, &path, &asking).await;
                let cors = answer.fields.iter().find(|(name, _)| name.starts_with("access-control-"));
                assert_eq!(cors, None, "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn t058_a_body_is_bounded_on_every_path() {
    let house = house_with_canary().await;
    for path in all_paths() {
        for method in ["GET", "DELETE", "POST", "PUT"] {
            let is_mail = method == "POST" && ["/api/v2/import", "/api/v2/messages"].contains(&&*path);
            let lengths = ["1048577", "1073741824", "18446744073709551613"];
            for length in &lengths[usize::from(is_mail)..] {
                let answer = house.ask(method, &path, &format!("Content-Length: {length}\r\n")).await;
                answer.expect_problem(413, "body-too-large");
            }
            let endless = house.ask(method, &path, "Transfer-Encoding: chunked\r\n").await;
            endless.expect_problem(411, "length-required");
        }
    }
    assert_eq!(house.count("box").await, 1);
    // Bytes enough to hang up on, whatever they say: many elements, much depth.
    for flood in ["[".repeat(8 << 20), "[1,".repeat(3 << 20)] {
        let head = format!("POST /api/v1/mailbox/box HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", flood.len());
        Answer::read(&house.exchange(head + &flood).await).expect_problem(413, "body-too-large");
    }
    house.is_sound().await;
}

#[tokio::test]
async fn t064_no_path_climbs_anywhere() {
    let house = house_with_canary().await;
    let steps = [
        "../",
        "..%2f",
        "%2e%2e/",
        "%2e%2e%2f",
        "..\\",
        "..%5c",
        "%252e%252e%252f",
        "..%c0%af",
        "....//",
        "//",
        "%00/",
        "./",
        "%2e/",
        "..;/",
        "/etc/",
        "%2fetc%2f",
        "C:%5c",
        "\\\\host\\share\\",
    ];
    let prefixes = [
        "/",
        "/livez/",
        "/assets/",
        "/api/v1/mailbox/",
        "/api/v1/mailbox/x/",
        "/mailbox/dattach/",
        "/mailbox/vattach/x/1/0/",
    ];
    for prefix in prefixes {
        for step in steps {
            for times in [1, 4, 12] {
                for name in
                    ["box", "box/latest", "etc/passwd", "etc%2fpasswd/source", "livez", "index.html", "Cargo.toml"]
                {
                    let path = format!("{prefix}{}{name}", step.repeat(times));
                    let answer = house.get(&path).await;
                    let nothing = answer.status == 200 && answer.text() == "[]\n";
                    assert!(nothing || [400, 404].contains(&answer.status), "{path}: {}", answer.status);
                    assert!(!answer.text().contains(CANARY), "{path}");
                }
            }
        }
    }
}

#[tokio::test]
async fn t065_every_answer_carries_the_protective_fields() {
    let house = house_with_canary().await;
    let is_page = |done: &Operation| matches!(done, Operation::Page | Operation::Asset | Operation::Favicon);
    let pages: Vec<_> = real_routes().into_iter().filter(|(_, done)| is_page(done)).map(|(path, _)| path).collect();
    let mut answers = Vec::new();
    for (path, done) in real_routes().iter().rev() {
        answers.push((path.clone(), house.ask(done.method().as_str(), path, "").await));
        deliver_canary(&house).await;
    }
    for path in all_paths() {
        answers.push((path.clone(), house.ask("PUT", &path, "").await));
        answers.push((path.clone(), house.ask_host("GET", &path, "evil.example").await));
        answers.push((path.clone(), house.ask("DELETE", &path, "Origin: null\r\n").await));
        answers.push((path.clone(), house.ask("GET", &path, "Content-Length: 9999999\r\n").await));
    }
    for (path, answer) in answers {
        let field = |name: &str| answer.field(name).unwrap_or_else(|| panic!("{name} of {path} {}", answer.status));
        // The page itself holds no mail: it may be kept, and runs scripts of ours.
        let is_page = answer.status == 200 && pages.contains(&path);
        assert!(is_page || field("cache-control") == "no-store", "{path}");
        assert_eq!(field("referrer-policy"), "no-referrer");
        assert_eq!(field("x-content-type-options"), "nosniff");
        assert_eq!(field("x-frame-options"), "DENY");
        assert_eq!(field("cross-origin-resource-policy"), "same-origin");
        let policy = field("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path} {policy}");
        assert!(is_page || !policy.contains("script"), "{policy}");
    }
}

#[tokio::test]
async fn proxies_are_heard_only_from_trusted_networks() {
    let fields = "X-Forwarded-Proto: https\r\nX-Forwarded-Host: outer.test\r\nX-Forwarded-Prefix: /mail\r\n";
    let base = |trusted_proxies| async {
        let house = House::with(Settings { trusted_proxies, ..Settings::default() }).await;
        house.deliver("box", "Content-Type: image/png; name=a\r\n\r\nx").await;
        let answer = house.ask("GET", "/api/v1/mailbox/box/latest", fields).await;
        let message: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let evil = house.ask("GET", "/livez", "X-Forwarded-Host: evil.example\r\n").await.status;
        let link = message["attachments"][0]["view-link"].as_str().unwrap().to_owned();
        (link.split("/mailbox/").next().unwrap().replace(&house.addr.to_string(), "ADDR"), evil)
    };
    assert_eq!(base(Vec::new()).await, ("http://ADDR".into(), 200));
    let loopback = Network { address: "127.0.0.0".parse().unwrap(), bits: 8 };
    assert_eq!(base(vec![loopback]).await, ("https://outer.test/mail".into(), 421));
}

#[tokio::test]
async fn t056_behind_a_trusted_proxy_its_own_origin_may_change_mail() {
    let loopback = Network { address: "127.0.0.1".parse().unwrap(), bits: 32 };
    let house = House::with(Settings { trusted_proxies: vec![loopback], ..Settings::default() }).await;
    let check = |origin: &'static str, expected: u16| {
        let fields = format!("X-Forwarded-Host: outer.test\r\nX-Forwarded-Port: 8443\r\nOrigin: {origin}\r\n");
        let house = &house;
        async move { assert_eq!(house.ask("DELETE", "/api/v1/mailbox/box", &fields).await.status, expected, "{origin}") }
    };
    check("https://outer.test:8443", 200).await;
    check("https://outer.test", 403).await;
    check("https://evil.example:8443", 403).await;
}
