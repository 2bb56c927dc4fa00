//! Mail that leaves for real people, through a smart host that is a second server of ours, or one made to fail.

mod hosts;

use std::fs;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::access::{asked, start, tokens};
use crate::http::{get, latest_as_sent, list, wait_for_count};
use crate::program::{Program, directory, output, postkeep, until};
use crate::smtp::{Smtp, deliver, message};
use hosts::{moody, silent_once};

const LETTER: &[u8] =
    b"Subject: Dots\r\nX-Long: a\r\n b\r\n\r\n.\r\n..\r\n\r\n.hidden\r\nGr\xc3\xbc\xc3\x9fe \xff\r\n\r\n\r\n";

const LETTER_7BIT: &[u8] = b"Subject: a\r\n\r\nb\r\n";

/// The settings of a server that sends through this smart host.
fn through(smart_host: SocketAddr, more: &[&str]) -> Vec<String> {
    let mut settings = vec![
        "relay.host=127.0.0.1".to_owned(),
        format!("relay.port={}", smart_host.port()),
        "relay.allow=*@real.test".to_owned(),
        "relay.retry_after=100ms".to_owned(),
        "relay.retry_max=1s".to_owned(),
    ];
    settings.extend(more.iter().map(|&setting| setting.to_owned()));
    settings
}

fn started(settings: &[String]) -> Program {
    started_with("", settings)
}

