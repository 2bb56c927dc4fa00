//! Each rule on a sample that breaks it and on one that keeps it.

use serde_json::json;

use super::tree::{File, Tree};
use super::{
    Rule, banned, engines, keys, leaving, length, links, opening, page, places, safety, session, source, threats,
    unfinished, walls,
};

/// The rule finds exactly these places, `file:line`, in these files.
#[track_caller]
fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
    let files = files.iter().map(|(path, text)| File::new(path, text)).collect();
    check_tree(rule, &Tree { files, ..Tree::default() }, expected);
}

#[track_caller]
fn check_tree(rule: Rule, tree: &Tree, expected: &[&str]) {
    let mut found = rule(tree);
    found.sort();
    let places: Vec<_> = found.iter().map(|violation| format!("{}:{}", violation.file, violation.line)).collect();
    assert_eq!(places, expected, "{found:#?}");
}

#[test]
fn comments_and_literals_are_no_code() {
    for (text, expected) in [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        (r#"x("a\"b") y"#, "x(      ) y"),
        ("r#\"a\"b\"# c", "         c"),
        ("br\"{\" {", "      {"),
        ("'{' 'a '\\'' &'a str", "    'a      &'a str"),
        ("r#type r", "r#type r"),
        ("\"ü\" ü", "     __"),
    ] {
        assert_eq!(source::code(text), expected, "{text}");
    }
}

#[test]
fn a_file_without_an_opening_is_found() {
    check(opening::rule, &[("a.rs", "//! What it is.\n"), ("b.rs", "use a;\n//! Late.\n")], &["b.rs:1"]);
}

#[test]
fn unfinished_code_is_found() {
    let text = "//! todo!() in words.\nfn a() { todo!() }\nfn b() { dbg!(1); unimplemented!(); }\n";
    check(unfinished::rule, &[("a.rs", text)], &["a.rs:2", "a.rs:3", "a.rs:3"]);
    check(unfinished::rule, &[("a.rs", "fn a() { let todo = \"todo!\"; my_todo!(); }")], &[]);
}

#[test]
fn unsafe_code_and_a_package_without_lints_are_found() {
    check(safety::rule, &[("a.rs", "#![forbid(unsafe_code)] // unsafe\nfn a() {\n unsafe { b() } }")], &["a.rs:3"]);
    let lints = "[package]\n\n[lints]\nworkspace = true\n";
    check(
        safety::rule,
        &[("crates/a/Cargo.toml", "[package]\n"), ("crates/b/Cargo.toml", lints)],
        &["crates/a/Cargo.toml:0"],
    );
}

#[test]
fn a_session_that_looks_at_the_clock_is_found() {
    let bad = "use std::time::SystemTime;\nasync fn a() {}\nfn operand() { Instant::now(); }\n";
    let tests = "#[cfg(test)]\nmod tests { use tokio; }\n";
    let path = "crates/smtp/src/session";
    let places = ["crates/smtp/src/session.rs:1", "crates/smtp/src/session.rs:2", "crates/smtp/src/session.rs:3"];
    check(session::rule, &[(&format!("{path}.rs"), &format!("{bad}{tests}"))], &places);
    check(session::rule, &[(&format!("{path}/step.rs"), "use rand::random;")], &["crates/smtp/src/session/step.rs:1"]);
    check(session::rule, &[(&format!("{path}/tests.rs"), bad), ("crates/smtp/src/server.rs", bad)], &[]);
}

#[test]
fn an_engine_named_outside_of_the_wiring_is_found() {
    let bad = "use store::{Clock, Memory, Store};\nfn a() { store::memory::open() }\nlet a = store::Memory::new();\n";
    let good = "use store::{MemoryPressure, Store};\nlet store = engine.memory;\nmatch x { Engine::Memory => 1 }\n";
    check(
        engines::rule,
        &[("crates/http/src/a.rs", bad)],
        &["crates/http/src/a.rs:1", "crates/http/src/a.rs:2", "crates/http/src/a.rs:3"],
    );
    check(engines::rule, &[("crates/http/src/a.rs", "use store_disk::Engine;")], &["crates/http/src/a.rs:1"]);
    check(
        engines::rule,
        &[("crates/http/src/a.rs", good), ("crates/http/tests/a.rs", bad), ("crates/store/src/a.rs", bad)],
        &[],
    );
    check(engines::rule, &[("crates/postkeep/src/assembly.rs", bad)], &[]);
}

#[test]
fn a_long_file_is_found_unless_it_says_why() {
    let lines = "x();\n".repeat(500);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "y();\n".repeat(100));
    check(length::rule, &[("a.rs", &format!("//! A.\n{lines}"))], &["a.rs:1"]);
    check(length::rule, &[("a.rs", &format!("//! A.\n\n// tidy: long because it is a table\n{lines}"))], &[]);
    check(
        length::rule,
        &[("a.rs", &format!("{}{tests}", &lines[..lines.len() - 10])), ("a/tests.rs", &lines.repeat(2))],
        &[],
    );
}

