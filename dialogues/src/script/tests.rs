//! A replayer that takes everything would make every dialogue pass: here it must refuse.

use std::sync::Mutex;

use tokio::io::AsyncWriteExt;

use super::*;

/// Replay a script against a server that says this and ends, and return what was left to obey.
async fn replayed(text: &str, server_says: &str) -> Vec<String> {
    let (client, mut server) = tokio::io::duplex(1024);
    server.write_all(server_says.as_bytes()).await.unwrap();
    server.shutdown().await.unwrap();
    let script = Script { name: "here.txt".into(), text: text.into() };
    let obeyed = Mutex::new(Vec::new());
    let obey = async |place: &str, words: &[&str]| obeyed.lock().unwrap().push(format!("{place} {words:?}"));
    script.replay(Client::new(Box::new(client)), Pace::Lines, obey).await;
    obeyed.into_inner().unwrap()
}

#[tokio::test]
async fn what_is_expected_passes_and_what_is_unknown_is_left_to_the_caller() {
    let script = "# A comment\nset key value\n\nS: one\nS: tw*\nkept box 1\nclosed";
    assert_eq!(replayed(script, "one\r\ntwo three\r\n").await, [r#"here.txt:6 ["kept", "box", "1"]"#]);
}

#[tokio::test]
#[should_panic(expected = r#"here.txt:2: expected "two", got "two three""#)]
async fn another_line_is_refused() {
    replayed("S: one\nS: two", "one\r\ntwo three\r\n").await;
}

#[tokio::test]
#[should_panic(expected = r#"here.txt:2: closed instead of "two""#)]
async fn an_early_end_is_refused() {
    replayed("S: one\nS: two", "one\r\n").await;
}

#[tokio::test]
#[should_panic(expected = "here.txt:1: the connection ends")]
async fn a_line_instead_of_the_end_is_refused() {
    replayed("closed", "one\r\n").await;
}

#[tokio::test]
#[should_panic(expected = r#""one\n" ends in CRLF"#)]
async fn a_bare_newline_is_refused() {
    replayed("S: one", "one\n").await;
}

#[test]
fn bytes_are_written_with_escapes_and_repetition() {
    assert_eq!(unescaped(r"a\r\n\0{xy*3}z"), b"a\r\n\0xyxyxyz");
    assert_eq!(unescaped("plain"), b"plain");
}

#[test]
fn settings_are_pairs() {
    let script = Script { name: "here.txt".into(), text: "set tls offer\nS: +OK\nset n 2".into() };
    assert_eq!(script.settings().collect::<Vec<_>>(), [("tls", "offer"), ("n", "2")]);
}
