//! Who may do what, in each mode: tables of callers and verbs.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mail::Naming;

use super::access;
use crate::access::tokens::{Grant, Tokens};
use crate::access::{Denial, InboxSecret, Mode, Origin, Rules, Scopes, Target, Verb, Verbs};
use crate::stub::{ANYBODY, mailbox};
use crate::{Caller, Error};

fn token(scopes: &[&str]) -> Caller {
    let scopes = Scopes::parse(scopes.iter().copied(), Naming::Local).unwrap();
    Caller::Token { grant: Arc::new(Grant::new("t".into(), String::new(), scopes, Origin::File)) }
}

/// The verbs that a caller may on something.
fn may(mode: Mode, caller: &Caller, target: Target<'_>) -> String {
    let access = access(mode);
    let verbs: Vec<&str> =
        Verb::ALL.iter().filter(|verb| access.permit(caller, **verb, target).is_ok()).map(|verb| verb.name()).collect();
    verbs.join(" ")
}

#[test]
fn t103_a_token_is_good_for_its_verbs_on_its_mailboxes() {
    let (ci, other) = (mailbox("ci-7"), mailbox("other"));
    let check = |scopes: &[&str], on_ci: &str, on_other: &str, on_any: &str, on_all: &str| {
        let caller = token(scopes);
        for (target, expected) in [
            (Target::Mailbox(&ci), on_ci),
            (Target::Mailbox(&other), on_other),
            (Target::Any, on_any),
            (Target::All, on_all),
        ] {
            assert_eq!(may(Mode::Token, &caller, target), expected, "{scopes:?} on {target:?}");
        }
    };
    let ro = "list read wait watch open";
    let every = "list read wait watch delete purge deliver release fault admin import open";
    check(&["ro:ci-*"], ro, "open", ro, "open");
    check(&["ro:ci-7"], ro, "open", ro, "open");
    check(&["ro:*"], ro, ro, ro, ro);
    check(&["ro:*", "delete:ci-*"], "list read wait watch delete open", ro, "list read wait watch delete open", ro);
    check(&["deliver:ci-*"], "deliver open", "open", "deliver open", "open");
    check(&["admin:*"], every, every, every, every);
    check(&["admin:ci-*"], every, "open", every, "open");
}

#[test]
fn t103_in_token_mode_nobody_else_may_anything_but_send_by_smtp() {
    let (here, peer) = (mailbox("here"), None);
    let others = [ANYBODY, Caller::User { name: "here".into(), peer }, Caller::Inbox { mailbox: here.clone() }];
    for caller in others {
        for target in [Target::Mailbox(&here), Target::Any, Target::All, Target::Transaction] {
            assert_eq!(may(Mode::Token, &caller, target), "", "{caller:?} on {target:?}");
        }
    }
    let sender = Caller::Sender { user: None, peer };
    assert_eq!(may(Mode::Token, &sender, Target::Mailbox(&here)), "deliver");
    assert_eq!(may(Mode::Token, &sender, Target::Transaction), "deliver");
    assert_eq!(may(Mode::Public, &sender, Target::Transaction), "deliver open");
}

#[test]
fn in_public_mode_whoever_knows_a_name_may_read_there_and_no_more() {
    let here = mailbox("here");
    assert_eq!(may(Mode::Public, &ANYBODY, Target::Mailbox(&here)), "list read wait watch");
    for target in [Target::Any, Target::All, Target::Transaction] {
        assert_eq!(may(Mode::Public, &ANYBODY, target), "open", "{target:?}");
    }
    let rw = token(&["rw:here"]);
    assert_eq!(may(Mode::Public, &rw, Target::Mailbox(&here)), "list read wait watch delete purge open");
    assert_eq!(may(Mode::Public, &rw, Target::Mailbox(&mailbox("other"))), "list read wait watch open");
    let rules = Rules { public_verbs: Verbs::of(&[Verb::List]), ..Mode::Public.into() };
    assert!(access(rules).permit(&ANYBODY, Verb::Read, Target::Mailbox(&here)).is_err());
    let denied = access(Mode::Public).permit(&ANYBODY, Verb::Delete, Target::Mailbox(&here));
    assert!(matches!(denied, Err(Error::Denied(Denial::NotInPublicMode(_)))), "{denied:?}");
}

#[test]
fn in_open_mode_everybody_may_everything() {
    let here = mailbox("here");
    for caller in [ANYBODY, token(&["ro:x"]), Caller::Inbox { mailbox: here.clone() }] {
        for target in [Target::Mailbox(&here), Target::Any, Target::All, Target::Transaction] {
            assert_eq!(may(Mode::Open, &caller, target).split(' ').count(), Verb::ALL.len());
        }
    }
    let always = Rules { inbox_secret: InboxSecret::Always, ..Rules::default() };
    assert!(access(Mode::Open).sees_all(&ANYBODY) && !access(always).sees_all(&ANYBODY));
    assert!(access(Mode::Token).sees_all(&token(&["admin:*"])) && !access(Mode::Token).sees_all(&token(&["ro:*"])));
}

#[test]
fn a_token_that_is_over_is_good_for_nothing_for_whoever_carries_it() {
    let now = Timestamp::now();
    let scopes = || Scopes::parse(["admin:*"], Naming::Local).unwrap();
    let mut over = Grant::new("t".into(), String::new(), scopes(), Origin::Issued);
    over.expires = Some(now - SignedDuration::from_secs(1));
    let over = Caller::Token { grant: Arc::new(over) };
    for mode in [Mode::Token, Mode::Public] {
        assert_eq!(may(mode, &over, Target::Mailbox(&mailbox("here"))), "", "{mode:?}");
    }
    let tokens = Tokens::new(Vec::new(), Naming::Local);
    let digest = crate::access::Digest::of("x");
    let value = Grant::new("t".into(), "n".into(), scopes(), Origin::Issued).write(&digest, Naming::Local).into();
    tokens.put(&store::Entry { key: "t".into(), value, version: store::Version(1), expires: None });
    let grant = tokens.find(&digest).unwrap();
    let carried = Caller::Token { grant: Arc::clone(&grant) };
    assert_ne!(may(Mode::Token, &carried, Target::All), "");
    tokens.remove("t");
    assert_eq!(may(Mode::Token, &carried, Target::All), "", "it was revoked");
    assert!(tokens.find(&digest).is_none() && !grant.is_live(now));
}

/// What is offered is what may be done on one mailbox at least, and nothing else.
#[test]
fn what_a_caller_may_somewhere() {
    let check = |rules: Rules, caller: &Caller, expected: &str| {
        let access = access(rules);
        let able = Verb::ALL.into_iter().filter(|verb| access.may_somewhere(caller, *verb));
        assert_eq!(able.map(Verb::name).collect::<Vec<_>>().join(" "), expected, "{caller:?}");
    };
    let every = "list read wait watch delete purge deliver release fault admin import open";
    check(Mode::Open.into(), &ANYBODY, every);
    check(Mode::Token.into(), &ANYBODY, "");
    check(Mode::Token.into(), &token(&["ro:ci-*", "delete:x"]), "list read wait watch delete open");
    check(Mode::Public.into(), &ANYBODY, "list read wait watch open");
    check(Mode::Public.into(), &token(&["deliver:x"]), "list read wait watch deliver open");
    check(Rules { public_verbs: Verbs::RW, ..Mode::Public.into() }, &ANYBODY, "list read wait watch delete purge open");
}
