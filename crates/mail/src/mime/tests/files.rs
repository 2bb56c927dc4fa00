//! Attachments and their names.

use super::*;

#[test]
fn attachments_are_in_order_of_appearance() {
    let inline = |content_type: &str, name: &str| {
        leaf(content_type, &format!("Content-Disposition: inline; filename=\"{name}\"\r\n"), "x")
    };
    let view = view(&multipart(
        "mixed",
        &[
            &attached("text/html", "x", "1.html"),
            &multipart("related", &[&multipart("alternative", &[PLAIN, HTML]), &inline("image/png", "2.png")]),
            &leaf("text/plain", "Content-Disposition: inline\r\n", "unnamed and inline"),
            &leaf("image/gif; name=\"3.gif\"", "", "x"),
            &inline("text/plain", "4.txt"),
            &attached("application/pdf", "x", "5.pdf"),
            &leaf("text/plain; name=6.txt", "", "x"),
        ],
    ));
    assert_eq!(names(&view), ["1.html", "2.png", "3.gif", "4.txt", "5.pdf", "6.txt"]);
    let types: Vec<_> = view.attachments.iter().map(|one| one.content_type.as_str()).collect();
    assert_eq!(types, ["text/html", "image/png", "image/gif", "text/plain", "application/pdf", "text/plain"]);
}

#[test]
fn a_message_may_be_one_attachment() {
    assert_eq!(names(&view(&leaf("application/pdf; name=\"a\"", "", "x"))), ["a"]);
    assert_eq!(names(&view(&attached("text/plain", "x", "a"))), ["a"]);
    assert_eq!(names(&view(&leaf("text/plain", "Content-Disposition: x-odd\r\n", "x"))), ["attachment.txt"]);
}

#[test]
fn enclosed_messages_are_not_walked_into() {
    let inner = multipart("mixed", &[PLAIN, &attached("image/png", "x", "inner.png")]);
    let view = view(&multipart("mixed", &[PLAIN, &leaf("message/rfc822", "", &inner)]));
    assert_eq!(view.attachments.len(), 1);
    assert_eq!(view.attachments[0].content_type, "message/rfc822");
    assert_eq!(view.attachments[0].content, inner.as_bytes());
    assert_eq!(view.attachments[0].filename, "attachment.eml");
}

#[test]
fn t035_calendars_and_cards_are_attachments() {
    let invite = leaf("text/calendar; method=REQUEST", "", "DESCRIPTION:<script>alert(1)</script>");
    let card = leaf("text/vcard", "", "NOTE:<img src=x onerror=alert(1)>");
    let view = view(&multipart("alternative", &[PLAIN, HTML, &invite, &card]));
    assert_eq!(names(&view), ["attachment.ics", "attachment.vcf"]);
    assert!(!view.text.contains("script") && !view.html.contains("script"));
}

#[test]
fn content_is_decoded_but_not_converted() {
    let check = |fields: &str, content: &str, expected: &[u8]| {
        let part = leaf("text/csv; charset=utf-16", &format!("Content-Disposition: attachment\r\n{fields}"), content);
        assert_eq!(view(&multipart("mixed", &[&part])).attachments[0].content, expected, "{fields}");
    };
    check("Content-Transfer-Encoding: base64\r\n", "//5nAA==", b"\xff\xfeg\0");
    check("Content-Transfer-Encoding: base64\r\n", "", b"");
    check("Content-Transfer-Encoding: quoted-printable\r\n", "a=3D=00=FF=\r\nb", b"a=\0\xffb");
    check("", "one\r\n\r\ntwo\r\n", b"one\r\n\r\ntwo\r\n");
}

#[track_caller]
fn check_name(disposition: &str, expected: &str) {
    let part = leaf("application/pdf", &format!("Content-Disposition: {disposition}\r\n"), "x");
    assert_eq!(names(&view(&multipart("mixed", &[&part]))), [expected], "{disposition}");
}

#[test]
fn names_are_decoded() {
    check_name("attachment; filename=\"report.pdf\"", "report.pdf");
    check_name("attachment; filename=report.pdf", "report.pdf");
    check_name("attachment; filename=my report.pdf ; size=3", "my report.pdf");
    check_name("ATTACHMENT; FILENAME=\"report.pdf\"", "report.pdf");
    check_name("attachment;\r\n filename=\"report.pdf\"", "report.pdf");
    check_name("attachment; filename=\"say \\\"hi\\\".txt\"", "say \"hi\".txt");
    check_name("attachment; filename=\"a;filename=b.txt\"", "a;filename=b.txt");
    check_name("attachment; filename=\"naïve.txt\"", "naïve.txt");
    check_name("attachment; filename=\"=?utf-8?B?bmHDr3ZlLnR4dA==?=\"", "naïve.txt");
    check_name("attachment; filename=\"=?iso-8859-1?Q?na=EFve.txt?=\"", "naïve.txt");
    check_name("attachment; filename=a.txt; filename=b.txt", "a.txt");
}

