//! The layers, the values and the mistakes, without a file system and without a process.

use std::time::Duration;

use toml::de::DeTable;

use super::keys::{KEYS, Key};
use super::values::is_hostname;
use super::*;
use crate::assembly;

fn sources(variables: &[(&str, &str)], set: &[&str]) -> Sources {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Sources { file: None, variables, set: set.iter().map(ToString::to_string).collect() }
}

fn set(settings: &[&str]) -> Result<Config, String> {
    Checked::of(&sources(&[], settings)).map(|checked| checked.config()).map_err(|report| report.to_string())
}

fn wrong(settings: &[&str]) -> String {
    set(settings).expect_err("this is a mistake")
}

#[test]
fn the_embedded_file_holds_every_key_in_order_and_each_has_its_comment() {
    let table = DeTable::parse(DEFAULTS).unwrap();
    let (mut found, mut section) = (Vec::new(), String::new());
    let mut above = "";
    for line in DEFAULTS.lines() {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').to_owned();
            assert!(above.starts_with("# "), "[{section}] has no comment");
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            found.push(format!("{section}.{key}"));
            assert!(above.starts_with("# "), "{section}.{key} has no comment");
        }
        above = line;
    }
    let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(found, known);
    assert_eq!(table.get_ref().len(), keys::sections().filter(|section| !section.contains('.')).count());
}

#[test]
fn the_defaults_are_those_of_the_rooms() {
    let config = set(&["smtp.hostname=localhost"]).unwrap();
    assert_eq!(config.smtp, smtp::Settings::default());
    // How long mail is kept is the store's business, and only told by the other.
    assert_eq!(config.http, web::Settings { kept: config.http.kept, ..web::Settings::default() });
    assert_eq!(config.pop3, pop3::Settings::default());
    assert_eq!(config.mailroom, mailroom::Settings::default());
    assert_eq!(config.tls.settings, net::tls::Settings::default());
    assert_eq!(config.guards.dns, net::dns::Settings::default());
    #[cfg(feature = "script")]
    assert_eq!(crate::script::settings(&config.script), ::script::Settings::default());
    assert_eq!(config.outbound, outbound::Settings::default());
    assert_eq!(config.webhook_limits, courier::webhook::Limits::default());
    let Engine::Memory(memory) = &config.store.engine else { panic!("{:?}", config.store.engine) };
    assert_eq!(assembly::memory_settings(&config.store, memory), ::store::memory::Settings::default());
    let store = set(&["store.engine=disk"]).unwrap().store;
    let Engine::Disk(disk) = &store.engine else { panic!("{:?}", store.engine) };
    assert_eq!(assembly::disk_settings(&store, disk), store_disk::Settings::new("postkeep-data"));
}

/// The engine's own are those of a store without bounds on one broker: what differs is listed here.
#[test]
#[cfg(feature = "jetstream")]
fn the_defaults_of_the_jetstream_engine_differ_by_replicas_and_bounds() {
    let store = set(&["store.engine=jetstream"]).unwrap().store;
    let Engine::Jetstream(keys) = &store.engine else { panic!("{:?}", store.engine) };
    let own = store_jetstream::Settings::new(vec!["nats://127.0.0.1:4222".to_owned()], "postkeep");
    let expected =
        store_jetstream::Settings { replicas: 3, messages_max: store.messages_max, retention: store.retention, ..own };
    assert!(assembly::jetstream_settings(&store, keys) == expected, "every key reaches the engine");
}

fn jetstream(settings: &[&str]) -> Jetstream {
    let settings: Vec<_> = settings.iter().map(|setting| format!("store.jetstream.{setting}")).collect();
    let settings: Vec<_> = settings.iter().map(String::as_str).chain(["store.engine=jetstream"]).collect();
    let Engine::Jetstream(keys) = set(&settings).unwrap().store.engine else { panic!("another engine") };
    keys
}

#[test]
fn every_key_of_the_jetstream_engine_is_read() {
    let keys = jetstream(&[
        "urls=nats://a:4222, tls://b",
        "credentials=/etc/user.creds",
        "tls_ca=ca.pem",
        "tls_cert=cert.pem",
        "tls_key=key.pem",
        "prefix=tests-7",
        "replicas=5",
        "shards=16",
        "body_shards=4",
        "sync_waived=true",
        "bytes_max=1TiB",
        "wait_max=1m",
        "jobs_max=7",
        "dead_jobs_max=8",
        "registry_bytes_max=9",
    ]);
    let expected = Jetstream {
        urls: vec!["nats://a:4222".into(), "tls://b".into()],
        credentials: Some("/etc/user.creds".into()),
        tls_ca: Some("ca.pem".into()),
        tls_cert: Some("cert.pem".into()),
        tls_key: Some("key.pem".into()),
        prefix: "tests-7".into(),
        replicas: 5,
        shards: 16,
        body_shards: 4,
        sync_waived: true,
        bytes_max: Some(1 << 40),
        wait_max: Duration::from_secs(60),
        jobs_max: 7,
        dead_jobs_max: 8,
        registry_bytes_max: 9,
        bodies_max: 50,
    };
    assert_eq!(keys, expected);
    assert_eq!(jetstream(&["urls=nats://me:s3cret@a:4222,tls://[::1]"]).places(), ["a:4222", "[::1]"]);
}

