//! `require("json")`: `encode(value)` and `decode(text)`, each with `nil, why` when it cannot.

use mlua::{Lua, LuaString, Table, Value};
use serde_json::{Map, Number, Value as Json};

/// Levels of lists and objects, as many as the reader below takes.
const DEPTH_MAX: usize = 100;

pub(super) fn module(lua: &Lua) -> mlua::Result<Table> {
    let module = lua.create_table()?;
    let encode = |lua: &Lua, value: Value| match encoded(&value, 0) {
        Ok(json) => Ok((Value::String(lua.create_string(json.to_string())?), Value::Nil)),
        Err(why) => Ok((Value::Nil, Value::String(lua.create_string(why)?))),
    };
    module.raw_set("encode", lua.create_function(encode)?)?;
    let decode = |lua: &Lua, text: LuaString| match serde_json::from_slice::<Json>(&text.as_bytes()) {
        Ok(json) => Ok((decoded(lua, &json)?, Value::Nil)),
        Err(why) => Ok((Value::Nil, Value::String(lua.create_string(why.to_string())?))),
    };
    module.raw_set("decode", lua.create_function(decode)?)?;
    Ok(module)
}

/// A value as JSON. A table with a first element is a list, an empty one too; any other is an object by its texts.
fn encoded(value: &Value, depth: usize) -> Result<Json, String> {
    if depth > DEPTH_MAX {
        return Err(format!("a value of more than {DEPTH_MAX} levels, or one that holds itself"));
    }
    match value {
        Value::Nil => Ok(Json::Null),
        Value::Boolean(flag) => Ok(Json::Bool(*flag)),
        Value::Integer(number) => Ok(Json::from(*number)),
        Value::Number(number) => numbered(*number),
        Value::String(text) => Ok(Json::String(text.to_string_lossy())),
        Value::Table(table) => tabled(table, depth),
        other => Err(format!("a {} cannot be written as JSON", other.type_name())),
    }
}

fn numbered(number: f64) -> Result<Json, String> {
    // Whole numbers are written without a point, as far as they are exact.
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Ok(Json::from(number as i64));
    }
    Number::from_f64(number).map(Json::Number).ok_or_else(|| format!("{number} cannot be written as JSON"))
}

fn tabled(table: &Table, depth: usize) -> Result<Json, String> {
    let length = table.raw_len();
    let raw = |error: mlua::Error| error.to_string();
    if length > 0 || table.is_empty() {
        let item = |place| encoded(&table.raw_get(place).map_err(raw)?, depth + 1);
        return (1..=length).map(item).collect::<Result<_, _>>().map(Json::Array);
    }
    let mut object = Map::new();
    for pair in table.pairs::<Value, Value>() {
        let (name, value) = pair.map_err(raw)?;
        let name = match name {
            Value::String(name) => name.to_string_lossy(),
            Value::Number(number) => number.to_string(),
            Value::Integer(number) => number.to_string(),
            other => return Err(format!("a {} cannot name a value in JSON", other.type_name())),
        };
        object.insert(name, encoded(&value, depth + 1)?);
    }
    Ok(Json::Object(object))
}

/// JSON as a value; null is nil.
fn decoded(lua: &Lua, json: &Json) -> mlua::Result<Value> {
    Ok(match json {
        Json::Null => Value::Nil,
        Json::Bool(flag) => Value::Boolean(*flag),
        Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Value::String(lua.create_string(text)?),
        Json::Array(items) => {
            let list = lua.create_table_with_capacity(items.len(), 0)?;
            for (place, item) in items.iter().enumerate() {
                list.raw_set(place + 1, decoded(lua, item)?)?;
            }
            Value::Table(list)
        }
        Json::Object(fields) => {
            let table = lua.create_table_with_capacity(0, fields.len())?;
            for (name, value) in fields {
                table.raw_set(&**name, decoded(lua, value)?)?;
            }
            Value::Table(table)
        }
    })
}