#[test]
fn names_of_rfc_2231_are_put_together() {
    check_name("attachment; filename*=utf-8''na%C3%AFve%20file.txt", "naïve file.txt");
    check_name("attachment; filename*=iso-8859-1'en'%A3%20rates.txt", "£ rates.txt");
    check_name("attachment; filename*=shift_jis''%93%FA%96%7B.txt", "日本.txt");
    check_name("attachment; filename*0=\"long \"; filename*1=\"name.txt\"", "long name.txt");
    check_name("attachment; filename*1=b.txt; filename*0=a", "ab.txt");
    check_name(
        "attachment; filename*0*=utf-8''r%C3%A9;\r\n filename*1*=sum%C3%A9;\r\n filename*2=\".txt\"",
        "résumé.txt",
    );
    check_name("attachment; filename*0*=utf-8''r%C3; filename*1*=%A9", "ré");
    check_name("attachment; filename=plain.txt; filename*=utf-8''caf%C3%A9.txt", "café.txt");
    check_name("attachment; filename*0=a; filename*2=c", "a");
    check_name("attachment; filename*=utf-8'bad%ZZ; filename*9*=x", "utf-8'bad%ZZ");
    check_name("attachment; filename*9*=x", "attachment.pdf");
    check_name("attachment; filename*x*=y; filename**=z; filename=w", "w");
}

#[test]
fn the_type_may_tell_the_name() {
    for content_type in [
        "application/pdf; name=\"café.pdf\"",
        "application/pdf; name*=utf-8''caf%C3%A9.pdf",
        "application/pdf; name=\"=?utf-8?Q?caf=C3=A9.pdf?=\"",
    ] {
        for fields in ["", "Content-Disposition: attachment\r\n", "Content-Disposition: attachment; filename=\"\"\r\n"]
        {
            assert_eq!(names(&view(&leaf(content_type, fields, "x"))), ["café.pdf"], "{content_type} {fields}");
        }
    }
}

#[test]
fn names_have_no_path_and_no_tricks() {
    let check = |name: &str, expected: &str| {
        let coded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        check_name(&format!("attachment; filename*=utf-8''{coded}"), expected);
        let word: String = name.bytes().map(|byte| format!("={byte:02X}")).collect();
        check_name(&format!("attachment; filename=\"=?utf-8?Q?{word}?=\""), expected);
    };
    check("../../etc/passwd", "passwd");
    check("/etc/passwd", "passwd");
    check("C:\\Users\\x\\evil.exe", "evil.exe");
    check("..\\../a/..\\b.txt", "b.txt");
    for nothing in ["..", ".", "/", "dir/", "\u{202e}", " ", "\0", "a/\r\n", "..."] {
        check(nothing, "attachment.pdf");
    }
    check("a\r\nb\0c\u{1b}.txt", "abc.txt");
    check("exe\u{202e}gpj.exe", "exegpj.exe");
    check("  blank.txt ", "blank.txt");
    check("世界 🙂.png", "世界 🙂.png");
}

#[test]
fn long_names_keep_their_ending() {
    let name = filename::safe(&format!("{}.jpeg", "ü".repeat(1000)), "image/jpeg");
    assert!(name.len() <= 255 && name.len() > 250 && name.ends_with("ü.jpeg"), "{name}");
    let name = filename::safe(&"x".repeat(1000), "image/jpeg");
    assert_eq!(name.len(), 255);
}

#[test]
fn types_are_plain() {
    for (written, expected) in [
        ("IMAGE/PNG; x=y", "image/png"),
        ("image/png (comment)", "image/png"),
        ("application/vnd.api+json;charset=utf-8", "application/vnd.api+json"),
    ] {
        assert_eq!(view(&leaf(written, "", "x")).attachments[0].content_type, expected);
    }
    // What is no type is text (RFC 2045 §5.2).
    for written in ["image", "image/", "/png", "image/p ng", "a/b/c", "<script>/x", "ä/b"] {
        assert_eq!(view(&leaf(written, "", "words")).text, "words", "{written}");
    }
}
