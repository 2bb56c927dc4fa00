//! No verb goes round access: each is called where nobody may do anything, and none may be missing from that walk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mail::{Mailbox, Naming, ReversePath};
use store::list::{MailboxOrder, MailboxPage, Order, Page, RecentPage};
use store::{Job, JobId, Lease, Position, Scope, SystemClock};

use super::{Access, Mode, Rules, Scopes, Target, Verb};
use crate::faults::{Act, NewPlan, Per, When, Whom};
use crate::outgoing::release::{Release, ReleaseAsk};
use crate::stub::{self, ANYBODY, address, mailbox, parcel};
use crate::verdict::Decision;
use crate::{
    Caller, Error, Import, Mailroom, NewInbox, NewToken, Once, RecentAsk, Refusal, Result, Search, Settings, Stage,
    Status, Visit, Which, wait,
};

mod deciding;
mod inboxes;
mod knowing;
mod words;

/// What takes no caller because it touches no mail; what makes a caller; and what the program asks as itself.
const WORDS: [&str; 26] = [
    "connected",
    "connections",
    "letter",
    "wait_limits",
    "waiting",
    "begin",
    "cursor",
    "named",
    "naming",
    "spelling",
    "now",
    "abilities",
    "events_dropped",
    "forget_idle",
    "ready",
    "recall",
    "identify",
    "sign_in",
    "login",
    "logout",
    "mode",
    "scopes",
    "spelled_scopes",
    "jobs_written",
    "allows_release",
    "pace_release",
];
/// What is said of a name, whoever asks.
const OF_NAMES: [&str; 1] = ["shape"];
/// How much is shown of what was read before, and who need not ask at all.
const OF_SIGHT: [&str; 6] = ["seen", "sees_transport", "admit", "verbs", "releases_to", "faults_in_force"];

fn denied<T>(answer: Result<T>) -> bool {
    matches!(answer, Err(Error::Denied { .. }))
}

const LEASE: Lease = Lease { job: JobId(1), taking: 1 };

