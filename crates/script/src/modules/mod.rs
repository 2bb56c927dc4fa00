//! What `require` knows: `http`, `json` and `logger`, and nothing else. There are no files to load from.

pub(crate) mod http;
mod json;
mod logger;

use std::sync::Arc;

use mlua::{Error, Function, Lua};

use crate::desk::Desk;

/// The function `require`.
pub(crate) fn require(lua: &Lua, desk: &Arc<Desk>) -> mlua::Result<Function> {
    let modules = lua.create_table()?;
    for (name, module) in
        [("http", http::module(lua, desk)?), ("json", json::module(lua)?), ("logger", logger::module(lua, desk)?)]
    {
        module.set_readonly(true);
        modules.raw_set(name, module)?;
    }
    lua.create_function(move |_, name: String| match modules.raw_get::<Option<mlua::Table>>(&*name)? {
        Some(module) => Ok(module),
        None => Err(Error::runtime(format!("there is no module {name:?}; require knows http, json and logger"))),
    })
}
