//! Any name goes there and back, and no component can do harm.

use std::path::{Component, Path};

use proptest::prelude::*;

use super::{BadPath, components, name};

fn back(parts: &[String]) -> Result<String, BadPath> {
    name(parts.iter().map(String::as_str))
}

/// A component that every file system takes as a plain name of its own.
fn is_harmless(part: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'@' | b'.' | b'-' | b'%');
    let stem = part.split('.').next().unwrap();
    let device = ["con", "prn", "aux", "nul", "com1", "lpt1", "cur", "new", "tmp"].contains(&stem);
    let one = matches!(Path::new(part).components().collect::<Vec<_>>()[..], [Component::Normal(_)]);
    one && part.len() <= 200
        && part.bytes().all(plain)
        && !part.starts_with(['.', '-'])
        && !part.ends_with('.')
        && !device
}

#[test]
fn names_as_they_are_written() {
    let check = |mailbox: &str, expected: &str| {
        let parts = components(mailbox).unwrap();
        assert_eq!(parts.join("/"), expected);
        assert_eq!(back(&parts).unwrap(), mailbox);
    };
    check("alice", "alice");
    check("a.b-c_d@example.com", "a.b-c_d@example.com");
    check("..", "%2e%2e");
    check(".a.", "%2ea%2e");
    check("\"a/b\"", "%22a%2fb%22");
    check("-rf", "%2drf");
    check("con", "%63on");
    check("con.a", "%63on.a");
    check("com7", "%63om7");
    check("cur", "%63ur");
    check("contact", "contact");
    check("100%", "100%25");
    check("ü", "%c3%bc");
    check("a\0b", "a%00b");
}

#[test]
fn t081_a_long_name_goes_on_in_further_components() {
    let long = format!("\"{}\"@{}", "\u{fc}".repeat(32), "x".repeat(255));
    let parts = components(&long).unwrap();
    assert!(parts.len() > 1 && parts.iter().all(|part| is_harmless(part)), "{parts:?}");
    assert_eq!(back(&parts).unwrap(), long);
    assert_eq!(components(&"x".repeat(64 << 10)), Err(BadPath::TooLong));
    assert_eq!(name([&*"x".repeat(64 << 10)].into_iter()), Err(BadPath::TooLong));
    assert_eq!(
        name(std::iter::repeat_n("x%", 10_000).chain(["x"]).collect::<Vec<_>>().into_iter()),
        Err(BadPath::TooLong)
    );
}

#[test]
fn what_stands_before_the_last_component_is_no_part_of_the_name() {
    assert_eq!(name(["..", "etc", "alice"].into_iter()).unwrap(), "alice");
    assert_eq!(name(["x", "al%", "ice"].into_iter()).unwrap(), "alice");
    for bad in ["a%", "%", "%2", "%zz", "%+1", "%ff", "a%e4"] {
        assert_eq!(name([bad].into_iter()), Err(BadPath::Encoding), "{bad}");
    }
}

proptest! {
    #[test]
    fn t081_any_name_goes_there_and_back(mailbox in "\\PC{1,120}|[./%~\\\\\u{0}a-c]{1,300}|(con|aux|cur|com1)(\\.[a-z]{0,3})?") {
        prop_assume!(mailbox.len() <= 512);
        let parts = components(&mailbox).unwrap();
        prop_assert!(parts.iter().all(|part| is_harmless(part)), "{:?}", parts);
        prop_assert_eq!(back(&parts).unwrap(), mailbox);
    }

    #[test]
    fn two_names_never_share_a_path(one in "[a-c.%/-]{1,6}", two in "[a-c.%/-]{1,6}") {
        prop_assume!(one != two);
        prop_assert_ne!(components(&one).unwrap(), components(&two).unwrap());
    }

    #[test]
    fn reading_a_path_is_total(parts in proptest::collection::vec("\\PC{0,20}|[%a-f0-9]{0,9}", 0..5)) {
        let _ = back(&parts);
    }
}
