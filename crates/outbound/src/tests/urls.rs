//! T068: URLs that mean to come in. Each is refused to a stranger, and nobody here sees as much as a connection.

use std::collections::HashSet;

use crate::tests::kit::{Names, Server, answer, client, get};
use crate::{Request, Trust};
use reqwest::Method;

/// Names that lead inside, whatever they look like.
const NAMES: &[(&str, &str)] = &[
    ("localhost", "127.0.0.1"),
    ("localhost.", "127.0.0.1"),
    ("localhost.localdomain", "127.0.0.1"),
    ("ip6-localhost", "::1"),
    ("sub.localhost", "127.0.0.1"),
    ("127.0.0.1.nip.example", "127.0.0.1"),
    ("localtest.example", "127.0.0.1"),
    ("spoofed.example", "127.0.0.1"),
    ("six.example", "::1"),
    ("mapped.example", "::ffff:127.0.0.1"),
    ("nat64.example", "64:ff9b::7f00:1"),
    ("sixtofour.example", "2002:7f00:1::"),
    ("zero.example", "0.0.0.0"),
    ("unspecified.example", "::"),
    ("metadata.internal", "169.254.169.254"),
    ("private.example", "10.0.0.1"),
    ("shared.example", "100.64.0.1"),
    ("printer.local", "192.168.0.9"),
    ("ula.example", "fd00::1"),
    ("link.example", "fe80::1"),
    ("xn--bcher-kva.example", "127.0.0.1"),
    ("a_b.example", "127.0.0.1"),
];

/// `PORT` is where the canary sits.
const HOSTILE: &[&str] = &[
    // Loopback, in the spellings of inet_aton that URLs know.
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1:PORT",
    "HTTP://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0X7F000001:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.0.0.01:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0x7f.0x0.0x0.0x1:PORT/",
    "http://0x7f.1:PORT/",
    "http://0x7f.0.1:PORT/",
    "http://0177.1:PORT/",
    "http://127.0x1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.0.0.0x1:PORT/",
    "http://00000177.00000.0.1:PORT/",
    "http://127.0.0.2:PORT/",
    "http://127.255.255.254:PORT/",
    "http://127.127.127.127:PORT/",
    // In letters that browsers read as digits and dots.
    "http://127。0。0。1:PORT/",
    "http://127.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://%6c%6f%63%61%6c%68%6f%73%74:PORT/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/",
    "http://LOCALHOST:PORT/",
    "http://loc\talhost:PORT/",
    "http://local\nhost:PORT/",
    "  http://127.0.0.1:PORT/  ",
    // Separators that are read otherwise elsewhere.
    "http:\\\\127.0.0.1:PORT\\",
    "http:/127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    "http:///127.0.0.1:PORT/",
    "http:////127.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\@example.com/",
    "http://127.0.0.1:PORT#@example.com/",
    "http://127.0.0.1:PORT?@example.com/",
    "http://127.0.0.1:PORT/@example.com",
    "http://127.0.0.1:0PORT/",
    "http://127.0.0.1:00000PORT/",
    // Somebody to be taken for the host.
    "http://example.com@127.0.0.1:PORT/",
    "http://example.com:80@127.0.0.1:PORT/",
    "http://example.com%40127.0.0.1:PORT/",
    "http://user:password@127.0.0.1:PORT/",
    "http://user@localhost:PORT/",
    "http://:@127.0.0.1:PORT/",
    "http://@127.0.0.1:PORT/",
    "http://user:password@93.184.216.34/",
    "https://user@example.com/",
    // This host, nobody's host.
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://0.0:PORT/",
    "http://0x0:PORT/",
    "http://00:PORT/",
    "http://0.1.2.3:PORT/",
    // The same in IPv6.
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/",
    "http://[::]:PORT/",
    "http://[::0.0.0.1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::FFFF:7F00:0001]:PORT/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:0.0.0.0]:PORT/",
    "http://[::ffff:10.0.0.1]:PORT/",
    "http://[::ffff:169.254.169.254]/latest/meta-data/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::127.0.0.1]:PORT/",
    "http://[64:ff9b:1:7f00:0:100::]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2002:7f00:1::1]:PORT/",
    "http://[2002:a00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[2001::1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "http://[2001:db8::1]/",
    "http://[2001:2::1]/",
    "http://[2001:10::1]/",
    "http://[2001:20::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fd12:3456:789a::1]/",
    "http://[fe80::1]/",
    "http://[fe80::5efe:127.0.0.1]/",
    "http://[2a00:1450::5efe:10.0.0.1]/",
    "http://[2a00:1450::200:5efe:c0a8:1]/",
    "http://[febf::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[ff0e::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[v1.fe80::a]/",
    // Networks behind the door.
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://012.0.0.1/",
    "http://167772161/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://0xc0a80001/",
    "http://3232235521/",
    "http://100.64.0.1/",
    "http://100.127.255.254/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://192.0.0.8/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250:1900/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://4294967295/",
    // What hosters tell their guests.
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254/computeMetadata/v1/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://0xA9.0xFE.0xA9.0xFE/",
    "http://169.16689662/",
    "http://169.254.170.2/v2/credentials",
    "http://100.100.100.200/latest/meta-data/",
    "http://192.0.0.192/latest/",
    "http://168.63.129.16/machine",
    "http://metadata.internal/",
    // Not http at all.
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "ftp://127.0.0.1:PORT/",
    "gopher://127.0.0.1:PORT/_EHLO%20x",
    "dict://127.0.0.1:PORT/stat",
    "ldap://127.0.0.1:PORT/",
    "tftp://127.0.0.1:PORT/x",
    "ws://127.0.0.1:PORT/",
    "wss://127.0.0.1:PORT/",
    "jar:http://127.0.0.1:PORT/!/",
    "data:text/plain,x",
    "javascript:alert(1)",
    "blob:http://127.0.0.1:PORT/x",
    "view-source:http://127.0.0.1:PORT/",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/containers/json",
    "smtp://127.0.0.1:PORT/",
    "about:blank",
    "//127.0.0.1:PORT/",
    "/etc/passwd",
    "127.0.0.1:PORT",
    // Nothing that could be asked.
    "",
    " ",
    "http://",
    "http:///",
    "http://?",
    "http://:PORT/",
    "http://[::1]:PORT:PORT/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "http://127.0.0.1:PORT:80/",
    "http://127.0.0.1:0/",
    "http://256.256.256.256/",
    "http://127.0.0.1.5:PORT/",
    "http://127.0.0.0.1:PORT/",
    "http://0x100000000/",
    "http://[::1/",
    "http://::1:PORT/",
    "http://[127.0.0.1]:PORT/",
    "http://[:::1]/",
    "http://exa mple.com/",
    "http://127.0.0.1 :PORT/",
    "http://127.0.0.1\u{0}:PORT/",
    "http://local%00host:PORT/",
    "http://local%0d%0ahost:PORT/",
    "http://127.0.0.1%0d%0aHost:%20x:PORT/",
    "http://%/",
    "http://xn--/",
    // https and a dot at the end change nothing.
    "https://127.0.0.1:PORT/",
    "https://[::1]:PORT/",
    "https://localhost:PORT/",
    "https://10.0.0.1/",
];