/// Every verb with a caller, and whether it was denied.
async fn walk(room: &Mailroom, caller: &Caller) -> Vec<(&'static str, bool)> {
    let (here, nobody, to) = (mailbox("here"), ReversePath(None), address("here@example.com"));
    let refuses = |decision: Decision| matches!(decision, Decision::Refuse(_));
    let page = Page { after: None, limit: 1, order: Order::Oldest };
    let all = MailboxPage { prefix: "", order: MailboxOrder::default(), limit: 1 };
    let token =
        NewToken { name: String::new(), scopes: Scopes::parse(["ro:*"], Naming::Local).unwrap(), expires: None };
    let once = Once { key: "k", sum: [0; 32], window: Duration::from_secs(1) };
    let ask = ReleaseAsk { to: vec![address("here@example.com")], from: None };
    let mut emptied = parcel(room, &["here@example.com"]);
    emptied.discarded.push(0);
    room.refused(caller, refusal());
    vec![
        ("judge_sender", refuses(room.judge_sender(&Visit::of(caller, &nobody)).await.decision)),
        ("judge_recipient", refuses(room.judge_recipient(&Visit::of(caller, &nobody), &to).await.0.decision)),
        ("refused", room.forgets_refusals()),
        ("deliver", denied(room.deliver(caller, parcel(room, &["here@example.com"])).await)),
        ("deliver", denied(room.deliver(caller, emptied).await)),
        ("may_deliver", denied(room.may_deliver(caller, &here))),
        ("deliver_once", denied(room.deliver_once(caller, parcel(room, &["here@example.com"]), once).await)),
        ("import", denied(room.import(caller, import()).await)),
        ("list", denied(room.list(caller, &here, page).await)),
        ("find", denied(room.find(caller, &here, &[], Order::Newest).await)),
        ("find_everywhere", denied(room.find_everywhere(caller, &[]).await)),
        ("recent", denied(room.recent(caller, RecentPage { before: None, limit: 1 }).await)),
        ("mailboxes", denied(room.mailboxes(caller, all).await)),
        ("held", denied(room.held(caller, &here).await)),
        ("search", denied(room.search(caller, search()).await)),
        ("list_recent", denied(room.list_recent(caller, RecentAsk { limit: 1, ..RecentAsk::default() }).await)),
        ("list_mailboxes", denied(room.list_mailboxes(caller, "", None, 1).await)),
        ("similar", denied(room.similar(caller, &here).await)),
        ("refusals_everywhere", denied(room.refusals_everywhere(caller, &Scope::All, 1).await)),
        ("position", denied(room.position(caller, &here).await)),
        ("since", denied(room.since(caller, &Scope::Mailbox(here.clone()), "no cursor").await)),
        ("refusals", denied(room.refusals(caller, &Scope::All, 1))),
        ("read", denied(room.read(caller, &here, Which::Latest).await)),
        ("delete", denied(room.delete(caller, &here, Which::Latest).await)),
        ("delete_all", denied(room.delete_all(caller, &here, &[]).await)),
        ("may", !room.may(caller, Verb::Delete, &here)),
        ("purge", denied(room.purge(caller, &here).await)),
        ("take_jobs", denied(room.take_jobs(caller, "webhook", 1, Duration::ZERO).await)),
        ("job_done", denied(room.job_done(caller, LEASE).await)),
        ("job_retry", denied(room.job_retry(caller, LEASE, room.now()).await)),
        ("job_dead", denied(room.job_dead(caller, LEASE, "").await)),
        ("dead_jobs", denied(room.dead_jobs(caller, "webhook", 1).await)),
        ("weigh_webhooks", denied(room.weigh_webhooks(caller, 1).await)),
        ("dead_webhooks", denied(room.dead_webhooks(caller).await)),
        ("replay_webhook", denied(room.replay_webhook(caller, LEASE.job).await)),
        ("jobs_waiting", denied(room.jobs_waiting(caller, "webhook").await)),
        ("release", denied(room.release(caller, &here, Which::Latest, ask.clone()).await)),
        ("releases", denied(room.releases(caller, Some(&here), 1).await)),
        ("read_release", denied(room.read_release(caller, "1").await)),
        ("begin_release", denied(room.begin_release(caller, &job()).await)),
        ("keep_release", denied(room.keep_release(caller, &released()).await)),
        ("forget_releases", denied(room.forget_releases(caller).await)),
        ("purge_until", denied(room.purge_until(caller, &here, "no cursor").await)),
        ("purge_all", denied(room.purge_all(caller, None).await)),
        ("watch_refusals", denied(room.watch_refusals(caller))),
        ("may_watch_refusals", !room.may_watch_refusals(caller)),
        ("open_inbox", denied(room.open_inbox(caller, &NewInbox::default(), None))),
        ("read_inbox", denied(room.read_inbox(caller, &here))),
        ("close_inbox", denied(room.close_inbox(caller, &here).await)),
        ("issue_token", denied(room.issue_token(caller, token).await)),
        ("list_tokens", denied(room.list_tokens(caller))),
        ("revoke_token", denied(room.revoke_token(caller, "01234567").await)),
        ("watch", denied(room.watch(caller, Scope::All).await)),
        ("resume", denied(room.resume(caller, Scope::Mailbox(here.clone()), None, Duration::ZERO).await)),
        ("wait", denied(room.wait(caller, None, wait_once(&here)).await)),
        ("watch_after", denied(room.watch_after(caller, Scope::Mailbox(here), Position::START).await)),
        ("fault_plans", denied(room.fault_plans(caller).await)),
        ("remove_fault", denied(room.remove_fault(caller, "01234567").await)),
        ("plan_fault", denied(room.plan_fault(caller, plan()).await)),
    ]
}

fn job() -> Job {
    let (kind, payload) = ("release".to_owned(), bytes::Bytes::new());
    Job { lease: LEASE, kind, lane: None, payload, messages: Vec::new(), attempts: 0 }
}

fn released() -> Release {
    Release {
        id: "1".to_owned(),
        mailbox: mailbox("here"),
        message: mail::MessageId::new(1),
        subject: String::new(),
        sender: None,
        created_at: jiff::Timestamp::UNIX_EPOCH,
        by: None,
        rule: None,
        recipients: Vec::new(),
    }
}

