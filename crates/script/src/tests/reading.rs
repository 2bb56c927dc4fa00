//! Scripts as they are read: mistakes with file and line, folders, changes.

use std::fs;
use std::path::PathBuf;

use mailroom::hooks::Moment;

use super::*;
use crate::{BadScript, Look};

fn bad(text: &str) -> String {
    Program::of(&[("test.lua", text)], &Settings::default()).unwrap_err().to_string()
}

#[test]
fn mistakes_name_file_and_line() {
    for (text, expected) in [
        (
            "\nfunction postkeep.before.mesage(m) end",
            "test.lua:2: postkeep.before has no event \"mesage\"; it has mail_from, message, rcpt_to",
        ),
        (
            "inbucket.after.message = print",
            "test.lua:1: inbucket.after has no event \"message\"; it has message_deleted, message_stored",
        ),
        ("postkeep.before.message = 1", "test.lua:1: postkeep.before.message is a function, not a number"),
        ("local x = \n\n)", "test.lua:3: Expected identifier when parsing expression, got ')'"),
        ("\n\nerror('oh')", "test.lua:3: oh"),
        ("local x = nil\nx.y = 1", "test.lua:2: attempt to index nil with 'y'"),
        ("require('socket')", "test.lua:1: there is no module \"socket\"; require knows http, json and logger"),
        ("\nos.execute('ls')", "test.lua:2: attempt to call a nil value"),
        ("while true do end", "test.lua: it takes longer than 1s to be read"),
    ] {
        assert_eq!(bad(text), expected, "{text}");
    }
}

#[test]
fn t093_what_somebody_compiled_is_no_script() {
    let compiled = mlua::chunk::Compiler::new().compile("function postkeep.before.message() end").unwrap();
    let folder = folder("compiled");
    fs::write(folder.join("a.lua"), &compiled).unwrap();
    let bad = Program::read(&folder, &Settings::default()).unwrap_err().to_string();
    assert!(bad.contains("a.lua"), "{bad}");
    // What happens to be UTF-8 is no script either.
    let text: String = compiled.iter().map(|byte| char::from(byte & 0x7f)).collect();
    assert!(Program::of(&[("b.lua", &text)], &Settings::default()).is_err());
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("postkeep-script-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_folder_is_read_by_name() {
    let folder = folder("folder");
    assert!(matches!(Program::read(&folder, &Settings::default()), Err(BadScript::Empty { .. })));
    let handler = "function postkeep.before.message(m) end";
    for (name, text) in [("b.lua", handler), ("a.luau", handler), (".c.lua", "("), ("d.lua~", "("), ("readme.md", "(")]
    {
        fs::write(folder.join(name), text).unwrap();
    }
    let before = Look::at(&folder);
    let program = Program::read(&folder, &Settings::default()).unwrap();
    assert_eq!(program.modules.iter().map(|module| &*module.name).collect::<Vec<_>>(), ["a.luau", "b.lua"]);
    assert!(program.wants(Moment::Message) && !program.wants(Moment::Deleted));
    assert_eq!(Look::at(&folder), before);
    fs::write(folder.join("c.lua"), handler).unwrap();
    assert_ne!(Look::at(&folder), before, "a new file is a change");
    fs::write(folder.join("a.luau"), "local x = 1").unwrap();
    let program = Program::read(&folder, &Settings::default()).unwrap();
    assert!(program.modules[0].handlers.is_empty(), "a file without handlers is fine beside others");
    for name in ["b.lua", "c.lua"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    assert!(matches!(Program::read(&folder, &Settings::default()), Err(BadScript::Idle { .. })));
    fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(Program::read(&folder, &Settings::default()), Err(BadScript::Unreadable { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_takes_over() {
    let scripts = start("function postkeep.before.message(m) m:tag('one') end");
    assert_eq!(message(&scripts, &["a@x.test"], HELLO).await.tags, ["one"]);
    let settings = Settings::default();
    let text = "function postkeep.before.message(m) m:tag('two') end function postkeep.after.delete() end";
    scripts.replace(Program::of(&[("test.lua", text)], &settings).unwrap());
    assert_eq!(message(&scripts, &["a@x.test"], HELLO).await.tags, ["two"]);
    assert!(scripts.wants(Moment::Deleted) && !scripts.wants(Moment::MailFrom));
}
