//! The grammar by example, then by property.

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Result<(String, String, String), BadAddress> {
    let address = Address::parse(text, Charset::Utf8)?;
    Ok((address.local().to_owned(), address.domain().to_owned(), address.to_string()))
}

#[track_caller]
fn takes(text: &str, local: &str, domain: &str, written: &str) {
    assert_eq!(parsed(text), Ok((local.to_owned(), domain.to_owned(), written.to_owned())), "{text}");
}

#[track_caller]
fn refuses(text: &str, bad: BadAddress) {
    assert_eq!(parsed(text), Err(bad), "{text}");
}

#[test]
fn plain_addresses_stay_as_they_are() {
    for text in [
        "a@b",
        "jane@host.test",
        "Some.One+tag@Sub.Check.Test",
        "!#$%&'*+-/=?^_`{|}~@x.test",
        "a@under_score.test",
        "a@1.2.3.com",
        "jürgen@chéck.test",
        "漢字@例え.テスト",
    ] {
        let (local, domain) = text.split_once('@').unwrap();
        takes(text, local, domain, text);
    }
}

#[test]
fn quotes_go_and_come_back_only_where_they_must() {
    takes(r#""jane"@x.test"#, "jane", "x.test", "jane@x.test");
    takes(r#""jane\0"@x.test"#, "jane0", "x.test", "jane0@x.test");
    takes(r#""john doe"@x.test"#, "john doe", "x.test", r#""john doe"@x.test"#);
    takes(r#""a>b"@x.test"#, "a>b", "x.test", r#""a>b"@x.test"#);
    takes(r#""a\"b"@x.test"#, "a\"b", "x.test", r#""a\"b"@x.test"#);
    takes(r#""a\\b"@x.test"#, "a\\b", "x.test", r#""a\\b"@x.test"#);
    takes(r#""a@b"@x.test"#, "a@b", "x.test", r#""a@b"@x.test"#);
    takes(r#""a..b"@x.test"#, "a..b", "x.test", r#""a..b"@x.test"#);
    takes("\"a\u{3000}b\"@x.test", "a\u{3000}b", "x.test", "\"a\u{3000}b\"@x.test");
}

#[test]
fn literals_are_read_strictly() {
    for literal in ["[127.0.0.1]", "[IPv6:::1]", "[ipv6:2001:db8::2]", "[IPv6:::ffff:192.0.2.1]"] {
        takes(&format!("a@{literal}"), "a", literal, &format!("a@{literal}"));
    }
    for literal in
        ["[999.1.1.1]", "[127.0.0.1", "[IPv6:zz]", "[]", "[", "[IPv6:]", "[x:y]", "[1.2.3]", "[::1]", "[127.0.0.1]x"]
    {
        refuses(&format!("a@{literal}"), BadAddress::Syntax);
    }
}

#[test]
fn what_is_no_address_is_refused() {
    use BadAddress::*;
    for (text, bad) in [
        ("", Syntax),
        ("jane", NoDomain),
        (r#""john doe""#, NoDomain),
        ("@x.test", Syntax),
        ("jane@", Syntax),
        ("a b@x.test", Syntax),
        ("a@b@x.test", Syntax),
        (".a@x.test", Syntax),
        ("a.@x.test", Syntax),
        ("a..b@x.test", Syntax),
        ("a,b@x.test", Syntax),
        ("<a@x.test>", Syntax),
        ("a(c)@x.test", Syntax),
        (r#""open@x.test"#, Syntax),
        (r#""a"b@x.test"#, Syntax),
        (r#"a"b"@x.test"#, Syntax),
        (r#"""@x.test"#, Syntax),
        (r#""a\"#, Syntax),
        ("a@x..test", Syntax),
        ("a@.x.test", Syntax),
        ("a@x.test.", Syntax),
        ("a@-x.test", Syntax),
        ("a@x-.test", Syntax),
        ("a@x y.test", Syntax),
        ("a@x\u{a0}y.test", Syntax),
        ("a\u{85}b@x.test", Syntax),
        ("\"a\u{2028}b\"@x.test", Syntax),
    ] {
        refuses(text, bad);
    }
}

#[test]
fn lengths_are_those_of_rfc_5321() {
    let local = |length: usize| format!("{}@x.test", "x".repeat(length));
    assert!(Address::parse(&local(64), Charset::Ascii).is_ok());
    refuses(&local(65), BadAddress::TooLong);
    refuses(&local(2000), BadAddress::TooLong);
    // Quotes are not counted: the name that they hold is what has a length.
    assert!(parsed(&format!("\"{}\"@x.test", "\\x".repeat(64))).is_ok());
    refuses(&format!("\"{}\"@x.test", "x".repeat(65)), BadAddress::TooLong);
    refuses(&format!("x@{}test", "abcdefghi.".repeat(30)), BadAddress::TooLong);
    assert!(parsed(&format!("x@{}.test", "a".repeat(63))).is_ok());
    refuses(&format!("x@{}.test", "a".repeat(64)), BadAddress::TooLong);
}

#[test]
fn utf8_needs_to_be_announced() {
    for text in ["jürgen@check.test", "a@chéck.test", "\"jürgen\"@check.test"] {
        assert_eq!(Address::parse(text, Charset::Ascii), Err(BadAddress::NeedsUtf8), "{text}");
        assert!(Address::parse(text, Charset::Utf8).is_ok(), "{text}");
    }
}

#[test]
fn postmaster_has_the_domain_of_the_host() {
    assert_eq!(Address::postmaster("mx.test").to_string(), "postmaster@mx.test");
    assert_eq!(Address::postmaster("no host\r\n").to_string(), "postmaster@localhost");
}

/// What `path` makes of a text: the path as text, and the rest.
fn read(text: &str) -> Result<(String, String), BadAddress> {
    let (found, rest) = path(text.as_bytes(), Charset::Utf8)?;
    let found = match found {
        Path::Null => "<>".to_owned(),
        Path::Postmaster => "postmaster".to_owned(),
        Path::Address(address) => address.to_string(),
    };
    Ok((found, String::from_utf8(rest.to_vec()).unwrap()))
}

#[test]
fn paths_end_where_they_end() {
    for (text, found, rest) in [
        ("<>", "<>", ""),
        ("<> SIZE=1", "<>", " SIZE=1"),
        ("<a@x.test>", "a@x.test", ""),
        ("  <a@x.test>", "a@x.test", ""),
        ("<a@x.test> ", "a@x.test", " "),
        ("<a@x.test> <b@x.test>", "a@x.test", " <b@x.test>"),
        ("<postmaster>", "postmaster", ""),
        ("<PostMaster> X", "postmaster", " X"),
        ("postmaster", "postmaster", ""),
        (r#"<"a>b"@x.test> X"#, r#""a>b"@x.test"#, " X"),
        (r#"<"a\"> b"@x.test> X"#, r#""a\"> b"@x.test"#, " X"),
        (r#""a b"@x.test X"#, r#""a b"@x.test"#, " X"),
        ("a@x.test", "a@x.test", ""),
        ("a@x.test SIZE=1", "a@x.test", " SIZE=1"),
        ("<@one.test:a@x.test>", "a@x.test", ""),
        ("<@one.test,@two.test:a@x.test> Y", "a@x.test", " Y"),
        ("<@[IPv6:::1],@two.test:a@x.test>", "a@x.test", ""),
        ("<@[127.0.0.1]:a@x.test>", "a@x.test", ""),
    ] {
        assert_eq!(read(text), Ok((found.to_owned(), rest.to_owned())), "{text}");
    }
}

#[test]
fn broken_paths_are_refused() {
    use BadAddress::*;
    for (text, bad) in [
        ("", Syntax),
        ("   ", Syntax),
        ("<", Syntax),
        ("<a@x.test", Syntax),
        ("a@x.test>", Syntax),
        ("<a@x.test>SIZE=1", Syntax),
        ("<a@x.test>\t", Syntax),
        ("< a@x.test>", Syntax),
        ("<a@x.test >", Syntax),
        ("<\"open@x.test>", Syntax),
        ("<@x.test>", Syntax),
        ("<@one.test:@two.test:a@x.test>", Syntax),
        ("<@one.test,a@x.test>", Syntax),
        ("<@-one.test:a@x.test>", Syntax),
        ("<@[IPv6:::1:a@x.test>", Syntax),
        ("<jane>", NoDomain),
        ("jane", NoDomain),
        ("<a@b@x.test>", Syntax),
    ] {
        assert_eq!(read(text), Err(bad), "{text}");
    }
}

#[test]
fn broken_utf8_is_refused() {
    for broken in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf"] {
        let input = [b"<a", broken, b"@x.test>"].concat();
        assert_eq!(path(&input, Charset::Utf8), Err(BadAddress::Syntax), "{broken:x?}");
    }
}

#[test]
fn t013_each_byte_in_a_path_is_refused_or_comes_back() {
    let places = ["<%abcd@x.test>", "<ab%cd@x.test>", "<\"ab%cd\"@x.test>", "<abcd@x%y.test>", "<abcd@x.test%>"];
    let mut taken = 0;
    for (place, byte) in places.iter().flat_map(|place| (0..=255_u8).map(move |byte| (place, byte))) {
        let (before, after) = place.split_once('%').unwrap();
        let input = [before.as_bytes(), &[byte], after.as_bytes()].concat();
        for charset in [Charset::Ascii, Charset::Utf8] {
            let Ok((Path::Address(address), rest)) = path(&input, charset) else { continue };
            taken += 1;
            let written = address.to_string();
            assert!(byte.is_ascii() && !written.contains(char::is_control), "{byte:#x} in {place}");
            assert!(rest.is_empty());
            assert_eq!(Address::parse(&written, charset).as_ref(), Ok(&address));
        }
    }
    assert!(taken > 500, "{taken}");
}

#[test]
fn helo_takes_names_and_literals() {
    for name in [
        "a.example",
        "localhost",
        "MY-PC",
        "under_score.example",
        "[127.0.0.1]",
        "[IPv6:::1]",
        "[::1]",
        "[IPv6:fe80::1%en0]",
        "trailing.dot.",
        "bob's-laptop",
    ] {
        assert_eq!(helo(name.as_bytes()), Ok(name));
        assert_eq!(helo(format!(" {name}  ").as_bytes()), Ok(name));
    }
    for name in ["", "  ", "a b", "a\tb", "[]", "a[1]", "(a)", "<a>", "a;b", "a\"b", "a\\b", "müller", "a,b", "a@b"] {
        assert_eq!(helo(name.as_bytes()), Err(BadAddress::Syntax), "{name}");
    }
    assert_eq!(helo(&[b'a'; 256]), Err(BadAddress::TooLong));
}

#[test]
fn t014_each_byte_in_helo_is_refused_or_printable() {
    for byte in 0..=255_u8 {
        if let Ok(name) = helo(&[b'a', byte, b'b']) {
            assert!(name.bytes().all(|byte| byte.is_ascii_graphic()), "{byte:#x}");
        } else {
            assert!(!byte.is_ascii_alphanumeric(), "{byte:#x}");
        }
    }
}

/// Texts that are near the grammar, so that both answers come up.
fn nearly_address() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9]{1,6}",
        Just(".".to_owned()),
        Just("@".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("[127.0.0.1]".to_owned()),
        Just("[IPv6:::1]".to_owned()),
        Just(":".to_owned()),
        Just(",".to_owned()),
        Just("<".to_owned()),
        Just(">".to_owned()),
        Just("+".to_owned()),
        "\\PC",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn t013_what_is_parsed_is_written_so_that_it_parses_again(text in nearly_address()) {
        if let Ok(address) = Address::parse(&text, Charset::Utf8) {
            let written = address.to_string();
            prop_assert!(!written.contains(char::is_control));
            prop_assert!(address.local().len() <= LOCAL_MAX && address.domain().len() <= DOMAIN_MAX);
            prop_assert_eq!(Address::parse(&written, Charset::Utf8), Ok(address));
        }
    }

    #[test]
    fn any_local_part_can_be_quoted(local in "[^\\pC\u{2028}\u{2029}]{1,16}", domain in "[a-z]{1,9}(\\.[a-z]{1,9}){0,3}") {
        let mut quoted = String::from("\"");
        for letter in local.chars() {
            quoted.extend(['\\', letter]);
        }
        let address = Address::parse(&format!("{quoted}\"@{domain}"), Charset::Utf8).unwrap();
        prop_assert_eq!(address.local(), local);
        prop_assert_eq!(address.domain(), domain);
    }

    #[test]
    fn path_is_total_and_leaves_the_rest_alone(text in nearly_address(), tail in "( [ -~]{0,9})?") {
        let input = format!("<{text}>{tail}");
        if let Ok((found, rest)) = path(input.as_bytes(), Charset::Utf8) {
            prop_assert!(rest.is_empty() || rest[0] == b' ');
            if let Path::Address(address) = found {
                let again = format!("<{address}>{tail}");
                let (second, _) = path(again.as_bytes(), Charset::Utf8).unwrap();
                prop_assert_eq!(second, Path::Address(address));
            }
        }
    }

    #[test]
    fn any_bytes_have_an_answer(input in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = path(&input, Charset::Ascii);
        let _ = path(&input, Charset::Utf8);
        let _ = helo(&input);
    }
}