fn wait_once(mailbox: &Mailbox) -> wait::Ask {
    wait::Ask {
        scope: Scope::Mailbox(mailbox.clone()),
        matchers: wait::Matchers::default(),
        since: None,
        order: None,
        count: 1,
        exclude: Vec::new(),
        expect: wait::Expect::Mail,
        timeout: Duration::ZERO,
    }
}

fn search() -> Search {
    let (scope, order) = (Scope::Mailbox(mailbox("here")), Order::Newest);
    Search { query: mail::Query::default(), scope, order, since: Position::START, behind: None, limit: 1 }
}

/// A plan that never comes to act.
fn plan() -> NewPlan {
    let (whom, act) = (Whom::Mailbox(mailbox("here")), Act { drop: true, ..Act::default() });
    let (when, per) = (When::Nth(1_000_000), Per::Plan);
    NewPlan { whom, stage: Stage::Data, act, when, per, ttl: None, note: String::new() }
}

fn import() -> Import {
    let raw = bytes::Bytes::from_static(b"Subject: old\r\n\r\n");
    let received_at = jiff::Timestamp::UNIX_EPOCH;
    Import { mailbox: mailbox("here"), raw, received_at, mail_from: None, rcpt_to: Vec::new() }
}

fn refusal() -> Refusal {
    let reply = Status { code: 550, enhanced: (5, 1, 1), text: "no".into() };
    let at = jiff::Timestamp::UNIX_EPOCH;
    let (rcpt_to, mailboxes, mail_from) = (Vec::new(), Vec::new(), None);
    Refusal { at, stage: Stage::Rcpt, mail_from, rcpt_to, mailboxes, helo: None, peer: None, reply, fault: None }
}

fn settings(mode: Mode) -> Settings {
    Settings { access: mode.into(), ..Settings::default() }
}

#[tokio::test]
async fn every_verb_asks_access() {
    let (stub, room) = stub::open(settings(Mode::Shut));
    for caller in [ANYBODY, Caller::Program, Caller::Inbox { mailbox: mailbox("here") }] {
        for (verb, denied) in walk(&room, &caller).await {
            assert!(denied, "{verb} does not ask access for {caller:?}");
        }
    }
    assert!(denied(room.ready().await), "ready does not ask access");
    assert_eq!((stub.messages(), stub.streams()), (0, 0), "a denied verb reached the engine");
}

#[tokio::test]
async fn in_open_mode_nobody_is_denied_but_what_would_outlive_it() {
    let (_stub, room) = stub::open(Settings::default());
    for (verb, denied) in walk(&room, &ANYBODY).await {
        assert_eq!(denied, ["issue_token", "revoke_token"].contains(&verb), "{verb} in open mode");
    }
}

/// A verb asks for the mailbox that it is about, and for all when it is about all.
#[tokio::test]
async fn every_verb_asks_for_its_own_mailbox() {
    let nowhere = ["judge_sender", "refused", "deliver", "open_inbox"];
    let (stub, room) = stub::open(settings(Mode::Only("elsewhere")));
    for (verb, denied) in walk(&room, &ANYBODY).await {
        assert!(denied || nowhere.contains(&verb), "{verb} is allowed on another mailbox");
    }
    let both = parcel(&room, &["elsewhere@example.com", "here@example.com"]);
    assert!(denied(room.deliver(&ANYBODY, both).await), "one of two mailboxes is not allowed");
    assert_eq!(stub.messages(), 0, "all or none");
    let (_stub, room) = stub::open(settings(Mode::Only("here")));
    let of_all = [
        "recent",
        "find_everywhere",
        "mailboxes",
        "purge_all",
        "list_recent",
        "list_mailboxes",
        "similar",
        "refusals",
        "watch_refusals",
        "may_watch_refusals",
        "refusals_everywhere",
        "watch",
        "issue_token",
        "list_tokens",
        "revoke_token",
        "take_jobs",
        "job_done",
        "job_retry",
        "job_dead",
        "dead_jobs",
        "weigh_webhooks",
        "dead_webhooks",
        "replay_webhook",
        "jobs_waiting",
        "read_release",
        "begin_release",
        "keep_release",
        "forget_releases",
        "fault_plans",
        "remove_fault",
    ];
    for (verb, denied) in walk(&room, &ANYBODY).await {
        assert_eq!(denied, of_all.contains(&verb), "{verb} is about all mailboxes, or about this one");
    }
}

