//! What the server tells of itself, and of the caller.

use mailroom::access::Mode;

use super::super::House;
use super::{bearer, house, value};
use crate::{Settings, SmtpDoor, Told};

#[tokio::test]
async fn everybody_is_told_what_they_may() {
    let (house, bunch) = house(Mode::Token).await;
    let ask = async |fields: &str| value(&house.ask("GET", "/api/v2", fields).await);
    let stranger = ask("").await;
    assert_eq!((&stranger["verbs"], &stranger["signedIn"]), (&serde_json::json!([]), &serde_json::Value::Null));
    let reader = ask(&bearer(bunch.of("ro:box"))).await;
    assert_eq!(reader["verbs"], serde_json::json!(["list", "read", "wait", "watch", "open"]));
    assert_eq!(
        reader["signedIn"],
        serde_json::json!({"name": "ro:box", "mailbox": null, "scopes": ["ro:box"]}),
        "by the token's name"
    );
    let wrong = ask(&bearer("pkt_wrong")).await;
    assert_eq!((&wrong["verbs"], &wrong["signedIn"]), (&stranger["verbs"], &stranger["signedIn"]), "nobody's");
    let opened = value(&house.send_json("POST", "/api/v2/inboxes", &bearer(bunch.of("ro:box")), "{}").await);
    let own = ask(&bearer(opened["secret"].as_str().unwrap())).await;
    assert_eq!(own["verbs"], serde_json::json!(["list", "read", "wait", "watch", "delete", "purge"]));
    assert_eq!(own["signedIn"]["mailbox"], opened["mailbox"]);
}

#[tokio::test]
async fn a_stranger_learns_no_way_in_for_mail_where_tokens_are_asked_for() {
    let door = SmtpDoor { host: "10.0.3.7".into(), port: 2525, tls: "starttls", auth: "required" };
    let told = Told { label: Some("staging".into()), smtp: vec![door], domain: Some("mail.test".into()) };
    for (mode, is_told) in [(Mode::Token, false), (Mode::Public, true), (Mode::Open, true)] {
        let settings = Settings { told: told.clone(), ..Settings::default() };
        let house = House::ruled(mode, settings).await;
        let server = house.json("/api/v2").await;
        super::super::v2::schema::fits(&server, "/api/v2", "get", 200);
        assert_eq!(server["label"], "staging");
        assert_eq!(server["naming"], "local");
        assert_eq!(server["smtp"].as_array().unwrap().len(), usize::from(is_told), "{mode:?}");
        assert_eq!(server["domain"].is_null(), !is_told);
        if is_told {
            let expected = serde_json::json!({"host": "10.0.3.7", "port": 2525, "tls": "starttls", "auth": "required"});
            assert_eq!(server["smtp"][0], expected);
        }
    }
}

#[tokio::test]
async fn what_is_kept_and_searched_for_is_told() {
    let kept = crate::live::Kept { retention: Some(std::time::Duration::from_secs(7 * 86_400)), messages_max: 500 };
    let house = House::with(Settings { kept, ..Settings::default() }).await;
    let server = house.json("/api/v2").await;
    assert_eq!((&server["retention"], &server["messagesMax"]), (&"7d".into(), &500.into()));
    for key in server["search"]["keys"].as_array().unwrap() {
        let value = match key.as_str().unwrap() {
            "has" => "code",
            "larger" | "smaller" => "1",
            "after" | "before" => "2026-11-14",
            _ => "x",
        };
        let path = format!("/api/v2/messages?q={}:{value}", key.as_str().unwrap());
        assert_eq!(house.get(&path).await.status, 200, "{path}");
    }
    for thing in server["search"]["has"].as_array().unwrap() {
        let path = format!("/api/v2/messages?q=has:{}", thing.as_str().unwrap());
        assert_eq!(house.get(&path).await.status, 200, "{path}");
    }
    let house = House::open().await;
    let server = house.json("/api/v2").await;
    assert_eq!((&server["retention"], &server["messagesMax"]), (&serde_json::Value::Null, &serde_json::Value::Null));
}
