//! The walk over every route and every kind of caller (T103). What came of it stands in `docs/access.md`, for people to
//! read and for this test to compare with.

use std::fmt::Write;

use mailroom::access::Mode;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::super::boundary::spellings;
use super::super::page::ASSET;
use super::{Bunch, House, bearer, house, value};
use crate::router::{Operation, ROUTES, Takes};

/// Set to write the table anew.
const WRITE: &str = "POSTKEEP_TEST_WRITE";
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/access.md");
const BEGIN: &str = "<!-- The table is written by the test of the matrix; POSTKEEP_TEST_WRITE=1 writes it anew. -->\n";
const END: &str = "<!-- The end of the table. -->\n";
const CANARY: &str = "canary-41c7";
/// How a WebSocket begins (RFC 6455 §4.1).
const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Somebody who asks, in a mode, for something on a mailbox.
struct Role {
    mode: Mode,
    /// As the table heads it.
    name: &'static str,
    shows: Shows,
    on: On,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    Nonsense,
    Token(&'static str),
    Secret,
    OtherSecret,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Mailbox,
    Inbox,
}

const fn role(mode: Mode, name: &'static str, shows: Shows, on: On) -> Role {
    Role { mode, name, shows, on }
}

const ROLES: &[Role] = &[
    role(Mode::Open, "open: anybody", Shows::Nothing, On::Mailbox),
    role(Mode::Open, "… on an inbox", Shows::Nothing, On::Inbox),
    role(Mode::Public, "public: anybody", Shows::Nothing, On::Mailbox),
    role(Mode::Public, "… on an inbox", Shows::Nothing, On::Inbox),
    role(Mode::Public, "its secret", Shows::Secret, On::Inbox),
    role(Mode::Public, "`rw:box`", Shows::Token("rw:box"), On::Mailbox),
    role(Mode::Token, "token: nobody", Shows::Nothing, On::Mailbox),
    role(Mode::Token, "a wrong token", Shows::Nonsense, On::Mailbox),
    role(Mode::Token, "`ro:box`", Shows::Token("ro:box"), On::Mailbox),
    role(Mode::Token, "`ro:other`", Shows::Token("ro:other"), On::Mailbox),
    role(Mode::Token, "`rw:box`", Shows::Token("rw:box"), On::Mailbox),
    role(Mode::Token, "`rw,deliver:*`", Shows::Token("rw,deliver:*"), On::Mailbox),
    role(Mode::Token, "… on an inbox", Shows::Token("rw,deliver:*"), On::Inbox),
    role(Mode::Token, "its secret", Shows::Secret, On::Inbox),
    role(Mode::Token, "another's secret", Shows::OtherSecret, On::Inbox),
    role(Mode::Token, "`admin:*`", Shows::Token("admin:*"), On::Mailbox),
    role(Mode::Token, "… on an inbox", Shows::Token("admin:*"), On::Inbox),
];

/// A server in a mode, with a mailbox `box`, and two inboxes.
struct Place {
    house: House,
    bunch: Bunch,
    inboxes: [(String, String); 2],
}

impl Place {
    async fn new(mode: Mode) -> Self {
        let (house, bunch) = house(mode).await;
        let admin = bearer(bunch.of("admin:*"));
        let mut inboxes = Vec::new();
        for _ in 0..2 {
            let opened = value(&house.send_json("POST", "/api/v2/inboxes", &admin, "{}").await);
            inboxes
                .push((opened["mailbox"].as_str().unwrap().to_owned(), opened["secret"].as_str().unwrap().to_owned()));
        }
        Self { house, bunch, inboxes: inboxes.try_into().unwrap() }
    }

    fn name(&self, on: On) -> &str {
        if on == On::Inbox { &self.inboxes[0].0 } else { "box" }
    }

    fn credential(&self, shows: Shows) -> String {
        match shows {
            Shows::Nothing => String::new(),
            Shows::Nonsense => bearer("pkt_00000000_00000000000000000000000000000000"),
            Shows::Token(scope) => bearer(self.bunch.of(scope)),
            Shows::Secret => bearer(&self.inboxes[0].1),
            Shows::OtherSecret => bearer(&self.inboxes[1].1),
        }
    }