/// Reads the source of the verbs: whoever adds one adds it to the walk too.
#[tokio::test]
async fn every_verb_is_walked() {
    let (_stub, room) = stub::open(Settings::default());
    let walked: BTreeSet<String> = walk(&room, &ANYBODY).await.into_iter().map(|(verb, _)| verb.to_owned()).collect();
    let sources: Vec<String> = verbs_files().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let functions: Vec<(&str, bool)> = sources.iter().flat_map(|source| public_functions(source)).collect();
    let names = |takes: bool| {
        let those = functions.iter().filter(|(_, takes_caller)| *takes_caller == takes);
        those.map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<String>>()
    };
    let known = |lists: &[&[&str]]| lists.concat().into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
    assert_eq!(known(&[&WORDS, &OF_NAMES]), names(false), "a function without a caller must touch no mail");
    let walked = walked.union(&known(&[&OF_SIGHT])).cloned().collect();
    assert_eq!(names(true), walked, "a function with a caller must be in the walk");
}

/// The public functions of a source on `self`, and whether each takes a caller.
fn public_functions(source: &str) -> Vec<(&str, bool)> {
    let functions = source.split("\n    pub ").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
        let (name, _) = rest.split_once(['(', '<'])?;
        let (arguments, _) = rest.split_once(" {\n")?;
        let takes = ["caller: &Caller", "visit: &Visit"].iter().any(|argument| arguments.contains(argument));
        arguments.contains("&self").then_some((name, takes))
    });
    functions.collect()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Where the verbs are: `room.rs`, and the files in the directory beside it.
fn verbs_files() -> Vec<PathBuf> {
    let beside = std::fs::read_dir(sources().join("room")).unwrap().map(|entry| entry.unwrap().path());
    let is_verbs = |path: &PathBuf| path.extension().is_some() && !path.ends_with("tests.rs");
    [sources().join("room.rs")].into_iter().chain(beside.filter(is_verbs)).collect()
}

/// What the test above relies on: the verbs are all in those files, and the engine lies nowhere but in the vault.
#[test]
fn the_engine_lies_in_the_vault_and_the_verbs_in_their_files() {
    let (_, room) = include_str!("../room.rs").split_once("pub struct Mailroom {").unwrap();
    let (fields, _) = room.split_once('}').unwrap();
    assert!(!fields.contains("Store"), "the mailroom holds the engine outside the vault:{fields}");
    let (mut pending, verbs) = (vec![sources()], verbs_files());
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if !path.ends_with("tests.rs") && !verbs.contains(&path) {
            assert!(!std::fs::read_to_string(&path).unwrap().contains("impl Mailroom"), "verbs in {path:?}");
        }
    }
}

#[test]
fn a_scope_is_a_target() {
    let here = mailbox("here");
    assert_eq!(Target::from(&Scope::All), Target::Any);
    assert_eq!(Target::from(&Scope::Mailbox(here.clone())), Target::Mailbox(&here));
}

/// By some rules, where mailboxes are named by local parts.
fn access(rules: impl Into<Rules>) -> Access {
    Access::new(rules.into(), Naming::Local, Arc::new(SystemClock))
}

#[test]
fn a_denial_names_what_it_needs() {
    let here = mailbox("here");
    let check = |verb: Verb, target: Target<'_>, expected: &str| {
        let error = access(Mode::Token).permit(&ANYBODY, verb, target).unwrap_err();
        let Error::Denied(denial) = &error else { panic!("{error:?}") };
        assert_eq!(denial.needs(), Some(expected));
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(Verb::Deliver, Target::Transaction, "deliver:*");
    check(Verb::Purge, Target::Mailbox(&here), "purge:here");
    check(Verb::Import, Target::Mailbox(&here), "admin:here");
}
