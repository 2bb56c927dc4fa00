//! `require("http")`: `get`, `post`, `put`, `patch`, `delete`, `head`, `request` and `request_batch`, through the one client
//! as a stranger's. The script waits; its worker lets another one to work meanwhile.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::join_all;
use mlua::{Error, Lua, LuaString, MultiValue, Table, Value};
use outbound::{HeaderName, HeaderValue, Method, Request, Response, Trust};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::desk::{Desk, Level, Web};
use crate::failure::told;
use crate::sandbox::number;

/// Requests of one batch.
const BATCH_MAX: usize = 16;

type Asked = Result<Request, String>;
type Answered = Result<Response, String>;

pub(super) fn module(lua: &Lua, desk: &Arc<Desk>) -> mlua::Result<Table> {
    let module = lua.create_table()?;
    for name in ["get", "post", "put", "patch", "delete", "head"] {
        let desk = Arc::clone(desk);
        let ask = move |lua: &Lua, (url, options): (String, Option<Table>)| {
            one(lua, &desk, request(&name.to_uppercase(), url, options.as_ref()))
        };
        module.raw_set(name, lua.create_function(ask)?)?;
    }
    let desk = Arc::clone(desk);
    let batching = Arc::clone(&desk);
    let any = move |lua: &Lua, (method, url, options): (String, String, Option<Table>)| {
        one(lua, &desk, request(&method.to_uppercase(), url, options.as_ref()))
    };
    module.raw_set("request", lua.create_function(any)?)?;
    module.raw_set("request_batch", lua.create_function(move |lua, list: Table| batch(lua, &batching, &list))?)?;
    Ok(module)
}

/// One request: the response, or nil and why not.
fn one(lua: &Lua, desk: &Desk, asked: Asked) -> mlua::Result<MultiValue> {
    let answered = send(desk, vec![asked]).pop().unwrap_or_else(|| Err("nothing was asked".to_owned()));
    Ok(MultiValue::from_vec(match answered {
        Ok(response) => vec![Value::Table(shown(lua, &response)?)],
        Err(why) => vec![Value::Nil, Value::String(lua.create_string(why)?)],
    }))
}

/// Several at once, each as `{ method, url, options }`: the responses, and the errors where there were any.
fn batch(lua: &Lua, desk: &Desk, list: &Table) -> mlua::Result<MultiValue> {
    if list.raw_len() > BATCH_MAX {
        return Err(Error::runtime(format!("a batch has at most {BATCH_MAX} requests")));
    }
    let mut asked = Vec::new();
    for place in 1..=list.raw_len() {
        let one: Table = list.raw_get(place)?;
        let (method, url): (String, String) = (one.raw_get(1)?, one.raw_get(2)?);
        asked.push(request(&method.to_uppercase(), url, one.raw_get::<Option<Table>>(3)?.as_ref()));
    }
    let answered = send(desk, asked);
    let (responses, errors) = (lua.create_table()?, lua.create_table()?);
    for (place, answered) in answered.iter().enumerate() {
        match answered {
            Ok(response) => responses.raw_set(place + 1, shown(lua, response)?)?,
            Err(why) => errors.raw_set(place + 1, &**why)?,
        }
    }
    let mut values = vec![Value::Table(responses)];
    if answered.iter().any(Result::is_err) {
        values.push(Value::Table(errors));
    }
    Ok(MultiValue::from_vec(values))
}

/// Ask them all at once, within what is left of the script's time.
fn send(desk: &Desk, asked: Vec<Asked>) -> Vec<Answered> {
    let Web::Asked { client, runtime } = &desk.web else {
        return asked.into_iter().map(|one| kept_back(desk, one)).collect();
    };
    desk.leash.let_others();
    let (left, count) = (desk.leash.left(), asked.len());
    let sent = asked.into_iter().map(|asked| async move {
        let mut request = asked?;
        request.timeout = Some(request.timeout.map_or(left, |timeout| timeout.min(left)));
        client.send(request).await.map_err(|error| error.to_string())
    });
    // Whatever the client does, the script's own time ends.
    let all = async { tokio::time::timeout(left, join_all(sent)).await };
    runtime.block_on(all).unwrap_or_else(|_| vec![Err("the script's time is over".to_owned()); count])
}

/// In a trial nothing leaves: what would be asked is told.
fn kept_back(desk: &Desk, asked: Asked) -> Answered {
    let request = asked?;
    desk.say(Level::Info, format!("http {} {} (not sent)", request.method, request.url));
    Err("nothing is sent in a trial; --http sends it".to_owned())
}

fn request(method: &str, url: String, options: Option<&Table>) -> Asked {
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| format!("{method:?} is no method of HTTP"))?;
    let mut request = Request::new(method, url, Trust::Stranger);
    if let Some(options) = options {
        configure(&mut request, options).map_err(|error| told(&error))?;
    }
    Ok(request)
}

