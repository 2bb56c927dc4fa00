//! Lists by example, then by property.

use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Result<Vec<String>, String> {
    let found = list(text, "host.test").map_err(|bad| bad.to_string())?;
    Ok(found.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(found(text), Ok(expected.iter().map(|&address| address.to_owned()).collect()), "{text:?}");
}

#[track_caller]
fn refuses(text: &str, words: &str) {
    let why = found(text).unwrap_err();
    assert!(why.contains(words), "{text:?}: {why}");
}

#[test]
fn lists_by_example() {
    check("ann@x.test", &["ann@x.test"]);
    check("<ann@x.test>", &["ann@x.test"]);
    check(" Ann Doe <ann@x.test> ", &["ann@x.test"]);
    check("\"Doe, Ann\" <ann@x.test>, bob@y.test", &["ann@x.test", "bob@y.test"]);
    check("ann@x.test,bob@y.test,, cleo@z.test,", &["ann@x.test", "bob@y.test", "cleo@z.test"]);
    check("ann@x.test (Ann, (nested\\) one), bob@y), (c) bob@y.test", &["ann@x.test", "bob@y.test"]);
    check("ann@x.test <ann@y.test>", &["ann@y.test"]);
    check("=?utf-8?Q?Doe,_Ann?= <ann@x.test>", &["ann@x.test"]);
    check("=?utf-8?B?QTtC?= =?utf-8?Q?:?= <ann@x.test>", &["ann@x.test"]);
    check("\"a, b\"@x.test", &["\"a, b\"@x.test"]);
    check("\"ann\"@x.test", &["ann@x.test"]);
    check("<\"a>b\"@x.test>", &["\"a>b\"@x.test"]);
    check("ann@[127.0.0.1], bob@[IPv6:::1]", &["ann@[127.0.0.1]", "bob@[IPv6:::1]"]);
    check("<@one.test,@two.test:ann@x.test>", &["ann@x.test"]);
    check("ann @ x . test", &["ann@x.test"]);
    check("Ann\r\n <ann@x.test>,\r\n\tbob@y.test\r\n", &["ann@x.test", "bob@y.test"]);
    check("zoë@exämple.test", &["zoë@exämple.test"]);
    check("ann@x.test; bob@y.test", &["ann@x.test", "bob@y.test"]);
    check("", &[]);
    check(" \t\r\n ", &[]);
    check("(nobody)", &[]);
}

#[test]
fn groups_are_their_members() {
    check("undisclosed-recipients:;", &[]);
    check("Team: ann@x.test, Bob <bob@y.test>;, cleo@z.test", &["ann@x.test", "bob@y.test", "cleo@z.test"]);
    check("\"A: b\": ann@x.test;", &["ann@x.test"]);
    refuses("ann@x.test: bob@y.test;", "no address");
    refuses("<ann@x.test>: bob@y.test;", "no address");
}

#[test]
fn without_a_domain_it_is_here() {
    check("root", &["root@host.test"]);
    check("Root <root>, bob", &["root@host.test", "bob@host.test"]);
    check("Postmaster", &["postmaster@host.test"]);
    check("\"joe user\"", &["\"joe user\"@host.test"]);
}

#[test]
fn what_is_no_address_is_told() {
    refuses("Ann Doe", "\"Ann Doe\": this is no address");
    refuses("ok@x.test, ann@@x.test, bob@y.test", "\"ann@@x.test\": this is no address");
    refuses("ann@", "no address");
    refuses("@x.test", "no address");
    refuses("ann@x..test", "no address");
    refuses("<>", "no address between");
    refuses("ann@x.test bob@y.test", "no address");
    refuses("<ann@x.test> <bob@y.test>", "without a comma");
    refuses("<ann@x.test> bob", "without a comma");
    refuses("\"ann@x.test", "not closed");
    refuses("ann@x.test (", "not closed");
    refuses("Ann <ann@x.test", "not closed");
    refuses("ann@[::1", "not closed");
    refuses("=?utf-8?Q?ann?=", "no address");
    refuses("an\u{fffd}n@x.test", "no address");
    refuses("ann@x.test\x07", "\\u{7}");
    refuses(&format!("{}@x.test", "a".repeat(65)), "too long");
    let why = found(&"x y".repeat(1000)).unwrap_err();
    assert!(why.contains('…') && why.len() < 250, "{why}");
}

#[test]
fn a_command_holds_nothing_but_an_address() {
    for text in
        ["a@x.test>\r\nRCPT TO:<b@y.test", "\"a\r\nDATA\"@x.test", "<a@x.test>> b", "a\0@x.test", "<a@x.test\n>b"]
    {
        let found = found(text);
        let clean = |address: &String| !address.contains(['\r', '\n', '\0', '>']);
        assert!(found.as_ref().is_err() || found.iter().flatten().all(clean), "{text:?}: {found:?}");
    }
}

#[test]
fn a_sender_is_one_or_none() {
    let sender = |text| sender(text, "host.test").map(|address| address.map(|address| address.to_string()));
    assert_eq!(sender(""), Ok(None));
    assert_eq!(sender(" <> "), Ok(None));
    assert_eq!(sender("Ann <ann@x.test>"), Ok(Some("ann@x.test".to_owned())));
    assert_eq!(sender("ann"), Ok(Some("ann@host.test".to_owned())));
    assert!(sender("a@x.test, b@x.test").is_err() && sender("group:;").is_err() && sender("a b").is_err());
}

#[test]
fn long_lists_are_read_in_one_go() {
    let begin = std::time::Instant::now();
    for piece in ["=?a?q?", "=?a?q? ", "=?,", "(", "\"", "<", "[", "a,", "a@x.test, ", "a ", ":", ";", "\\", "()"] {
        let _ = list(&piece.repeat((1 << 20) / piece.len()), "host.test");
    }
    // Half a second when it is linear, many minutes when it is not.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

proptest! {
    #[test]
    fn any_text_gives_an_answer(text in "[ -~äß\\r\\n\\t]{0,60}") {
        if let Ok(found) = list(&text, "host.test") {
            for address in found {
                let written = address.to_string();
                prop_assert!(!written.contains(['\r', '\n', '\0']));
                prop_assert_eq!(list(&format!("<{written}>"), "host.test").unwrap(), vec![address]);
            }
        }
    }
}
