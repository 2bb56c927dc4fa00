//! The description lies in the crate as it is served; every operation of v2 is in it, with examples and problems.

use serde_json::Value;

use super::House;
use crate::router::ROUTES;
use crate::v2::openapi::description;
use crate::v2::problems::KINDS;

/// Set to write the file anew.
const WRITE: &str = "UPDATE_GOLDEN";

fn described() -> Value {
    serde_json::from_str(&description()).unwrap()
}

#[test]
fn the_description_has_not_drifted() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(file, description()).unwrap();
    }
    let golden = std::fs::read_to_string(file).unwrap_or_default();
    assert!(golden == description(), "openapi.json differs: run this test with {WRITE}=1 and look at the difference");
}

#[test]
fn every_route_of_v2_has_operation_example_and_problems() {
    let described = described();
    let mut ids = Vec::new();
    // OpenAPI has no word for a WebSocket.
    let is_told = |path: &str| path.starts_with("/api/v2") && !path.starts_with("/api/v2/monitor/");
    for route in ROUTES.iter().filter(|route| is_told(route.path)) {
        for operation in route.operations {
            let method = operation.method().as_str().to_ascii_lowercase();
            let told = &described["paths"][route.path][&method];
            let id = told["operationId"].as_str().unwrap_or_else(|| panic!("{method} {} is not told", route.path));
            assert_eq!(
                id.to_ascii_lowercase().replace("importmessage", "import"),
                format!("{operation:?}").to_ascii_lowercase()
            );
            ids.push(id.to_owned());
            for (status, answer) in told["responses"].as_object().unwrap() {
                for (kind, content) in answer["content"].as_object().into_iter().flatten() {
                    let is_json = kind.contains("json") && content["schema"]["$ref"].is_string();
                    assert!(!is_json || content["example"].is_object(), "{id} {status} has no example");
                }
            }
            let body = &told["requestBody"]["content"]["application/json"];
            assert!(body.is_null() || body["example"].is_object(), "{id} has no example of its body");
            assert!(told["responses"]["400"].is_object() && told["responses"]["503"].is_object(), "{id}");
            assert!(!told["description"].as_str().unwrap().is_empty() && !told["summary"].as_str().unwrap().is_empty());
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
    let is_known = |slug: &&&str| KINDS.iter().any(|kind| kind.slug == **slug);
    for operation in ROUTES.iter().flat_map(|route| route.operations) {
        let slugs = operation.about().map_or(&[][..], |about| about.problems);
        assert_eq!(slugs.iter().filter(is_known).count(), slugs.len(), "{operation:?}");
    }
}

#[test]
fn every_example_fits_its_schema() {
    let described = described();
    let mut checked = 0;
    for (path, item) in described["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap().values();
            for content in answers.chain([&operation["requestBody"]]).filter_map(|one| one["content"].as_object()) {
                for media in content.values().filter(|media| media["example"].is_object()) {
                    let fits = super::schema::check(&described, &media["schema"], &media["example"]);
                    assert_eq!(fits, Ok(()), "{method} {path}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

#[tokio::test]
async fn the_description_is_served() {
    let house = House::open().await;
    assert_eq!(house.json("/api/v2/openapi.json").await, described());
    let server = house.json("/api/v2").await;
    super::schema::fits(&server, "/api/v2", "get", 200);
    assert_eq!(server["engine"]["name"], "memory");
}