    /// A request for an operation: its path and its body.
    fn request(&self, path: &str, done: Operation, name: &str) -> (String, &'static str, String) {
        let path = path.replace("{name}", name).replace("{index}", "0").replace("{filename}", "a.png");
        let path = path.replace("{tab}", "text").replace("{file}", ASSET);
        let path = path.replace("dead/{id}", "dead/42");
        let path = match path.starts_with("/api/v2/tokens") || path.starts_with("/api/v2/faults") {
            true => path.replace("{id}", "01234567"),
            false => path.replace("{id}", "latest").replace("{partId}", "1"),
        };
        let query = match format!("{done:?}").as_str() {
            "Import" => format!("?mailbox={name}"),
            "DeliverMessage" => format!("?mailFrom=a@x.test&rcptTo={name}@x.test"),
            "Wait" | "WaitAny" => "?timeout=0s".to_owned(),
            "WatchEvents" => format!("?mailbox={name}"),
            "PurgeAll" => "?all=true".to_owned(),
            _ => String::new(),
        };
        let body = match (done.takes(), format!("{done:?}").as_str()) {
            (Takes::Nothing, _) => ("", String::new()),
            (Takes::Message, _) => ("message/rfc822", "Subject: x\r\n\r\nx\r\n".to_owned()),
            (Takes::Json, "DeleteMessages") => ("application/json", r#"{"ids":["0000000000000"]}"#.to_owned()),
            (Takes::Json, "ReleaseMessage") => ("application/json", r#"{"to":["a@real.test"]}"#.to_owned()),
            (Takes::Json, "IssueToken") => ("application/json", r#"{"scopes":["ro:x"]}"#.to_owned()),
            (Takes::Json, "Login") => ("application/json", format!("{{\"token\":{:?}}}", self.bunch.of("admin:*"))),
            (Takes::Json, "WaitMatching") => ("application/json", r#"{"timeout":"0s"}"#.to_owned()),
            // It never comes to so many attempts.
            (Takes::Json, "PlanFault") => {
                ("application/json", format!("{{\"mailbox\":{name:?},\"nth\":1000000000,\"drop\":true}}"))
            }
            (Takes::Json, _) => ("application/json", "{}".to_owned()),
            #[allow(unreachable_patterns, reason = "a body of either kind may come")]
            _ => ("message/rfc822", "Subject: x\r\n\r\nx\r\n".to_owned()),
        };
        (format!("{path}{query}"), body.0, body.1)
    }

    /// Ask, and read no further than needed: some answers have no end. Its status, and what came with it at once.
    async fn ask(&self, method: &str, path: &str, fields: &str, media_type: &str, body: &str) -> (u16, String) {
        let typed = if media_type.is_empty() { String::new() } else { format!("Content-Type: {media_type}\r\n") };
        let connection = if path.contains("/monitor/") { UPGRADE } else { "Connection: close\r\n" };
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let raw = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{connection}{length}{typed}{fields}\r\n{body}",
            self.house.addr
        );
        let mut stream = BufReader::new(self.house.connect().await);
        let _ = stream.get_mut().write_all(raw.as_bytes()).await;
        let mut first = String::new();
        stream.read_line(&mut first).await.unwrap();
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{first:?}"));
        let mut rest = Vec::new();
        while ![101, 200].contains(&status) && !is_whole(&rest) && stream.read_buf(&mut rest).await.unwrap() > 0 {}
        (status, String::from_utf8_lossy(&rest).into_owned())
    }

    async fn fill(&self, name: &str) {
        let raw = format!("Subject: {CANARY}\r\nContent-Type: image/png; name=a.png\r\n\r\n{CANARY}\r\n");
        self.house.deliver(name, raw).await;
    }
}

/// Whether an answer has come to its end: one that refuses to upgrade may leave the connection open.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

fn operations() -> impl Iterator<Item = (&'static str, Operation)> {
    ROUTES.iter().flat_map(|route| route.operations.iter().map(move |done| (route.path, *done)))
}

#[tokio::test]
async fn t103_every_route_and_every_kind_of_caller() {
    let modes = [Mode::Open, Mode::Public, Mode::Token];
    let mut places = Vec::new();
    for mode in modes {
        places.push(Place::new(mode).await);
    }
    let mut table = String::from("| |");
    ROLES.iter().for_each(|role| _ = write!(table, " {} |", role.name));
    table += "\n|---|";
    ROLES.iter().for_each(|_| table += "---|");
    table += "\n";
    for (path, done) in operations() {
        let _ = write!(table, "| {} {path} |", done.method());
        for role in ROLES {
            let place = &places[modes.iter().position(|mode| *mode == role.mode).unwrap()];
            let name = place.name(role.on);
            place.house.mailroom.purge(&mailroom::Caller::Program, &mail::Mailbox::from_canonical(name)).await.unwrap();
            place.fill(name).await;
            let (target, media_type, body) = place.request(path, done, name);
            let credential = place.credential(role.shows);
            let (status, told) = place.ask(done.method().as_str(), &target, &credential, media_type, &body).await;
            assert!(!told.contains(CANARY), "{} {path} tells {} what is not theirs: {told}", done.method(), role.name);
            let is_denied = [401, 403].contains(&status);
            let left = place.house.count(name).await;
            assert!(!is_denied || left == 1, "{} {path} was denied to {} and done", done.method(), role.name);
            let _ = write!(table, " {status} |");
        }
        table += "\n";
    }
    compare(&table);
}

fn compare(table: &str) {
    let text = std::fs::read_to_string(FILE).unwrap_or_default();
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{FILE} has no place for the table"));
    let (golden, behind) = rest.split_once(END).unwrap_or_else(|| panic!("{FILE} has no end of the table"));
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(FILE, format!("{before}{BEGIN}{table}{END}{behind}")).unwrap();
    } else {
        assert!(golden == table, "docs/access.md differs: run with {WRITE}=1 and look at the difference\n{table}");
    }
}

/// Beyond the table: who has shown nothing hears the same on every path, also on those that are none.
#[tokio::test]
async fn t103_in_token_mode_a_stranger_learns_nothing_of_what_there_is() {
    let place = Place::new(Mode::Token).await;
    place.fill("box").await;
    let told = async |path: &str| {
        let (status, told) = place.ask("GET", path, "", "", "").await;
        let body = told.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
        let named: Vec<&str> = body.split("\"requestId\"").collect();
        (status, named[0].to_owned())
    };
    let there = told("/api/v1/mailbox/box").await;
    assert_eq!(there.0, 401);
    for path in
        ["/api/v1/mailbox/none", "/api/v1/mailbox/box/latest", "/api/v1/mailbox/box/0000000000000/source", "/none"]
    {
        assert_eq!(told(path).await, there, "{path}");
    }
    let inbox = told(&format!("/api/v2/inboxes/{}", place.inboxes[0].0)).await;
    for name in ["signup-0000000000000000000000000", "box", "a@b@c"] {
        assert_eq!(told(&format!("/api/v2/inboxes/{name}")).await.0, inbox.0, "{name}");
    }
    for _ in 0..40 {
        assert_eq!(told("/api/v1/mailbox/box").await.0, 401, "who shows nothing fails nothing, and is not slowed down");
    }
}

#[tokio::test]
async fn t054_no_spelling_of_a_path_leads_round_access() {
    let place = Place::new(Mode::Token).await;
    place.fill("box").await;
    for (path, done) in operations() {
        let (target, media_type, body) = place.request(path, done, "box");
        for spelling in spellings(&target) {
            let (status, told) = place.ask(done.method().as_str(), &spelling, "", media_type, &body).await;
            assert!(done.is_for_everybody() || [400, 401].contains(&status), "{} {spelling}: {status}", done.method());
            assert!(!told.contains(CANARY), "{spelling}");
        }
    }
    assert_eq!(place.house.count("box").await, 1);
}

/// Guesses of ids, names and secrets, in every length, get the same answer.
#[tokio::test]
async fn t102_every_guess_gets_the_same_answer() {
    let place = Place::new(Mode::Token).await;
    let token = place.bunch.of("ro:box");
    let (name, secret) = &place.inboxes[0];
    let cut = |text: &str, keep: usize| text[..keep].to_owned();
    let guesses = [
        "x".to_owned(),
        cut(token, 13) + &"0".repeat(32),
        format!("pkt_00000000{}", &token[12..]),
        cut(token, token.len() - 1),
        format!("{token}0"),
        format!("pki_{name}_{}", "0".repeat(32)),
        format!("pki_{}_{}", "a-0000000000000000000000000", &secret[secret.len() - 32..]),
        cut(secret, secret.len() - 1),
    ];
    let mut answers = Vec::new();
    for guess in &guesses {
        let (status, told) = place.ask("GET", "/api/v1/mailbox/box", &bearer(guess), "", "").await;
        answers.push((status, told.split_once("\r\n\r\n").unwrap().1.to_owned()));
    }
    assert_eq!(answers[0].0, 401);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(place.ask("GET", "/api/v1/mailbox/box", &bearer(token), "", "").await.0, 200);
}
