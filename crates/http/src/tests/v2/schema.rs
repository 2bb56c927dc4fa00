//! Whether an answer is what the description tells: as much of JSON Schema as the description uses, strict about
//! members that are not told.

use serde_json::Value;

use crate::v2::openapi::description;

/// An answer in JSON is of the form that is told for its path, method and status.
pub(super) fn fits(answer: &Value, path: &str, method: &str, status: u16) {
    let described: Value = serde_json::from_str(&description()).unwrap();
    let told = &described["paths"][path][method]["responses"][status.to_string()];
    assert!(told.is_object(), "{method} {path} does not tell {status}");
    let kind = if status < 400 { "application/json" } else { "application/problem+json" };
    check(&described, &told["content"][kind]["schema"], answer, &format!("{method} {path} {status}"));
}

pub(super) fn check(root: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/components/schemas/");
        // Kinds of problems have members of their own.
        if name == "ProblemDetails" {
            return object(root, &root["components"]["schemas"][name], value, place);
        }
        return check(root, &root["components"]["schemas"][name], value, &format!("{place} {name}"));
    }
    for list in ["oneOf", "anyOf"] {
        if let Some(any) = schema[list].as_array() {
            let fits = any.iter().any(|one| std::panic::catch_unwind(|| check(root, one, value, place)).is_ok());
            assert!(fits, "{place}: {value} is none of {list}");
            return;
        }
    }
    if let Some(all) = schema["allOf"].as_array() {
        let parts: Vec<Value> = all.iter().map(|one| resolved(root, one)).collect();
        let known: Vec<String> = parts.iter().flat_map(|part| keys(&part["properties"])).collect();
        parts.iter().for_each(|part| object(root, part, value, place));
        return no_more(value, &known, place);
    }
    kind(schema, value, place);
    if let Some(items) = value.as_array() {
        items.iter().for_each(|item| check(root, &schema["items"], item, place));
    }
    if value.is_object() && schema["properties"].is_object() {
        object(root, schema, value, place);
        no_more(value, &keys(&schema["properties"]), place);
    }
}

fn resolved(root: &Value, schema: &Value) -> Value {
    match schema["$ref"].as_str() {
        Some(name) => root["components"]["schemas"][name.trim_start_matches("#/components/schemas/")].clone(),
        None => schema.clone(),
    }
}

fn kind(schema: &Value, value: &Value, place: &str) {
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    };
    let fits = schema["type"].as_array().map_or_else(|| is(&schema["type"]), |kinds| kinds.iter().any(is));
    assert!(fits, "{place}: {value} is no {}", schema["type"]);
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{place}: {value} is none of {words:?}");
    }
}

fn object(root: &Value, schema: &Value, value: &Value, place: &str) {
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{place}: {name} is missing in {value}");
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        if let Some(told) = schema["properties"].get(name) {
            check(root, told, member, &format!("{place}.{name}"));
        }
    }
}

fn keys(object: &Value) -> Vec<String> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn no_more(value: &Value, known: &[String], place: &str) {
    let more: Vec<_> = keys(value).into_iter().filter(|name| !known.contains(name)).collect();
    assert!(more.is_empty(), "{place}: {more:?} is not told");
}
