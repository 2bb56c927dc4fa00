//! Fault plans on every engine: attempts counted, listed and removed; what a wait says of them; the command line.

use std::fs;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::faults_on_demand::{letter, plan};
use crate::http::{delete, get, wait_for_count};
use crate::program::{Program, output, postkeep, until};
use crate::smtp::{Smtp, stuffed};

fn plans(at: SocketAddr) -> Vec<Value> {
    get(at, "/api/v2/faults").json()["items"].as_array().unwrap().clone()
}

/// Try to send; the first reply that is a refusal, else 250.
fn attempt(at: SocketAddr, sender: &str, recipient: &str) -> String {
    let mut smtp = Smtp::session(at);
    for line in [format!("MAIL FROM:<{sender}>"), format!("RCPT TO:<{recipient}>")] {
        let reply = smtp.command(&line);
        if !reply.starts_with('2') {
            return reply[..9].to_owned();
        }
    }
    smtp.must("354", "DATA");
    smtp.send(&stuffed(&letter(recipient)));
    smtp.reply()[..9].to_owned()
}

/// What plans do, asked of these nodes in turn, which share a store.
fn plans_are_kept(nodes: &[&Program]) {
    let node = |number: usize| nodes[number % nodes.len()];
    let known = |id: &str| {
        let path = "/api/v2";
        nodes.iter().for_each(|node| {
            until("every node knows the plan", || (get(node.http, path).json()["faults"] != 0).then_some(()));
        });
        id.to_owned()
    };
    let greylisting = json!({"reply": {"code": 451, "enhanced": "4.7.1"}, "first": 2, "per": "pair", "note": "grey"});
    let made = plan(node(0).http, &greylisting);
    assert_eq!(made.status, 201, "{made:?}");
    let id = known(made.json()["id"].as_str().unwrap());
    for (sender, offset) in [("a@x.test", 0), ("b@x.test", 1)] {
        let replies: Vec<String> =
            (0..4).map(|number| attempt(node(number + offset).smtp, sender, "alice@example.com")).collect();
        assert_eq!(replies, ["451 4.7.1", "451 4.7.1", "250 2.0.0", "250 2.0.0"], "of {sender}");
    }
    for node in nodes {
        let listed = plans(node.http);
        assert_eq!((&listed[0]["id"], &listed[0]["attempts"], &listed[0]["fired"]), (&json!(id), &json!(8), &json!(4)));
    }
    assert_eq!(delete(node(1).http, &format!("/api/v2/faults/{id}")).status, 204);
    until("no node knows the plan", || {
        nodes.iter().all(|node| get(node.http, "/api/v2").json()["faults"] == 0).then_some(())
    });
    assert_eq!(delete(node(0).http, &format!("/api/v2/faults/{id}")).status, 404);
    assert_eq!(attempt(node(0).smtp, "new@x.test", "alice@example.com"), "250 2.0.0");
    let some = json!({"mailbox": "bob", "stage": "data", "reply": {"code": 452}, "percent": 30, "seed": 7});
    known(plan(node(0).http, &some).json()["id"].as_str().unwrap());
    let failed: Vec<usize> =
        (1..=20).filter(|number| attempt(node(*number).smtp, "a@x.test", "bob@x.test") == "452 4.3.1").collect();
    assert_eq!(failed, [2, 4, 6, 10, 12, 17, 20], "as docs/faults.md says");
    however_many_come_at_once(nodes);
}

/// Exactly so many fail as were planned, whichever node each comes to.
fn however_many_come_at_once(nodes: &[&Program]) {
    let rush = json!({"mailbox": "rush", "reply": {"code": 451}, "first": 10});
    plan(nodes[0].http, &rush);
    let is_known = |node: &&&Program| get(node.http, "/api/v2").json()["faults"] == 2;
    until("every node knows both plans", || nodes.iter().all(|node| is_known(&node)).then_some(()));
    let ats: Vec<SocketAddr> = (0..30).map(|number| nodes[number % nodes.len()].smtp).collect();
    let trying = ats.into_iter().map(|at| thread::spawn(move || attempt(at, "a@x.test", "rush@x.test")));
    let trying: Vec<_> = trying.collect();
    let replies = trying.into_iter().map(|one| one.join().unwrap());
    assert_eq!(replies.filter(|reply| reply == "451 4.3.0").count(), 10);
    let listed = plans(nodes[0].http);
    let rush = listed.iter().find(|plan| plan["mailbox"] == "rush").unwrap();
    assert_eq!((&rush["attempts"], &rush["fired"]), (&json!(30), &json!(10)));
    assert_eq!(delete(nodes[0].http, &format!("/api/v2/faults/{}", rush["id"].as_str().unwrap())).status, 204);
}

#[test]
fn plans_in_memory() {
    plans_are_kept(&[&Program::start(&[])]);
}

#[test]
fn plans_on_a_disk_outlive_the_program() {
    let dir = crate::program::directory();
    let path = format!("store.disk.path={}", dir.display());
    let settings = ["store.engine=disk", &path];
    let program = Program::start(&settings);
    plans_are_kept(&[&program]);
    let before = plans(program.http);
    drop(program);
    let program = Program::start(&settings);
    assert_eq!(plans(program.http), before);
    assert_eq!(attempt(program.smtp, "a@x.test", "bob@x.test"), "250 2.0.0", "attempt 21");
    assert_eq!(plans(program.http)[0]["attempts"], 21);
    drop(program);
    let _ = fs::remove_dir_all(dir);
}