fn names() -> Names {
    NAMES.iter().fold(Names::default(), |names, (name, ip)| names.with(name, &[&[ip]]))
}

fn urls(port: u16) -> Vec<String> {
    let written = HOSTILE.iter().map(|url| url.replace("PORT", &port.to_string()));
    written.chain(NAMES.iter().map(|(name, _)| format!("http://{name}:{port}/"))).collect()
}

#[tokio::test]
async fn t068_no_hostile_url_makes_a_connection() {
    let canary = Server::saying("127.0.0.1", &answer("200 OK", "", "inside")).await;
    let port = canary.address.port();
    let other = |ip| Server::start(ip, port, |_| Vec::new());
    let (everywhere, six) = (other("127.0.0.2").await, other("::1").await);
    let urls = urls(port);
    assert!(urls.iter().collect::<HashSet<_>>().len() >= 120, "{}", urls.len());
    let (client, _) = client(&[], names());
    for url in &urls {
        for method in [Method::GET, Method::POST] {
            let error = client.send(Request::new(method, url, Trust::Stranger)).await.expect_err(url);
            assert!(error.is_refusal(), "{url}: {error:?}");
        }
        let seen = canary.connections() + everywhere.connections() + six.connections();
        assert_eq!(seen, 0, "{url} was dialled");
    }
}

/// What makes the test above worth something: the canary sits where these URLs lead.
#[tokio::test]
async fn the_canary_sits_where_hostile_urls_lead() {
    let canary = Server::saying("127.0.0.1", &answer("200 OK", "", "inside")).await;
    let (client, _) = client(&[], names());
    let mut inside = 0;
    for url in urls(canary.address.port()).iter().filter(|url| url.contains(&canary.address.port().to_string())) {
        let request = Request { timeout: Some(std::time::Duration::from_millis(300)), ..get(url) };
        let answer = client.send(Request { trust: Trust::Configured, ..request }).await;
        inside += usize::from(answer.is_ok_and(|answer| answer.body == "inside"));
    }
    assert!(inside >= 40, "only {inside} of the URLs reach the canary when nobody minds");
}