#[test]
fn passwords_are_neither_shown_nor_told() {
    let set = [
        "store.jetstream.urls=nats://me:s3cret@a:4222,nats://me:s3cret@b",
        "store.jetstream.credentials=",
        "store.engine=jetstream",
    ];
    let shown = Checked::of(&sources(&[], &set)).unwrap().show();
    assert!(shown.contains(r#"urls = ["nats://me:***@a:4222", "nats://me:***@b"]"#), "{shown}");
    let token = Checked::of(&sources(&[], &["store.jetstream.urls=tls://s3cret@a"])).unwrap().show();
    assert!(token.contains(r#"urls = ["tls://***@a"]"#), "{token}");
    for url in
        ["http://me:s3cret@a", "nats://me:s3 cret@a", "nats://me:s3cret", "me:s3cret@a", "nats://s3cret@", "s:s3cret"]
    {
        let said = wrong(&[&format!("store.jetstream.urls={url}")]);
        assert!(said.contains("***") && !said.contains("cret"), "{said}");
    }
    for (urls, credentials) in [("nats://me:s3cret@a,nats://me:other@b", ""), ("nats://me:s3cret@a", "me.creds")] {
        let set = [&format!("store.jetstream.urls={urls}"), &*format!("store.jetstream.credentials={credentials}")];
        let said = wrong(&set);
        assert!(said.starts_with("--set: store.jetstream.urls name ") && !said.contains("cret@"), "{said}");
    }
}

#[test]
fn half_a_certificate_is_a_mistake() {
    let said = wrong(&["store.jetstream.tls_cert=a.pem"]);
    let expected = "store.jetstream.tls_cert needs store.jetstream.tls_key beside it; set both, or neither";
    assert_eq!(said, format!("--set: {expected}\n"));
    assert!(wrong(&["store.jetstream.tls_key=a.pem"]).contains("tls_key needs store.jetstream.tls_cert"));
    assert!(set(&["store.jetstream.tls_ca=a.pem"]).is_ok());
    assert!(set(&["store.jetstream.replicas=3", "store.jetstream.urls=nats://one"]).is_ok());
}

#[test]
fn an_unset_host_name_is_the_machines_or_localhost() {
    let name = set(&[]).unwrap().smtp.hostname;
    assert!(is_hostname(&name), "{name}");
    assert!(!is_hostname("bad_name") && !is_hostname("") && !is_hostname("a..b") && !is_hostname("-a"));
}

#[test]
fn a_later_layer_wins_key_by_key() {
    let variables = [("POSTKEEP_SMTP__ADDR", "127.0.0.1:1"), ("POSTKEEP_HTTP__ADDR", "127.0.0.1:2"), ("PATH", "x")];
    let checked = Checked::of(&sources(&variables, &["smtp.addr=127.0.0.1:3", "smtp.addr=127.0.0.1:4"])).unwrap();
    let config = checked.config();
    let place = |text: &str| [net::Place::Tcp(text.to_owned())];
    assert_eq!(
        (config.doors.of("smtp"), config.doors.of("http")),
        (&place("127.0.0.1:4")[..], &place("127.0.0.1:2")[..])
    );
    let shown = checked.show();
    let line = |start: &str| shown.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    assert!(line("addr = \"127.0.0.1:4\"").ends_with("# --set"));
    assert!(line("addr = \"127.0.0.1:2\"").ends_with("# POSTKEEP_HTTP__ADDR"));
    assert!(line("message_max = \"25MiB\"").ends_with("# default"));
}

#[test]
fn what_is_shown_can_be_read_again() {
    let set =
        ["policy.accept=a.test, *.b.test", "mailbox.retention=0", "smtp.message_max=1500", "smtp.trace_peer=false"];
    let checked = Checked::of(&sources(&[], &set)).unwrap();
    let path = std::env::temp_dir().join(format!("postkeep-shown-{}.toml", std::process::id()));
    std::fs::write(&path, checked.show()).unwrap();
    let again = Checked::of(&Sources { file: Some(path.clone()), ..Sources::default() }).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again.config(), checked.config());
}

#[test]
fn in_the_environment_and_behind_set_the_kind_decides() {
    let config = set(&[
        "mailbox.retention=0",
        "smtp.greeting_delay=0",
        "smtp.message_max=1000",
        "smtp.recipients_max=7",
        "smtp.trace_peer=false",
        "policy.accept= a.test ,*.b.test,",
        "policy.reject=",
        "http.trusted_proxies=10.0.0.0/8,::1",
        "http.public_url=https://mail.example.com/prefix/",
    ])
    .unwrap();
    assert_eq!(config.store.retention, None);
    assert_eq!((config.smtp.message_max, config.smtp.recipients_max), (1000, 7));
    assert_eq!(config.smtp.trace_peer, mail::trace::Peer::Hidden);
    assert_eq!(config.mailroom.policy.accept.len(), 2);
    assert_eq!(config.http.trusted_proxies[1], net::Network { address: "::1".parse().unwrap(), bits: 128 });
    assert_eq!(config.http.public_url.as_deref(), Some("https://mail.example.com/prefix/"));
}

#[test]
fn sizes_and_durations_are_read_and_written() {
    for (text, bytes, written) in [
        ("25MiB", 25 << 20, "25MiB"),
        ("25 mib", 25 << 20, "25MiB"),
        ("25MB", 25_000_000, "25MB"),
        ("1025", 1025, "1025"),
        ("1024", 1024, "1KiB"),
    ] {
        let config = set(&[&format!("smtp.message_max={text}")]).unwrap();
        assert_eq!((config.smtp.message_max, Size(bytes).to_string().as_str()), (bytes, written));
    }
    for (text, millis, written) in [
        ("5m", 300_000, "5m"),
        ("1h30m", 5_400_000, "1h30m"),
        ("500ms", 500, "500ms"),
        ("90s", 90_000, "1m30s"),
        ("1w", 604_800_000, "7d"),
    ] {
        let config = set(&[&format!("mailbox.retention={text}")]).unwrap();
        let time = Duration::from_millis(millis);
        assert_eq!((config.store.retention, Time(time).to_string().as_str()), (Some(time), written));
    }
    for text in
        ["", "m", "5", "5x", "5m1h", "5m5m", "-5m", "1.5h", "5 m", "99999999999999999999d", "18446744073709551615w"]
    {
        assert!(set(&[&format!("mailbox.retention={text}")]).is_err(), "{text:?}");
    }
    for text in ["", "MiB", "1.5GiB", "-1", "5XB", "99999999999999999999", "18446744073709551615KiB"] {
        assert!(set(&[&format!("smtp.message_max={text}")]).is_err(), "{text:?}");
    }
}

#[test]
fn texts_have_their_form() {
    let sound = [
        (
            "smtp.addr",
            &[
                "127.0.0.1:0",
                "[::1]:25",
                "localhost:25",
                "mail_1:25",
                "0.0.0.0:65535",
                "",
                "unix:/run/a b",
                "a:1,[::]:2",
            ][..],
        ),
        ("tls.names", &["", "mail.example.com", "192.0.2.1,::1", "*.a.test"]),
        ("rate.mailbox_max", &["0", "1/1s", "100 / 1m", "2GiB/1d"]),
        ("dns.servers", &["", "192.0.2.53", "192.0.2.53:5353,::1", "[::1]:53"]),
        ("acme.email", &["", "a.b+c@example.com"]),
        ("smtp.proxy_from", &["", "10.0.0.0/8,::1"]),
        ("smtp.hostname", &["", "a", "mail.example.com"]),
        ("http.public_url", &["", "http://a", "https://a.test:8443/x/y", "http://[::1]:80/", "http://[::1]/p%20q"]),
        ("http.label", &["", "staging-eu", "Étage 2", "0123456789012345678901234567890123456789"]),
        ("http.allowed_hosts", &["", "a.test,*.b.test", "under_score"]),
        ("http.trusted_proxies", &["", "::/0", "127.0.0.1", "10.0.0.0/8"]),
        ("policy.discard", &["", "*", "a?.test", "*.test", "bücher.test"]),
        (
            "store.jetstream.urls",
            &["nats://a", "tls://a.test:1,nats://[::1]", "nats://[::1]:4222", "nats://u:p%40:w@a_b:1", "tls://token@a"],
        ),
        ("store.jetstream.credentials", &["", "a b.creds", "/etc/x.creds"]),
        ("store.jetstream.prefix", &["a", "0", "a-b-9", "a1234567890123456789012345678901"]),
        ("store.jetstream.replicas", &["1", "3", "5"]),
        ("store.jetstream.wait_max", &["15s", "10m"]),
        ("store.jetstream.shards", &["1", "1024"]),
    ];
    let unsound = [
        (
            "smtp.addr",
            &["25", ":25", "a:65536", "a:+5", "::1:25", "[::1:25", "[a]:25", "a b:25", "http://a:25", "a:", "unix:"][..],
        ),
        ("tls.names", &["a b", "http://a"]),
        ("rate.mailbox_max", &["", "100", "0/1m", "100/0", "1/1m/1m", "-1/1s", "5GiB/1h"]),
        ("dns.servers", &["a", "192.0.2.53:x"]),
        ("acme.email", &["a", "@a", "a@", "a b@c", "<a@b>"]),
        ("smtp.hostname", &["a b", "a_b", ".", "a\r\nb", "-", "ü.test", "[127.0.0.1]"]),
        (
            "http.public_url",
            &["a", "ftp://a", "http://", "http:///x", "http://a?b", "http://a/#b", "http://u@a", "http://a:x/"],
        ),
        ("http.label", &["01234567890123456789012345678901234567890", "a\nb", "a\u{202e}b"]),
        ("http.allowed_hosts", &["http://a", "a:80", "*", "*.*.a", "a/b", "a b"]),
        ("http.trusted_proxies", &["a", "10.0.0.0/33", "::/129", "10/8", "1.2.3.4/-1", "1.2.3.4/"]),
        ("policy.discard", &["a@b.test", "a..b", ".", "a b"]),
        (
            "store.jetstream.urls",
            &[
                "",
                "a",
                "a:4222",
                "ws://a",
                "nats://",
                "nats://a:x",
                "nats://a:",
                "nats://a/",
                "nats://@a",
                "nats://:p@a",
            ],
        ),
        ("store.jetstream.urls", &["nats://u:p/w@a", "nats://u:p@w@a", "nats://u p@a", "nats://::1", "nats://a,b"]),
        ("store.jetstream.credentials", &["a\0b"]),
        ("store.jetstream.prefix", &["", "A", "a.b", "a_b", "a b", "a12345678901234567890123456789012", "ü"]),
        ("store.jetstream.replicas", &["0", "2", "4", "6", "three"]),
        ("store.jetstream.wait_max", &["5s", "14s", "11m", "0"]),
        ("store.jetstream.shards", &["0", "1025"]),
    ];
    for (key, texts) in sound {
        texts.iter().for_each(|text| assert!(set(&[&format!("{key}={text}")]).is_ok(), "{key}={text}"));
    }
    for (key, texts) in unsound {
        for text in texts {
            let said = wrong(&[&format!("{key}={text}")]);
            assert!(said.starts_with(&format!("--set: {key} takes ")), "{said}");
        }
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let variables = [("POSTKEEP_SMTP__ADR", "x"), ("POSTKEEP_LOG__LEVEL", "loud"), ("POSTKEEP_WHATEVER", "x")];
    let report =
        Checked::of(&sources(&variables, &["smtp.message_max=0", "store.engine=tape", "nonsense"])).unwrap_err();
    assert_eq!(
        report.to_string(),
        "\
POSTKEEP_LOG__LEVEL: log.level takes one of \"error\", \"warn\", \"info\", \"debug\", \"trace\", not \"loud\"
POSTKEEP_SMTP__ADR: this variable sets no key; did you mean POSTKEEP_SMTP__ADDR?
POSTKEEP_WHATEVER: this variable sets no key; unset it, or see \"postkeep config default\" for the keys
--set: nonsense has no =; write it as --set smtp.addr=127.0.0.1:2525
--set: smtp.message_max takes 1 to 4GiB, not 0
--set: store.engine takes one of \"memory\", \"disk\", \"jetstream\", not \"tape\"
"
    );
}

#[test]
fn the_nearest_key_is_named() {
    for (given, meant) in [
        ("smtp.adr", "smtp.addr"),
        ("smtp.adddr", "smtp.addr"),
        ("stmp.addr", "smtp.addr"),
        ("retention", "mailbox.retention"),
        ("smtp.max_message", "smtp.message_max"),
        ("smtp.messagemax", "smtp.message_max"),
        ("store.memory.byte_max", "store.memory.bytes_max"),
        ("log.levle", "log.level"),
    ] {
        let said = wrong(&[&format!("{given}=1")]);
        assert!(said.contains(&format!("did you mean {meant}?")), "{said}");
    }
    assert!(wrong(&["tls.certificate=x"]).contains("lists them all"));
    assert!(wrong(&["POSTKEEP=1"]).contains("lists them all"));
    let long = format!("{}=1", "x".repeat(1 << 20));
    assert!(wrong(&[&long]).len() < 300, "a long name is cut");
}

#[test]
fn variables_of_a_container_beside_a_service_are_no_mistake() {
    let links = [
        ("POSTKEEP_SERVICE_HOST", "10.0.0.1"),
        ("POSTKEEP_SERVICE_PORT", "80"),
        ("POSTKEEP_SERVICE_PORT_SMTP", "25"),
        ("POSTKEEP_PORT", "tcp://10.0.0.1:80"),
        ("POSTKEEP_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("POSTKEEP_SMTP_PORT_25_TCP_ADDR", "10.0.0.1"),
        ("POSTKEEP_CONFIG", ""),
    ];
    assert!(Checked::of(&sources(&links, &[])).is_ok());
    for mistake in
        [("POSTKEEP_PORT", "80"), ("POSTKEEP_SMTP__PORT", "25"), ("POSTKEEP_SMTP_PORT", "25"), ("POSTKEEP_", "")]
    {
        assert!(Checked::of(&sources(&[mistake], &[])).is_err(), "{mistake:?}");
    }
}

#[test]
fn t104_a_mistake_prints_no_control_characters() {
    let said = wrong(&["smtp.addr=\x1b[31m\r\n", "a\x1b\nb=1", "x\r\ny"]);
    assert_eq!(said.lines().count(), 3, "{said:?}");
    assert!(!said.replace('\n', "").contains(char::is_control), "{said:?}");
}

#[test]
fn one_address_for_two_listeners_is_a_mistake() {
    let said = wrong(&["http.addr=127.0.0.1:1025"]);
    assert_eq!(said, "--set: smtp.addr and http.addr are both 127.0.0.1:1025; give one of them another port\n");
    assert!(set(&["http.addr=127.0.0.1:0", "smtp.addr=127.0.0.1:0"]).is_ok());
    let said = wrong(&["lmtp.addr=unix:/a,unix:/a"]);
    assert_eq!(said, "--set: lmtp.addr names unix:/a twice; take one of them out\n");
}

#[test]
fn what_needs_a_certificate_says_so() {
    for setting in ["smtps.addr=a:1", "pop3s.addr=a:1", "https.addr=a:1", "smtp.tls=require", "pop3.tls=require"] {
        let (key, _) = setting.split_once('=').unwrap();
        let said = wrong(&[setting]);
        assert!(said.starts_with(&format!("--set: {key} needs a certificate; set tls.self_signed = true")), "{said}");
        for source in [&["tls.self_signed=true"][..], &["tls.cert=a", "tls.key=b"]] {
            assert!(set(&[&[setting], source].concat()).is_ok(), "{setting} {source:?}");
        }
    }
    assert!(wrong(&["tls.cert=a"]).contains("tls.cert and tls.key go together"));
    assert!(wrong(&["tls.cert=a", "tls.key=b", "tls.self_signed=true"]).contains("two certificates"));
    assert!(wrong(&["acme.domains=a.test"]).contains("acme.terms_agreed = true"));
    assert!(set(&["acme.domains=a.test", "acme.terms_agreed=true", "https.addr=a:1"]).is_ok());
}

#[test]
fn who_signs_in_is_told_whole() {
    assert!(wrong(&["smtp.auth=list"]).contains("name its file in smtp.auth_file"));
    assert!(wrong(&["smtp.auth=off", "smtp.auth_required=true"]).contains("change one of them"));
    assert_eq!(set(&["smtp.auth=list", "smtp.auth_file=a"]).unwrap().guards.users, Some("a".into()));
}

#[test]
fn a_bound_below_the_largest_message_is_doubted() {
    let doubts = |set: &[&str]| Checked::of(&sources(&[], set)).unwrap().doubts().len();
    assert_eq!(doubts(&[]), 0);
    assert_eq!(doubts(&["smtp.in_flight_max=1MiB"]), 1);
    assert_eq!(doubts(&["smtp.message_max=1GiB"]), 2);
    assert_eq!(doubts(&["store.engine=disk", "smtp.message_max=1GiB"]), 1, "a bound of 0 is none");
    assert_eq!(doubts(&["store.engine=disk", "store.disk.bytes_max=1MiB"]), 1);
    assert_eq!(doubts(&["store.engine=jetstream", "access.key_file=k"]), 0);
    let small = ["store.engine=jetstream", "access.key_file=k", "store.jetstream.bytes_max=1MiB"];
    assert_eq!(doubts(&small), 1);
}

#[test]
fn every_key_has_its_variable() {
    for Key { name, .. } in KEYS {
        let key = &KEYS[Key::index(name).unwrap()];
        let checked = Checked::of(&sources(&[(&key.variable(), "a b\0")], &[]));
        let said = checked.expect_err("no kind takes this").to_string();
        assert!(
            said.starts_with(&format!("{}: {name} takes ", key.variable())) || said.contains("knows only"),
            "{said}"
        );
    }
}

// --- who may do what ---

/// What a file says, with settings over it.
fn filed(name: &str, text: &str, settings: &[&str]) -> Result<Checked, String> {
    let path = std::env::temp_dir().join(format!("postkeep-{name}-{}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let set = settings.iter().map(ToString::to_string).collect();
    let checked = Checked::of(&Sources { file: Some(path.clone()), set, ..Sources::default() });
    std::fs::remove_file(&path).unwrap();
    checked.map_err(|report| report.to_string())
}

const TOKEN: &str = "[[access.tokens]]\nname = \"ci\"\nhash = \"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a\"\n\
                     scopes = [\"rw:ci-*\"]\nexpires = 2027-01-01T00:00:00Z\n";

#[test]
fn public_mode_has_defaults_of_its_own_below_everything_a_user_writes() {
    let public = set(&["access.mode=public"]).unwrap();
    assert!(public.doors.of("pop3").is_empty());
    assert_eq!(public.http.rate_per_ip.unwrap().count, 300);
    assert_eq!(public.mailroom.access.inbox.rate_per_ip.unwrap().count, 30);
    let faults = &public.mailroom.faults;
    assert_eq!((&*faults.domain, faults.plans_max), ("", 0), "strangers cause no faults");
    let own = set(&["access.mode=public", "pop3.addr=127.0.0.1:110", "http.rate_per_ip=off"]).unwrap();
    assert_eq!((own.doors.of("pop3").len(), own.http.rate_per_ip), (1, None));
    let shown = Checked::of(&sources(&[("POSTKEEP_ACCESS__MODE", "public")], &[])).unwrap().show();
    let line = shown.lines().find(|line| line.starts_with("rate_per_ip = \"300/1m\"")).unwrap();
    assert!(line.ends_with("# default of public mode"), "{line}");
    let filed = filed("public", "[access]\nmode = \"public\"\n[pop3]\naddr = \"127.0.0.1:1\"\n", &[]).unwrap();
    assert_eq!(filed.config().doors.of("pop3").len(), 1);
    assert_eq!(set(&["access.mode=token"]).unwrap().http.rate_per_ip, None);
}

#[test]
fn tokens_stand_in_the_file_and_are_shown_as_they_stand() {
    let checked = filed("tokens", TOKEN, &["access.mode=token"]).unwrap();
    let config = checked.config();
    let [token] = &config.mailroom.access.tokens[..] else { panic!("one token") };
    assert_eq!((token.name.as_str(), token.scopes.spelled(mail::Naming::Local)), ("ci", vec!["rw:ci-*".to_owned()]));
    assert_eq!(token.expires, Some("2027-01-01T00:00:00Z".parse().unwrap()));
    let again = filed("tokens-again", &checked.show(), &[]).unwrap().config();
    assert_eq!(again.mailroom, config.mailroom);
    let full = filed("tokens-full", &TOKEN.replace("ci-*", "*@team.test"), &["mailbox.naming=full"]);
    assert!(full.is_ok(), "{full:?}");
}

#[test]
fn routes_stand_in_the_file_in_their_order_and_are_shown_as_they_stand() {
    let text = "[[mailbox.route]]\nlogin = \"team-*\"\nmailbox = \"{login}\"\n\
                [[mailbox.route]]\nheader = { name = \"X-Run\" }\npeer = \"10.0.0.0/8\"\nmailbox = \"run-{header}\"\n\
                [[mailbox.route]]\nrecipient = \"*@a.test\"\npeer = [\"::1\", \"127.0.0.1\"]\nmailbox = \"a\"\n";
    let checked = filed("routes", text, &[]).unwrap();
    let config = checked.config();
    let templates: Vec<_> = config.mailroom.routes.iter().map(|route| route.mailbox.clone()).collect();
    assert_eq!(templates, ["{login}", "run-{header}", "a"].map(|text| text.parse().unwrap()));
    assert_eq!(config.mailroom.routes[2].peer.len(), 2);
    let again = filed("routes-again", &checked.show(), &[]).unwrap().config();
    assert_eq!(again.mailroom, config.mailroom);
    let many = "[[mailbox.route]]\nmailbox = \"a\"\n".repeat(1001);
    assert!(filed("routes-many", &many, &[]).unwrap_err().contains("more than 1000 times"));
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[test]
fn webhooks_stand_in_the_file_and_their_secrets_are_not_shown() {
    let text = format!(
        "[[webhook]]\nname = \"shop\"\nurl = \"https://u:pass@shop.example/hook\"\nsecret = \"{SECRET}\"\n\
         [[webhook]]\nname = \"all\"\nurl = \"http://127.0.0.1:1/\"\nsecret_file = \"/run/secret\"\n\
         mailboxes = [\"ci-*\", \"Alice\"]\nevents = [\"deliver\", \"purge\"]\nmessage = true\n"
    );
    let checked = filed("webhooks", &text, &[]).unwrap();
    let config = checked.config();
    let [shop, all] = &config.webhooks[..] else { panic!("two of them") };
    assert_eq!((shop.detail, all.detail), (courier::webhook::Detail::Summary, courier::webhook::Detail::Message));
    assert_eq!(all.secrets, webhooks::Secrets::File("/run/secret".into()));
    let told: Vec<_> =
        config.mailroom.webhooks.iter().map(|target| (target.mailboxes.len(), target.events.len())).collect();
    assert_eq!(told, [(1, 1), (2, 2)]);
    let shown = checked.show();
    assert!(!shown.contains(&SECRET[6..]) && !shown.contains("pass@"), "{shown}");
    assert!(shown.contains("secret = \"whsec_***\"") && shown.contains("https://u:***@shop.example/hook"), "{shown}");
    let debugged = format!("{config:?}");
    assert!(!debugged.contains(&SECRET[6..]), "a secret can be printed");
}

#[test]
fn what_is_wrong_with_webhooks_is_told_with_what_to_do() {
    let check = |members: &str, expected: &str| {
        let told = filed("bad-webhooks", &format!("[[webhook]]\n{members}"), &[]).unwrap_err();
        assert!(told.contains(expected) && !told.contains(&SECRET[6..]), "{told}");
    };
    let good = format!("name = \"a\"\nurl = \"http://a.test/\"\nsecret = \"{SECRET}\"\n");
    check(&good.replace("\"a\"", "\"A b\""), "a name of up to 64");
    check(&good.replace("http:", "ftp:"), "http or https");
    check(&good.replace("whsec_M", "whsec_"), "a secret is written as whsec_");
    check(&good.replace("secret = ", "secret_file = 7 #"), "a path");
    check("name = \"a\"\nurl = \"http://a.test/\"\n", "it has no secret");
    check(&format!("{good}secret_file = \"x\"\n"), "keep one of them");
    check(&format!("{good}mailboxes = [\"a*b*\"]\n"), "one star");
    check(&format!("{good}mailboxes = []\n"), "at least one");
    check(&format!("{good}events = [\"arrive\"]\n"), "deliver, delete and purge");
    check(&format!("{good}message = 1\n"), "true or false");
    check(&format!("{good}header = \"x\"\n"), "it takes name, url");
    check(&format!("{good}[[webhook]]\n{good}"), "twice");
}

#[test]
fn the_keys_of_what_leaves_reach_those_who_send() {
    let config = set(&[
        "outbound.allow=10.1.0.0/16",
        "outbound.body_max=1MiB",
        "outbound.timeout=3s",
        "outbound.redirects_max=1",
        "outbound.requests_max=7",
        "webhooks.attempts_max=3",
        "webhooks.give_up_after=1h",
        "webhooks.retry_max=2s",
        "webhooks.waiting_max=12",
        "webhooks.failures_max=4",
        "webhooks.rest=5s",
        "webhooks.concurrent_max=6",
        "webhooks.timeout=8s",
    ]);
    let config = config.unwrap();
    let outbound = &config.outbound;
    assert!(outbound.allow[0].contains(&"10.1.2.3".parse::<std::net::IpAddr>().unwrap()));
    assert_eq!(
        (outbound.body_max, outbound.timeout.as_secs(), outbound.redirects_max, outbound.requests_max),
        (1 << 20, 3, 1, 7)
    );
    assert_eq!(config.webhooks_waiting_max, 12);
    let courier::webhook::Limits { concurrent_max, timeout, pace, rest } = config.webhook_limits;
    assert_eq!((concurrent_max, timeout.as_secs(), rest.failures_max, rest.time.as_secs()), (6, 8, 4, 5));
    assert_eq!((pace.attempts_max, pace.give_up_after.as_secs(), pace.retry_max.as_secs()), (3, 3600, 2));
    let strangers = |mode: &str| set(&[&format!("access.mode={mode}")]).unwrap().outbound.strangers;
    assert_eq!(strangers("open"), outbound::Strangers::Asked);
    assert_eq!(strangers("public"), outbound::Strangers::Refused);
}

#[test]
fn rules_of_the_relay_stand_in_the_file_and_are_shown_as_they_stand() {
    let text = "[relay]\nhost = \"smtp.example.com\"\nallow = [\"*@example.com\", \"bob@example.org\"]\n\
                [[relay.rule]]\nname = \"team\"\nmailbox = \"support\"\nto = [\"bob@example.org\"]\n\
                [[relay.rule]]\nname = \"real\"\nrecipient = \"*@example.com\"\n";
    let checked = filed("relay", text, &[]).unwrap();
    let config = checked.config();
    let names: Vec<_> = config.mailroom.relay.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!((names, config.mailroom.relay.enabled), (vec!["team", "real"], true));
    let relay = config.relay.unwrap();
    assert_eq!((relay.settings, relay.tls, relay.login), (courier::relay::Settings::default(), None, None));
    let again = filed("relay-again", &checked.show(), &[]).unwrap().config();
    assert_eq!(again.mailroom, config.mailroom);
    assert_eq!(set(&[]).unwrap().relay, None, "nothing leaves by default");
    let doubts = |settings: &[&str]| Checked::of(&sources(&[], settings)).unwrap().doubts().len();
    assert_eq!(doubts(&["relay.host=localhost"]), 1);
    assert_eq!(doubts(&["relay.host=localhost", "relay.allow=*@example.com", "relay.tls=opportunistic"]), 1);
    assert_eq!(doubts(&["relay.host=localhost", "relay.allow=*@example.com"]), 0);
}

#[test]
fn what_is_wrong_with_access_is_told_with_what_to_do() {
    let check = |settings: &[&str], expected: &str| {
        let told = wrong(settings);
        assert!(told.contains(expected), "{settings:?}: {told}");
    };
    check(&["store.engine=jetstream", "access.mode=token"], "name its file in access.key_file");
    check(&["access.user_header=X-User"], "http.trusted_proxies");
    check(&["access.user_scopes=rw:*@team.test"], "mailbox.naming");
    check(&["inbox.ttl_default=2d"], "inbox.ttl_max");
    check(&["faults.ttl_default=2d"], "faults.ttl_max");
    assert!(set(&["store.engine=jetstream", "access.mode=token", "access.key_file=/k"]).is_ok());
    assert!(set(&["access.user_header=X-User", "http.trusted_proxies=10.0.0.1"]).is_ok());
    assert!(set(&["store.engine=jetstream"]).is_ok());
}

#[test]
fn what_is_perhaps_not_meant_with_access_is_said() {
    let doubts = |settings: &[&str]| Checked::of(&sources(&[], settings)).unwrap().doubts().join("\n");
    assert_eq!(doubts(&[]), "");
    assert!(doubts(&["http.addr=0.0.0.0:8025"]).contains("access.mode is \"open\" and http.addr"));
    assert!(doubts(&["pop3.addr=[::]:1110"]).contains("pop3.addr can be reached"));
    for local in ["http.addr=localhost:1", "http.addr=[::1]:1", "http.addr=unix:/run/a.sock", "smtp.addr=0.0.0.0:25"] {
        assert_eq!(doubts(&[local]), "", "{local}");
    }
    let token = ["access.mode=token", "https.addr=", "http.public_url=https://mail.test"];
    let with = |more: &[&'static str]| doubts(&[&token[..], more].concat());
    assert!(with(&[]).contains("postkeep token new"));
    assert!(!with(&["http.addr=0.0.0.0:8025"]).contains("open"));
    assert!(with(&["policy.accept=a.test,b.test"]).contains("mailbox.naming"));
    assert!(!with(&["policy.accept=a.test,b.test", "mailbox.naming=full"]).contains("mailbox.naming"));
    assert!(doubts(&["access.mode=public"]).contains("plain HTTP") && !with(&[]).contains("plain HTTP"));
    assert!(doubts(&["store.engine=jetstream"]).contains("access.key_file"));
}

#[test]
#[cfg(feature = "script")]
fn every_key_of_scripts_reaches_them() {
    use ::script::{OnError, Settings};
    let config = set(&[
        "script.path=/etc/scripts",
        "script.on_error=accept",
        "script.deadline=1s",
        "script.after_deadline=3s",
        "script.memory_max=2MiB",
        "script.workers=4",
        "script.queue_max=5",
        "script.source_max=6KiB",
        "script.notes_max=7",
        "mailbox.naming=full",
        "message.text_max=8KiB",
    ]);
    let script = config.unwrap().script;
    let letter = mail::letter::Limits { text_max: 8 << 10, ..mail::letter::Limits::default() };
    let expected = Settings {
        on_error: OnError::Accept,
        deadline: Duration::from_secs(1),
        after_deadline: Duration::from_secs(3),
        memory_max: 2 << 20,
        workers: 4,
        queue_max: 5,
        source_max: 6 << 10,
        notes_max: 7,
        naming: mail::Naming::Full,
        letter,
    };
    assert_eq!(crate::script::settings(&script), expected);
    assert_eq!(script.path.as_deref(), Some(std::path::Path::new("/etc/scripts")));
    assert_eq!(set(&[]).unwrap().script.path, None);
    assert!(wrong(&["script.on_error=ignore"]).contains("\"tempfail\", \"accept\""));
    assert!(wrong(&["script.deadline=0"]).contains("10ms"));
}

#[test]
fn the_limits_of_codes_and_links_reach_those_who_look() {
    let config = set(&["extract.text_max=64KiB", "extract.codes_max=3", "extract.links_max=7"]).unwrap();
    let limits = mail::extract::Limits { text_max: 64 << 10, codes_max: 3, links_max: 7 };
    assert_eq!(config.mailroom.letter.extract, limits);
    assert!(wrong(&["extract.codes_max=0"]).contains("extract.codes_max"));
}

#[test]
fn the_domain_to_write_to_is_the_first_that_mail_is_taken_for() {
    let told = |settings: &[&str]| set(settings).unwrap().http.told.domain;
    assert_eq!(told(&[]), None);
    assert_eq!(told(&["policy.accept=*.test,mail.test,b.test"]).as_deref(), Some("mail.test"));
    assert_eq!(told(&["policy.accept=*.test"]), None);
    assert_eq!(set(&["http.label= staging "]).unwrap().http.told.label.as_deref(), Some("staging"));
}
