//! The page over real sockets: which form of a file is sent, what may be kept of it, where it says that it lies, and what
//! a person sees who lost the way. A small page of our own stands for the real one, which changes.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use mailroom::access::Mode;
use net::Network;

use super::House;
use crate::{BadPage, Page, Settings};

/// The one asset, by the name that is behind `/assets/`.
pub(super) const ASSET: &str = "app-1a2b3c4d.js";
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      frame-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";
const BROWSER: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";
const ADDRESSES: [&str; 13] = [
    "/",
    "/?q=subject%3Areset",
    "/latest",
    "/monitor",
    "/faults",
    "/connect",
    "/help",
    "/login",
    "/m/ben",
    "/m/ben%2Fx@a.test",
    "/m/ben/latest",
    "/m/ben/0000000000001",
    "/m/ben/0000000000001/headers",
];

fn found() -> BTreeMap<String, Bytes> {
    let files = [
        ("index.html", "<!doctype html><base href=\"/\" /><p>page"),
        ("favicon.svg", "<svg/>"),
        ("assets/app-1a2b3c4d.js", "plain script"),
        ("assets/app-1a2b3c4d.js.br", "brotli script"),
        ("assets/app-1a2b3c4d.js.gz", "gzip script"),
        ("assets/app-5e6f7a8b.css", "plain style"),
        ("assets/app-5e6f7a8b.css.gz", "gzip style"),
    ];
    files.into_iter().map(|(name, text)| (name.to_owned(), Bytes::from_static(text.as_bytes()))).collect()
}

pub(super) fn page() -> Page {
    Page::of(Path::new("here"), found()).unwrap()
}

#[tokio::test]
async fn t050_each_address_of_the_page_is_the_page_with_its_policy() {
    let house = House::open().await;
    for path in ADDRESSES {
        for method in ["GET", "HEAD"] {
            let answer = house.ask(method, path, BROWSER).await;
            let is = |name: &str, value: &str| assert_eq!(answer.field(name), Some(value), "{method} {path}");
            assert_eq!(answer.status, 200, "{path}");
            is("content-type", "text/html; charset=utf-8");
            is("content-security-policy", POLICY);
            is("cross-origin-opener-policy", "same-origin");
            is("x-dns-prefetch-control", "off");
            is("cross-origin-resource-policy", "same-origin");
            is("referrer-policy", "no-referrer");
            is("x-content-type-options", "nosniff");
            is("x-frame-options", "DENY");
            is("x-robots-tag", "noindex");
            is("cache-control", "no-cache");
            is("content-length", "39");
            let body = if method == "GET" { "<!doctype html><base href=\"/\" /><p>page" } else { "" };
            assert_eq!(answer.text(), body);
        }
    }
    house.ask("POST", "/m/ben", "").await.expect_problem(405, "method-not-allowed");
}

#[tokio::test]
async fn a_browser_that_has_the_page_is_told_so() {
    let house = House::open().await;
    for path in ["/", "/m/ben", "/favicon.svg", "/assets/app-1a2b3c4d.js"] {
        let first = house.get(path).await;
        let tag = first.field("etag").unwrap();
        for given in [tag, "*", &format!("\"x\", W/{tag}")] {
            let again = house.ask("GET", path, &format!("If-None-Match: {given}\r\n")).await;
            assert_eq!((again.status, &*again.body), (304, &b""[..]), "{path} {given}");
            for name in ["etag", "cache-control", "vary", "content-security-policy", "x-content-type-options"] {
                assert_eq!(again.field(name), first.field(name), "{path} {name}");
            }
        }
        assert_eq!(house.ask("GET", path, "If-None-Match: \"other\"\r\n").await.status, 200);
    }
}

