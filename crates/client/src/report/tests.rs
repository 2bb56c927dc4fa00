//! Reports by example, as a person reads them.

use serde_json::json;

use super::*;

fn asked() -> Asked {
    Asked {
        mailbox: "alice".to_owned(),
        url: None,
        wanted: "subject contains \"Reset\", a code".to_owned(),
        count: 1,
        waited: Duration::from_secs(20),
    }
}

fn timeout(asked: Asked, body: &Value) -> String {
    Timeout::read(asked, Problem::read(409, body.to_string().as_bytes()).unwrap()).to_string()
}

/// Times are local; so the test asks for them as the report does.
fn at(text: &str) -> String {
    clock(text.parse::<jiff::Timestamp>().unwrap().into())
}

#[test]
fn a_near_miss_is_told_with_what_failed() {
    let body = json!({"title": "No mail matched in time", "detail": "Compare nearMisses[0].", "arrived": 2, "nearMisses": [
        {"id": "1", "receivedAt": "2026-11-14T09:30:02+00:00", "from": "no-reply@shop.test", "subject": "Welcome",
         "failed": [{"matcher": "subject.contains", "wanted": "Reset", "got": "Welcome"}], "passed": ["has.code"]},
        {"id": "2", "receivedAt": "2026-11-14T09:30:04+00:00", "from": "a@b", "subject": "Hi\u{1b}",
         "failed": [{"matcher": "subject.contains", "got": "Hi"}, {"matcher": "header.X-Run", "got": "41"}], "passed": []}]});
    let expected = format!(
        "PostkeepTimeout: no mail for alice matched in 20 s    look: http://h/m/alice\n\
         \x20 wanted    subject contains \"Reset\", a code\n\
         \x20 arrived   2:  {} \"Welcome\" from no-reply@shop.test  ✗ subject  ✓ code\n\
         \x20             {} \"Hi\\u{{1b}}\" from a@b                ✗ subject  ✗ X-Run (\"41\")\n\
         \x20 hint      Compare nearMisses[0].",
        at("2026-11-14T09:30:02Z"),
        at("2026-11-14T09:30:04Z"),
    );
    assert_eq!(timeout(Asked { url: Some("http://h/m/alice".to_owned()), ..asked() }, &body), expected);
}

#[test]
fn refusals_and_neighbours_are_told() {
    let body = json!({"title": "t", "detail": "", "arrived": 0, "refusals": [{"at": "2026-11-14T09:30:03+00:00", "stage": "DATA",
        "mailFrom": "bounce@shop.test", "reply": "552 5.3.4 Message too large"}],
        "similar": [{"mailbox": "alcie", "messages": 1, "newestAt": "2026-11-14T09:30:04+00:00"}], "smtp": {"connections": 2},
        "excluded": {"matching": 1}, "beforeCursor": {"matching": 2}});
    let expected = format!(
        "PostkeepTimeout: no mail for alice matched in 20 s\n\
         \x20 wanted    subject contains \"Reset\", a code\n\
         \x20 arrived   nothing\n\
         \x20 had       1 mail that matches, handed out before\n\
         \x20 earlier   2 mails that match, from before this handle was made\n\
         \x20 refused   {}  552 5.3.4 Message too large  (MAIL FROM bounce@shop.test)\n\
         \x20 similar   alcie has 1 mail, the newest from {}",
        at("2026-11-14T09:30:03Z"),
        at("2026-11-14T09:30:04Z"),
    );
    assert_eq!(timeout(asked(), &body), expected);
}

#[test]
fn silence_is_told_as_such() {
    let body = json!({"title": "t", "detail": "Nothing connected.", "arrived": 0, "smtp": {"connections": 0}});
    let text = timeout(Asked { count: 3, ..asked() }, &body);
    assert!(text.starts_with("PostkeepTimeout: 0 of 3 mails for alice matched"), "{text}");
    assert!(
        text.ends_with("\n  arrived   nothing\n  smtp      nobody connected\n  hint      Nothing connected."),
        "{text}"
    );
}

#[test]
fn a_report_of_another_version_still_has_its_sentence() {
    let body = json!({"title": "t", "detail": "Do this.", "arrived": "many", "nearMisses": 3});
    assert!(timeout(asked(), &body).ends_with("hint      Do this."));
}

#[test]
fn an_unexpected_mail_is_named() {
    let body = json!({"title": "t", "detail": "d", "messages": [{"id": "7", "receivedAt": "2026-11-14T09:30:02+00:00",
        "from": {"name": null, "email": "a@b"}, "subject": "Reset"}]});
    let text = Unexpected::read(asked(), Problem::read(409, body.to_string().as_bytes()).unwrap()).to_string();
    let expected = format!(
        "PostkeepUnexpected: a mail came for alice where none was expected\n\
         \x20 wanted    none within 20 s with: subject contains \"Reset\", a code\n\
         \x20 arrived   {} \"Reset\" from a@b  (id 7)",
        at("2026-11-14T09:30:02Z")
    );
    assert_eq!(text, expected);
}
