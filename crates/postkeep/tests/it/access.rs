//! Tokens, inboxes and modes of the real program: over SMTP, POP3, HTTP and on the command line.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::http::get;
use crate::program::{PATIENCE, Program, directory, output, postkeep};
use crate::smtp::{Smtp, deliver, message};

/// A file with a token for each of these scopes, and the tokens.
pub(crate) fn tokens(scopes: &[&str]) -> (String, Vec<String>) {
    let (mut file, mut tokens) = (String::new(), Vec::new());
    for scope in scopes {
        let (code, lines, stderr) = output(&mut postkeep(&["token", "new", "--scope", scope]));
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let token = lines.lines().next().unwrap().strip_prefix("# token: ").unwrap();
        assert!(token.starts_with("pkt_"), "{lines}");
        tokens.push(token.to_owned());
        file.push_str(&lines);
    }
    (file, tokens)
}

pub(crate) fn start(file: &str, settings: &[&str]) -> Program {
    let path = directory().join("postkeep.toml");
    std::fs::write(&path, file).unwrap();
    Program::run(postkeep(&["serve", "--config", path.to_str().unwrap()]), settings)
}

/// One request with a bearer's secret, or without any.
pub(crate) fn asked(addr: SocketAddr, method: &str, path: &str, secret: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let typed = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let shown = if secret.is_empty() { String::new() } else { format!("Authorization: Bearer {secret}\r\n") };
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n{shown}{typed}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// Sign in at POP3, then say this; what came of each.
fn pop3(program: &Program, mailbox: &str, password: &str, more: &[&str]) -> Vec<String> {
    let ready: Value = serde_json::from_str(program.ready.strip_prefix("ready ").unwrap()).unwrap();
    let mut stream = BufReader::new(TcpStream::connect(ready["pop3"].as_str().unwrap()).unwrap());
    stream.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let said = [format!("USER {mailbox}"), format!("PASS {password}")];
    let said = said.into_iter().chain(more.iter().map(ToString::to_string));
    let replies = said.map(|command| {
        write!(stream.get_mut(), "{command}\r\n").unwrap();
        let mut reply = String::new();
        stream.read_line(&mut reply).unwrap();
        reply.trim_end().to_owned()
    });
    replies.skip(1).collect()
}

fn auth(smtp: &mut Smtp, secret: &str) -> String {
    smtp.command(&format!("AUTH PLAIN {}", STANDARD.encode(format!("\0app\0{secret}"))))
}

#[test]
fn t103_a_token_is_good_for_what_it_says_over_every_protocol() {
    let (file, tokens) = tokens(&["admin:*", "ro:box", "rw:box", "deliver:box"]);
    let [admin, ro, rw, sends] = &tokens[..] else { panic!("four tokens") };
    let program = start(&file, &["access.mode=token", "smtp.auth=token", "smtp.auth_required=true"]);
    assert_eq!(get(program.http, "/api/v1/mailbox/box").status, 401);
    let mut smtp = Smtp::session(program.smtp);
    assert!(smtp.command("MAIL FROM:<>").starts_with("530"), "nobody sends without a token");
    assert!(auth(&mut smtp, "pkt_wrong").starts_with("535"));
    assert!(auth(&mut smtp, sends).starts_with("235"));
    smtp.must("250", "MAIL FROM:<>");
    assert!(smtp.command("RCPT TO:<other@x.test>").starts_with("550 5.7.1"), "not where it may not deliver");
    smtp.must("250", "RSET");
    assert!(smtp.mail("", &["box@x.test"], &message("hello")).starts_with("250"));
    let mut smtp = Smtp::session(program.smtp);
    assert!(auth(&mut smtp, ro).starts_with("235"));
    assert!(smtp.command("MAIL FROM:<>").starts_with("550 5.7.1"), "a reader's token sends nothing");
    let listed = |secret: &str| asked(program.http, "GET", "/api/v2/mailboxes/box/messages", secret, "").0;
    assert_eq!([listed(admin), listed(ro), listed(rw), listed(sends)], [200, 200, 200, 403]);
    assert!(pop3(&program, "box", "anything", &[])[0].starts_with("-ERR [AUTH]"));
    assert!(pop3(&program, "other", ro, &[])[0].starts_with("-ERR [AUTH]"));
    let replies = pop3(&program, "box", ro, &["STAT", "DELE 1", "QUIT"]);
    assert!(
        replies[0].starts_with("+OK") && replies[1].starts_with("+OK 1 ") && replies[2].starts_with("-ERR"),
        "{replies:?}"
    );
    let replies = pop3(&program, "box", rw, &["DELE 1", "QUIT"]);
    assert!(replies.iter().all(|reply| reply.starts_with("+OK")), "{replies:?}");
    assert_eq!(asked(program.http, "GET", "/api/v1/mailbox/box", ro, "").1, serde_json::json!([]));
}

#[test]
fn an_inbox_is_opened_gets_mail_and_is_read_with_its_secret() {
    let (file, tokens) = tokens(&["rw:ci-*"]);
    let program = start(&file, &["access.mode=token", "store.engine=disk"]);
    let (status, opened) = asked(program.http, "POST", "/api/v2/inboxes", &tokens[0], r#"{"label":"signup"}"#);
    assert_eq!(status, 201, "{opened}");
    let text = |name: &str| opened[name].as_str().unwrap().to_owned();
    deliver(program.smtp, &text("address"), &message("hello"));
    let path = format!("/api/v2/mailboxes/{}/messages", text("mailbox"));
    assert_eq!(asked(program.http, "GET", &path, &text("secret"), "").1["items"][0]["subject"], "hello");
    let (status, problem) = asked(program.http, "GET", &path, &tokens[0], "");
    assert_eq!((status, &problem["type"]), (403, &"urn:postkeep:problem:inbox-secret-required".into()));
    assert!(pop3(&program, &text("mailbox"), &text("secret"), &["STAT"])[1].starts_with("+OK 1 "));
    let mut smtp = Smtp::session(program.smtp);
    smtp.must("250", "MAIL FROM:<>");
    assert!(smtp.command("RCPT TO:<signup-0000000000000000000000000@x.test>").starts_with("550 5.1.1"));
    assert!(program.dir.join("postkeep-data/access.key").exists(), "the key outlives the program");
}

#[test]
fn in_public_mode_whoever_knows_the_name_reads_and_nobody_deletes() {
    let program = Program::start(&["access.mode=public"]);
    deliver(program.smtp, "box@x.test", &message("hello"));
    assert_eq!(get(program.http, "/api/v1/mailbox/box").status, 200);
    assert_eq!(crate::http::delete(program.http, "/api/v1/mailbox/box").status, 403);
    assert_eq!(get(program.http, "/api/v2/messages/wait?timeout=0s").status, 403);
    let replies = pop3(&program, "box", "anything", &["STAT", "DELE 1"]);
    assert!(replies[1].starts_with("+OK 1 ") && replies[2].starts_with("-ERR"), "{replies:?}");
    program.wait_for("plain HTTP");
}

#[test]
fn an_admin_issues_lists_and_revokes_tokens() {
    let (file, tokens) = tokens(&["admin:*"]);
    let program = start(&file, &["access.mode=token"]);
    let (status, issued) =
        asked(program.http, "POST", "/api/v2/tokens", &tokens[0], r#"{"name":"ci","scopes":["ro:a"]}"#);
    assert_eq!(status, 201, "{issued}");
    let (id, token) = (issued["id"].as_str().unwrap(), issued["token"].as_str().unwrap());
    let server = format!("http://{}", program.http);
    let run = |args: &[&str]| {
        let mut command = postkeep(&[&["token"], args, &["--server", &server]].concat());
        output(command.env("POSTKEEP_TOKEN", &tokens[0]))
    };
    let (code, listed, stderr) = run(&["list"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(listed.contains(id) && listed.contains("ro:a") && !listed.contains(token), "{listed}");
    assert_eq!(asked(program.http, "GET", "/api/v1/mailbox/a", token, "").0, 200);
    assert_eq!(run(&["revoke", id]).0, Some(0));
    assert_eq!(asked(program.http, "GET", "/api/v1/mailbox/a", token, "").0, 401);
    let (code, _, stderr) = run(&["revoke", id]);
    assert!(
        code == Some(1) && stderr.contains("no such token") || stderr.contains("There is no such token"),
        "{stderr}"
    );
}

#[test]
fn what_is_wrong_with_a_new_token_is_told() {
    for (args, words) in [
        (&["--scope", "ro"][..], "verbs, a colon and a pattern"),
        (&["--scope", "write:*"], "is no verb"),
        (&["--scope", "ro:*@team.test"], "mailbox.naming"),
        (&["--scope", "ro:*", "--expires", "yesterday"], "--expires takes a time"),
        (&["--scope", "ro:*", "--name", ""], "a name has"),
    ] {
        let (code, stdout, stderr) = output(&mut postkeep(&[&["token", "new"], args].concat()));
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    let full = ["token", "new", "--scope", "ro:*@team.test", "--set", "mailbox.naming=full", "--expires", "90d"];
    let (code, stdout, _) = output(&mut postkeep(&full));
    assert!(code == Some(0) && stdout.contains("\nexpires = \"20"), "{stdout}");
}
