//! Every example that is shipped does what its first line says.

use std::collections::BTreeSet;
use std::fs;

use super::network::Receiver;
use super::*;

const LIST: &str = "From: a@shop.test\nSubject: News\nList-Unsubscribe: <mailto:off@shop.test>\n\nNews.\n";

fn mail(subject: &str, more: &str, body: &str) -> String {
    format!("From: a@shop.test\nSubject: {subject}\n{more}\n{body}\n")
}

/// Whoever adds one, adds a test here.
#[test]
fn each_has_its_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let tests = include_str!("examples.rs");
    let untested: BTreeSet<_> = names.filter(|name| !tests.contains(&format!("\"{name}\""))).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plus_tag() {
    let scripts = example("01_plus_tag.lua");
    let handling = message(&scripts, &["alice+news@x.test", "bob@x.test"], HELLO).await;
    assert_eq!(boxes(&handling).unwrap(), ["alice", "bob", "news"]);
    assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn refuse_sender() {
    let scripts = example("02_refuse_sender.lua");
    assert_eq!(thought(&mail_from(&scripts, "Spammer@example.com").await), "550 5.7.1 We asked you to stop");
    assert_eq!(thought(&mail_from(&scripts, "x@bulk.example").await), "550 5.7.1 Bulk mail is not taken here");
    assert_eq!(thought(&mail_from(&scripts, "jane@shop.test").await), "defer");
    assert_eq!(thought(&mail_from(&scripts, "").await), "defer");
}

#[tokio::test(flavor = "multi_thread")]
async fn greylist() {
    let scripts = example("03_greylist.lua");
    let first = thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await);
    assert_eq!(first, "451 4.7.1 Greylisted, try again in a moment");
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "b@x.test").await), "defer");
    assert_ne!(thought(&rcpt_to(&scripts, "a@x.test", &[], "c@x.test").await), "defer");
}

#[tokio::test(flavor = "multi_thread")]
async fn tag_invoices() {
    let scripts = example("04_tag_invoices.lua");
    let pdf = "Content-Type: application/pdf; name=bill.pdf\nContent-Disposition: attachment\n";
    assert_eq!(message(&scripts, &["a@x.test"], &mail("Your Invoice", pdf, "x")).await.tags, ["invoice", "pdf"]);
    assert!(message(&scripts, &["a@x.test"], HELLO).await.tags.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook() {
    let receiver = Receiver::answer("200 OK", "");
    let scripts = receiver.example("05_webhook.lua");
    scripts.after(After::Delivered(Naming::Local.named("alice").unwrap(), summary("One")));
    let asked = receiver.next();
    assert!(asked.starts_with("POST /mail HTTP/1.1\r\n"), "{asked}");
    for part in [r#""mailbox":"alice""#, r#""id":"0000000000007""#, r#""subject":"One""#] {
        assert!(asked.contains(part), "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn discard_newsletters() {
    let scripts = example("06_discard_newsletters.lua");
    assert_eq!(decided(&message(&scripts, &["a@x.test"], LIST).await.verdict.decision), "discard");
    assert_eq!(message(&scripts, &["newsletters@x.test"], LIST).await, Handling::USUAL);
    assert_eq!(message(&scripts, &["a@x.test"], HELLO).await, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn archive_copy() {
    let handling = message(&example("07_archive_copy.lua"), &["alice@x.test"], HELLO).await;
    assert_eq!(boxes(&handling).unwrap(), ["alice", "archive"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn subject_mailbox() {
    let scripts = example("08_subject_mailbox.lua");
    let handling = message(&scripts, &["alice@x.test"], &mail("[Shop-42] Order confirmed", "", "x")).await;
    assert_eq!(boxes(&handling).unwrap(), ["shop-42"]);
    assert_eq!(handling.subject.as_deref(), Some("Order confirmed"));
    assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn team_by_header() {
    let scripts = example("09_team_by_header.lua");
    let handling = message(&scripts, &["alice@x.test"], &mail("Hi", "X-Team: Billing\n", "x")).await;
    assert_eq!(
        (boxes(&handling).unwrap(), handling.tags),
        (vec!["team-billing".into()], vec!["team-billing".to_owned()])
    );
    assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_guard() {
    let scripts = example("10_rate_guard.lua");
    for _ in 0..100 {
        assert_eq!(thought(&mail_from(&scripts, "a@x.test").await), "defer");
    }
    let told = thought(&mail_from(&scripts, "a@x.test").await);
    assert_eq!(told, "451 4.7.0 101 mails in a minute are too many; wait a little");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_known() {
    let scripts = example("11_only_known.lua");
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "Alice+x@x.test").await), "allow");
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "eve@x.test").await), "550 5.1.1 No such user here");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secrets() {
    let scripts = example("12_no_secrets.lua");
    let card = mail("Order", "", "Paid with 4111 1111 1111 1111, thank you.");
    let told = decided(&message(&scripts, &["a@x.test"], &card).await.verdict.decision);
    assert_eq!(told, "554 5.7.1 The text holds what looks like a card number");
    let order = mail("Order", "", "Your order 4111 1111 1111 1112, call 0123-456 789.");
    assert_eq!(message(&scripts, &["a@x.test"], &order).await, Handling::USUAL);
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_before() {
    let receiver = Receiver::answer("200 OK", "{\"active\":false}");
    let scripts = receiver.example("13_ask_before.lua");
    for _ in 0..2 {
        let told = thought(&rcpt_to(&scripts, "a@x.test", &[], "eve@x.test").await);
        assert_eq!(told, "550 5.1.1 No such user here");
    }
    assert!(receiver.next().starts_with("GET /users?email=eve@x.test HTTP/1.1\r\n"));
    assert_eq!(receiver.asked(), 1, "what was said is remembered");
    let gone = Receiver::answer("503 Service Unavailable", "");
    let scripts = gone.example("13_ask_before.lua");
    assert_eq!(thought(&rcpt_to(&scripts, "a@x.test", &[], "eve@x.test").await), "defer");
}

#[test]
fn log_deleted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join("14_log_deleted.lua");
    let program = Program::read(&path, &Settings::default()).unwrap();
    assert_eq!(program.modules[0].handlers[0].to_string(), "postkeep.after.delete");
}
