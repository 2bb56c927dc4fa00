//! No verb goes round access: each is called where nobody may do anything, and none may be missing from that walk.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use mail::ReversePath;
use store::list::{MailboxOrder, MailboxPage, Order, Page, RecentPage};
use store::{Position, Scope};

use super::{Access, Mode, Target, Verb};
use crate::stub::{self, ANYBODY, address, mailbox, parcel};
use crate::verdict::Decision;
use crate::{Caller, Error, Import, Mailroom, Refusal, Result, Settings, Stage, Status, Which};

/// What takes no caller because it touches no mail; `sign_in`, which makes one; and `ready`, which the program asks as
/// itself.
const WORDS: [&str; 10] =
    ["begin", "cursor", "named", "spelling", "now", "abilities", "events_dropped", "forget_idle", "sign_in", "ready"];

fn denied<T>(answer: Result<T>) -> bool {
    matches!(answer, Err(Error::Denied { .. }))
}

/// Every verb with a caller, and whether it was denied.
async fn walk(room: &Mailroom, caller: &Caller) -> Vec<(&'static str, bool)> {
    let (here, nobody, to) = (mailbox("here"), ReversePath(None), address("here@example.com"));
    let refuses = |decision: Decision| matches!(decision, Decision::Refuse(_));
    let page = Page { after: None, limit: 1, order: Order::Oldest };
    let all = MailboxPage { prefix: "", order: MailboxOrder::default(), limit: 1 };
    let mut emptied = parcel(room, &["here@example.com"]);
    emptied.discarded.push(0);
    room.refused(caller, refusal());
    vec![
        ("judge_sender", refuses(room.judge_sender(caller, &nobody).decision)),
        ("judge_recipient", refuses(room.judge_recipient(caller, &nobody, &to).0.decision)),
        ("refused", room.forgets_refusals()),
        ("deliver", denied(room.deliver(caller, parcel(room, &["here@example.com"])).await)),
        ("deliver", denied(room.deliver(caller, emptied).await)),
        ("import", denied(room.import(caller, import()).await)),
        ("list", denied(room.list(caller, &here, page).await)),
        ("recent", denied(room.recent(caller, RecentPage { before: None, limit: 1 }).await)),
        ("mailboxes", denied(room.mailboxes(caller, all).await)),
        ("position", denied(room.position(caller, &here).await)),
        ("refusals", denied(room.refusals(caller, &Scope::All, 1))),
        ("read", denied(room.read(caller, &here, Which::Latest).await)),
        ("delete", denied(room.delete(caller, &here, Which::Latest).await)),
        ("delete_all", denied(room.delete_all(caller, &here, &[]).await)),
        ("may", !room.may(caller, Verb::Delete, &here)),
        ("purge", denied(room.purge(caller, &here).await)),
        ("watch", denied(room.watch(caller, Scope::All).await)),
        ("since", denied(room.since(caller, &Scope::Mailbox(here.clone()), "no cursor").await)),
        ("resume", denied(room.resume(caller, Scope::Mailbox(here.clone()), None, Duration::ZERO).await)),
        ("watch_after", denied(room.watch_after(caller, Scope::Mailbox(here), Position::START).await)),
    ]
}

fn import() -> Import {
    let raw = bytes::Bytes::from_static(b"Subject: old\r\n\r\n");
    let received_at = jiff::Timestamp::UNIX_EPOCH;
    Import { mailbox: mailbox("here"), raw, received_at, mail_from: None, rcpt_to: Vec::new() }
}

fn refusal() -> Refusal {
    let reply = Status { code: 550, enhanced: (5, 1, 1), text: "no".into() };
    let at = jiff::Timestamp::UNIX_EPOCH;
    Refusal { at, stage: Stage::Rcpt, mail_from: None, rcpt_to: Vec::new(), mailboxes: Vec::new(), reply }
}

#[tokio::test]
async fn every_verb_asks_access() {
    let (stub, room) = stub::open(Settings { access: Mode::Shut, ..Settings::default() });
    for caller in [ANYBODY, Caller::Program, Caller::Inbox { mailbox: mailbox("here") }] {
        for (verb, denied) in walk(&room, &caller).await {
            assert!(denied, "{verb} does not ask access for {caller:?}");
        }
    }
    assert!(denied(room.ready().await), "ready does not ask access");
    assert_eq!((stub.messages(), stub.streams()), (0, 0), "a denied verb reached the engine");
}

