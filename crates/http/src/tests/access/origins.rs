//! Pages of other origins (T057): none may read answers but those on the list, and those without cookies.

use mailroom::access::Mode;

use super::super::House;
use super::{Bunch, bearer};
use crate::Settings;
use crate::router::ROUTES;

const APP: &str = "https://app.example.com:8443";

#[tokio::test]
async fn t057_no_answer_is_for_an_origin_that_is_not_listed() {
    for listed in [Vec::new(), vec![APP.to_owned()]] {
        let house = House::with(Settings { cors_origins: listed, ..Settings::default() }).await;
        for route in ROUTES {
            let path = route.path.replace("{name}", "box").replace("{id}", "latest");
            let path = if path.ends_with("/wait") { path + "?timeout=0s" } else { path };
            for origin in
                ["http://evil.example", "null", "https://app.example.com", "https://app.example.com:8443.evil", "*"]
            {
                for method in ["GET", "OPTIONS", "DELETE"] {
                    let asks = format!("Origin: {origin}\r\nAccess-Control-Request-Method: DELETE\r\n");
                    let answer = house.ask(method, &path, &asks).await;
                    let told = answer.fields.iter().find(|(name, _)| name.starts_with("access-control-"));
                    assert_eq!(told, None, "{method} {path} {origin}");
                }
            }
        }
    }
}

#[tokio::test]
async fn t057_a_listed_origin_may_call_with_a_token_and_without_cookies() {
    let bunch = Bunch::new();
    let settings = Settings { cors_origins: vec![APP.to_owned()], ..Settings::default() };
    let house = House::ruled(bunch.rules(Mode::Token), settings).await;
    let origin = format!("Origin: {APP}\r\nSec-Fetch-Site: cross-site\r\n");
    let preflight = format!("{origin}Access-Control-Request-Method: DELETE\r\n");
    let answer = house.ask("OPTIONS", "/api/v1/mailbox/box", &preflight).await;
    assert_eq!((answer.status, answer.field("access-control-allow-origin")), (204, Some(APP)));
    assert!(answer.field("access-control-allow-headers").unwrap().contains("Authorization"));
    assert_eq!(answer.field("access-control-allow-credentials"), None);
    let with_token = format!("{origin}{}", bearer(bunch.of("rw:box")));
    let answer = house.ask("DELETE", "/api/v1/mailbox/box", &with_token).await;
    assert_eq!((answer.status, answer.field("access-control-allow-origin")), (200, Some(APP)));
    assert_eq!(answer.field("vary"), Some("Origin"));
    let body = format!("{{\"token\":{:?}}}", bunch.of("rw:box"));
    let set = house.send_json("POST", "/api/v2/login", "", &body).await;
    let pair = set.field("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let answer = house.ask("DELETE", "/api/v1/mailbox/box", &format!("{origin}Cookie: {pair}\r\n")).await;
    assert_eq!(answer.status, 401, "a login is of this origin alone");
}
