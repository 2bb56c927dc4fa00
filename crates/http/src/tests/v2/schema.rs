//! Whether an answer is what the description tells: as much of JSON Schema as the description uses, strict about
//! members that are not told.

use serde_json::Value;

use crate::v2::openapi::description;

type Fits = Result<(), String>;

/// An answer in JSON is of the form that is told for its path, method and status.
pub(in crate::tests) fn fits(answer: &Value, path: &str, method: &str, status: u16) {
    let described: Value = serde_json::from_str(&description()).unwrap();
    let told = &described["paths"][path][method]["responses"][status.to_string()];
    assert!(told.is_object(), "{method} {path} does not tell {status}");
    let kind = if status < 400 { "application/json" } else { "application/problem+json" };
    let fits = check(&described, &told["content"][kind]["schema"], answer);
    fits.unwrap_or_else(|why| panic!("{method} {path} {status}: {why}\n{answer}"));
}

pub(super) fn check(root: &Value, schema: &Value, value: &Value) -> Fits {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = resolved(root, schema);
        // Kinds of problems have members of their own.
        return if name.ends_with("/ProblemDetails") {
            object(root, &schema, value)
        } else {
            check(root, &schema, value)
        };
    }
    if let Some(any) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let fits: Vec<Fits> = any.iter().map(|one| check(root, one, value)).collect();
        return if fits.iter().any(Result::is_ok) { Ok(()) } else { Err(format!("{value} fits none: {fits:?}")) };
    }
    if let Some(all) = schema["allOf"].as_array() {
        let parts: Vec<Value> = all.iter().map(|one| resolved(root, one)).collect();
        let known: Vec<String> = parts.iter().flat_map(|part| keys(&part["properties"])).collect();
        parts.iter().try_for_each(|part| object(root, part, value))?;
        return no_more(value, &known);
    }
    kind(schema, value)?;
    for item in value.as_array().into_iter().flatten() {
        check(root, &schema["items"], item)?;
    }
    if value.is_object() && schema["properties"].is_object() {
        object(root, schema, value)?;
        no_more(value, &keys(&schema["properties"]))?;
    }
    Ok(())
}

fn resolved(root: &Value, schema: &Value) -> Value {
    match schema["$ref"].as_str() {
        Some(name) => root["components"]["schemas"][name.trim_start_matches("#/components/schemas/")].clone(),
        None => schema.clone(),
    }
}

fn kind(schema: &Value, value: &Value) -> Fits {
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
    let is_word = schema["enum"].as_array().is_none_or(|words| words.contains(value));
    if fits && is_word { Ok(()) } else { Err(format!("{value} is no {schema}")) }
}

fn object(root: &Value, schema: &Value, value: &Value) -> Fits {
    for name in schema["required"].as_array().into_iter().flatten() {
        value.get(name.as_str().unwrap()).ok_or_else(|| format!("{name} is missing"))?;
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        if let Some(told) = schema["properties"].get(name) {
            check(root, told, member).map_err(|why| format!("{name}: {why}"))?;
        }
    }
    Ok(())
}

fn keys(object: &Value) -> Vec<String> {
    object.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn no_more(value: &Value, known: &[String]) -> Fits {
    let more: Vec<_> = keys(value).into_iter().filter(|name| !known.contains(name)).collect();
    if more.is_empty() { Ok(()) } else { Err(format!("{more:?} is not told")) }
}