#[test]
fn a_long_function_is_found_unless_it_says_why() {
    let body = "    if a { b() }\n".repeat(79);
    let short = "    b();\n".repeat(78);
    let long = format!("fn a<T>(f: fn(u8) -> [u8; 2])\nwhere T: B {{\n{body}}}\n");
    check(length::rule, &[("a.rs", &long)], &["a.rs:1"]);
    check(length::rule, &[("a.rs", &format!("/// A.\n// tidy: long because it is one match\n#[inline]\n{long}"))], &[]);
    check(length::rule, &[("a.rs", &format!("// tidy: long because of that\nstruct A;\n\n\n{long}"))], &["a.rs:5"]);
    check(length::rule, &[("a.rs", &format!("trait T {{ fn a(&self); }}\nfn b() {{\n{short}}}\n"))], &[]);
    check(length::rule, &[("a.rs", &format!("#[cfg(test)]\nmod tests {{\n{long}}}\n"))], &[]);
}

#[test]
fn a_room_that_knows_too_much_is_found() {
    let package = |name: &str, dependencies: &[(&str, Option<&str>)]| {
        let list: Vec<_> = dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        json!({ "name": name, "manifest_path": format!("/r/{name}/Cargo.toml"), "dependencies": list })
    };
    let tree = |packages| Tree { packages, root: "/r".into(), ..Tree::default() };
    let good = vec![
        package("postkeep-mail", &[("memchr", None), ("tokio", Some("dev"))]),
        package("postkeep-store", &[("postkeep-mail", None), ("tokio", None), ("postkeep-store", Some("dev"))]),
        package("postkeep-smtp", &[("postkeep-mail", None), ("postkeep-store", Some("dev"))]),
    ];
    check_tree(walls::rule, &tree(good.clone()), &[]);
    for bad in [
        package("postkeep-smtp", &[("postkeep-store", None)]),
        package("postkeep-net", &[("postkeep-mail", Some("dev"))]),
        package("postkeep-mail", &[("tokio", None)]),
        package("postkeep-attic", &[]),
    ] {
        let place = format!("{}/Cargo.toml:0", bad["name"].as_str().expect("a name"));
        check_tree(walls::rule, &tree(good.iter().cloned().chain([bad]).collect()), &[&place]);
    }
}

#[test]
fn a_second_http_client_is_found() {
    let package = |name: &str, dependency: &str, features: &[&str], kind: Option<&str>| {
        let room = name.trim_start_matches("postkeep-");
        let list = [json!({ "name": dependency, "kind": kind, "features": features })];
        json!({ "name": name, "manifest_path": format!("/r/crates/{room}/Cargo.toml"), "dependencies": list })
    };
    let tree = |packages| Tree { packages, root: "/r".into(), ..Tree::default() };
    let good = vec![
        package("postkeep-outbound", "reqwest", &[], None),
        package("postkeep-client", "hyper", &["http1", "client"], None),
        package("postkeep-http", "hyper", &["http1", "server"], None),
        package("postkeep-smtp", "reqwest", &[], Some("dev")),
    ];
    check_tree(leaving::rule, &tree(good.clone()), &[]);
    for bad in [
        package("postkeep-acme", "reqwest", &[], None),
        package("postkeep-acme", "ureq", &[], None),
        package("postkeep-acme", "hyper", &["client"], None),
        package("postkeep-acme", "hyper-util", &["client-legacy"], None),
    ] {
        check_tree(leaving::rule, &tree([good.clone(), vec![bad]].concat()), &["crates/acme/Cargo.toml:0"]);
    }
    let code = "use hyper::client::conn::http1;\n// hyper::client\n";
    check(leaving::rule, &[("crates/acme/src/a.rs", code)], &["crates/acme/src/a.rs:1"]);
    check(
        leaving::rule,
        &[("crates/client/src/a.rs", code), ("bench/src/a.rs", code), ("crates/acme/tests/a.rs", code)],
        &[],
    );
}

#[test]
fn t106_a_banned_crate_in_a_lock_file_is_found() {
    let entry = |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    let good = [entry("jiff", "0.2.39"), entry("tokio", "1.54.1"), entry("ring-buffer", "1.0.0")].concat();
    check(banned::rule, &[("Cargo.lock", &good)], &[]);
    check(banned::rule, &[("Cargo.lock", &format!("{good}{}", entry("ring", "0.17.8")))], &["Cargo.lock:11"]);
    let off = Tree {
        files: vec![File::new("Cargo.lock", &entry("ring", "0.17.8"))],
        unbuilt: vec!["ring".to_owned()],
        ..Tree::default()
    };
    check_tree(banned::rule, &off, &[]);
    let wanting = |name: &str| format!("{}dependencies = [\n \"time\",\n]\n", entry(name, "1.0.0"));
    let time = entry("time", "0.3.0");
    check(banned::rule, &[("Cargo.lock", &format!("{time}{}", wanting("rcgen")))], &[]);
    check(
        banned::rule,
        &[("Cargo.lock", &format!("{time}{}{}", wanting("rcgen"), wanting("postkeep")))],
        &["Cargo.lock:2"],
    );
    check(banned::rule, &[("Cargo.lock", &time)], &["Cargo.lock:2"]);
    check(banned::rule, &[("fuzz/Cargo.lock", &entry("openssl-sys", "0.9.1"))], &["fuzz/Cargo.lock:2"]);
    check(banned::rule, &[("Cargo.lock", &format!("{good}{}", entry("tokio", "2.0.0")))], &["Cargo.lock:11"]);
}

