//! Where a header ends, what its fields say, and that no header is too much.

use proptest::prelude::*;

use super::*;
use crate::clock::{doubling, within};

fn read(raw: &str) -> (Vec<(String, String)>, String) {
    let mut found = fields(raw.as_bytes());
    let list = found.by_ref().map(|field| (field.name.to_owned(), field.text())).collect();
    (list, raw[found.body()..].to_owned())
}

#[track_caller]
fn check(raw: &str, expected: &[(&str, &str)], body: &str) {
    let expected = expected.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    assert_eq!(read(raw), (expected, body.to_owned()), "{raw:?}");
}

#[test]
fn a_header_ends_at_the_empty_line_or_before_what_is_no_field() {
    check("", &[], "");
    check("\r\n", &[], "");
    check("\r\nbody", &[], "body");
    check("\nbody", &[], "body");
    check("A: 1", &[("A", "1")], "");
    check("A: 1\r\n", &[("A", "1")], "");
    check("A: 1\r\n\r\nbody\r\n", &[("A", "1")], "body\r\n");
    check("A: 1\nB:2\n\nbody", &[("A", "1"), ("B", "2")], "body");
    check("A: 1\r\nno field\r\nB: 2\r\n\r\nx", &[("A", "1")], "no field\r\nB: 2\r\n\r\nx");
    check("just a line\r\nand another", &[], "just a line\r\nand another");
    check(": value\r\nA: 1\r\n\r\nx", &[], ": value\r\nA: 1\r\n\r\nx");
    check(" folded first\r\nA: 1\r\n", &[], " folded first\r\nA: 1\r\n");
    check("A: 1\r\n--b:c\r\nB: 2\r\n", &[("A", "1")], "--b:c\r\nB: 2\r\n");
    check("ä: 1\r\n", &[], "ä: 1\r\n");
}

#[test]
fn values_are_unfolded_and_trimmed() {
    check("A: one\r\n two\r\n three\r\n\r\n", &[("A", "one two three")], "");
    check("A: one \r\n\t  two\r\n", &[("A", "one two")], "");
    check("A:\r\n one\r\n", &[("A", "one")], "");
    check("A: one\r\n \r\n two\r\n", &[("A", "one  two")], "");
    check("A:\r\nB:\t x \t\r\nC :3\r\n", &[("A", ""), ("B", "x"), ("C", "3")], "");
    check("A: a: b\r\n", &[("A", "a: b")], "");
    check("A: =?utf-8?Q?x?=\r\n", &[("A", "=?utf-8?Q?x?=")], "");
    let mut found = fields(b"A: caf\xe9 ol\xe9!\r\n\r\n");
    assert_eq!(found.next().unwrap().text(), "caf\u{fffd} ol\u{fffd}!");
}

#[test]
fn names_have_a_canonical_case() {
    for (name, canonical) in [
        ("subject", "Subject"),
        ("MESSAGE-ID", "Message-Id"),
        ("MIME-Version", "Mime-Version"),
        ("x-y--z-", "X-Y--Z-"),
        ("DKIM-Signature", "Dkim-Signature"),
        ("9lives", "9lives"),
    ] {
        let raw = format!("{name}: x\r\n");
        assert_eq!(fields(raw.as_bytes()).next().unwrap().canonical_name(), canonical);
    }
}

#[test]
fn received_fields_are_counted_in_the_header_only() {
    let check = |raw: &str, count| assert_eq!(received_count(raw.as_bytes()), count, "{raw}");
    check("", 0);
    check("Received: a\r\nrEcEiVeD: b\r\nReceived: from a\r\n\tReceived: b\r\nSubject: Received: x\r\n", 3);
    check("Subject: x\r\n\r\nReceived: body\r\n", 0);
    check(&"Received: from a.test by b.test; x\r\n".repeat(51), 51);
    check(&format!("{}Received: last\r\n\r\n", "A: b\r\n".repeat(5000)), 1);
}

#[test]
fn t026_only_so_much_of_a_header_is_read_but_its_end_is_found() {
    let many = format!("{}\r\nbody", "A: b\r\n".repeat(5000));
    let (list, body) = read(&many);
    assert_eq!((list.len(), body.as_str()), (FIELDS_MAX, "body"));
    let long = format!("A: {}\r\nB: c\r\n\r\nbody", "x".repeat(300_000));
    let (list, body) = read(&long);
    assert_eq!((list.len(), list[0].1.len(), body.as_str()), (1, PARSED_MAX, "body"));
}

