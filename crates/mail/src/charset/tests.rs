//! Each label, known and unknown.

use super::*;

#[track_caller]
fn check(label: &str, bytes: &[u8], expected: &str) {
    assert_eq!(decode(named(label.as_bytes()), bytes), expected, "{label}");
}

#[test]
fn labels_are_found() {
    check("utf-8", "Zoë 世界 🙂".as_bytes(), "Zoë 世界 🙂");
    check(" ISO-8859-1 ", b"J\xf6rg", "Jörg");
    check("windows-1252", b"5 \x80", "5 €");
    check("koi8-r", b"\xcd\xc9\xd2", "мир");
    check("iso-2022-jp", b"\x1b$B@$3&\x1b(B", "世界");
    check("shift_jis", b"\x93\xfa\x96{", "日本");
    check("gb2312", b"\xc4\xe3\xba\xc3", "你好");
    check("big5", b"\xa7A\xa6n", "你好");
    check("utf-16", b"\xff\xfeg\0", "g");
    check("utf-16", b"\xfe\xff\0g", "g");
    check("utf-16be", b"\0g", "g");
    check("utf-16le", b"g\0", "g");
}

#[test]
fn what_is_unknown_is_read_as_well_as_can_be() {
    for label in ["", "us-ascii", "x-nobody-knows", "<script>", "iso-2022-kr", "hz-gb-2312"] {
        check(label, "grüße".as_bytes(), "grüße");
        check(label, b"ascii \xe9", "ascii é");
    }
    check("utf-8", b"a\xffb", "a\u{fffd}b");
    check("utf-8", b"\xef\xbb\xbfa", "a");
    check("iso-8859-1", b"\xff\xfea", "ÿþa");
}

#[test]
fn t029_utf_7_stays_what_it_is() {
    for label in ["utf-7", "UTF7", "unicode-1-1-utf-7", "x-imap4-modified-utf7", "csUnicode11UTF7"] {
        check(label, b"+ADw-script+AD4-", "+ADw-script+AD4-");
    }
}

/// Every label the library knows, over many bytes: text comes out, and plain ASCII never turns into markup.
#[test]
fn t029_every_charset_takes_every_byte() {
    let labels = "utf-8 866 ibm866 cp866 latin2 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 \
        iso-8859-8 iso-8859-8-i iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh \
        windows-874 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 \
        windows-1257 windows-1258 x-mac-cyrillic gbk gb18030 big5 euc-jp iso-2022-jp shift_jis euc-kr utf-16be \
        utf-16le x-user-defined";
    let mut seed = 1_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    for label in labels.split_whitespace() {
        assert!(named(label.as_bytes()).is_some(), "{label}");
        for _ in 0..200 {
            let bytes: Vec<u8> = (0..64).map(|_| noise()).collect();
            let text = decode(named(label.as_bytes()), &bytes);
            assert!(text.len() <= 3 * bytes.len(), "{label}");
        }
        if !label.starts_with("utf-16") {
            check(label, b"+ADw-script+AD4-", "+ADw-script+AD4-");
        }
    }
}
