//! Text and HTML of a message.

use super::*;

#[track_caller]
fn check(entity: &str, text: &str, html: &str) {
    let view = view(entity);
    assert_eq!((view.text.as_str(), view.html.as_str()), (text, html), "{entity}");
}

fn footer() -> String {
    leaf("text/plain", "", "footer")
}

fn both() -> String {
    multipart("alternative", &[PLAIN, HTML])
}

#[test]
fn single_parts_are_the_body() {
    check("", "", "");
    check("\r\nhello\r\n", "hello\n", "");
    check("Content-Type: text/plain\r\n", "", "");
    check(&leaf("text/plain; charset=us-ascii", "", "hello\r\nworld\r\n"), "hello\nworld\n", "");
    check(&leaf("text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit\r\n", "grüße\r\n"), "grüße\n", "");
    check(&leaf("TEXT/HTML", "", "<p>x</p>\r\n"), "x", "<p>x</p>\n");
    check(&leaf("text/plain", "", "a\rb\r\r\nc\n"), "a\nb\n\nc\n", "");
    check(&leaf("text/plain; name=body.txt", "", "named, but all there is"), "named, but all there is", "");
}

#[test]
fn transfer_encodings_are_decoded() {
    let coded = |encoding: &str, content: &str| {
        leaf("text/plain; charset=utf-8", &format!("Content-Transfer-Encoding: {encoding}\r\n"), content)
    };
    let quoted = "a=3Db, soft=\r\n break, caf=C3=a9, end=20\r\nnext\r\n";
    check(&coded("Quoted-Printable", quoted), "a=b, soft break, café, end \nnext\n", "");
    check(&coded("BASE64", "Z3LDvMOfZQ0KendlaQ==\r\n"), "grüße\nzwei", "");
    check(&coded("base64 (comment)", "Z3LD\r\nvMOfZQ==\r\n"), "grüße", "");
    check(&coded("x-nothing", "words\r\n"), "words\n", "");
    // Broken ones give what can be read.
    assert!(view(&coded("base64", "!!! no base64 ===\r\nAAA")).attachments.is_empty());
    check(&coded("quoted-printable", "=ZZ = =4"), "=ZZ = =4", "");
}

#[test]
fn flowed_text_stays_as_it_is() {
    let flowed = "a line that \r\nflows on\r\n> quoted \r\n> more\r\n stuffed\r\n-- \r\nJane\r\n";
    check(&leaf("text/plain; format=flowed", "", flowed), &flowed.replace("\r\n", "\n"), "");
}

#[test]
fn alternatives_give_one_text() {
    check(&both(), "plain words", "<p>html words</p>");
    check(&multipart("alternative", &[PLAIN, &footer(), HTML]), "plain words", "<p>html words</p>");
    check(&multipart("mixed", &[&both(), PNG]), "plain words", "<p>html words</p>");
    check(&multipart("mixed", &[&both(), &footer()]), "plain words\n\nfooter", "<p>html words</p>");
    let related = multipart("related", &[HTML, PNG]);
    check(&multipart("alternative", &[PLAIN, &related]), "plain words", "<p>html words</p>");
    let mixed = multipart("mixed", &[PLAIN, &footer()]);
    check(
        &multipart("alternative", &[&mixed, &leaf("text/plain", "", "other"), HTML]),
        "plain words\n\nfooter",
        "<p>html words</p>",
    );
    check(&multipart("alternative", &[&attached("text/plain", "x", "a"), PLAIN]), "plain words", "");
}

#[test]
fn other_multiparts_join_their_texts() {
    let inline = leaf("text/plain", "Content-Disposition: inline\r\n", "inline");
    check(&multipart("mixed", &[PLAIN, &inline, PNG, &footer()]), "plain words\n\ninline\n\nfooter", "");
    check(&multipart("mixed", &["\r\none\r\n", &footer()]), "one\n\nfooter", "");
    check(&multipart("mixed", &[&multipart("mixed", &[PLAIN])]), "plain words", "");
    check(&multipart("signed", &[PLAIN, &leaf("application/pgp-signature", "", "x")]), "plain words", "");
    check(&multipart("x-unknown", &[PLAIN, &footer()]), "plain words\n\nfooter", "");
}