#[test]
fn t026_headers_take_linear_time() {
    let bomb = |size: usize| "To: someone@host.test, other@host.test\r\n".repeat(size);
    within(200, || read(&bomb(500_000)).0.len());
    doubling(200_000, |size| bomb(size).into_bytes(), |raw| fields(raw).body());
    doubling(
        200_000,
        |size| [b"A: x".to_vec(), b"\r\n x".repeat(size)].concat(),
        |raw| fields(raw).map(|field| field.text().len()).sum::<usize>(),
    );
}

#[track_caller]
fn decodes(text: &str, expected: &str) {
    assert_eq!(decode_words(text.as_bytes()), expected, "{text}");
}

#[test]
fn encoded_words_are_decoded() {
    decodes("plain", "plain");
    decodes("=?iso-8859-1?q?J=F6rg_M=FCller?=", "Jörg Müller");
    decodes("=?utf-8?B?SsO2cmc=?= Smith", "Jörg Smith");
    decodes("Re: =?utf-8?Q?caf=C3=A9?= time", "Re: café time");
    decodes("=?utf-8?Q?a?= =?utf-8?Q?b?=", "ab");
    decodes("=?utf-8?Q?a?=   \t =?utf-8?Q?b?= c", "ab c");
    decodes("=?utf-8?Q?a?= x =?utf-8?Q?b?=", "a x b");
    decodes("=?utf-8?Q?a_b=5Fc?=", "a b_c");
    decodes("=?UTF-8?q?caf=c3=a9?=", "café");
    decodes("=?utf-8*en?Q?hi?=", "hi");
    decodes("=?iso-8859-1?Q?=E9?= =?koi8-r?B?zcnS?=", "éмир");
    decodes("x=?utf-8?Q?y?=z", "xyz");
    decodes("=?utf-8?Q?two words?=", "two words");
}

#[test]
fn characters_split_between_words_are_joined() {
    decodes("=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=", "café");
    decodes("=?utf-8?B?8J+Z?= =?UTF-8?B?gg==?=", "🙂");
    decodes("=?utf-8?Q?=C3?= x =?utf-8?Q?=A9?=", "\u{fffd} x \u{fffd}");
}

#[test]
fn broken_words_stay_as_they_are() {
    for text in ["=?utf-8?Q?broken", "=?utf-8?X?a?=", "=?", "=?utf-8", "=?utf-8?Q", "=?utf-8?Q?", "a =? b ?= c", "?="] {
        decodes(text, text);
    }
    decodes("=?utf-8?Q?=ZZ=4?=", "=ZZ=4");
    decodes("=?x-nothing?Q?a=E9?=", "aé");
    decodes("=?utf-8?Q??=", "");
    decodes("=?utf-8?Q?=C3?=", "\u{fffd}");
}

#[test]
fn t030_words_take_linear_time() {
    for piece in ["=?utf-8?Q?a", "=?", "=?utf-8?Q?a?= ", "=?utf-8?B?YQ==?=", "=?a?Q?=?=", "?=?"] {
        doubling(200_000, |size| piece.repeat(size / piece.len()).into_bytes(), |text| decode_words(text).len());
    }
}

proptest! {
    #[test]
    fn fields_are_total_and_the_body_is_a_tail(raw in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut found = fields(&raw);
        for field in found.by_ref() {
            prop_assert!(!field.name.is_empty() && field.name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':'));
            prop_assert!(!field.text().contains('\n'));
        }
        prop_assert!(found.body() <= raw.len());
        received_count(&raw);
    }

    #[test]
    fn written_fields_are_read(list in proptest::collection::vec(("[!-9;-~]{1,20}", "[!-~]([ -~]{0,40}[!-~])?"), 0..20)) {
        prop_assume!(!list.iter().any(|(name, _)| name.starts_with("--")));
        let raw: String = list.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        prop_assert_eq!(read(&format!("{raw}\r\nbody")), (list, "body".to_owned()));
    }

    #[test]
    fn words_are_total(text in "(=\\?|\\?=|utf-8|\\?[QqBb]\\?|=[0-9A-F]{2}|[a-z ]|\\PC){0,30}") {
        decode_words(text.as_bytes());
    }

    /// What an encoder makes of any text, cut anywhere, is that text again.
    #[test]
    fn words_round_trip(text in "\\PC{1,30}", cut in 1_usize..12) {
        let word = |bytes: &[u8]| {
            let coded: String = bytes.iter().map(|byte| format!("={byte:02X}")).collect();
            format!("=?utf-8?Q?{coded}?=")
        };
        let coded: Vec<String> = text.as_bytes().chunks(cut).map(word).collect();
        let decoded = decode_words(coded.join(" ").as_bytes());
        prop_assert_eq!(decoded, text.strip_prefix('\u{feff}').unwrap_or(&text));
    }
}
