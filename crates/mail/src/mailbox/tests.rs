//! The canonical form by example; its properties over everything SMTP takes.

use proptest::prelude::*;

use super::*;

fn recipient(naming: Naming, address: &str) -> Result<String, BadName> {
    let address = Address::parse(address, Charset::Utf8).expect(address);
    naming.mailbox(&address).map(|mailbox| mailbox.as_str().to_owned())
}

fn named(naming: Naming, name: &str) -> Result<String, BadName> {
    naming.named(name).map(|mailbox| mailbox.as_str().to_owned())
}

#[test]
fn local_part_names_the_mailbox() {
    for (address, name) in [
        ("box@x.test", "box"),
        ("BOX@x.test", "box"),
        ("box+tag@x.test", "box"),
        ("box+a+b@x.test", "box"),
        ("box+@x.test", "box"),
        ("Some.Dots@x.test", "some.dots"),
        (r#""box"@x.test"#, "box"),
        (r#""BOX"@x.test"#, "box"),
        (r#""\box"@x.test"#, "box"),
        (r#""box+x"@x.test"#, "box"),
        (r#""box x"@x.test"#, "box x"),
        (r#""box@x"@y.test"#, "box@x"),
        (r#""box/../x"@x.test"#, "box/../x"),
        ("box/x@x.test", "box/x"),
        ("con@x.test", "con"),
        ("JÜRGEN@x.test", "jürgen"),
        ("ju\u{308}rgen@x.test", "jürgen"),
        ("İ@x.test", "i\u{307}"),
        ("\u{212a}@x.test", "k"),
        ("ΑΣ@x.test", "ας"),
        ("ｆｕｌｌ@x.test", "ｆｕｌｌ"),
    ] {
        assert_eq!(recipient(Naming::Local, address), Ok(name.to_owned()), "{address}");
    }
}

#[test]
fn other_policies_name_by_domain_too() {
    for (naming, address, name) in [
        (Naming::Full, "Some.User+tag@Example.TEST", "some.user@example.test"),
        (Naming::Full, r#""a b"@x.test"#, "a b@x.test"),
        (Naming::Full, r#""a@b"@x.test"#, "a@b@x.test"),
        (Naming::Full, "a@[IPv6:2001:DB8::1]", "a@[ipv6:2001:db8::1]"),
        (Naming::Full, "a@XN--MNCHEN-3YA.test", "a@münchen.test"),
        (Naming::Full, "a@MÜNCHEN.test", "a@münchen.test"),
        (Naming::Full, "a@münchen.test", "a@münchen.test"),
        (Naming::Full, "a@xn--a.test", "a@xn--a.test"),
        (Naming::Domain, "Some.User@Example.test", "example.test"),
        (Naming::Domain, "a@xn--mnchen-3ya.test", "münchen.test"),
        (Naming::Domain, "a@[127.0.0.1]", "[127.0.0.1]"),
    ] {
        assert_eq!(recipient(naming, address), Ok(name.to_owned()), "{naming:?} {address}");
    }
}

#[test]
fn a_tag_alone_names_nothing() {
    for naming in [Naming::Local, Naming::Full, Naming::Domain] {
        for address in ["+tag@x.test", "+@x.test", r#""+ x"@x.test"#] {
            assert_eq!(recipient(naming, address), Err(BadName::TagAlone), "{naming:?} {address}");
        }
    }
    assert_eq!(named(Naming::Local, "+tag"), Err(BadName::TagAlone));
}

#[test]
fn readers_name_a_mailbox_in_many_ways() {
    for (name, mailbox) in [
        ("box", "box"),
        ("BOX", "box"),
        ("box+tag", "box"),
        ("box@x.test", "box"),
        ("BOX+tag@X.TEST", "box"),
        (r#""box""#, "box"),
        (r#""two words""#, "two words"),
        (r#""two words"@x.test"#, "two words"),
        (r#""a@b""#, "a@b"),
        ("a/b", "a/b"),
        ("e\u{301}", "é"),
    ] {
        assert_eq!(named(Naming::Local, name), Ok(mailbox.to_owned()), "{name}");
    }
    for (name, mailbox) in [("X.test", "x.test"), ("a@X.test", "x.test"), ("[127.0.0.1]", "[127.0.0.1]")] {
        assert_eq!(named(Naming::Domain, name), Ok(mailbox.to_owned()), "{name}");
    }
    assert_eq!(named(Naming::Full, "Some.User+tag@X.test"), Ok("some.user@x.test".to_owned()));
}

#[test]
fn t081_bad_names_are_refused() {
    for name in [
        "",
        "two words",
        "a\0b",
        "a\r\nb",
        "a\u{1b}b",
        "a\u{7f}b",
        "a,b",
        "<a>",
        "a..b",
        ".a",
        "a.",
        "a@b@c",
        "@x.test",
        "\"abc",
        "\"\"",
        "..",
        ".",
        "../x",
        "a@",
        "a@x..test",
    ] {
        assert_eq!(named(Naming::Local, name), Err(BadName::Syntax), "{name:?}");
    }
    assert_eq!(named(Naming::Local, &"a".repeat(65)), Err(BadName::TooLong));
    assert_eq!(named(Naming::Local, &"a".repeat(65_536)), Err(BadName::TooLong));
    assert_eq!(named(Naming::Full, "box"), Err(BadName::NoDomain));
    assert_eq!(named(Naming::Full, "\"a@b\""), Err(BadName::NoDomain));
    assert_eq!(named(Naming::Domain, "a b"), Err(BadName::Syntax));
    assert_eq!(named(Naming::Domain, &"a.".repeat(200)), Err(BadName::TooLong));
}

#[test]
fn t082_aliases_are_one_mailbox() {
    let spellings =
        ["a+1@x.test", "a+2@x.test", "A@x.test", "a@other.test", r#""a"@x.test"#, r#""A+3"@x.test"#, r#""\a"@x.test"#];
    for text in spellings {
        assert_eq!(recipient(Naming::Local, text), Ok("a".to_owned()), "{text}");
    }
}

#[test]
fn t016_a_quoted_address_is_not_its_inner_one() {
    for naming in [Naming::Local, Naming::Full] {
        let tricky = naming.mailbox(&Address::parse(r#""box@other.test"@x.test"#, Charset::Utf8).unwrap()).unwrap();
        for plain in ["box@other.test", "box@x.test"] {
            assert_ne!(naming.named(plain).unwrap(), tricky);
        }
        assert_eq!(naming.named(&naming.spelling(&tricky)).unwrap(), tricky);
    }
}

#[test]
fn what_grows_over_the_limit_is_refused() {
    // U+1D160 is one character of 4 octets and three of 12 in NFC.
    let grown = "\u{1d160}".repeat(16);
    assert_eq!(recipient(Naming::Local, &format!("{grown}@x.test")), Err(BadName::TooLong));
    assert_eq!(recipient(Naming::Local, &format!("{}@x.test", "\u{1d160}".repeat(5))).unwrap().len(), 60);
    // 85 Kelvin signs are a label of 85 letters k.
    assert_eq!(recipient(Naming::Full, &format!("a@{}", "\u{212a}".repeat(85))), Err(BadName::TooLong));
}

/// Folding a second time changes nothing, and taking characters apart before it does not either.
#[test]
fn t081_folding_is_idempotent_for_every_character() {
    let nfd = icu_normalizer::DecomposingNormalizerBorrowed::new_nfd();
    for letter in ('\u{0}'..=char::MAX).filter(|letter| !letter.is_control()) {
        for text in [format!("{letter}"), format!("A{letter}"), format!("Σ{letter}b"), format!("{letter}\u{30c}")] {
            let once = fold(&text).into_owned();
            assert_eq!(fold(&once), once, "{letter:?} in {text:?}");
            let apart = nfd.normalize(&text);
            assert!(apart == text || fold(&apart) == once, "{letter:?} in {text:?}, taken apart");
        }
    }
}

fn local() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        4 => "[a-zA-Z0-9.+@ \"\\\\/!-]",
        2 => "[äÖÅİıſßΣςσ\u{300}-\u{308}\u{30c}\u{327}\u{345}\u{37e}\u{1fef}\u{212a}\u{1d160}]",
        2 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(letter, 1..20).prop_map(|letters| letters.concat())
}

fn domain() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9_]{1,8}(\\.[a-zA-Z0-9-]{1,8}){0,3}",
        "(xn--|XN--)[a-z0-9-]{1,12}(\\.test)?",
        "[\\p{L}\\p{M}\\p{N}]{1,10}\\.[\\p{L}]{1,4}",
        "\\PC{1,10}",
        Just("[127.0.0.1]".to_owned()),
        Just("[IPv6:2001:DB8::1]".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever SMTP takes can be read: by the spelling shown, by its own spelling, and always as the same mailbox.
    #[test]
    fn t081_recipients_are_addressable(local in local(), domain in domain()) {
        let quoted: String = local.chars().flat_map(|letter| ['\\', letter]).collect();
        let Ok(address) = Address::parse(&format!("\"{quoted}\"@{domain}"), Charset::Utf8) else { return Ok(()) };
        for naming in [Naming::Local, Naming::Full, Naming::Domain] {
            let Ok(mailbox) = naming.mailbox(&address) else { continue };
            let spelled = naming.spelling(&mailbox).into_owned();
            prop_assert_eq!(naming.named(&spelled), Ok(mailbox.clone()), "{:?} {}", naming, spelled);
            prop_assert_eq!(naming.named(&address.to_string()), Ok(mailbox.clone()));
            prop_assert!(!mailbox.as_str().is_empty() && !mailbox.as_str().contains(char::is_control));
        }
    }

    #[test]
    fn t081_naming_is_total_and_idempotent(name in "\\PC{0,40}|[ -~]{0,20}") {
        for naming in [Naming::Local, Naming::Full, Naming::Domain] {
            if let Ok(mailbox) = naming.named(&name) {
                prop_assert_eq!(naming.named(&naming.spelling(&mailbox)), Ok(mailbox.clone()));
            }
        }
    }

    #[test]
    fn t081_case_and_normal_form_do_not_matter(local in "[a-zäöüéñçà]{1,12}") {
        let upper = local.to_uppercase();
        let apart = icu_normalizer::DecomposingNormalizerBorrowed::new_nfd().normalize(&local).into_owned();
        for spelling in [upper, apart] {
            prop_assert_eq!(Naming::Local.named(&spelling), Naming::Local.named(&local));
        }
    }
}
