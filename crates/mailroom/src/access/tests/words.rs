//! Scopes, patterns, tokens and keys as they are written.

use mail::Naming;

use crate::access::inbox::BadKeys;
use crate::access::scope::SCOPES_MAX;
use crate::access::token::id_of;
use crate::access::{BadPattern, BadScope, Digest, Keys, Pattern, Scopes, Token};
use crate::stub::mailbox;

#[test]
fn a_pattern_is_a_name_or_has_a_star_at_one_end() {
    let check = |naming, text: &str, covered: &[&str], others: &[&str]| {
        let pattern = Pattern::parse(text, naming).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        for name in covered {
            assert!(pattern.covers(&mailbox(name)), "{text} covers {name}");
        }
        for name in others {
            assert!(!pattern.covers(&mailbox(name)), "{text} does not cover {name}");
        }
        assert_eq!(Pattern::parse(&pattern.spelled(naming), naming), Ok(pattern), "{text} is taken back");
    };
    use Naming::{Domain, Full, Local};
    check(Local, "*", &["a", "ci-1"], &[]);
    check(Local, "Alice", &["alice"], &["alice2", "xalice", "alic"]);
    check(Local, "\"John Doe\"", &["john doe"], &["john"]);
    check(Local, "CI-*", &["ci-", "ci-7"], &["ci", "xci-7"]);
    check(Local, "*-bot", &["a-bot"], &["a-bot2"]);
    check(Full, "*@Team.Test", &["a@team.test"], &["a@xteam.test", "a@team.test.evil"]);
    check(Full, "a@x.test", &["a@x.test"], &["a@y.test"]);
    check(Full, "*@bücher.test", &["a@bücher.test"], &["a@bucher.test"]);
    check(Full, "*@xn--bcher-kva.test", &["a@bücher.test"], &[]);
    check(Domain, "*.test", &["a.test"], &["test", "a.tests"]);
}

#[test]
fn what_is_no_pattern_is_refused_with_the_reason() {
    let check = |naming, text: &str, bad: BadPattern| assert_eq!(Pattern::parse(text, naming), Err(bad), "{text}");
    use Naming::{Full, Local};
    check(Local, "", BadPattern::Length);
    check(Local, &"a".repeat(321), BadPattern::Length);
    for text in ["a*b", "*a*", "**", "a**"] {
        check(Local, text, BadPattern::Star);
    }
    check(Local, "*@team.test", BadPattern::Domain);
    check(Local, "a@team.test", BadPattern::Domain);
    check(Local, "a+1", BadPattern::Tag);
    assert!(matches!(Pattern::parse("alice", Full), Err(BadPattern::Name(_))));
    assert!(matches!(Pattern::parse("a b", Local), Err(BadPattern::Name(_))));
}

#[test]
fn scopes_are_read_and_written_back_in_the_fewest_words() {
    let check = |text: &str, spelled: &str| {
        let scopes = Scopes::parse([text], Naming::Local).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        assert_eq!(scopes.spelled(Naming::Local), [spelled]);
        assert_eq!(Scopes::parse([spelled], Naming::Local), Ok(scopes));
    };
    check("ro:ci-*", "ro:ci-*");
    check("list,read,wait,watch:a", "ro:a");
    check("rw,deliver:*", "rw,deliver:*");
    check(" watch , list : a ", "list,watch:a");
    check("admin:*", "admin:*");
    check("release,fault:\"j d\"", "release,fault:\"j d\"");
    let bad = |texts: &[&str]| Scopes::parse(texts.iter().copied(), Naming::Local).unwrap_err();
    assert!(matches!(bad(&["ro"]), BadScope::Shape(_)));
    assert!(matches!(bad(&["write:*"]), BadScope::Verb(word) if word == "write"));
    assert!(matches!(bad(&["import:*"]), BadScope::Verb(_)), "only an admin imports");
    assert!(matches!(bad(&[":*"]), BadScope::Verb(_)));
    assert!(matches!(bad(&["ro:a*b"]), BadScope::Pattern(_, BadPattern::Star)));
    assert_eq!(bad(&[]), BadScope::Count);
    assert_eq!(bad(&vec!["ro:a"; SCOPES_MAX + 1]), BadScope::Count);
}

#[test]
fn a_token_is_random_and_shows_itself_once() {
    let (one, other) = (Token::make().unwrap(), Token::make().unwrap());
    assert_ne!(one, other);
    assert_eq!(one.text().len(), "pkt_".len() + 8 + 1 + 32);
    assert_eq!(id_of(one.text()), Some(one.id()));
    let shown = format!("{one:?} {:?}", one.digest());
    assert!(shown.contains(one.id()) && !shown.contains(&one.text()[13..]), "{shown}");
    assert_eq!(one.digest().to_string().parse(), Ok(one.digest()));
    for bad in ["", "pkt_", "pkt_01234567_", "pkt_0123456_00000000000000000000000000000000", "pki_x"] {
        assert_eq!(id_of(bad), None, "{bad}");
    }
    for bad in ["", "00", &"g".repeat(64), &"é".repeat(32)] {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
    }
}

#[test]
fn a_key_file_holds_keys_and_remarks() {
    let (one, other) = ("0f".repeat(32), "A0".repeat(32));
    let keys = Keys::parse(&format!("# ours\n{one}\n\n  {other}  \n")).unwrap();
    assert_eq!(keys.text(), format!("{one}\n{}\n", other.to_lowercase()));
    assert_eq!(format!("{keys:?}"), "Keys(2)");
    assert_eq!(Keys::parse(&Keys::make().unwrap().text()).unwrap().text().len(), 65);
    assert_eq!(Keys::parse("# nothing\n"), Err(BadKeys { line: 0 }));
    assert_eq!(Keys::parse(&format!("{one}\n{}\n", &one[1..])), Err(BadKeys { line: 2 }));
    assert_eq!(Keys::parse(&"é".repeat(32)), Err(BadKeys { line: 1 }));
    assert_eq!(Keys::parse(&format!("{one}\n").repeat(17)), Err(BadKeys { line: 17 }));
}
