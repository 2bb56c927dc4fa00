//! `require("logger")`: lines in the log of the program.

use std::sync::Arc;

use mlua::{Lua, Table, Value};

use crate::desk::{Desk, Level};

/// Bytes of one line.
const LINE_MAX: usize = 4096;
/// Fields of one line.
const FIELDS_MAX: usize = 32;

pub(super) fn module(lua: &Lua, desk: &Arc<Desk>) -> mlua::Result<Table> {
    let module = lua.create_table()?;
    let levels = [("debug", Level::Debug), ("info", Level::Info), ("warn", Level::Warn), ("error", Level::Error)];
    for (name, level) in levels {
        let desk = Arc::clone(desk);
        let log = move |_: &Lua, (text, fields): (Value, Option<Table>)| {
            let pairs = fields.iter().flat_map(|fields| fields.pairs::<Value, Value>()).take(FIELDS_MAX);
            let pair = |(name, value): (Value, Value)| format!(" {}={}", shown(&name), shown(&value));
            let mut words = pairs.map(|found| found.map(pair)).collect::<mlua::Result<Vec<_>>>()?;
            words.sort();
            let mut line = shown(&text) + &words.concat();
            line.truncate(line.floor_char_boundary(LINE_MAX));
            desk.say(level, line);
            Ok(())
        };
        module.raw_set(name, lua.create_function(log)?)?;
    }
    Ok(module)
}

/// A value on one line; no function of the script is called for it.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.to_string_lossy(),
        Value::Number(number) => number.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Nil => "nil".to_owned(),
        other => format!("({})", other.type_name()),
    };
    text.replace(char::is_control, " ")
}
