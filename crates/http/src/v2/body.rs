//! JSON that comes in. It is looked at for its depth and its number of values before anything is built from it (T058),
//! and a member that nobody knows is refused with the nearest known.

use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use super::params::nearest;
use crate::asked::Asked;
use crate::problem::{Mistake, Problem};
use crate::shared::Shared;

/// Values beside those of the longest list that is taken.
const VALUES_BESIDE: usize = 1000;

/// Whether the body of a request is of a type; a browser sends another page's forms only as other types (T056).
pub(crate) fn is_of_type(asked: &Asked, media_type: &str) -> bool {
    let given = asked.fields().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// The body of a request as this type, which denies unknown fields.
pub(crate) fn read<T: DeserializeOwned>(shared: &Shared, asked: &Asked, body: &[u8]) -> Result<T, Problem> {
    if !is_of_type(asked, "application/json") {
        return Err(Problem::media_type("application/json"));
    }
    parse(body, shared.settings.json_depth_max, shared.settings.bulk_max + VALUES_BESIDE)
}

/// JSON as this type, unless it is deeper or has more values than that.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8], depth_max: usize, values_max: usize) -> Result<T, Problem> {
    weigh(body, depth_max, values_max).map_err(|detail| refuse("", detail))?;
    serde_json::from_slice(body).map_err(|error| not_understood(&error.to_string()))
}

/// The problem of one member.
pub(crate) fn refuse(name: &str, detail: impl Into<String>) -> Problem {
    Problem::mistakes(&[Mistake { place: "body", name: name.to_owned(), detail: detail.into(), nearest: None }])
}

/// Count brackets and commas outside of strings: one pass, nothing is made.
fn weigh(body: &[u8], depth_max: usize, values_max: usize) -> Result<(), String> {
    let (mut depth, mut values, mut in_string, mut escaped) = (0_usize, 1_usize, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > depth_max {
            return Err(format!("The body is nested too deep. It may have {depth_max} levels (http.json_depth_max)."));
        }
        if values > values_max {
            return Err(format!("The body has too many values. It may have {values_max}; ask in several requests."));
        }
    }
    Ok(())
}

/// What the reader of JSON says, made into a mistake: it names an unknown member and those it knows.
fn not_understood(error: &str) -> Problem {
    let mut quoted = error.split('`').skip(1).step_by(2);
    if !error.starts_with("unknown field") {
        let name = if error.starts_with("missing field") { quoted.next() } else { None };
        return refuse(name.unwrap_or_default(), format!("The body is not what this takes: {error}."));
    }
    let name: String = quoted.next().unwrap_or_default().chars().take(64).collect();
    let known: Vec<&str> = quoted.collect();
    let nearest = nearest(&name, known.iter().copied());
    let hint = match nearest {
        Some(meant) => format!("Did you mean {meant}?"),
        None => format!("It takes {}.", known.join(", ")),
    };
    let detail = format!("There is no member {name:?} here. {hint}");
    Problem::mistakes(&[Mistake { place: "body", name, detail, nearest: nearest.map(str::to_owned) }])
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Asks {
        ids: Vec<String>,
        #[serde(default)]
        limit: u32,
    }

    fn refused(body: &str) -> serde_json::Value {
        let problem = parse::<Asks>(body.as_bytes(), 4, 10).expect_err(body);
        problem.members().iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
    }

    #[test]
    fn an_unknown_member_is_refused_with_the_nearest() {
        assert!(parse::<Asks>(br#"{"ids":["a","{[\"[{,,,,,,,,,,,"]}"#, 4, 10).is_ok());
        let errors = refused(r#"{"idz":[]}"#);
        assert_eq!(errors["errors"][0]["nearest"], "ids");
        assert_eq!(errors["errors"][0]["in"], "body");
        assert_eq!(refused(r#"{"ids":[],"quite other":1}"#)["errors"][0]["nearest"], serde_json::Value::Null);
        assert_eq!(refused(r#"{}"#)["errors"][0]["name"], "ids");
        for body in ["", "[]", "null", "{\"ids\":7}", "{", "\u{0}", "{\"ids\":[]}x"] {
            refused(body);
        }
    }

    #[test]
    fn t058_depth_and_number_are_refused_before_anything_is_built() {
        let deep = format!("{{\"ids\":{}", "[".repeat(1 << 20));
        assert!(refused(&deep)["errors"][0]["detail"].as_str().unwrap().contains("http.json_depth_max"));
        let many = format!("{{\"ids\":[{}\"\"]}}", "\"\",".repeat(10));
        assert!(refused(&many)["errors"][0]["detail"].as_str().unwrap().contains("too many values"));
        let fits = format!("{{\"ids\":[{}\"\"]}}", "\"\",".repeat(9));
        assert!(parse::<Asks>(fits.as_bytes(), 4, 10).is_ok());
    }
}
