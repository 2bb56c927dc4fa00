//! What scripts ask of the network: the module `http`, with the one client's rules; and the module `json`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver as Queue};
use std::thread;
use std::time::Instant;

use super::*;

/// An HTTP server that gives everybody the same answer, and tells what was asked.
pub(super) struct Receiver {
    at: SocketAddr,
    asked: Mutex<Queue<String>>,
    count: Arc<AtomicUsize>,
}

impl Receiver {
    pub(super) fn answer(status: &'static str, body: &'static str) -> Self {
        Self::late(status, body, Duration::ZERO)
    }

    fn late(status: &'static str, body: &'static str, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let ((told, asked), count) = (mpsc::channel(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, told, counted) = (stream.unwrap(), told.clone(), Arc::clone(&counted));
                thread::spawn(move || {
                    let request = request(&mut stream);
                    counted.fetch_add(1, SeqCst);
                    let _ = told.send(request);
                    thread::sleep(delay);
                    let head = "Set-Cookie: a=b; Path=/\r\nX-Answer: yes\r\nConnection: close\r\n";
                    let _ = write!(stream, "HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
                });
            }
        });
        Self { at, asked: Mutex::new(asked), count }
    }

    /// What was asked next.
    pub(super) fn next(&self) -> String {
        self.asked.lock().unwrap().recv_timeout(Duration::from_secs(10)).unwrap()
    }

    pub(super) fn asked(&self) -> usize {
        self.count.load(SeqCst)
    }

    /// A script that is allowed to ask here; `HERE` in it is the address.
    fn script(&self, text: &str, settings: Settings) -> Arc<Scripts> {
        let program = Program::of(&[("test.lua", &text.replace("HERE", &self.at.to_string()))], &settings).unwrap();
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        let outbound = outbound::Settings { allow: vec![loopback..=loopback], ..outbound::Settings::default() };
        Scripts::start(program, settings, outbound::Client::new(outbound), Handle::current())
    }

    /// An example whose receiver is this one.
    pub(super) fn example(&self, name: &str) -> Arc<Scripts> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
        let text = std::fs::read_to_string(path).unwrap().replace("127.0.0.1:9099", "HERE");
        self.script(&text, Settings::default())
    }
}

/// A request with its body.
fn request(stream: &mut TcpStream) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut piece).unwrap_or(0);
        text += &String::from_utf8_lossy(&piece[..read]);
        let length = |head: &str| {
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned));
            length.map_or(0, |length| length.parse().unwrap())
        };
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| body.len() >= length(head));
        if whole || read == 0 {
            return text;
        }
    }
}