/// With tables that stand in a file.
fn started_with(file: &str, settings: &[String]) -> Program {
    start(file, &settings.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Ask for the release of the newest message of a mailbox.
fn release(addr: SocketAddr, mailbox: &str, to: &[&str]) -> (u16, Value) {
    let path = format!("/api/v2/mailboxes/{mailbox}/messages/latest/release");
    asked(addr, "POST", &path, "", &json!({ "to": to }).to_string())
}

/// Wait until nothing is left to be tried.
fn settled(addr: SocketAddr, id: &str) -> Value {
    until("a release to be settled", || {
        let told = get(addr, &format!("/api/v2/releases/{id}")).json();
        ["done", "failed", "partial"].contains(&told["state"].as_str().unwrap()).then_some(told)
    })
}

fn slug(problem: &Value) -> &str {
    problem["type"].as_str().unwrap().rsplit(':').next().unwrap()
}

#[test]
fn a_released_message_arrives_with_the_bytes_it_came_with() {
    let real = Program::start(&[]);
    let program = started(&through(real.smtp, &[]));
    deliver(program.smtp, "alice@x.test", LETTER);
    let (status, told) = release(program.http, "alice", &["bob@real.test", "cleo@real.test"]);
    assert_eq!((status, told["state"].as_str()), (202, Some("queued")), "{told}");
    let told = settled(program.http, told["id"].as_str().unwrap());
    assert_eq!(told["state"], "done", "{told}");
    assert!(told["recipients"][1]["reply"].as_str().unwrap().starts_with("250"), "{told}");
    for mailbox in ["bob", "cleo"] {
        let arrived = latest_as_sent(real.http, mailbox);
        let guard = format!("X-Postkeep-Relayed: {}\r\n", told["id"].as_str().unwrap());
        let rest = arrived.strip_prefix(guard.as_bytes()).unwrap();
        assert!(rest.starts_with(b"Received: ") && rest.ends_with(LETTER), "{:?}", String::from_utf8_lossy(rest));
        let sender = get(real.http, &format!("/api/v2/mailboxes/{mailbox}/messages/latest")).json();
        assert_eq!(sender["envelope"]["mailFrom"], "ann@sender.test", "{sender}");
    }
}

#[test]
fn t075_nothing_leaves_where_it_may_not() {
    let real = Program::start(&[]);
    let off = Program::start(&[]);
    deliver(off.smtp, "alice@x.test", LETTER);
    let (status, told) = release(off.http, "alice", &["bob@real.test"]);
    assert_eq!((status, slug(&told)), (409, "relay-not-configured"));

    let program = started(&through(real.smtp, &["relay.rate=2/1h", "relay.recipients_max=2"]));
    deliver(program.smtp, "alice@x.test", LETTER);
    let (status, told) = release(program.http, "alice", &["bob@real.test", "eve@evil.test"]);
    assert_eq!((status, slug(&told), &told["recipients"]), (403, "recipient-not-allowed", &json!(["eve@evil.test"])));
    assert_eq!(release(program.http, "alice", &["a@real.test", "b@real.test", "c@real.test"]).0, 400);
    assert_eq!(release(program.http, "nobody", &["bob@real.test"]).0, 404);
    assert_eq!(release(program.http, "alice", &["bob@real.test>\r\nRCPT TO:<eve@evil.test"]).0, 400);
    let (status, told) = release(program.http, "alice", &["bob@real.test", "cleo@real.test"]);
    assert_eq!(status, 202);
    let (status, problem) = release(program.http, "alice", &["bob@real.test"]);
    assert_eq!((status, slug(&problem)), (429, "rate-limited"));
    settled(program.http, told["id"].as_str().unwrap());
    assert_eq!((list(real.http, "bob").len(), list(real.http, "eve").len()), (1, 0));
}

/// An address of this machine that others could call it by.
fn outer_address() -> Option<IpAddr> {
    // Nothing is sent: the system only tells which address it would send from.
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.200:9").ok()?;
    socket.local_addr().ok().map(|addr| addr.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

#[test]
fn t075_another_host_needs_a_token() {
    let Some(ip) = outer_address() else { return };
    let real = Program::start(&[]);
    let (file, secrets) = tokens(&["release:alice", "rw:*"]);
    let program = started_with(&file, &through(real.smtp, &["http.addr=0.0.0.0:0"]));
    deliver(program.smtp, "alice@x.test", LETTER);
    let from_outside = SocketAddr::new(ip, program.http.port());
    let path = "/api/v2/mailboxes/alice/messages/latest/release";
    let ask = |secret: &str| asked(from_outside, "POST", path, secret, r#"{"to":["bob@real.test"]}"#);
    let (status, told) = ask("");
    assert_eq!((status, slug(&told)), (403, "release-needs-token"));
    assert_eq!(ask(&secrets[1]).0, 403);
    assert_eq!(list(real.http, "bob").len(), 0);
    let (status, told) = ask(&secrets[0]);
    assert!(status == 202 && told["by"].is_string(), "{told}");
    wait_for_count(real.http, "bob", 1);
}

#[test]
fn a_rule_sends_on_what_fits_it() {
    let real = Program::start(&[]);
    let rules = "[[relay.rule]]\nname = \"team\"\nmailbox = \"support\"\nto = [\"team@real.test\"]\n\n\
                 [[relay.rule]]\nname = \"real\"\nrecipient = \"*@real.test\"\n";
    let program = started_with(rules, &through(real.smtp, &["relay.from=bounces@x.test"]));
    let mut smtp = Smtp::session(program.smtp);
    let to = ["support@x.test", "dan@real.test", "eve@x.test", "fay@real.test"];
    assert!(smtp.mail("ann@sender.test", &to, &message("one")).starts_with("250"));
    assert!(smtp.mail("", &["dan@real.test"], &message("a bounce")).starts_with("250"));
    for (mailbox, count) in [("team", 1), ("dan", 2), ("fay", 1)] {
        wait_for_count(real.http, mailbox, count);
    }
    assert_eq!(list(real.http, "eve").len(), 0);
    let sender = |which: usize| {
        let id = list(real.http, "dan")[which]["id"].as_str().unwrap().to_owned();
        let told = get(real.http, &format!("/api/v2/mailboxes/dan/messages/{id}")).json();
        told["envelope"]["mailFrom"].as_str().unwrap_or_default().to_owned()
    };
    let mut senders = [sender(0), sender(1)];
    senders.sort();
    assert_eq!(senders, ["", "bounces@x.test"], "what came without a sender leaves without one");
    let releases = until("three releases", || {
        let told = get(program.http, "/api/v2/releases").json();
        let all = told["items"].as_array().unwrap().clone();
        (all.len() == 3 && all.iter().all(|one| one["state"] == "done")).then_some(all)
    });
    let rules: Vec<_> = releases.iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(rules.iter().filter(|rule| **rule == "real").count(), 2, "{rules:?}");
}

/// Two servers that send all mail to each other: the second one sees that it was sent on, and says so once.
#[test]
fn t022_two_servers_that_relay_to_each_other_stop_with_one_error() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let run = |smart_host: SocketAddr, more: &[&str]| {
        started_with("[[relay.rule]]\nname = \"all\"\n", &through(smart_host, more))
    };
    let second = run(([127, 0, 0, 1], port).into(), &[]);
    let own = format!("smtp.addr=127.0.0.1:{port}");
    let first = run(second.smtp, &[&own]);
    deliver(first.smtp, "alice@real.test", LETTER);
    wait_for_count(second.http, "alice", 1);
    let states = |addr: SocketAddr| {
        let told = get(addr, "/api/v2/releases").json();
        let states = told["items"].as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap().to_owned());
        states.collect::<Vec<_>>()
    };
    until("the loop to be seen", || (states(second.http) == ["failed"]).then_some(()));
    until("the first to be done", || (states(first.http) == ["done"]).then_some(()));
    assert_eq!((list(first.http, "alice").len(), list(second.http, "alice").len()), (1, 1));
    assert_eq!(second.stderr().matches("goes in circles; it is not sent on").count(), 1, "{}", second.stderr());
    assert_eq!(first.stderr().matches("goes in circles").count(), 0);
}

#[test]
fn what_fails_for_now_is_tried_again_and_what_fails_for_good_is_not() {
    let (smart_host, heard) = moody(&["451 4.3.0 later", "hang up", "250 ok", "550 5.7.1 never"]);
    let program = started(&through(smart_host, &[]));
    deliver(program.smtp, "alice@x.test", LETTER_7BIT);
    let (_, told) = release(program.http, "alice", &["bob@real.test"]);
    let told = settled(program.http, told["id"].as_str().unwrap());
    assert_eq!((&told["state"], &told["recipients"][0]["attempts"]), (&json!("done"), &json!(3)), "{told}");
    let (_, told) = release(program.http, "alice", &["bob@real.test"]);
    let told = settled(program.http, told["id"].as_str().unwrap());
    assert_eq!((&told["state"], &told["recipients"][0]["attempts"]), (&json!("failed"), &json!(1)), "{told}");
    assert_eq!(told["recipients"][0]["reply"], "550 5.7.1 never");
    assert_eq!(heard.lock().unwrap().iter().filter(|line| line.starts_with("MAIL")).count(), 4);

    let (nobody, _) = moody(&["451 4.3.0 later"; 1000]);
    let program = started(&through(nobody, &["relay.give_up_after=1s"]));
    deliver(program.smtp, "alice@x.test", LETTER_7BIT);
    let (_, told) = release(program.http, "alice", &["bob@real.test"]);
    let told = settled(program.http, told["id"].as_str().unwrap());
    let reply = told["recipients"][0]["reply"].as_str().unwrap();
    assert!(reply.contains("relay.give_up_after") && reply.ends_with("451 4.3.0 later"), "{told}");
}

/// Killed between the message and the reply to it: nobody knows, so it is sent again, and then it is known.
#[test]
fn what_a_crash_interrupts_is_sent_again_and_told_right() {
    let (smart_host, got) = silent_once();
    let dir = directory();
    let path = format!("store.disk.path={}", dir.join("store").display());
    let settings = through(smart_host, &["store.engine=disk", &path, "relay.attempt_max=2s"]);
    let program = started(&settings);
    deliver(program.smtp, "alice@x.test", LETTER_7BIT);
    let (status, told) = release(program.http, "alice", &["bob@real.test"]);
    assert_eq!(status, 202);
    until("the message at the smart host", || (got.load(Ordering::SeqCst) == 1).then_some(()));
    // Dropping it is kill -9.
    drop(program);
    let program = started(&settings);
    let told = settled(program.http, told["id"].as_str().unwrap());
    assert_eq!((&told["state"], &told["recipients"][0]["reply"]), (&json!("done"), &json!("250 taken")), "{told}");
    assert_eq!(got.load(Ordering::SeqCst), 2);
    drop(program);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn t077_a_certificate_that_nobody_vouches_for_gets_no_mail() {
    let dir = directory();
    let folder = format!("tls.folder={}", dir.display());
    let real = Program::start(&["tls.self_signed=true", &folder]);
    let ask = |more: &[&str]| {
        let program = started(&through(real.smtp, &[&["relay.host=localhost", "relay.tls=required"], more].concat()));
        deliver(program.smtp, "alice@x.test", LETTER);
        let (_, told) = release(program.http, "alice", &["bob@real.test"]);
        let path = format!("/api/v2/releases/{}", told["id"].as_str().unwrap());
        until("a first attempt", || {
            let told = get(program.http, &path).json()["recipients"][0].clone();
            (told["attempts"] != 0).then_some(told)
        })
    };
    let told = ask(&["relay.give_up_after=1h"]);
    assert!(told["state"] == "queued" && told["reply"].as_str().unwrap().contains("TLS failed"), "{told}");
    assert_eq!(list(real.http, "bob").len(), 0);
    let trust = format!("relay.ca_file={}", dir.join("cert.pem").display());
    let told = ask(&[&trust]);
    assert_eq!(told["state"], "sent", "{told}");
    assert_eq!(list(real.http, "bob").len(), 1);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_release_by_the_command_line() {
    let real = Program::start(&[]);
    let program = started(&through(real.smtp, &[]));
    deliver(program.smtp, "alice@x.test", LETTER);
    let verb = |args: &[&str]| {
        let mut command = postkeep(args);
        command.env("POSTKEEP_URL", format!("http://{}", program.http));
        output(&mut command)
    };
    let (code, _, stderr) = verb(&["releases"]);
    assert_eq!((code, stderr.as_str()), (Some(0), "postkeep: nothing was released\n"));
    let (code, stdout, stderr) = verb(&["release", "alice", "latest", "--to", "bob@real.test", "--wait"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains("bob@real.test") && stdout.contains("sent") && stdout.contains("250 "), "{stdout}");
    assert_eq!(list(real.http, "bob").len(), 1);
    let (code, stdout, _) = verb(&["releases", "alice", "--json"]);
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &told["items"][0]["recipients"][0]["state"]), (Some(0), &json!("sent")));
    let (code, _, stderr) = verb(&["release", "alice", "latest", "--to", "eve@evil.test"]);
    assert!(code == Some(4) && stderr.contains("relay.allow"), "{code:?} {stderr}");
}

/// The configuration of a document is sound, and means what it says.
#[test]
fn the_example_in_the_docs_is_sound() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/release.md")).unwrap();
    for part in text.split("\n```toml\n").skip(1) {
        let dir = directory();
        let file = dir.join("postkeep.toml");
        fs::write(&file, part.split_once("\n```").unwrap().0).unwrap();
        let (code, _, stderr) = output(&mut postkeep(&["--config", file.to_str().unwrap(), "config", "check"]));
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{part}");
        fs::remove_dir_all(dir).unwrap();
    }
}