#[tokio::test]
async fn in_open_mode_nobody_is_denied() {
    let (_stub, room) = stub::open(Settings::default());
    for (verb, denied) in walk(&room, &ANYBODY).await {
        assert!(!denied, "{verb} is denied in open mode");
    }
}

/// A verb asks for the mailbox that it is about, and for all when it is about all.
#[tokio::test]
async fn every_verb_asks_for_its_own_mailbox() {
    let nowhere = ["judge_sender", "refused", "deliver"];
    let (stub, room) = stub::open(Settings { access: Mode::Only("elsewhere"), ..Settings::default() });
    for (verb, denied) in walk(&room, &ANYBODY).await {
        assert!(denied || nowhere.contains(&verb), "{verb} is allowed on another mailbox");
    }
    let both = parcel(&room, &["elsewhere@example.com", "here@example.com"]);
    assert!(denied(room.deliver(&ANYBODY, both).await), "one of two mailboxes is not allowed");
    assert_eq!(stub.messages(), 0, "all or none");
    let (_stub, room) = stub::open(Settings { access: Mode::Only("here"), ..Settings::default() });
    let of_all = ["recent", "mailboxes", "refusals", "watch"];
    for (verb, denied) in walk(&room, &ANYBODY).await {
        assert_eq!(denied, of_all.contains(&verb), "{verb} is about all mailboxes, or about this one");
    }
}

/// Reads the source of the verbs: whoever adds one adds it to the walk too.
#[tokio::test]
async fn every_verb_is_walked() {
    let (_stub, room) = stub::open(Settings::default());
    let walked: BTreeSet<&str> = walk(&room, &ANYBODY).await.into_iter().map(|(verb, _)| verb).collect();
    let functions = public_functions(include_str!("../room.rs"));
    let (verbs, words): (Vec<_>, Vec<_>) = functions.into_iter().partition(|(_, takes_caller)| *takes_caller);
    let names = |functions: Vec<(&'static str, bool)>| functions.into_iter().map(|(name, _)| name).collect();
    assert_eq!(BTreeSet::from(WORDS), names(words), "a function without a caller must touch no mail");
    assert_eq!(walked, names(verbs), "a function with a caller must be in the walk");
}

/// The public functions of a source on `self`, and whether each takes a caller.
fn public_functions(source: &str) -> Vec<(&str, bool)> {
    let functions = source.split("\n    pub ").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
        let (name, _) = rest.split_once(['(', '<'])?;
        let (arguments, _) = rest.split_once(" {\n")?;
        arguments.contains("&self").then(|| (name, arguments.contains("caller: &Caller")))
    });
    functions.collect()
}

/// What the test above relies on: the verbs are all in one file, and the engine lies nowhere but in the vault.
#[test]
fn the_engine_lies_in_the_vault_and_the_verbs_in_one_file() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (_, room) = include_str!("../room.rs").split_once("pub struct Mailroom {").unwrap();
    let (fields, _) = room.split_once('}').unwrap();
    assert!(!fields.contains("Store"), "the mailroom holds the engine outside the vault:{fields}");
    let mut pending = vec![sources];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        if !["room.rs", "tests.rs"].contains(&name) {
            assert!(!std::fs::read_to_string(&path).unwrap().contains("impl Mailroom"), "verbs in {path:?}");
        }
    }
}

#[test]
fn a_scope_is_a_target() {
    let here = mailbox("here");
    assert_eq!(Target::from(&Scope::All), Target::All);
    assert_eq!(Target::from(&Scope::Mailbox(here.clone())), Target::Mailbox(&here));
}

#[test]
fn a_denial_names_the_verb() {
    let check = |verb: Verb, expected: &str| {
        let error = Access::new(Mode::Shut).permit(&Caller::Program, verb, Target::All).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    };
    check(Verb::Deliver, "deliver ");
    check(Verb::Purge, "purge ");
}