fn configure(request: &mut Request, options: &Table) -> mlua::Result<()> {
    if let Some(query) = text(options, "query")? {
        let (url, fragment) =
            request.url.split_once('#').map_or((&*request.url, ""), |(url, fragment)| (url, fragment));
        let sign = if url.contains('?') { '&' } else { '?' };
        let fragment = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
        request.url = format!("{url}{sign}{}{fragment}", query.to_string_lossy());
    }
    if let Some(form) = options.raw_get::<Option<Value>>("form")? {
        request.body = formed(&form)?.into();
        put(request, "Content-Type", "application/x-www-form-urlencoded")?;
    }
    if let Some(body) = text(options, "body")? {
        request.body = body.as_bytes().to_vec().into();
    }
    if let Some(cookies) = options.raw_get::<Option<Table>>("cookies")? {
        let pairs = pairs(&cookies)?.into_iter().map(|(name, value)| format!("{name}={value}"));
        put(request, "Cookie", &pairs.collect::<Vec<_>>().join("; "))?;
    }
    if let Some(auth) = options.raw_get::<Option<Table>>("auth")? {
        let [user, pass] = ["user", "pass"].map(|key| auth.raw_get::<Option<String>>(key));
        let both = format!("{}:{}", user?.unwrap_or_default(), pass?.unwrap_or_default());
        put(request, "Authorization", &format!("Basic {}", BASE64_STANDARD.encode(both)))?;
    }
    if let Some(headers) = options.raw_get::<Option<Table>>("headers")? {
        for (name, value) in pairs(&headers)? {
            put(request, &name, &value)?;
        }
    }
    request.timeout = match options.raw_get::<Value>("timeout")? {
        Value::Nil => None,
        value => Some(time(&value).ok_or_else(|| Error::runtime("timeout takes seconds, or a time such as \"10s\""))?),
    };
    Ok(())
}

fn text(options: &Table, key: &str) -> mlua::Result<Option<LuaString>> {
    options.raw_get(key)
}

/// A form that is written already, or a table of its fields.
fn formed(form: &Value) -> mlua::Result<String> {
    let Value::Table(fields) = form else {
        return Ok(form.as_string().map(LuaString::to_string_lossy).unwrap_or_default());
    };
    let escaped = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs = pairs(fields)?.into_iter().map(|(name, value)| format!("{}={}", escaped(&name), escaped(&value)));
    Ok(pairs.collect::<Vec<_>>().join("&"))
}

fn pairs(table: &Table) -> mlua::Result<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = table.pairs().collect::<mlua::Result<_>>()?;
    pairs.sort();
    Ok(pairs)
}

fn put(request: &mut Request, name: &str, value: &str) -> mlua::Result<()> {
    let wrong = || Error::runtime(format!("{name:?} with this value is no header"));
    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    request.headers.insert(key, HeaderValue::from_str(value).map_err(|_| wrong())?);
    Ok(())
}

/// A number of seconds, or a text as `"1m30s"` and `"500ms"`.
fn time(value: &Value) -> Option<Duration> {
    if let Some(seconds) = number(value) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let (text, mut sum) = (value.as_string()?.to_string_lossy(), 0.0);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let units = rest[digits..].find(|letter: char| letter.is_ascii_digit()).map_or(rest.len(), |end| digits + end);
        sum += number
            * match &rest[digits..units] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[units..];
    }
    Duration::try_from_secs_f64(sum).ok()
}

fn shown(lua: &Lua, response: &Response) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(0, 6)?;
    table.raw_set("body", lua.create_string(&response.body)?)?;
    table.raw_set("body_size", response.body.len() as f64)?;
    table.raw_set("status_code", f64::from(response.status.as_u16()))?;
    table.raw_set("url", &*response.url)?;
    let (headers, cookies) = (lua.create_table()?, lua.create_table()?);
    for name in response.headers.keys() {
        if let Some(value) = response.headers.get(name) {
            headers.raw_set(canonical(name.as_str()), lua.create_string(value.as_bytes())?)?;
        }
    }
    for cookie in response.headers.get_all("set-cookie") {
        let pair = cookie.to_str().ok().and_then(|text| text.split(';').next()?.split_once('='));
        if let Some((name, value)) = pair {
            cookies.raw_set(name.trim(), value.trim())?;
        }
    }
    table.raw_set("headers", headers)?;
    table.raw_set("cookies", cookies)?;
    Ok(table)
}

/// As scripts know it: `Content-Type`.
fn canonical(name: &str) -> String {
    let mut at_start = true;
    let case = |letter: char| {
        let cased = if at_start { letter.to_ascii_uppercase() } else { letter };
        at_start = letter == '-';
        cased
    };
    name.chars().map(case).collect()
}
