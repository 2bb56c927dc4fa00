//! An address that anybody reaches: the configuration that the docs give for it, its rates, and what is counted.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::http::{get, subjects};
use crate::program::{Program, directory, output, postkeep};
use crate::smtp::{Smtp, deliver, message};

/// The blocks of TOML in a document.
fn blocks(document: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let text = fs::read_to_string(path).unwrap();
    let parts = text.split("\n```toml\n").skip(1);
    parts.map(|part| part.split_once("\n```").unwrap().0.to_owned()).collect()
}

#[test]
fn the_configurations_in_the_docs_are_sound() {
    let blocks = blocks("public.md");
    assert_eq!(blocks.len(), 2, "a whole one, and one behind a proxy");
    let dir = directory();
    for block in blocks {
        let file = dir.join("config.toml");
        fs::write(&file, &block).unwrap();
        let (code, stdout, stderr) = output(&mut postkeep(&["--config", file.to_str().unwrap(), "config", "check"]));
        assert_eq!(code, Some(0), "{stdout}{stderr}\n{block}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn every_limit_for_an_open_domain_is_in_the_docs() {
    let whole = &blocks("public.md")[0];
    let (_, defaults, _) = output(&mut postkeep(&["config", "default"]));
    let (_, rates) = defaults.split_once("\n[rate]\n").unwrap();
    let (rates, _) = rates.split_once("\n[").unwrap();
    let keys = rates.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key);
    for key in keys.filter(|key| *key != "entries_max") {
        assert!(whole.contains(&format!("\n{key} = ")), "{key}");
    }
}

#[test]
fn t023_a_mailbox_over_its_rate_is_told_so_and_others_get_their_mail() {
    let program = Program::start(&["rate.mailbox_max=3/1h"]);
    let mut smtp = Smtp::session(program.smtp);
    for number in 0..3 {
        assert!(smtp.mail("", &["loud@x.test"], &message(&number.to_string())).starts_with("250"));
    }
    smtp.must("250", "MAIL FROM:<>");
    smtp.must("450 4.2.1 Mail for this mailbox comes more often than rate.mailbox_max allows", "RCPT TO:<loud@x.test>");
    smtp.must("250", "RCPT TO:<quiet@x.test>");
    smtp.must("354", "DATA");
    smtp.send(b"Subject: taken\r\n\r\n.\r\n");
    assert!(smtp.reply().starts_with("250"));
    assert_eq!(subjects(program.http, "loud"), ["0", "1", "2"]);
    assert_eq!(subjects(program.http, "quiet"), ["taken"]);
}

#[test]
fn an_address_over_its_rates_is_put_off() {
    let program = Program::start(&["rate.transactions_per_ip_max=2/1h"]);
    let mut smtp = Smtp::session(program.smtp);
    assert!(smtp.mail("", &["a@x.test"], &message("one")).starts_with("250"));
    assert!(smtp.mail("", &["a@x.test"], &message("two")).starts_with("250"));
    smtp.must("450 4.7.1 Too many messages", "MAIL FROM:<>");

    let program = Program::start(&["rate.bytes_per_ip_max=100KiB/1h"]);
    let mut smtp = Smtp::session(program.smtp);
    let large = format!("Subject: large\r\n\r\n{}", "0123456789abcdef\r\n".repeat(8 << 10));
    assert!(smtp.mail("", &["a@x.test"], large.as_bytes()).starts_with("250"), "what has begun is taken");
    smtp.must("450 4.7.1 Too many octets", "MAIL FROM:<>");

    let program = Program::start(&["rate.connections_per_ip_max=2/1h"]);
    let _held = [Smtp::session(program.smtp), Smtp::session(program.smtp)];
    assert!(Smtp::connect(program.smtp).greeting.starts_with("421"));
}

#[test]
fn a_proxy_that_is_trusted_says_whom_it_speaks_for() {
    let program = Program::start(&["smtp.proxy_from=127.0.0.0/8", "rate.transactions_per_ip_max=1/1h"]);
    for (client, code) in [("192.0.2.1", "250"), ("192.0.2.2", "250"), ("192.0.2.1", "450 4.7.1")] {
        let mut smtp = Smtp::dial(program.smtp);
        smtp.send(format!("PROXY TCP4 {client} 192.0.2.9 40000 25\r\n").as_bytes());
        assert!(smtp.reply().starts_with("220"));
        smtp.must("250", "EHLO client.test");
        smtp.must(code, "MAIL FROM:<>");
    }
    let mut silent = Smtp::dial(program.smtp);
    silent.send(b"EHLO client.test\r\n");
    assert_eq!(silent.finish(), "");
    let bad = value(&series(&program), "postkeep_connections_turned_away_total{reason=\"proxy_header\"}");
    assert_eq!(bad, 1);
}

/// What is counted: a line for each series.
fn series(program: &Program) -> String {
    let answer = get(program.http, "/metrics");
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    answer.text().to_owned()
}

fn value(series: &str, name: &str) -> u64 {
    let line = series.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in {series}")).parse().unwrap()
}

#[test]
fn what_happens_is_counted() {
    let settings = ["policy.reject=reject.test", "smtp.tarpit=10ms", "smtp.message_max=1000"];
    let program = Program::start(&settings);
    let before = series(&program);
    assert_eq!(value(&before, "postkeep_messages_total"), 0, "it is there from the start");
    let mut smtp = Smtp::session(program.smtp);
    assert!(smtp.mail("", &["a@x.test", "b@x.test"], &message("one")).starts_with("250"));
    assert!(smtp.mail("", &["a@x.test"], format!("{}\r\n", "x".repeat(2000)).as_bytes()).starts_with("552"));
    smtp.must("250", "MAIL FROM:<>");
    smtp.must("550", "RCPT TO:<a@reject.test>");
    smtp.must("221", "QUIT");
    let after = series(&program);
    let grown = |name: &str| value(&after, name) - value(&before, name);
    assert_eq!(grown("postkeep_messages_total"), 1);
    assert!((50..1000).contains(&grown("postkeep_message_bytes_total")));
    assert_eq!(grown("postkeep_smtp_transactions_total"), 3);
    assert_eq!(grown("postkeep_refusals_total{kind=\"policy\"}"), 1);
    assert_eq!(grown("postkeep_refusals_total{kind=\"content\"}"), 1);
    assert_eq!(grown("postkeep_smtp_tarpitted_total"), 2);
    assert!(grown("postkeep_connections_accepted_total") >= 2);
    assert!(after.contains("# HELP postkeep_messages_total "), "{after}");
}

#[test]
fn t067_the_number_of_series_does_not_grow_with_names() {
    let program = Program::start(&[]);
    let names = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(|line| line.split_once(' ').unwrap().0.to_owned()).collect()
    };
    let before = names(&series(&program));
    let mut smtp = Smtp::session(program.smtp);
    for number in 0..500 {
        let (sender, recipient) = (format!("s{number}@s{number}.test"), format!("box{number}@x{number}.test"));
        assert!(smtp.mail(&sender, &[&recipient], &message("canary")).starts_with("250"));
    }
    let after = series(&program);
    assert_eq!(names(&after), before);
    assert!(!after.contains("box4") && !after.contains("127.0.0.1"), "{after}");
}

#[test]
fn counters_can_be_kept_to_oneself() {
    let program = Program::start(&["http.metrics=false"]);
    deliver(program.smtp, "a@x.test", &message("one"));
    assert_eq!(get(program.http, "/metrics").status, 404);
}