async fn subject(scripts: &Scripts) -> String {
    message(scripts, &["a@x.test"], HELLO).await.subject.unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_and_option() {
    let receiver = Receiver::answer("201 Created", "done");
    let text = r#"local http = require("http")
        function postkeep.before.message(message)
            local options = { query = "a=1", headers = { ["X-One"] = "1" }, cookies = { k = "v" }, timeout = "5s",
                auth = { user = "ann", pass = "secret" } }
            local r = CALL
            message.subject = table.concat({ r.status_code, r.body, r.body_size, r.headers["X-Answer"], r.cookies.a, r.url }, "|")
        end"#;
    for (call, line, tail) in [
        ("http.get('http://HERE/p', options)", "GET /p?a=1 HTTP/1.1", ""),
        ("http.post('http://HERE/p?b=2', { body = 'x=y' })", "POST /p?b=2 HTTP/1.1", "x=y"),
        ("http.put('http://HERE/', { form = { ['a b'] = '1&2' } })", "PUT / HTTP/1.1", "a%20b=1%262"),
        ("http.patch('http://HERE/', { form = 'a=b' })", "PATCH / HTTP/1.1", "a=b"),
        ("http.delete('http://HERE/')", "DELETE / HTTP/1.1", ""),
        ("http.request('options', 'http://HERE/')", "OPTIONS / HTTP/1.1", ""),
        ("http.request_batch({ { 'get', 'http://HERE/' } })[1]", "GET / HTTP/1.1", ""),
    ] {
        let scripts = receiver.script(&text.replace("CALL", call), Settings::default());
        let told = subject(&scripts).await;
        assert!(told.starts_with("201|done|4|yes|b|http://127.0.0.1:"), "{call}: {told}");
        let asked = receiver.next();
        assert!(asked.starts_with(&format!("{line}\r\n")), "{asked}");
        assert!(asked.ends_with(&format!("\r\n\r\n{tail}")), "{asked}");
        if call.contains("options)") {
            for field in ["x-one: 1", "cookie: k=v", "authorization: basic yw5uonnly3jlda=="] {
                assert!(asked.to_lowercase().contains(field), "{field}: {asked}");
            }
        }
    }
    let head = Receiver::answer("204 No Content", "");
    let scripts = head.script(&text.replace("CALL", "http.head('http://HERE/')"), Settings::default());
    let told = subject(&scripts).await;
    assert!(told.starts_with("204||0|yes"), "{told}");
    assert!(head.next().starts_with("HEAD / HTTP/1.1\r\n"));
}

/// T098: scripts are strangers to the one client.
#[tokio::test(flavor = "multi_thread")]
async fn t098_scripts_reach_only_the_open_network() {
    let receiver = Receiver::answer("200 OK", "secret");
    let port = receiver.at.port();
    let hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001", "2130706433", "0", "127.1"];
    let urls = hosts.map(|host| format!("http://{host}:{port}/")).into_iter().chain(
        [
            "http://169.254.169.254/latest/meta-data/",
            "http://10.0.0.1/",
            "http://192.168.0.1/",
            "http://[fd00::1]/",
            "file:///etc/passwd",
            "gopher://127.0.0.1/",
            "http://user:pass@example.com/",
            "nonsense",
        ]
        .map(str::to_owned),
    );
    for url in urls {
        let text = format!(
            "function postkeep.before.message(message)
                local response, why = require('http').get('{url}')
                assert(response == nil and type(why) == 'string')
                message.subject = 'no: ' .. why
            end"
        );
        let why = subject(&start(&text)).await;
        assert!(why.starts_with("no: "), "{url}: {why}");
    }
    assert_eq!(receiver.asked(), 0);
}

/// A script that waits for somebody slow has its own time, and others' mail goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_answer_holds_up_nobody_else() {
    let receiver = Receiver::late("200 OK", "late", Duration::from_secs(5));
    let text = "function postkeep.before.message(message)
            if message.mailboxes[1] == 'slow' then
                local response, why = require('http').get('http://HERE/')
                return postkeep.accept()
            end
            message:tag('fine')
        end";
    let settings = Settings { deadline: Duration::from_secs(1), ..Settings::default() };
    let scripts = receiver.script(text, settings);
    let began = Instant::now();
    let slow: Vec<_> = (0..10)
        .map(|_| {
            let scripts = Arc::clone(&scripts);
            tokio::spawn(async move { message(&scripts, &["slow@x.test"], HELLO).await })
        })
        .collect();
    receiver.next();
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["fine"]);
        assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    }
    for slow in slow {
        assert_eq!(decided(&slow.await.unwrap().verdict.decision), TEMPFAIL);
    }
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_tells_which_failed() {
    let receiver = Receiver::answer("200 OK", "ok");
    let text = "function postkeep.before.message(message)
            local responses, errors = require('http').request_batch({
                { 'get', 'http://HERE/1' }, { 'post', 'file:///etc/passwd' }, { 'get', 'http://HERE/2', { timeout = 5 } } })
            for i = 1, 3 do message:tag(if responses[i] then responses[i].body .. i else i .. ' ' .. errors[i]) end
        end";
    let scripts = receiver.script(text, Settings::default());
    let tags = message(&scripts, &["a@x.test"], HELLO).await.tags;
    assert!(tags[0] == "ok1" && tags[1].starts_with("2 file: URLs are not asked") && tags[2] == "ok3", "{tags:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_there_and_back() {
    let text = r#"local json = require("json")
        local function is(found, wanted)
            if found ~= wanted then error(tostring(found) .. " is not " .. tostring(wanted), 2) end
        end
        function postkeep.before.message(message)
            is(json.encode({ 1, "a", true, 2.5 }), '[1,"a",true,2.5]')
            is(json.encode({}), '[]') is(json.encode({ a = { b = 1 } }), '{"a":{"b":1}}') is(json.encode("é\n"), '"é\\n"')
            is(json.encode(nil), 'null') is(json.encode(0/0), nil) is(json.encode(print), nil)
            local t = json.decode('{"a":[1,null,{"b":false}],"c":"é"}')
            is(t.a[1], 1) is(t.a[2], nil) is(t.a[3].b, false) is(t.c, "é")
            local value, why = json.decode('{"a":')
            is(value, nil) is(type(why), "string")
            local loop = {}
            loop.loop = loop
            is(json.encode(loop), nil)
            message:tag("done")
        end"#;
    assert_eq!(message(&start(text), &["a@x.test"], HELLO).await.tags, ["done"]);
}
