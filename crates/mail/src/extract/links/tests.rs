//! Links and what they are for.

use super::super::{Body, Extracted, Kind, Limits, Sources, extract};
use super::token::is_token;
use super::url::Url;

fn page(html: &str) -> Extracted {
    let html = Some(Body { part_id: "2", content: html });
    extract(&Sources { html, from: "no-reply@shop.test", ..Sources::default() }, &Limits::default())
}

#[track_caller]
fn check(html: &str, href: &str, kind: Kind) {
    let found = page(html);
    let link = found.link(None).one().unwrap_or_else(|| panic!("{html}: {:?}", found.links));
    assert_eq!((link.href.as_str(), link.kind, link.action), (href, kind, true), "{:?}", found.links);
}

const BUTTON: &str = "style='background:#0a5;padding:12px'";

#[test]
fn the_button_is_the_action() {
    let html = |path: &str| {
        format!(
            "<a href='https://shop.test/'>Shop</a><p>Hello</p><p><a {BUTTON} href='https://shop.test/{path}?t=8f3kQ02mZpL1xR7vT5wY'>\
             Go</a></p><p>See <a href='https://shop.test/help'>help</a></p><p><a href='https://shop.test/unsubscribe?u=1'>Unsubscribe</a></p>"
        )
    };
    let href = |path: &str| format!("https://shop.test/{path}?t=8f3kQ02mZpL1xR7vT5wY");
    check(&html("verify"), &href("verify"), Kind::Verify);
    check(&html("password/confirm"), &href("password/confirm"), Kind::Reset);
    check(&html("magic-link"), &href("magic-link"), Kind::MagicLogin);
    check(&html("sign-in"), &href("sign-in"), Kind::MagicLogin);
    check(&html("invoice"), &href("invoice"), Kind::Other);
}

#[test]
fn a_link_to_unsubscribe_is_found_when_asked_for() {
    let found =
        page("<p>News <a href='https://shop.test/p/1'>one</a></p><a href='https://shop.test/u/1'>Abbestellen</a>");
    assert!(found.link(None).one().is_none(), "{:?}", found.links);
    assert_eq!(found.link(Some(Kind::Unsubscribe)).one().unwrap().href, "https://shop.test/u/1");
}

#[test]
fn links_come_once_and_in_order() {
    let found = page(
        "<a href=https://a.test/1>x</a> https://a.test/2 <a href=https://a.test/1>y</a><a href='javascript:x()'>z</a><a href='#top'>t</a>",
    );
    let hrefs: Vec<_> = found.links.iter().map(|link| (link.href.as_str(), link.text.as_str())).collect();
    assert_eq!(hrefs, [("https://a.test/1", "x"), ("https://a.test/2", "https://a.test/2")]);
}

#[test]
fn an_action_that_the_sender_declares() {
    let json = r#"<script type="application/ld+json">{"@type":"EmailMessage","publisher":{"url":"https://shop.test/about"},
        "potentialAction":{"@type":"ViewAction","target":"https://shop.test/confirm?t=1","name":"Confirm"}}</script>"#;
    check(json, "https://shop.test/confirm?t=1", Kind::Verify);
}

#[test]
fn an_action_in_microdata() {
    let publisher = "<div itemscope itemtype='http://schema.org/Organization'><link itemprop=url href='https://shop.test/about/us'></div>";
    let action = "<div itemscope itemtype='http://schema.org/ConfirmAction'><link itemprop=target href='https://shop.test/c/1'></div>";
    let found = page(&format!("{publisher}<p>Hello</p>{action}"));
    let declared = found.links.iter().filter(|link| link.signals.contains(&"declared"));
    assert_eq!(declared.map(|link| link.href.as_str()).collect::<Vec<_>>(), ["https://shop.test/c/1"]);
}

#[test]
fn what_would_run_is_no_link() {
    let found = page("<a href='java\nscript:x()'>a</a><a href=' JavaScript:x()'>b</a><a href='data:text/html,x'>c</a>");
    assert!(found.links.is_empty(), "{:?}", found.links);
}

#[test]
fn tokens() {
    for token in [
        "8f3kQ02mZpL1xR7v",
        "0192f3aa-7c1e-7b3a-9d2e-3f4a5b6c7d8e",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    ] {
        assert!(is_token(token), "{token}");
    }
    for other in ["verify", "how-to-reset-your-password-2026", "aaaaaaaaaaaaaaaaaaaaaaaa", "2026-11-14", "1234567"] {
        assert!(!is_token(other), "{other}");
    }
}

#[test]
fn addresses_are_taken_apart() {
    let url = Url::read("https://a:b@mail.shop.co.uk:8443/x/y?z=1#f").unwrap();
    assert_eq!((url.host, url.path, url.query, url.fragment), ("mail.shop.co.uk", "/x/y", "z=1", "f"));
    assert!(url.is_of("shop.co.uk") && !url.is_of("other.co.uk"));
    assert!(Url::read("mailto:a@shop.test").is_none());
}