#[tokio::test]
async fn a_file_comes_in_the_form_that_the_client_likes_best() {
    let house = House::open().await;
    let check = async |path: &str, accept: &str, body: &str, coding: Option<&str>| {
        let answer = house.ask("GET", path, &format!("Accept-Encoding: {accept}\r\n")).await;
        assert_eq!((answer.status, answer.text()), (200, body), "{path} {accept}");
        assert_eq!(answer.field("content-encoding"), coding, "{path} {accept}");
        assert_eq!(answer.field("vary"), Some("Accept-Encoding"));
        answer
    };
    let script = "/assets/app-1a2b3c4d.js";
    let brotli = check(script, "gzip, deflate, br, zstd", "brotli script", Some("br")).await;
    let gzip = check(script, "gzip, br;q=0", "gzip script", Some("gzip")).await;
    let plain = check(script, "identity", "plain script", None).await;
    assert_eq!(brotli.field("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(brotli.field("content-type"), Some("text/javascript; charset=utf-8"));
    let tags = [&brotli, &gzip, &plain].map(|answer| answer.field("etag").unwrap());
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    check("/assets/app-5e6f7a8b.css", "br, gzip", "gzip style", Some("gzip")).await;
    check("/assets/app-5e6f7a8b.css", "br", "plain style", None).await;
    let icon = check("/favicon.svg", "br, gzip", "<svg/>", None).await;
    assert_eq!((icon.field("content-type"), icon.field("cache-control")), (Some("image/svg+xml"), Some("no-cache")));
    let head = house.ask("HEAD", script, "Accept-Encoding: br\r\n").await;
    assert_eq!((head.field("content-length"), head.field("content-encoding")), (Some("13"), Some("br")));
}

#[tokio::test]
async fn t064_a_file_is_asked_for_by_its_exact_name() {
    let house = House::open().await;
    for path in [
        "/assets/",
        "/assets/index.html",
        "/assets/favicon.svg",
        "/assets/APP-1A2B3C4D.js",
        "/assets/app-1a2b3c4d.js/",
        "/assets/app-1a2b3c4d.js.br",
        "/assets/app-1a2b3c4d.js.gz",
        "/assets/app%2D1a2b3c4d.js",
        "/assets/app-1a2b3c4d.js%00",
        "/assets/%00",
        "/assets/.",
        "/assets/..",
        "/assets/../index.html",
        "/assets/..%2findex.html",
        "/assets/..%5cindex.html",
        "/assets/%2e%2e%2findex.html",
        "/assets/..\\index.html",
        "/assets//etc/passwd",
        "/assets/%2fetc%2fpasswd",
        "/assets/C:%5cboot.ini",
        "/assets/assets%2fapp-1a2b3c4d.js",
        "/index.html",
        "/dist/index.html",
    ] {
        let answer = house.get(path).await;
        assert!([400, 404].contains(&answer.status), "{path}: {}", answer.status);
        assert_eq!(answer.field("content-type"), Some("application/problem+json"), "{path}");
    }
}

#[tokio::test]
async fn the_page_says_where_it_lies() {
    let base = async |settings: Settings, path: &str, fields: &str| {
        let answer = House::with(settings).await.ask("GET", path, fields).await;
        let (_, rest) = answer.text().split_once("<base href=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let public = |url: &str| Settings { public_url: Some(url.to_owned()), ..Settings::default() };
    assert_eq!(base(Settings::default(), "/m/ben", "").await, "/");
    assert_eq!(base(public("https://mail.test"), "/", "").await, "/");
    for path in ["/", "/m/ben", "/pk/mail", "/pk/mail/", "/pk/mail/m/ben/latest/text"] {
        assert_eq!(base(public("https://mail.test/pk/mail/"), path, "").await, "/pk/mail/", "{path}");
    }
    let loopback = Network { address: "127.0.0.0".parse().unwrap(), bits: 8 };
    let behind = || Settings { trusted_proxies: vec![loopback], ..Settings::default() };
    let forwarded = "X-Forwarded-Prefix: /pk/\r\n";
    assert_eq!(base(behind(), "/m/ben", forwarded).await, "/pk/");
    assert_eq!(base(Settings::default(), "/m/ben", forwarded).await, "/", "nobody has to believe that");
    for bad in ["/\"><script>", "//evil.example", "/a b", "evil"] {
        assert_eq!(base(behind(), "/", &format!("X-Forwarded-Prefix: {bad}\r\n")).await, "/", "{bad}");
    }
    let both = Settings { trusted_proxies: vec![loopback], ..public("https://mail.test/set") };
    assert_eq!(base(both, "/", forwarded).await, "/set/");
}

#[tokio::test]
async fn a_browser_that_lost_its_way_sees_the_page_and_a_program_the_problem() {
    for mode in [Mode::Open, Mode::Token, Mode::Public] {
        let house = House::ruled(mode, Settings::default()).await;
        for path in ["/nothing", "/m", "/m/ben/", "/m/a/b/text/more", "/index.html", "/admin"] {
            for method in ["GET", "HEAD"] {
                let answer = house.ask(method, path, BROWSER).await;
                assert_eq!(answer.status, 404, "{method} {path}");
                assert_eq!(answer.field("content-type"), Some("text/html; charset=utf-8"));
                assert_eq!(answer.field("content-security-policy"), Some(POLICY));
                assert_eq!((answer.field("cache-control"), answer.field("etag")), (Some("no-store"), None));
                assert_eq!(answer.field("vary"), Some("Accept"));
                assert_eq!(answer.text().contains("<p>page"), method == "GET");
            }
            for (method, accept) in [("GET", "*/*"), ("GET", "application/json"), ("POST", "text/html")] {
                let answer = house.ask(method, path, &format!("Accept: {accept}\r\n")).await;
                let expected = if mode == Mode::Token { (401, "unauthorized") } else { (404, "route-unknown") };
                answer.expect_problem(expected.0, expected.1);
            }
        }
    }
    let house = House::open().await;
    for path in ["/api", "/api/v2/nothing", "/api/v1/mailbox", "/api/v3"] {
        house.ask("GET", path, BROWSER).await.expect_problem(404, "route-unknown");
    }
    let evil = format!("GET /nothing HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n{BROWSER}\r\n");
    super::Answer::read(&house.exchange(evil).await).expect_problem(421, "host-refused");
}

#[test]
fn the_page_that_is_built_in_is_whole() {
    let page = Page::read(None).unwrap();
    let index = page.index("/pk");
    assert!(index.contains("<base href=\"/pk/\""), "{index}");
    // What the index names is there: relative, so that the base is in front of it.
    let quoted = index.split(['"', '\'']).map(|word| word.strip_prefix("./").unwrap_or(word));
    let named: Vec<_> = quoted.filter(|word| word.starts_with("assets/") || *word == "favicon.svg").collect();
    for name in &named {
        assert!(page.file(name).is_some(), "index.html names {name}, which is not in ui/dist");
    }
    for name in page.names() {
        let is_known = name == "favicon.svg" || name.strip_prefix("assets/").is_some_and(|name| !name.contains('/'));
        assert!(is_known, "no route leads to {name}");
    }
}

#[test]
fn a_folder_that_is_no_page_is_told_what_to_do() {
    let folder = std::env::temp_dir().join(format!("postkeep-page-{}", std::process::id()));
    let assets = folder.join("assets");
    std::fs::create_dir_all(assets.join("deeper")).unwrap();
    let read = || Page::read(Some(&folder));
    let told = |page: Result<Page, BadPage>| page.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told(read()).contains("npm run build"), "{}", told(read()));
    for bad in ["<base>", "<base href=\"/x\">", "<base href=\"/\"><base href=\"/\">"] {
        std::fs::write(folder.join("index.html"), bad).unwrap();
        assert!(told(read()).contains("<base href=\"/\" /> once"), "{bad}: {}", told(read()));
    }
    std::fs::write(folder.join("index.html"), "<base href=\"/\">").unwrap();
    std::fs::write(folder.join("secrets.txt"), "not of the page").unwrap();
    std::fs::write(assets.join("a-1.js"), "script").unwrap();
    let page = read().unwrap();
    assert_eq!(page.names().collect::<Vec<_>>(), ["assets/a-1.js"]);
    assert_eq!(page.index("/p"), "<base href=\"/p/\">");
    let sparse = std::fs::File::create(assets.join("big")).unwrap();
    sparse.set_len(65 << 20).unwrap();
    assert!(told(read()).contains("more than 64 MiB"), "{}", told(read()));
    std::fs::remove_dir_all(folder).unwrap();
}
