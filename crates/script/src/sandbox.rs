//! A VM with nothing in it that reaches outside, freezes the machine or outlives an event.
//!
//! Luau's own sandbox makes the library and the globals read-only. What is left out besides, and why: `getfenv` and
//! `setfenv` reach the globals that the events share; `loadstring` and the `require` of files load code; and `find` and
//! `split` of plain texts take the square of their length, in a loop that nobody can interrupt, so they are done here.

use std::sync::Arc;

use memchr::memmem;
use mlua::chunk::Compiler;
use mlua::{Error, Function, Lua, LuaOptions, LuaString, MultiValue, StdLib, Table, Value, VmState};

use crate::api;
use crate::desk::Desk;
use crate::program::Handler;

/// Globals of the VM that scripts do not get.
const WITHHELD: [&str; 5] = ["getfenv", "setfenv", "loadstring", "newproxy", "debug"];
/// What makes a text a pattern.
const SPECIALS: &[u8] = b"^$*+?.([%-";

/// What the VM makes for each event.
const PRELUDE: &str = include_str!("prelude.luau");

/// A VM, and how to make an environment in it.
pub(crate) struct Sandbox {
    pub(crate) lua: Lua,
    /// `strict()`: an environment that nobody has touched, and that knows the names of events.
    pub(crate) strict: Function,
    /// `pick(env, number)`: the handler that a script has put at the place of that number.
    pub(crate) pick: Function,
    /// `prepare(main, number)`: the script run in an environment of its own, which is given back, and that handler.
    pub(crate) prepare: Function,
}

impl Sandbox {
    pub(crate) fn open(desk: &Arc<Desk>) -> mlua::Result<Self> {
        let libs = StdLib::COROUTINE | StdLib::TABLE | StdLib::OS | StdLib::STRING | StdLib::UTF8;
        let libs = libs | StdLib::BIT | StdLib::MATH | StdLib::BUFFER | StdLib::DEBUG;
        let lua = Lua::new_with(libs, LuaOptions::default())?;
        // Names of functions and lines, for messages.
        lua.set_compiler(Compiler::new().set_optimization_level(1).set_debug_level(1));
        let globals = lua.globals();
        let traceback: Function = globals.get::<Table>("debug")?.get("traceback")?;
        let setfenv: Function = globals.get("setfenv")?;
        WITHHELD.iter().try_for_each(|name| globals.raw_remove(*name))?;
        globals.raw_set("debug", lua.create_table_from([("traceback", traceback)])?)?;
        let string: Table = globals.get("string")?;
        string.raw_set("find", lua.create_function(find(string.get("find")?))?)?;
        string.raw_set("split", lua.create_function(split)?)?;
        let house = api::install(&lua, desk)?;
        house.set_readonly(true);
        let prelude = lua.load(PRELUDE).set_name("=prelude").into_function()?;
        let places = Handler::ALL.map(|handler| <[&str; 3]>::from(handler.path()));
        let (strict, pick, prepare) = prelude.call((&globals, house, places.to_vec(), setfenv))?;
        lua.sandbox(true)?;
        let leash = Arc::clone(desk);
        lua.set_interrupt(move |_| match leash.leash.is_up() {
            true => Err(Error::runtime("its time is up")),
            false => Ok(VmState::Continue),
        });
        lua.set_memory_limit(desk.settings.memory_max)?;
        Ok(Self { lua, strict, pick, prepare })
    }
}

/// `string.find`: as Luau's, but a plain text is looked for in linear time.
fn find(patterns: Function) -> impl Fn(&Lua, MultiValue) -> mlua::Result<MultiValue> {
    move |_, args| {
        let plain = args.get(3).is_some_and(|plain| !matches!(plain, Value::Nil | Value::Boolean(false)));
        let (Some(Value::String(text)), Some(Value::String(wanted))) = (args.front(), args.get(1)) else {
            return patterns.call(args);
        };
        if !plain && wanted.as_bytes().iter().any(|byte| SPECIALS.contains(byte)) {
            return patterns.call(args);
        }
        let length = text.as_bytes().len();
        let start = match args.get(2).and_then(number).unwrap_or(1.0) {
            start if start < 0.0 => (length as f64 + start).max(0.0) as usize,
            start => (start.max(1.0) - 1.0) as usize,
        };
        let found = text.as_bytes().get(start..).and_then(|rest| memmem::find(rest, &wanted.as_bytes()));
        let Some(at) = found else { return Ok(MultiValue::from_vec(vec![Value::Nil])) };
        let first = start + at + 1;
        let last = first + wanted.as_bytes().len() - 1;
        Ok(MultiValue::from_vec(vec![Value::Number(first as f64), Value::Number(last as f64)]))
    }
}

/// A number, whichever way the VM holds it.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// `string.split`: as Luau's, in linear time.
fn split(lua: &Lua, (text, separator): (LuaString, Option<LuaString>)) -> mlua::Result<Table> {
    let pieces = lua.create_table()?;
    let text = text.as_bytes();
    let separator = separator.as_ref().map_or_else(|| b",".to_vec(), |separator| separator.as_bytes().to_vec());
    if separator.is_empty() {
        for byte in text.iter() {
            pieces.raw_push(lua.create_string([*byte])?)?;
        }
        return Ok(pieces);
    }
    let mut from = 0;
    for at in memmem::find_iter(&text, &separator) {
        pieces.raw_push(lua.create_string(&text[from..at])?)?;
        from = at + separator.len();
    }
    pieces.raw_push(lua.create_string(&text[from..])?)?;
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as Luau's own, whatever is asked.
    #[test]
    fn find_and_split_are_as_they_were() {
        let lua = Lua::new();
        let string: Table = lua.globals().get("string").unwrap();
        lua.globals().set("ours", lua.create_function(find(string.get("find").unwrap())).unwrap()).unwrap();
        lua.globals().set("parts", lua.create_function(split).unwrap()).unwrap();
        let same = r#"
            local function show(...) local t = {} for i = 1, select('#', ...) do t[i] = tostring((select(i, ...))) end return table.concat(t, " ") end
            for _, text in { "", "a", "abcabc", "a.b", "x\0y", "aaa" } do
                for _, wanted in { "", "a", "abc", "c", ".", "b.", "\0", "aa", "(b)", "z" } do
                    for _, start in { 1, 2, -2, 0, 7, 100, -100 } do
                        for _, plain in { true, false } do
                            local want, have = show(string.find(text, wanted, start, plain)), show(ours(text, wanted, start, plain))
                            assert(want == have, `find({text}, {wanted}, {start}, {plain}) is {want}, not {have}`)
                        end
                    end
                    assert(show(string.find(text, wanted)) == show(ours(text, wanted)))
                    local want, have = table.concat(string.split(text, wanted), "|"), table.concat(parts(text, wanted), "|")
                    assert(want == have, `split({text}, {wanted}) is {want}, not {have}`)
                end
            end"#;
        lua.load(same).exec().unwrap();
    }
}
