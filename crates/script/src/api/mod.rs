//! What scripts find: the table `postkeep`, and everything that scripts for Inbucket expect.

mod address;
pub(crate) mod answer;
pub(crate) mod inbucket;
pub(crate) mod kept;
pub(crate) mod message;
pub(crate) mod session;

use std::sync::Arc;
use std::time::{Duration, Instant};

use mlua::{Error, Lua, Table, Value, Variadic};

use crate::desk::{Desk, Level};
use crate::modules;
use crate::notes::{KEY_MAX, VALUE_MAX};
use answer::Answer;

/// No note is kept longer.
const NOTE_TIME_MAX: f64 = 366.0 * 24.0 * 60.0 * 60.0;

/// Put the globals into a VM; what is behind `postkeep` is given back.
pub(crate) fn install(lua: &Lua, desk: &Arc<Desk>) -> mlua::Result<Table> {
    let globals = lua.globals();
    inbucket::install(lua, &globals)?;
    globals.raw_set("require", modules::require(lua, desk)?)?;
    let ears = Arc::clone(desk);
    let print = lua.create_function(move |_, words: Variadic<Value>| {
        let words: mlua::Result<Vec<String>> = words.iter().map(Value::to_string).collect();
        ears.say(Level::Info, words?.join("\t"));
        Ok(())
    })?;
    globals.raw_set("print", print)?;
    let house = lua.create_table()?;
    answers(lua, &house)?;
    notes(lua, &house, desk)?;
    house.raw_set("version", env!("CARGO_PKG_VERSION"))?;
    Ok(house)
}

fn answers(lua: &Lua, house: &Table) -> mlua::Result<()> {
    for (name, answer) in [("accept", Answer::Accept), ("discard", Answer::Discard), ("defer", Answer::Defer)] {
        house.raw_set(name, lua.create_function(move |_, ()| Ok(answer.clone()))?)?;
    }
    let refuse = |_: &Lua, (code, text): (Option<f64>, Option<mlua::LuaString>)| Answer::refuse(code, text);
    house.raw_set("refuse", lua.create_function(refuse)?)
}

fn notes(lua: &Lua, house: &Table, desk: &Arc<Desk>) -> mlua::Result<()> {
    let notes = Arc::clone(&desk.notes);
    let remember = move |_: &Lua, (key, text, seconds): (String, String, f64)| {
        if text.len() > VALUE_MAX {
            return Err(Error::runtime(format!("what is remembered has at most {VALUE_MAX} bytes")));
        }
        notes.remember(sound(&key)?, text, time(seconds)?, Instant::now());
        Ok(())
    };
    house.raw_set("remember", lua.create_function(remember)?)?;
    let notes = Arc::clone(&desk.notes);
    let recall = move |_: &Lua, key: String| Ok(notes.recall(sound(&key)?, Instant::now()));
    house.raw_set("recall", lua.create_function(recall)?)?;
    let notes = Arc::clone(&desk.notes);
    let count = move |_: &Lua, (key, seconds): (String, f64)| {
        Ok(notes.count(sound(&key)?, time(seconds)?, Instant::now()) as f64)
    };
    house.raw_set("count", lua.create_function(count)?)
}

fn sound(key: &str) -> mlua::Result<&str> {
    if key.len() <= KEY_MAX { Ok(key) } else { Err(Error::runtime(format!("a key has at most {KEY_MAX} bytes"))) }
}

fn time(seconds: f64) -> mlua::Result<Duration> {
    let wrong = || Error::runtime("a time is a number of seconds, from 1 to a year");
    if !(1.0..=NOTE_TIME_MAX).contains(&seconds) {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}
