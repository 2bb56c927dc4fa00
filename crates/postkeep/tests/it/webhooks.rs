//! Webhooks from the real binary to a receiver of this machine: through failures and kills, by the command line, and counted.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::http::get;
use crate::program::{Program, directory, output, postkeep, until};
use crate::smtp::{deliver, message};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A receiver: answers with the status that it is told, and remembers what came.
#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    status: Arc<AtomicUsize>,
    came: Arc<Mutex<Vec<Came>>>,
    connections: Arc<AtomicUsize>,
}

#[derive(Clone, Debug)]
struct Came {
    id: String,
    event: Value,
    taken: bool,
}

impl Receiver {
    fn start(status: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = Self {
            address,
            status: Arc::new(AtomicUsize::new(status)),
            came: Arc::default(),
            connections: Arc::default(),
        };
        let serving = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                serving.connections.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || serving.serve(stream));
            }
        });
        receiver
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut fields = HashMap::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
                let Some((name, value)) = line.trim().split_once(": ") else {
                    match line.trim().is_empty() {
                        true => break,
                        false => continue,
                    }
                };
                fields.insert(name.to_lowercase(), value.to_owned());
            }
            let mut body = vec![0; fields["content-length"].parse().unwrap()];
            reader.read_exact(&mut body).ok()?;
            let status = self.status.load(Ordering::SeqCst);
            assert!(fields["webhook-signature"].starts_with("v1,"), "{fields:?}");
            let (id, event) = (fields["webhook-id"].clone(), serde_json::from_slice(&body).unwrap());
            self.came.lock().unwrap().push(Came { id, event, taken: status < 300 });
            let answer = format!("HTTP/1.1 {status} Said\r\nContent-Length: 4\r\n\r\nsaid");
            reader.get_mut().write_all(answer.as_bytes()).ok()?;
        }
    }

    fn say(&self, status: usize) {
        self.status.store(status, Ordering::SeqCst);
    }

    fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }

    fn taken(&self) -> Vec<Came> {
        self.came().into_iter().filter(|came| came.taken).collect()
    }

    /// A configuration that names it.
    fn config(&self, dir: &Path) -> String {
        let path = dir.join("postkeep.toml");
        let text = format!(
            "[webhooks]\ntimeout = \"2s\"\nretry_max = \"100ms\"\nrest = \"100ms\"\nattempts_max = 3\n\
             [[webhook]]\nname = \"shop\"\nurl = \"http://{}/hook\"\nsecret = \"{SECRET}\"\nmessage = true\n\
             events = [\"deliver\", \"delete\", \"purge\"]\n",
            self.address
        );
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Came {
    fn subject(&self) -> &str {
        self.event["data"]["message"]["subject"].as_str().unwrap_or_default()
    }

    fn mailbox(&self) -> &str {
        self.event["data"]["mailbox"].as_str().unwrap()
    }
}

fn serve(config: &str, settings: &[&str]) -> Program {
    Program::run(postkeep(&["serve", "--config", config]), settings)
}

fn counted(program: &Program, name: &str) -> f64 {
    let text = get(program.http, "/metrics").text().to_owned();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_mail_is_told_as_the_api_shows_it() {
    let (receiver, dir) = (Receiver::start(204), directory());
    let program = serve(&receiver.config(&dir), &[]);
    deliver(program.smtp, "alice@x.test", &message("Hello"));
    let came = until("the event", || receiver.taken().first().cloned());
    assert_eq!(
        (came.event["type"].as_str(), came.mailbox(), came.subject()),
        (Some("message.delivered"), "alice", "Hello")
    );
    let shown = get(program.http, "/api/v2/mailboxes/alice/messages/latest").text().to_owned();
    assert_eq!(came.event["data"]["message"], serde_json::from_str::<Value>(&shown).unwrap());
    assert_eq!(came.event["data"]["id"], came.event["data"]["message"]["id"]);
    until("the counter", || (counted(&program, "postkeep_webhooks_total{outcome=\"taken\"}") >= 1.0).then_some(()));
}

/// F24 and T078: the receiver fails, the server is killed in the middle, and everything arrives all the same.
#[test]
#[cfg(unix)]
fn t078_f24_nothing_is_lost_when_the_server_is_killed() {
    let (receiver, dir) = (Receiver::start(500), directory());
    let config = receiver.config(&dir);
    let store = format!("store.disk.path={}", dir.join("data").display());
    let settings = ["store.engine=disk", store.as_str(), "webhooks.attempts_max=100000"];
    let program = serve(&config, &settings);
    let (mailboxes, each) = (["a", "b", "c"], 8);
    for number in 0..each / 2 {
        mailboxes
            .iter()
            .for_each(|name| deliver(program.smtp, &format!("{name}@x.test"), &message(&number.to_string())));
    }
    until("some attempts", || (receiver.came().len() > 5).then_some(()));
    program.signal(rustix::process::Signal::KILL);
    drop(program);
    let program = serve(&config, &settings);
    for number in each / 2..each {
        mailboxes
            .iter()
            .for_each(|name| deliver(program.smtp, &format!("{name}@x.test"), &message(&number.to_string())));
    }
    receiver.say(204);
    let whole = mailboxes.len() * each;
    let told = || receiver.taken().iter().map(|came| came.id.clone()).collect::<HashSet<_>>().len();
    until("all of it", || (told() == whole).then_some(()));
    let mut subjects: HashMap<String, Vec<String>> = HashMap::new();
    for came in receiver.taken() {
        subjects.entry(came.mailbox().to_owned()).or_default().push(came.subject().to_owned());
    }
    for (mailbox, mut subjects) in subjects {
        subjects.dedup();
        assert_eq!(subjects, (0..each).map(|number| number.to_string()).collect::<Vec<_>>(), "{mailbox}");
    }
    let ids: HashSet<_> = receiver.came().into_iter().map(|came| came.id).collect();
    assert_eq!(ids.len(), whole, "an event has one id, at every attempt and in every life of the server");
}

#[test]
fn what_was_given_up_is_listed_and_replayed() {
    let (receiver, dir) = (Receiver::start(500), directory());
    let program = serve(&receiver.config(&dir), &[]);
    let url = format!("http://{}", program.http);
    deliver(program.smtp, "alice@x.test", &message("Lost"));
    let dead = || -> Value {
        let (code, text, told) = output(&mut postkeep(&["webhook", "dead", "--json", "--server", &url]));
        assert_eq!(code, Some(0), "{told}");
        serde_json::from_str(&text).unwrap()
    };
    let listed =
        until("it to be given up", || Some(dead()).filter(|dead| !dead["items"].as_array().unwrap().is_empty()));
    let item = &listed["items"][0];
    assert_eq!(
        (&item["target"], &item["event"], &item["mailbox"]),
        (&"shop".into(), &"deliver".into(), &"alice".into())
    );
    assert!(item["reason"].as_str().unwrap().contains("it answered 500: said"), "{item}");
    let (_, table, _) = output(&mut postkeep(&["webhook", "dead", "--server", &url]));
    assert!(table.contains("shop") && table.contains("given up after"), "{table}");
    receiver.say(204);
    let id = item["id"].as_str().unwrap();
    let replayed = |id: &str| output(&mut postkeep(&["webhook", "replay", id, "--server", &url]));
    assert_eq!(replayed(id).0, Some(0));
    let came = until("the replay", || receiver.taken().first().cloned());
    assert_eq!(came.id, receiver.came()[0].id);
    let (code, _, told) = replayed(id);
    assert!(code == Some(1) && told.contains("No webhook of this id"), "{told}");
    assert_eq!(dead()["items"], Value::Array(Vec::new()));
    assert_eq!(counted(&program, "postkeep_webhooks_total{outcome=\"dead\"}"), 1.0);
    assert_eq!(counted(&program, "postkeep_webhooks_total{outcome=\"failed\"}"), 3.0);
}

#[test]
fn a_target_is_tried_from_the_command_line() {
    let (receiver, dir) = (Receiver::start(200), directory());
    let config = receiver.config(&dir);
    let run = |args: &[&str]| output(&mut postkeep(&[args, &["--config", &config]].concat()));
    let (code, said, told) = run(&["webhook", "try", "shop"]);
    assert_eq!((code, said.as_str()), (Some(0), "200 OK\nsaid\n"), "{told}");
    assert_eq!(receiver.came()[0].event["type"], "webhook.tried");
    // A proxy of the environment is nobody's business here.
    let mut proxied = postkeep(&["webhook", "try", "shop", "--config", &config]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        proxied.env(name, "http://127.0.0.1:1");
    }
    assert_eq!(output(&mut proxied).0, Some(0));
    receiver.say(500);
    assert_eq!(run(&["webhook", "try", "shop"]).0, Some(1));
    let (code, _, told) = run(&["webhook", "try", "shopp"]);
    assert!(code == Some(1) && told.contains("webhook list"), "{told}");
    let (code, list, _) = run(&["webhook", "list"]);
    assert!(code == Some(0) && list.contains("shop") && list.contains("deliver delete purge"), "{list}");
    let shown = run(&["config", "show"]).1;
    assert!(!shown.contains(&SECRET[6..]), "{shown}");
}

/// T073, T074: nobody follows a link of a mail, whatever is done with the mail.
#[test]
fn t073_t074_no_link_of_a_mail_is_followed() {
    let canary = Receiver::start(200);
    let program = Program::start(&[]);
    let link = |number: usize| format!("http://{}/{number}", canary.address);
    let links: String =
        (0..300).map(|number| format!("<a href=\"{0}\"><img src=\"{0}.png\"></a>\r\n", link(number))).collect();
    let raw = format!(
        "From: a@x.test\r\nSubject: Links\r\nList-Unsubscribe: <{}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\
         Content-Type: text/html\r\n\r\n{links}",
        link(0)
    );
    deliver(program.smtp, "alice@x.test", raw.as_bytes());
    for path in ["", "/html", "/source", "/parts/1"] {
        let answer = get(program.http, &format!("/api/v2/mailboxes/alice/messages/latest{path}"));
        assert_eq!(answer.status, 200, "{path}");
    }
    for path in [
        "/api/v2/mailboxes/alice/wait?has=link",
        "/api/v1/mailbox/alice/latest",
        "/api/v2/mailboxes/alice/messages?q=links&fields=*",
    ] {
        // Which of the links is meant is not for the server to say: that is a 409.
        assert!([200, 409].contains(&get(program.http, path).status), "{path}");
    }
    assert_eq!(canary.connections.load(Ordering::SeqCst), 0);
    // It does count.
    TcpStream::connect(canary.address).unwrap();
    until("the canary to notice", || (canary.connections.load(Ordering::SeqCst) == 1).then_some(()));
}