#[test]
fn attachments_are_no_body() {
    check(&multipart("mixed", &[PLAIN, &attached("text/plain", "x", "a.txt")]), "plain words", "");
    check(&multipart("mixed", &[PLAIN, &attached("text/html", "x", "a.html")]), "plain words", "");
    check(&attached("text/plain", "x", "a.txt"), "", "");
    check(&leaf("application/pdf", "", "x"), "", "");
    check(
        &multipart("mixed", &[PLAIN, &leaf("message/rfc822", "", "Subject: inner\r\n\r\ninner words")]),
        "plain words",
        "",
    );
    check(&multipart("digest", &["\r\nSubject: inner\r\n\r\ninner words"]), "", "");
}

#[test]
fn first_html_counts() {
    check(&multipart("mixed", &[HTML, &leaf("text/html", "", "<p>second</p>")]), "html words", "<p>html words</p>");
}

#[test]
fn charsets_are_converted() {
    for (label, bytes) in [
        ("iso-8859-1", &b"J\xf6rg\r\n"[..]),
        ("\"ISO-8859-1\"", b"J\xf6rg\r\n"),
        ("windows-1252", b"J\xf6rg\r\n"),
        ("utf-8", "Jörg\r\n".as_bytes()),
        ("utf-16", b"\xff\xfeJ\0\xf6\0r\0g\0\r\0\n\0"),
        ("x-nobody", b"J\xf6rg\r\n"),
    ] {
        let raw = [format!("Content-Type: text/plain; charset={label}\r\n\r\n").as_bytes(), bytes].concat();
        assert_eq!(View::of(&raw).text, "Jörg\n", "{label}");
    }
}

#[test]
fn broken_structure_is_read_as_far_as_it_goes() {
    let open = "Content-Type: multipart/mixed; boundary=b\r\n";
    let check = |entity: &str, text: &str| check(entity, text, "");
    check(&format!("{open}\r\nbefore\r\n--b\r\n\r\nwords\r\n--b--\r\nafter"), "words");
    check(&format!("{open}\r\n--b\r\n\r\nwords\r\n--b--"), "words");
    check(&format!("{open}\r\n--b \t\r\n\r\nwords\r\n--b-- \r\n"), "words");
    check(&format!("{open}\r\n--b\r\nwords without a header\r\n--b--"), "words without a header");
    check(&format!("{open}\r\n--b\n\nwords\n--b--\n"), "words");
    check(
        &format!("{open}\r\n--b\r\n\r\none\r\n--bc\r\n--b-\r\n--b--x\r\ntwo\r\n--b--"),
        "one\n--bc\n--b-\n--b--x\ntwo",
    );
    check("Content-Type: multipart/mixed\r\n\r\nwords", "words");
    check("Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n--\r\n\r\nwords\r\n----\r\n", "--\n\nwords\n----\n");
    check(&format!("{open}\r\nwords, and the boundary never comes"), "words, and the boundary never comes");
    check(&format!("{open}\r\n--b\r\nContent-Type: text/plain\r\n\r\nnot ended"), "not ended");
    check(&format!("{open}\r\n--b\r\nContent-Type: text/plain"), "");
    check(&format!("{open}\r\n--b--\r\n"), "");
    check(open, "");
    let inner = "Content-Type: multipart/mixed; boundary=c\r\n";
    check(&format!("{open}\r\n--b\r\n{inner}\r\n--c\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--"), "one\n\ntwo");
    check(&format!("{open}\r\n--b\r\n{inner}\r\nnever c\r\n--b\r\n\r\ntwo\r\n--b--"), "never c\n\ntwo");
    check(&format!("{open}\r\n--b\r\n{open}\r\n--b\r\n\r\nwords\r\n--b--\r\n--b--"), "words");
    check(&format!("{open}\r\n--b\r\n{open}\r\n--b\r\n\r\none\r\n--b--\r\n--b\r\n\r\ntwo\r\n--b--"), "one\n\ntwo");
    check(&leaf(";;;=;\"", "", "words"), "words");
    check("Content-Type: text/plain\r\nContent-Type: text/html\r\n\r\nwords", "words");
    // A boundary may hold a colon, and a part may lack its empty line.
    let colon = "Content-Type: multipart/mixed; boundary=\"b:c\"\r\n";
    check(&format!("{colon}\r\n--b:c\r\nContent-Type: text/plain\r\n--b:c\r\n\r\ntwo\r\n--b:c--"), "two");
}