#[test]
#[cfg(feature = "jetstream")]
fn plans_on_brokers_are_counted_by_all_nodes_together() {
    use brokers::{Cluster, Plan, Sync};
    if brokers::nats_server().unwrap().is_none() {
        return;
    }
    let cluster = Cluster::start(Plan { sync: Sync::Always, ..Plan::of(1) }).unwrap();
    let urls = format!("store.jetstream.urls={}", cluster.url(0));
    let settings = ["store.engine=jetstream", "store.jetstream.replicas=1", &urls];
    plans_are_kept(&[&Program::start(&settings), &Program::start(&settings)]);
}

#[test]
fn a_wait_in_vain_names_the_plan() {
    let program = Program::start(&[]);
    let made = plan(program.http, &json!({"mailbox": "alice", "reply": {"code": 451}, "first": 2})).json();
    let id = made["id"].as_str().unwrap();
    attempt(program.smtp, "a@x.test", "alice@example.com");
    attempt(program.smtp, "a@x.test", "alice@example.com");
    let problem = get(program.http, "/api/v2/mailboxes/alice/wait?timeout=0s").json();
    let detail = problem["detail"].as_str().unwrap();
    let expected = format!("refused by the fault plan {id} (2 of 2): ");
    assert!(detail.contains(&expected) && detail.contains(&format!("DELETE /api/v2/faults/{id}")), "{detail}");
    assert_eq!(problem["refusals"][0]["fault"], id);
    assert_eq!(get(program.http, "/api/v2").json()["faults"], 1);
}

#[test]
fn a_plan_expires_delays_and_drops() {
    let program = Program::start(&[]);
    let short = json!({"sender": "@x.test", "stage": "mail", "reply": {"code": 421}, "ttl": "1s"});
    assert_eq!(plan(program.http, &short).status, 201);
    assert_eq!(attempt(program.smtp, "a@x.test", "b@y.test"), "421 4.3.2");
    assert_eq!(attempt(program.smtp, "a@y.test", "b@y.test"), "250 2.0.0");
    until("the plan is over", || plans(program.http).is_empty().then_some(()));
    assert_eq!(attempt(program.smtp, "a@x.test", "b@y.test"), "250 2.0.0");
    plan(program.http, &json!({"mailbox": "late", "delay": "300ms", "slow": "4KiB"}));
    let mut smtp = Smtp::session(program.smtp);
    smtp.must("250", "MAIL FROM:<a@x.test>");
    let begun = Instant::now();
    smtp.must("250", "RCPT TO:<late@x.test>");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    smtp.must("354", "DATA");
    let begun = Instant::now();
    smtp.send(&stuffed(&letter("late@x.test")));
    assert!(smtp.reply().starts_with("250") && begun.elapsed() >= Duration::from_millis(500));
    plan(program.http, &json!({"mailbox": "gone", "stage": "data", "drop": true, "nth": 1}));
    let mut smtp = Smtp::session(program.smtp);
    smtp.begin("a@x.test", &["gone@x.test"]);
    smtp.send(&stuffed(&letter("gone@x.test")));
    assert_eq!(smtp.heard(), None);
    assert_eq!(attempt(program.smtp, "a@x.test", "gone@x.test"), "250 2.0.0");
    wait_for_count(program.http, "gone", 1);
}

#[test]
fn what_is_read_slowly_is_still_read_within_its_deadline() {
    let program = Program::start(&["smtp.transaction_timeout=1s"]);
    let mut smtp = Smtp::session(program.smtp);
    smtp.begin("a@x.test", &["slow-500@fault.example.com"]);
    let begun = Instant::now();
    smtp.send(&stuffed(&letter("x@x.test")));
    assert!(smtp.reply().starts_with("421 4.4.2"));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn plans_from_the_command_line() {
    let program = Program::start(&[]);
    let run = |args: &[&str]| output(postkeep(args).env("POSTKEEP_URL", format!("http://{}", program.http)));
    let (code, id, stderr) = run(&["fault", "add", "--mailbox", "alice", "--reply", "451 4.7.1 Wait", "--first", "2"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let id = id.trim();
    assert_eq!(attempt(program.smtp, "a@x.test", "alice@x.test"), "451 4.7.1");
    let (code, listed, _) = run(&["fault", "list"]);
    assert!(code == Some(0) && listed.contains(id) && listed.contains("1 of 1"), "{listed}");
    assert_eq!(run(&["fault", "remove", id]).0, Some(0));
    assert_eq!(run(&["fault", "remove", id]).0, Some(1));
    let (code, _, stderr) = run(&["fault", "add", "--reply", "250"]);
    assert!(code == Some(2) && stderr.contains("400 to 599"), "{stderr}");
    let (code, _, stderr) = run(&["fault", "add", "--reply", "later"]);
    assert!(code == Some(2) && stderr.contains("--reply begins with a code"), "{stderr}");
}