#[test]
fn a_key_that_no_document_tells_is_found() {
    let defaults = ("crates/postkeep/config.default.toml", "[smtp]\naddr = \"x\"\n[store.memory]\nbytes_max = \"1\"\n");
    check(keys::rule, &[defaults], &[]);
    check(keys::rule, &[defaults, ("docs/configuration.md", "`smtp.addr` and `store.memory.bytes_max`")], &[]);
    check(keys::rule, &[defaults, ("docs/configuration.md", "`smtp.addr`")], &["docs/configuration.md:0"]);
}

#[test]
fn an_address_or_a_path_of_somebodys_machine_is_found() {
    let registry = format!("# c\nregistry = \"https://{}crates.io/\"", "index.");
    let home = ["see /home", "/me/notes"].concat();
    check(places::rule, &[("a.toml", &registry), ("b.md", &home)], &["a.toml:2", "b.md:1"]);
    let tree =
        Tree { files: vec![File::new("a.md", "ok\nin /srv/clone/x")], root: "/srv/clone".into(), ..Tree::default() };
    check_tree(places::rule, &tree, &["a.md:2"]);
}

#[test]
fn a_file_of_the_page_that_is_long_or_makes_html_is_found() {
    let long = format!("// A.\n{}", "x()\n".repeat(250));
    check(page::rule, &[("ui/src/a.ts", &long), ("ui/tests/b.ts", &long)], &["ui/src/a.ts:1", "ui/tests/b.ts:1"]);
    check(page::rule, &[("ui/src/api/schema.d.ts", &long[5..]), ("ui/dist/assets/a.js", &long[5..])], &[]);
    check(page::rule, &[("ui/src/a.ts", "import a\n")], &["ui/src/a.ts:1"]);
    check(page::rule, &[("ui/src/A.svelte", "<script>\n// A.\n</script>\n")], &["ui/src/A.svelte:1"]);
    check(page::rule, &[("ui/src/a.css", "/* A. */"), ("ui/src/A.svelte", "<!-- A. --><p style:color={a}>")], &[]);
    let bad = "<!-- A. -->\n{@html a}\n<p style=\"color: red\">\n<iframe srcdoc={a}>\n";
    check(page::rule, &[("ui/src/A.svelte", bad)], &["ui/src/A.svelte:2", "ui/src/A.svelte:3", "ui/src/A.svelte:4"]);
    let mail = "// A mail.\nconst text = '<p style=\"color: red\">'\nnode.innerHTML = text\n";
    check(page::rule, &[("ui/src/mail.ts", mail), ("ui/tests/mails/a.ts", mail)], &["ui/src/mail.ts:3"]);
}

#[test]
fn a_number_without_its_sentence_or_its_test_is_found() {
    let tests =
        "fn t001_smuggling() {}\nfn f08_files_run_out() {}\nfn t024_t025_trees() {}\nfn t1_no() {} fn t0245_no() {}";
    let row = |number: &str| format!("| {number} | An attack. | What holds. |\n");
    let book = ["T001", "F08", "T024", "T025"].map(row).concat();
    check(threats::rule, &[("crates/a/src/tests.rs", tests), ("docs/security.md", &book)], &[]);
    check(
        threats::rule,
        &[("crates/a/src/tests.rs", tests), ("docs/security.md", &book[row("T001").len()..])],
        &["crates/a/src/tests.rs:1"],
    );
    check(threats::rule, &[("docs/security.md", &row("T099"))], &["docs/security.md:1"]);
    let dialogue = ("crates/a/tests/dialogues/t099_closed.txt", "C: QUIT");
    check(threats::rule, &[dialogue, ("docs/security.md", &row("T099"))], &[]);
    check(threats::rule, &[dialogue, ("docs/security.md", &row("T099").repeat(2))], &["docs/security.md:2"]);
    check(threats::rule, &[dialogue, ("docs/security.md", "| T099 | An attack. | |\n")], &["docs/security.md:1"]);
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let good = "# Top `x` & more\n[a](b.md#head) [c](https://x.test/) `[d](e)`\n```\n[f](g)\n```\n[h](#top-x--more) [i](.)\n[j]: ../README.md\n";
    let other = ("docs/b.md", "## Head\n");
    check(links::rule, &[("docs/a.md", good), other, ("README.md", "[d](docs/) [e](docs/a.md)")], &[]);
    let bad = "[a](c.md)\n[b](b.md#tail)\n[c](#none)\n[d](../../out.md)\n[e]: f.md\n";
    let places = ["docs/a.md:1", "docs/a.md:2", "docs/a.md:3", "docs/a.md:4", "docs/a.md:5"];
    check(links::rule, &[("docs/a.md", bad), other], &places);
}
