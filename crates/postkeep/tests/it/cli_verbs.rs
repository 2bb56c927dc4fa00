//! The verbs of those who read mail, as people and scripts call them: what is printed, what is said, how it ends.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::http::{latest_as_sent, list, wait_for_count};
use crate::program::{Program, directory, output, postkeep};
use crate::smtp::deliver;

/// A verb for this server.
fn verb(program: &Program, args: &[&str]) -> Command {
    let mut command = postkeep(args);
    command.env("POSTKEEP_URL", format!("http://{}", program.http));
    command.env("POSTKEEP_SENDMAIL_SERVER", program.smtp.to_string());
    command
}

/// Run with this on stdin: exit code, stdout, stderr.
fn fed(command: &mut Command, input: &str) -> (Option<i32>, String, String) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// It must end so, and say this on stderr.
#[track_caller]
fn ends(command: &mut Command, code: i32, words: &str) {
    let (found, stdout, stderr) = output(command);
    assert!(found == Some(code) && stderr.contains(words), "{found:?}: {stderr}");
    assert_eq!(stdout, "", "what failed prints nothing");
}

/// A server that gives one answer to everybody.
fn answering(status: u16, slug: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body = format!("{{\"type\":\"urn:postkeep:problem:{slug}\",\"title\":\"T\",\"detail\":\"Do this.\"}}");
    let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn a_file_is_sent_by_its_own_envelope() {
    let program = Program::start(&[]);
    fs::write(program.dir.join("a.eml"), "From: ann@x.test\nTo: bob@x.test\nDate: x\nMessage-ID: <1@x>\n\nHi.\n")
        .unwrap();
    let sent = output(verb(&program, &["send", "a.eml"]).current_dir(&program.dir));
    assert_eq!(sent, (Some(0), String::new(), String::new()));
    let expected = b"From: ann@x.test\r\nTo: bob@x.test\r\nDate: x\r\nMessage-ID: <1@x>\r\n\r\nHi.\r\n";
    assert_eq!(latest_as_sent(program.http, "bob"), expected);
    let sent = output(verb(&program, &["send", "a.eml", "--to", "cleo@x.test"]).current_dir(&program.dir));
    assert_eq!(sent.0, Some(0), "{}", sent.2);
    assert_eq!((list(program.http, "bob").len(), list(program.http, "cleo").len()), (1, 1));
}

#[test]
fn a_message_is_made_of_what_is_given() {
    let program = Program::start(&[]);
    let args = ["send", "--to", "bob@x.test", "--from", "ann@x.test", "--subject", "Grüße", "--text", "-"];
    assert_eq!(fed(&mut verb(&program, &args), "one\n.\ntwo\n"), (Some(0), String::new(), String::new()));
    let message = &list(program.http, "bob")[0];
    assert_eq!((&message["subject"], &message["from"]), (&"Grüße".into(), &"ann@x.test".into()));
    let source = String::from_utf8(latest_as_sent(program.http, "bob")).unwrap();
    assert!(source.ends_with("\r\n\r\none\r\n.\r\ntwo\r\n\r\n"), "{source}");
}

#[test]
fn what_cannot_be_sent_says_why() {
    let program = Program::start(&["policy.reject=bad.test", "smtp.message_max=1KB"]);
    ends(&mut verb(&program, &["send", "no.eml"]), 2, "cannot read no.eml");
    ends(&mut verb(&program, &["send", "--to", "nobody at all", "--text", "x"]), 2, "correct it");
    ends(
        &mut verb(&program, &["send", "--to", "bob@bad.test", "--text", "x"]),
        4,
        "refused the recipient bob@bad.test",
    );
    ends(&mut verb(&program, &["send", "--to", "bob@x.test", "--text", &"x".repeat(2000)]), 4, "send a smaller one");
    ends(
        &mut verb(&program, &["send", "--to", "bob@x.test", "--text", "x", "--smtp", "127.0.0.1:1"]),
        3,
        "--smtp names",
    );
    wait_for_count(program.http, "bob", 0);
}

#[test]
fn health_finds_the_server_by_itself() {
    let mut program = Program::start(&[]);
    let url = format!("http://{}", program.http);
    let well = (Some(0), String::new(), String::new());
    assert_eq!(output(&mut postkeep(&["health", "--server", &url])), well);
    assert_eq!(output(postkeep(&["health"]).env("POSTKEEP_URL", &url)), well);
    // As an image is configured: the same variables for the server and for those who ask how it is.
    let everywhere = format!("0.0.0.0:{}", program.http.port());
    assert_eq!(output(postkeep(&["health"]).env("POSTKEEP_HTTP__ADDR", &everywhere)), well);
    assert_eq!(output(&mut postkeep(&["health", "--set", &format!("http.addr={}", program.http)])), well);
    assert_eq!(output(&mut postkeep(&["health", "--wait", "1h", "--server", &url])), well);
    ends(postkeep(&["health"]).env("POSTKEEP_HTTP__ADR", "x"), 2, "did you mean POSTKEEP_HTTP__ADDR?");
    ends(&mut postkeep(&["health", "--server", &answering(503, "store-unavailable")]), 5, "Do this.");
    program.signal(rustix::process::Signal::TERM);
    program.wait();
    ends(&mut postkeep(&["health", "--server", &url]), 3, "cannot reach");
}

#[test]
fn every_refusal_has_its_exit_code() {
    for (status, slug, code) in [
        (400, "bad-mailbox", 2),
        (401, "unauthorized", 4),
        (403, "forbidden", 4),
        (404, "message-unknown", 1),
        (410, "inbox-expired", 1),
        (421, "host-refused", 4),
        (500, "internal", 5),
    ] {
        let url = answering(status, slug);
        for args in
            [&["list", "alice"][..], &["show", "alice"], &["code", "alice"], &["watch", "alice"], &["inbox", "new"]]
        {
            ends(postkeep(args).env("POSTKEEP_URL", &url), code, "Do this.");
        }
    }
}

#[test]
fn nobody_there_is_told_at_once() {
    for args in [&["list", "alice"][..], &["wait", "alice", "--timeout", "1h"], &["watch"], &["purge", "alice"]] {
        ends(postkeep(args).env("POSTKEEP_URL", "http://127.0.0.1:1"), 3, "is the server running there?");
    }
}

#[test]
fn mistakes_on_the_command_line_are_told() {
    for (args, words) in [
        (&["show"][..], "set POSTKEEP_MAILBOX"),
        (&["list", "alice", "--server", "alice"], "is no URL of a server"),
        (&["wait", "alice", "--timeout", "soon"], "write it as 20s"),
        (&["wait", "alice", "--header", "X"], "NAME=VALUE"),
        (&["delete", "alice"], "<ID>"),
        (&["list", "alice", "--token-file", "none"], "cannot read none"),
        (&["send"], "--to"),
    ] {
        ends(&mut postkeep(args), 2, words);
    }
}

#[test]
fn a_file_of_ones_own_names_the_server() {
    let dir = directory();
    fs::create_dir_all(dir.join("postkeep")).unwrap();
    let file = dir.join("postkeep/client.toml");
    fs::write(&file, "server = \"http://127.0.0.1:2\"\n").unwrap();
    ends(postkeep(&["list", "a"]).env("XDG_CONFIG_HOME", &dir), 3, "cannot reach http://127.0.0.1:2:");
    let mut named = postkeep(&["list", "a"]);
    ends(named.env("XDG_CONFIG_HOME", &dir).env("POSTKEEP_URL", "http://127.0.0.1:3"), 3, "http://127.0.0.1:3:");
    fs::write(&file, "sever = \"x\"\n").unwrap();
    ends(postkeep(&["list", "a"]).env("XDG_CONFIG_HOME", &dir), 2, "sever is no key here");
    fs::remove_dir_all(dir).unwrap();
}

/// In one environment a server is started and asked.
#[test]
fn the_variables_of_those_who_ask_are_no_mistake_of_a_server() {
    let mut check = postkeep(&["config", "check"]);
    for name in ["URL", "TOKEN", "MAILBOX", "ADDRESS", "SENDMAIL_SERVER", "SENDMAIL_TIMEOUT"] {
        check.env(format!("POSTKEEP_{name}"), "x");
    }
    assert_eq!(output(&mut check), (Some(0), "The configuration is sound.\n".into(), String::new()));
}

const CODE: &[u8] =
    b"From: Shop <no-reply@shop.test>\r\nTo: alice@x.test\r\nSubject: Your code\r\n\r\nYour code is 884201\x1b[2J\r\n";

/// A server with a mail for alice, and its id.
fn with_mail() -> (Program, String) {
    let program = Program::start(&[]);
    deliver(program.smtp, "alice@x.test", CODE);
    let id = list(program.http, "alice")[0]["id"].as_str().unwrap().to_owned();
    (program, id)
}

/// What a verb prints, which must go well.
#[track_caller]
fn prints(command: &mut Command) -> String {
    let (code, stdout, stderr) = output(command);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    stdout
}

#[test]
fn a_list_is_a_table() {
    let (program, id) = with_mail();
    let table = prints(&mut verb(&program, &["list", "alice"]));
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(lines[0], ["ID", "RECEIVED", "FROM", "SIZE", "SUBJECT"], "{table}");
    assert_eq!((lines[1][0], lines[1][2], lines[1][4]), (id.as_str(), "no-reply@shop.test", "Your code"));
    let json: Value = serde_json::from_str(&prints(&mut verb(&program, &["list", "alice", "--json"]))).unwrap();
    assert_eq!(json["items"][0]["id"], id.as_str());
    let nothing = output(&mut verb(&program, &["list", "bob"]));
    assert_eq!(nothing, (Some(0), String::new(), "postkeep: there is no mail in bob\n".to_owned()));
}

#[test]
fn a_message_is_shown_and_harms_no_terminal() {
    let (program, id) = with_mail();
    let page = prints(&mut verb(&program, &["show", "alice"]));
    assert!(
        page.starts_with("From      Shop <no-reply@shop.test>\nTo        alice@x.test\nSubject   Your code\n"),
        "{page}"
    );
    assert!(page.contains(&format!("(id {id})\nEnvelope  ann@sender.test to alice@x.test\n")), "{page}");
    assert!(page.ends_with("\n\nYour code is 884201\\u{1b}[2J\n"), "{page}");
    let headers = prints(&mut verb(&program, &["show", "alice", &id, "--headers"]));
    assert!(headers.contains("\nSubject: Your code\n"), "{headers}");
    ends(&mut verb(&program, &["show", "alice", "latest", "--html"]), 1, "has no HTML");
    ends(&mut verb(&program, &["show", "alice", "zzz"]), 1, "the server says 404");
    let source = verb(&program, &["source", "alice", "latest"]).output().unwrap();
    assert!(source.status.success() && source.stdout.ends_with(CODE));
}

#[test]
fn codes_links_and_waits_answer_yes_or_no() {
    let (program, _) = with_mail();
    let text = "Choose a new password: https://shop.test/reset?token=8f3ac91b7d2e4f60a1b2c3d4e5f60718";
    let (message, server) = (format!("Subject: Reset\r\n\r\n{text}\r\n"), program.smtp);
    deliver(server, "bob@x.test", message.as_bytes());
    assert!(
        prints(&mut verb(&program, &["link", "bob", "--kind", "reset"]))
            .starts_with("https://shop.test/reset?token=8f")
    );
    deliver(server, "cleo@x.test", b"Subject: Code\r\n\r\nYour code is 884201\r\n");
    assert_eq!(prints(&mut verb(&program, &["code", "cleo"])), "884201\n");
    let json: Value = serde_json::from_str(&prints(&mut verb(&program, &["code", "cleo", "--json"]))).unwrap();
    assert_eq!((&json["value"], json["confidence"].is_f64()), (&"884201".into(), true));
    let since = prints(&mut verb(&program, &["list", "cleo", "--cursor"]));
    let late = ["wait", "cleo", "--since", since.trim(), "--timeout", "100ms"];
    ends(&mut verb(&program, &late), 1, "PostkeepTimeout: no mail for cleo matched in 0.1 s");
    ends(&mut verb(&program, &["wait", "cleo", "--none", "--timeout", "5s"]), 1, "PostkeepUnexpected");
    assert_eq!(prints(&mut verb(&program, &["wait", "cleo", "--none", "--subject", "x", "--timeout", "50ms"])), "");
    ends(&mut verb(&program, &["code", "bob", "--timeout", "50ms"]), 1, "✗ code");
    ends(&mut verb(&program, &["wait", "cleo", "--has", "cod"]), 2, "code");
}

#[test]
fn mail_is_deleted_and_purged() {
    let (program, id) = with_mail();
    assert_eq!(prints(&mut verb(&program, &["delete", "alice", &id])), "");
    ends(&mut verb(&program, &["delete", "alice", &id]), 1, "404");
    deliver(program.smtp, "alice@x.test", CODE);
    assert_eq!(prints(&mut verb(&program, &["purge", "alice"])), "");
    deliver(program.smtp, "bob@x.test", CODE);
    assert_eq!(prints(&mut verb(&program, &["purge", "--all"])), "");
    assert_eq!((list(program.http, "alice").len(), list(program.http, "bob").len()), (0, 0));
}

#[test]
fn what_is_sent_over_http_is_told_where_it_lies() {
    let program = Program::start(&[]);
    let told = prints(&mut verb(&program, &["send", "--http", "--to", "bob@x.test", "--text", "Hi"]));
    let id = list(program.http, "bob")[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(told, format!("bob  {id}\n"));
    let json = prints(&mut verb(&program, &["send", "--http", "--json", "--to", "bob@x.test", "--text", "Hi"]));
    assert!(json.starts_with("{\"deliveries\":[{\"mailbox\":\"bob\",\"id\":\""), "{json}");
}

#[test]
fn an_inbox_is_told_to_people_and_to_shells() {
    let program = Program::start(&[]);
    let page = prints(&mut verb(&program, &["inbox", "new", "signup", "--ttl", "30m"]));
    assert!(page.starts_with("address  signup-") && page.contains("\nsecret   pki_"), "{page}");
    assert!(page.ends_with("m)\n"), "it ends with a whole minute: {page}");
    let export = prints(&mut verb(&program, &["inbox", "new", "--export"]));
    let names: Vec<&str> = export.lines().filter_map(|line| line.strip_prefix("export ")?.split('=').next()).collect();
    assert_eq!(names, ["POSTKEEP_MAILBOX", "POSTKEEP_ADDRESS", "POSTKEEP_TOKEN"]);
    let json: Value = serde_json::from_str(&prints(&mut verb(&program, &["inbox", "new", "--json"]))).unwrap();
    let (mailbox, secret) = (json["mailbox"].as_str().unwrap(), json["secret"].as_str().unwrap());
    assert_eq!(prints(verb(&program, &["inbox", "close", mailbox]).env("POSTKEEP_TOKEN", secret)), "");
}

#[test]
fn events_come_a_line_each() {
    let program = Program::start(&[]);
    let since = prints(&mut verb(&program, &["list", "alice", "--cursor"]));
    deliver(program.smtp, "alice@x.test", CODE);
    let watch = ["watch", "alice", "--since", since.trim(), "--count", "1"];
    let line = prints(&mut verb(&program, &watch));
    assert!(line.contains("  +  alice  ") && line.ends_with("  no-reply@shop.test  Your code\n"), "{line}");
    let json: Value = serde_json::from_str(&prints(&mut verb(&program, &[&watch[..], &["--json"]].concat()))).unwrap();
    assert_eq!((&json["event"], &json["data"]["message"]["subject"]), (&"deliver".into(), &"Your code".into()));
}

/// A certificate that the server made for itself is named as with OpenSSL.
#[test]
fn a_server_under_tls_is_asked_by_its_certificate() {
    let program = Program::start(&["tls.self_signed=true", "https.addr=127.0.0.1:0"]);
    let addresses: Value = serde_json::from_str(program.ready.strip_prefix("ready ").unwrap()).unwrap();
    let url = format!("https://{}", addresses["https"].as_str().unwrap());
    let certificate = program.dir.join("postkeep-tls/cert.pem");
    assert_eq!(prints(postkeep(&["health", "--server", &url]).env("SSL_CERT_FILE", certificate)), "");
    ends(&mut postkeep(&["health", "--server", &url]), 3, "named by SSL_CERT_FILE");
}
