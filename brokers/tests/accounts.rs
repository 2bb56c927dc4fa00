//! What the shipped accounts let the user of the nodes do, and what not: asked of real servers, in the plain text that
//! they speak, so that no client library stands between the words of the configuration and what follows from them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use brokers::{Cluster, Plan, nats_server};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);

/// One connection, and one subscription to the answers of everything that it asks.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connect to `nats://user:password@address`.
    fn new(url: &str) -> Self {
        let (user, address) = url.trim_start_matches("nats://").split_once('@').unwrap();
        let (user, password) = user.split_once(':').unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Self { stream: BufReader::new(stream) };
        assert!(client.line().starts_with("INFO "));
        let hello = json!({ "verbose": false, "pedantic": false, "headers": true, "no_responders": true,
            "user": user, "pass": password });
        client.say(&format!("CONNECT {hello}\r\nSUB _INBOX.a.> 1\r\n"));
        client
    }

    fn say(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next thing that it is told: a message's reply subject, or its own, and its payload; or a refusal.
    fn message(&mut self) -> Result<(String, String), String> {
        loop {
            let line = self.line();
            if let Some(refusal) = line.strip_prefix("-ERR ") {
                return Err(refusal.to_owned());
            }
            if line.starts_with("MSG ") || line.starts_with("HMSG ") {
                let length: usize = line.rsplit(' ').next().unwrap().parse().unwrap();
                let mut payload = vec![0; length + 2];
                self.stream.read_exact(&mut payload).unwrap();
                let words: Vec<_> = line.split(' ').collect();
                let reply = words[words.len().min(5) - 2].to_owned(); // MSG subject 1 reply 12
                return Ok((reply, String::from_utf8_lossy(&payload).trim_end().to_owned()));
            }
            if line == "PING" {
                self.say("PONG\r\n");
            }
            assert!(!line.is_empty(), "the server hung up");
        }
    }

    fn next(&mut self) -> Result<String, String> {
        self.message().map(|(_, payload)| payload)
    }

    fn publish(&mut self, subject: &str, reply: &str, payload: &str) {
        self.say(&format!("PUB {subject} {reply} {}\r\n{payload}\r\n", payload.len()));
    }

    /// Ask and wait for the first answer, or the refusal.
    fn ask(&mut self, subject: &str, payload: &Value) -> Result<String, String> {
        self.publish(subject, "_INBOX.a.1", &payload.to_string());
        self.next()
    }

    /// Subscribe, and see whether that is refused: what is asked behind it is answered behind it.
    fn subscribe(&mut self, subject: &str) -> Result<(), String> {
        self.say(&format!("SUB {subject} 2\r\n"));
        self.ask("$JS.API.INFO", &Value::Null).map(|_| ())
    }
}

fn stream(name: &str, subjects: &str) -> Value {
    json!({ "name": name, "subjects": [subjects], "num_replicas": 3, "allow_direct": true, "storage": "file" })
}

#[test]
fn the_shipped_user_hears_from_every_server_whether_it_syncs() {
    let Some(_) = nats_server().expect("a nats-server") else { return };
    let cluster = Cluster::start(Plan::of(3)).unwrap();
    let mut node = Client::new(&cluster.url(0));
    node.publish("postkeep.jsz", "_INBOX.a.jsz", "");
    let mut answers: Vec<Value> = (0..3).map(|_| serde_json::from_str(&node.next().unwrap()).unwrap()).collect();
    answers.sort_by_key(|answer| answer["server"]["name"].to_string());
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["server"]["name"], cluster.name(number));
        assert!(answer["server"]["ver"].as_str().unwrap() >= "2.15");
        assert_eq!(answer["data"]["config"]["sync_always"], true);
    }
}

#[test]
fn the_shipped_user_does_what_nodes_do_and_no_more() {
    let Some(_) = nats_server().expect("a nats-server") else { return };
    let cluster = Cluster::start(Plan::of(3)).unwrap();
    let mut node = Client::new(&cluster.url(1));
    let done = |answer: Result<String, String>| {
        let answer = answer.unwrap();
        assert!(!answer.contains("\"error\""), "{answer}");
        answer
    };
    let name = "postkeep-sum-0";
    done(node.ask(&format!("$JS.API.STREAM.CREATE.{name}"), &stream(name, "postkeep.s.0.*")));
    done(node.ask(&format!("$JS.API.STREAM.UPDATE.{name}"), &stream(name, "postkeep.s.0.*")));
    done(node.ask("postkeep.s.0.a", &json!("mail")));
    assert_eq!(cluster.leader_of("postkeep-body-0"), None);
    assert!(cluster.leader_of(name).is_some());
    done(node.ask(&format!("$JS.API.STREAM.INFO.{name}"), &json!({})));
    done(node.ask("$JS.API.STREAM.NAMES", &json!({})));
    let got = done(node.ask(&format!("$JS.API.STREAM.MSG.GET.{name}"), &json!({ "last_by_subj": "postkeep.s.0.a" })));
    assert!(got.contains("\"seq\":1"), "{got}");
    done(node.ask(&format!("$JS.API.DIRECT.GET.{name}"), &json!({ "seq": 1 })));
    done(node.ask(&format!("$JS.API.STREAM.MSG.DELETE.{name}"), &json!({ "seq": 1 })));
    done(node.ask(&format!("$JS.API.STREAM.PURGE.{name}"), &json!({})));
    for subject in ["postkeep.ev.>", "postkeep.rg.>", "postkeep.nq.>"] {
        node.subscribe(subject).unwrap();
    }

    for subject in [">", "postkeep.>", "postkeep.s.0.*", "$JS.>", "$SYS.>"] {
        let refusal = node.subscribe(subject).expect_err(subject);
        assert!(refusal.contains("Permissions Violation for Subscription"), "{subject}: {refusal}");
        assert!(node.next().is_ok(), "the answer behind it");
    }
    for subject in [
        format!("$JS.API.STREAM.DELETE.{name}"),
        format!("$JS.API.STREAM.SNAPSHOT.{name}"),
        format!("$JS.API.CONSUMER.CREATE.{name}"),
        "$SYS.REQ.SERVER.PING.JSZ".into(),
        "other.s.0.a".into(),
        "_INBOX.somebody".into(),
    ] {
        let refusal = node.ask(&subject, &json!({})).expect_err(&subject);
        assert!(refusal.contains("Permissions Violation for Publish"), "{subject}: {refusal}");
    }

    let mut operator = Client::new(&cluster.operator_urls()[2]);
    done(operator.ask(&format!("$JS.API.STREAM.DELETE.{name}"), &json!({})));
    assert_eq!(cluster.leader_of(name), None);
}

#[test]
fn a_node_may_answer_what_another_asks_it() {
    let Some(_) = nats_server().expect("a nats-server") else { return };
    let cluster = Cluster::start(Plan::of(3)).unwrap();
    let mut asked = Client::new(&cluster.url(0));
    asked.subscribe("postkeep.nq.recent").unwrap();
    thread::spawn(move || {
        loop {
            let reply = asked.message().unwrap().0;
            asked.publish(&reply, "", "here");
        }
    });
    let mut asks = Client::new(&cluster.url(1));
    let begin = Instant::now();
    // Until the other server has heard of the subscription it says at once that nobody answers.
    while asks.ask("postkeep.nq.recent", &Value::Null).unwrap() != "here" {
        assert!(begin.elapsed() < PATIENCE, "nobody answers");
    }
}

#[test]
fn tests_share_a_cluster_by_prefixes() {
    let Some(_) = nats_server().expect("a nats-server") else { return };
    let cluster = Cluster::start(Plan::of(1)).unwrap();
    let (first, second) = (cluster.prefix(), cluster.prefix());
    assert_ne!(first, second);
    let mut node = Client::new(&cluster.url(0));
    for prefix in [first, second] {
        let name = format!("{prefix}-reg");
        let config = json!({ "name": name, "subjects": [format!("{prefix}.reg.*")] });
        node.ask(&format!("$JS.API.STREAM.CREATE.{name}"), &config).unwrap();
        assert!(node.ask(&format!("{prefix}.reg.1"), &Value::Null).unwrap().contains("\"seq\":1"));
        node.subscribe(&format!("{prefix}.rg.>")).unwrap();
        assert_eq!(cluster.leader_of(&name), Some(0));
    }
}
